"""One-sided evidence at the truth under adversarial sampling and optional stopping: ``python -m evidence.one_sided_processes``.

The process of a piece, the exponential of its evidence at the true parameters, has mean one at any stopping time, however the arms are
chosen. For pieces of three and four arms on the edge of the piece, four adversaries choose the arms and stop as soon as the process has
reached 10: it may do so in at most a tenth of the runs. Without the weights of the shifts, as if the best one had been known, the same
count must find the process out. ``evidence/one_sided_processes.json`` keeps the counts; ``tests/test_one_sided_evidence.py`` checks
them and computes some again.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from tests.oracles import one_sided as oracle

from evidence._store import Store
from evidence.one_sided_infima import FAMILIES
from linkarms.montecarlo import promise_is_broken

SEED, RUNS, SAMPLES, ALPHA = 17_724, 2_000, 60, 0.1
GRID = [0.2 * 5.0**j for j in range(8)]
#: True parameters in the order u, v, b and a; the pairs are equally long.
TRUTHS = {3: np.array([0.5, 0.2, 0.8]), 4: np.array([0.3, 0.5, 0.9, 0.7])}
COMMAND = "python -m evidence.one_sided_processes"
HERE = Path(__file__)

#: Each adversary gives every arm of every run a score; the arm with the largest is sampled next.
ADVERSARIES = {
    "coin tosses": lambda rng, off, counts: rng.random(off.shape),
    "the arm that says most": lambda rng, off, counts: off * np.sqrt(counts),
    "the arm that says least": lambda rng, off, counts: -off * np.sqrt(counts),
    "one arm till it is far off": lambda rng, off, counts: (
        (np.abs(off) * np.sqrt(counts) < 1.5) * 100.0 + rng.random(off.shape)
    ),
}


class Process:
    """The evidence at the truth of many runs at once, from tables of each arm's likelihood ratios."""

    def __init__(self, name, arms):
        self.family, self.theta, self.arms = FAMILIES[name][0], TRUTHS[arms], arms
        a, lam = 0 if arms == 3 else 3, TRUTHS[arms]
        s, e = np.sign(lam[0] - lam[1]), np.sign(lam[a] - lam[2])
        self.sides = [np.sign(e - s) if arms == 3 else -s, s, -e, e][:arms]
        self.cross = {a: -e, 2: e}
        self.weights = np.array([oracle.weights(c) for c in GRID])

    def mixture(self, m, side, counts, sums, priced):
        """The log mixture of one arm in every run, for every c; without prices the largest ratio."""
        x, lam = oracle.shifted(self.family, self.theta[m], side), self.theta[m]
        one = [
            oracle.log_likelihood(self.family, counts[:, m, None], sums[:, m, None], y)
            for y in (x[None, :], lam)
        ]
        ratio = one[0] - one[1]
        top = ratio.max(axis=1)
        if not priced:
            return np.broadcast_to(top[:, None], (len(top), len(GRID)))
        return top[:, None] + np.log(np.exp(ratio - top[:, None]) @ self.weights.T)

    def height(self, counts, sums, priced=True):
        """log E of every run."""
        grow = sum(self.mixture(m, side, counts, sums, priced) for m, side in enumerate(self.sides))
        cross = sum(self.mixture(m, side, counts, sums, priced) for m, side in self.cross.items())
        parts = np.concatenate(
            [math.log(1 - oracle.CROSSING) + grow, math.log(oracle.CROSSING) + cross], axis=1
        )
        top = parts.max(axis=1)
        return top + np.log(np.exp(parts - top[:, None]).sum(axis=1)) - math.log(len(GRID))


def run(name, arms, adversary, runs, priced=True):
    """How many of the runs reached ``1 / ALPHA``, and the mean of the process at the stop, cut off at twice that.

    The likelihood ratio of two exponential distributions may have no variance; cut off, its mean can be told from a few runs.
    """
    process, draw = Process(name, arms), FAMILIES[name][2]
    rng = np.random.default_rng([SEED, arms, list(ADVERSARIES).index(adversary), runs[0]])
    n, theta = len(runs), np.broadcast_to(TRUTHS[arms], (len(runs), arms))
    counts = np.ones((n, arms))
    sums = draw(rng, counts, theta)
    value, open_ = np.zeros(n), np.ones(n, bool)
    mean, deviation = (
        (process.family[1] / theta, np.sqrt(process.family[1]) / theta)
        if process.family[0] == "gamma"
        else (theta, np.sqrt(theta * (1 - theta) if name == "bernoulli" else theta))
    )
    towards = np.array(process.sides) * (-1.0 if process.family[0] == "gamma" else 1.0)
    for _ in range(SAMPLES):
        value[open_] = process.height(counts[open_], sums[open_], priced)
        open_ &= value < -math.log(ALPHA)
        if not open_.any():
            break
        arm = ADVERSARIES[adversary](rng, towards * (sums / counts - mean) / deviation, counts).argmax(axis=1)
        new = draw(rng, np.ones((n, arms)), theta)
        rows = np.flatnonzero(open_)
        sums[rows, arm[rows]] += new[rows, arm[rows]]
        counts[rows, arm[rows]] += 1.0
    return int((~open_).sum()), float(np.exp(np.minimum(value, math.log(2.0 / ALPHA))).mean())


def cases():
    return [(name, arms, adversary) for name in FAMILIES for arms in TRUTHS for adversary in ADVERSARIES]


def verdict(reached, runs):
    """Whether the count shows that the process is no supermartingale of mean one."""
    return promise_is_broken(reached, runs, ALPHA)


def table(data):
    """The table of the docs: pieces of three and four arms together."""
    lines = [
        "| family | adversary | reached 10 | mean at the stop, cut off at 20 | without the price |",
        "|---|---|---|---|---|",
    ]
    for name in FAMILIES:
        for adversary in ADVERSARIES:
            own = [x for x in data["cases"] if x["family"] == name and x["adversary"] == adversary]
            runs = sum(x["runs"] for x in own)
            reached, bare = sum(x["reached"] for x in own), sum(x["bare"] for x in own)
            mean = sum(x["mean"] for x in own) / len(own)
            lines.append(
                f"| {name} | {adversary} | {reached} of {runs:,} | {mean:.2f} | {bare} of {runs:,} |"
            )
    return "\n".join(lines)


def main(arguments=None):
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    done = store.data.setdefault("cases", [])
    for name, arms, adversary in cases()[len(done) :]:
        reached, mean = run(name, arms, adversary, range(RUNS))
        bare, _ = run(name, arms, adversary, range(RUNS), priced=False)
        done.append(
            {"family": name, "arms": arms, "adversary": adversary, "runs": RUNS}
            | {"reached": reached, "mean": round(mean, 4), "bare": bare}
        )
        store.save()
        print(done[-1], "BROKEN" if verdict(reached, RUNS) else "", flush=True)
    print(table(store.data))


if __name__ == "__main__":
    main()
