"""The infimum of aligned evidence by brute force, beside what the core proves: ``python -m evidence.aligned_infima``.

For 500 pieces in each of the dimensions 1, 2, 3 and 5: means, counts and variances are drawn from the seed, and SLSQP looks for the
smallest evidence over the piece from several starts, the core's own point among them. ``evidence/aligned_infima.json`` keeps what it found;
``tests/test_aligned_evidence.py`` computes the core's lower bound of all of them again, which must never be above, and some of the infima.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from tests.oracles import aligned as oracle

from evidence._store import Store
from linkarms._core import testing as core

SEED, PIECES, STARTS, DIMENSIONS = 31_415, 500, 2, (1, 2, 3, 5)
GRID = [0.5 * 3.0**j for j in range(9)]
ISOTROPIC = 0.05
COMMAND = "python -m evidence.aligned_infima"
HERE = Path(__file__)


def setting(d, i):
    """Means (arms in the order u, v, b and a), counts and variances; every third piece has four arms."""
    rng = np.random.default_rng([SEED, d, i])
    arms = 4 if i % 3 == 0 else 3
    a = 0 if arms == 3 else 3
    while True:
        x = rng.normal(size=(arms, d))
        x[1] = x[0] + rng.choice([0.2, 0.5, 1.0]) * rng.normal(size=d)
        x[2] = x[a] + rng.choice([1.0, 2.0, 4.0]) * rng.normal(size=d)
        if oracle.slack(x) < 0.0:
            break
    counts = np.round(np.exp(rng.uniform(0.0, np.log(400), size=arms)))
    return x, counts, np.exp(0.3 * rng.normal(size=arms))


def piece(d, i):
    """The piece in the core."""
    x, counts, variances = setting(d, i)
    return core.AlignedPiece(x, counts, variances, grid=GRID, ratio=12.0 * d, isotropic=ISOTROPIC)


def brute_force(d, i):
    """The smallest evidence that SLSQP finds."""
    x, counts, variances = setting(d, i)
    guess = piece(d, i).bracket()[2]
    rng = np.random.default_rng([SEED, d, i, 1])
    return oracle.brute_infimum(
        x,
        counts,
        variances,
        GRID,
        12.0 * d,
        ISOTROPIC,
        starts=STARTS,
        rng=rng,
        guesses=[guess, oracle.moved_inside(x)],
    )[0]


def table(data):
    """The table of the docs."""
    lines = ["| d | pieces | above the infimum | median gap | 95% | largest |", "|---|---|---|---|---|---|"]
    for d in DIMENSIONS:
        found = np.array(data["infima"][str(d)])
        gap = found - [piece(d, i).bracket()[0] for i in range(len(found))]
        above = int((gap < -1e-6).sum())
        cells = " | ".join(f"{x:.2g}" for x in (np.median(gap), np.quantile(gap, 0.95), gap.max()))
        lines.append(f"| {d} | {len(found)} | {above} | {cells} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    parser.add_argument("--table", action="store_true", help="print the table of the docs")
    options = parser.parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    if options.table:
        print(table(store.data))
        return
    start = time.monotonic()
    infima = store.data.setdefault("infima", {str(d): [] for d in DIMENSIONS})
    for i in range(PIECES):
        for d in DIMENSIONS:
            if len(infima[str(d)]) == i and time.monotonic() - start < options.seconds:
                infima[str(d)].append(round(brute_force(d, i), 9))
        if i % 25 == 24:
            store.save()
    store.save()
    print({d: len(found) for d, found in infima.items()})


if __name__ == "__main__":
    main()
