"""The infimum of one-sided evidence by brute force, beside what the core proves: ``python -m evidence.one_sided_infima``.

For 300 pieces of each family (exponential and gamma by the rate, Poisson, Bernoulli): parameters and counts are drawn from the seed,
samples from the family, and SLSQP looks for the smallest evidence over the piece from several starts in each sector of signs.
``evidence/one_sided_infima.json`` keeps what it found; ``tests/test_one_sided_evidence.py`` computes the core's lower bound of all of
them again, which must never be above, and some of the infima.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from tests.oracles import one_sided as oracle

from evidence._store import Store
from linkarms.engine import Engine
from linkarms.families import resolve
from linkarms.sampling import resolve_sampling
from linkarms.stopping import Anytime

SEED, PIECES = 14_142, 300
GRID = [0.2 * 5.0**j for j in range(8)]
COMMAND = "python -m evidence.one_sided_infima"
HERE = Path(__file__)
#: name -> the oracle's family, the package's, and what draws the sum of n samples
FAMILIES = {
    "exponential": (("gamma", 1.0), "exponential", lambda rng, n, x: rng.gamma(n) / x),
    "gamma:2.5": (("gamma", 2.5), "gamma:2.5", lambda rng, n, x: rng.gamma(2.5 * n) / x),
    "poisson": (("poisson",), "poisson", lambda rng, n, x: rng.poisson(n * x).astype(float)),
    "bernoulli": (
        ("bernoulli",),
        "bernoulli",
        lambda rng, n, x: rng.binomial(n.astype(int), x).astype(float),
    ),
}


def setting(name, i):
    """Counts and sums of the arms u, v, b and a, estimates outside of the piece; every third piece has four arms."""
    rng = np.random.default_rng([SEED, list(FAMILIES).index(name), i])
    arms = 4 if i % 3 == 0 else 3
    a = 0 if arms == 3 else 3
    by_rate = name in ("exponential", "gamma:2.5")
    while True:
        theta = rng.uniform(0.02, 0.98, size=arms) if name == "bernoulli" else np.exp(rng.normal(size=arms))
        theta[1] = min(theta[0] * rng.uniform(0.8, 1.2), 0.99 if name == "bernoulli" else np.inf)
        counts = np.round(np.exp(rng.uniform(np.log(10), np.log(1000), size=arms)))
        sums = FAMILIES[name][2](rng, counts, theta)
        x = counts / sums if by_rate else sums / counts
        if abs(x[0] - x[1]) < 0.6 * abs(x[a] - x[2]):
            return counts, sums


def proved(name, i):
    """The core's lower bound."""
    counts, sums = setting(name, i)
    families = resolve(FAMILIES[name][1], len(counts), 1)
    rule = Anytime(GRID, version=2)
    engine = Engine(families, 2, resolve_sampling("ebc-h"), rule, 0.1, np.random.default_rng(0))
    engine.restore(
        {
            **engine.to_dict(),
            "counts": counts.astype(int).tolist(),
            "means": (sums / counts)[:, None].tolist(),
        }
    )
    return engine.core.evidence_against((0, 1, 0 if len(counts) == 3 else 3, 2))


def brute_force(name, i):
    """The smallest evidence that SLSQP finds."""
    counts, sums = setting(name, i)
    rng = np.random.default_rng([SEED, i, 1])
    return oracle.brute_infimum(FAMILIES[name][0], counts, sums, GRID, rng, starts=1)


def gaps(data, name):
    """The infima that were found, less what is proved."""
    return np.array(data["infima"][name]) - [proved(name, i) for i in range(len(data["infima"][name]))]


def table(data):
    """The table of the docs; gaps are those of pieces with an infimum above 1."""
    lines = [
        "| family | pieces | above the infimum | infimum above 1 | median gap there | 95% | largest |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in FAMILIES:
        gap = gaps(data, name)
        above = int((gap < -1e-6).sum())
        near = gap[np.array(data["infima"][name]) > 1.0]
        cells = " | ".join(f"{x:.1g}" for x in (abs(np.median(near)), np.quantile(near, 0.95), near.max()))
        lines.append(f"| {name} | {len(gap)} | {above} | {len(near)} | {cells} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    options = parser.parse_args(arguments)
    store, start = Store(HERE.with_suffix(".json"), COMMAND), time.monotonic()
    infima = store.data.setdefault("infima", {name: [] for name in FAMILIES})
    for i in range(PIECES):
        for name in FAMILIES:
            if len(infima[name]) == i and time.monotonic() - start < options.seconds:
                infima[name].append(round(brute_force(name, i), 9))
        if i % 25 == 24:
            store.save()
    store.save()
    print(table(store.data))


if __name__ == "__main__":
    main()
