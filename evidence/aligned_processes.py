"""Aligned evidence at the truth under adversarial sampling and optional stopping: ``python -m evidence.aligned_processes``.

The process of a piece, the exponential of its evidence at the true parameters, has mean one at any stopping time, however the arms are
chosen. For pieces of three and four arms in d = 1, 2, 3 and 5, whose truth is on the edge of the piece or inside it,
four adversaries choose the arms and stop as soon as the process has reached 10: it may do so in at most a tenth of the runs.
Without the prices of the arms the same count must find the process out. ``evidence/aligned_processes.json`` keeps the counts;
``tests/test_aligned_evidence.py`` checks them and computes some again.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from tests.oracles import aligned as oracle

from evidence._store import Store
from evidence.aligned_infima import GRID, ISOTROPIC
from linkarms.montecarlo import promise_is_broken

SEED, RUNS, SAMPLES, ALPHA, DIMENSIONS = 27_182, 2_000, 100, 0.1, (1, 2, 3, 5)
COMMAND = "python -m evidence.aligned_processes"
HERE = Path(__file__)


def truth(arms, d, where):
    """True parameters in the order u, v, b and a: the pairs equally long, or the intra pair longer."""
    rng = np.random.default_rng([SEED, arms, d])
    theta = rng.normal(size=(arms, d))
    a = 0 if arms == 3 else 3
    inter = theta[2] - theta[a]
    theta[1] = theta[0] + np.roll(inter, 1 if d > 1 else 0) * (1.0 if where == "edge" else 1.4) * (
        -1 if d == 1 else 1
    )
    return theta


#: Each adversary gives every arm of every run a score; the arm with the largest is sampled next.
ADVERSARIES = {
    "coin tosses": lambda rng, along, counts: rng.random(along.shape),
    "the arm that says most": lambda rng, along, counts: along * np.sqrt(counts + 1.0),
    "the arm that says least": lambda rng, along, counts: -along * np.sqrt(counts + 1.0),
    "one arm till it is far off": lambda rng, along, counts: (
        (np.abs(along) * np.sqrt(counts) < 1.5) * 100.0 + rng.random(along.shape)
    ),
}


def run(arms, d, where, adversary, runs, priced=True):
    """How many of the runs reached ``1 / ALPHA``, and the mean of the process at the stop."""
    theta = truth(arms, d, where)
    rng = np.random.default_rng([SEED, arms, d, list(ADVERSARIES).index(adversary), runs[0], len(where)])
    n = len(runs)
    counts, sums = np.ones((n, arms)), theta + rng.normal(size=(n, arms, d))
    value, open_ = np.zeros(n), np.ones(n, bool)
    directions = oracle.directions(theta)
    for _ in range(SAMPLES):
        mean = sums[open_] / counts[open_][..., None]
        lam = np.broadcast_to(theta, mean.shape)
        height = oracle.log_evidence(lam, mean, counts[open_], np.ones(arms), GRID, 12.0 * d, ISOTROPIC)
        if not priced:  # at least what all arms pay at the largest c
            height = height + 0.5 * np.log1p(counts[open_] / GRID[-3]).sum(axis=-1) + math.log(len(GRID))
        value[open_] = height
        open_[open_] = height < -math.log(ALPHA)
        if not open_.any():
            break
        along = np.sum((sums / counts[..., None] - theta) * directions, axis=-1)
        arm = ADVERSARIES[adversary](rng, along, counts).argmax(axis=1)
        rows = np.flatnonzero(open_)
        sums[rows, arm[rows]] += theta[arm[rows]] + rng.normal(size=(len(rows), d))
        counts[rows, arm[rows]] += 1.0
    return int((~open_).sum()), float(np.exp(value).mean())


def cases():
    return [
        (arms, d, where, name)
        for d in DIMENSIONS
        for arms in (3, 4)
        for where in ("edge", "inside")
        for name in ADVERSARIES
    ]


def verdict(reached, runs):
    """Whether the count shows that the process is no supermartingale of mean one."""
    return promise_is_broken(reached, runs, ALPHA)


def table(data):
    """The table of the docs: for each dimension and adversary, the four pieces together."""
    lines = ["| d | adversary | reached 10 | mean at the stop | without the price |", "|---|---|---|---|---|"]
    for d in DIMENSIONS:
        for name in ADVERSARIES:
            own = [x for x in data["cases"] if x["d"] == d and x["adversary"] == name]
            runs = sum(x["runs"] for x in own)
            reached, bare = sum(x["reached"] for x in own), sum(x["bare"] for x in own)
            mean = sum(x["mean"] for x in own) / len(own)
            lines.append(f"| {d} | {name} | {reached} of {runs:,} | {mean:.2f} | {bare} of {runs:,} |")
    return "\n".join(lines)


def main(arguments=None):
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    done = store.data.setdefault("cases", [])
    for arms, d, where, name in cases()[len(done) :]:
        reached, mean = run(arms, d, where, name, range(RUNS))
        bare, _ = run(arms, d, where, name, range(RUNS), priced=False)
        done.append(
            {"d": d, "arms": arms, "truth": where, "adversary": name, "runs": RUNS}
            | {"reached": reached, "mean": round(mean, 4), "bare": bare}
        )
        store.save()
        print(done[-1], "BROKEN" if verdict(reached, RUNS) else "", flush=True)
    print(table(store.data))


if __name__ == "__main__":
    main()
