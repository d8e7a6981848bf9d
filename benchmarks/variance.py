"""A step with unknown variances beside one with known ones: ``python -m benchmarks.variance``.

Whole trials of EBC-H under the anytime rule inside the core, at delta = 0.05, each to its own stop, on samples of variance 1 or of one
covariance. The two take turns, and the ratio of each turn counts. In the plane an unknown covariance is compared with a known variance,
whose evidence has closed forms, and with a known covariance. Times are the thread's own. The table is in docs/families.md.
"""

from pathlib import Path

import numpy as np

import linkarms as la
from benchmarks._keep import keep

HERE = Path(__file__).with_suffix(".json")
ROUNDS, TRIALS = 5, 12
PAIRS = [0, 1, 3, 4, 7, 8]
THREES = np.repeat(3.0 * np.arange(4), 3) + [0, 0.5, 1] * 4
PLANE = np.column_stack([PAIRS, PAIRS[::-1]])
PLANE_THREES = np.column_stack([THREES, [0, 0.5, 0] * 4])
SPACE = np.column_stack([PAIRS, PAIRS[::-1], [0, 0, 1, 1, 0, 0]])
TILTED = np.array([[1.0, 0.6], [0.6, 0.8]])
TILTED_IN_SPACE = np.array([[1.0, 0.6, 0.2], [0.6, 0.8, 0.1], [0.2, 0.1, 0.9]])
#: Proofs take long there.
MANY_DIMENSIONS = 4
ROUND = ("gaussian", "gaussian-unknown")
ROUND_EACH = ("gaussian", "gaussian-unknown:isotropic")


def pairs_in(d):
    """The six arms in d dimensions: what is apart is apart in two of them, and a little in the others."""
    more = ([0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 1, 1])
    return np.column_stack([PAIRS, PAIRS[::-1], *(more[k % 3] for k in range(d - 2))])


def tilted_in(d):
    """A covariance: scales of one half to one and a half, correlations of 0.4."""
    roots = np.sqrt(np.linspace(0.5, 1.5, d))
    return np.outer(roots, roots) * (0.6 * np.eye(d) + 0.4)


def both(kind, covariance):
    """The family of known and of unknown covariance."""
    return la.families.Gaussian(covariance), la.families.UnknownVariance(
        covariance=kind, draw_variance=np.diag(covariance) if kind == "coordinate" else covariance
    )


COVARIANCES = both("full", TILTED)
#: instance -> (parameters, K, the families of known and of unknown variance)
INSTANCES = {
    "four arms": ([0, 1, 2.4, 3.4], 2, ROUND),
    "four arms far apart": ([0, 0.4, 5, 5.3], 2, ROUND),
    "six arms": (PAIRS, 3, ROUND),
    "twelve arms in clusters of three": (THREES, 4, ROUND),
    "twenty-four arms in pairs": (np.repeat(3.0 * np.arange(12), 2) + [0, 0.5] * 12, 12, ROUND),
    "a hundred arms in ten clusters": (
        np.repeat(6.0 * np.arange(10), 10) + np.tile(0.1 * np.arange(10), 10),
        10,
        ROUND,
    ),
    "six arms in the plane, one variance each": (PLANE, 3, ROUND_EACH),
    "twelve arms in clusters of three in the plane, one variance each": (PLANE_THREES, 4, ROUND_EACH),
    "six arms in the plane, a covariance each": (PLANE, 3, COVARIANCES),
    "twelve arms in clusters of three in the plane, a covariance each": (PLANE_THREES, 4, COVARIANCES),
    "six arms in the plane, a variance per coordinate": (PLANE, 3, both("coordinate", np.diag([1.0, 0.4]))),
    "six arms in three dimensions, one variance each": (SPACE, 3, ROUND_EACH),
    "six arms in three dimensions, a covariance each": (SPACE, 3, both("full", TILTED_IN_SPACE)),
    "six arms in three dimensions, a variance per coordinate": (
        SPACE,
        3,
        both("coordinate", np.diag([1.0, 0.4, 0.7])),
    ),
    "six arms in five dimensions, a covariance each": (pairs_in(5), 3, both("full", tilted_in(5))),
    "six arms in eight dimensions, a covariance each": (pairs_in(8), 3, both("full", tilted_in(8))),
    "six arms in four dimensions, a variance per coordinate": (
        pairs_in(4),
        3,
        both("coordinate", np.diag([1.0, 0.4, 0.7, 0.5])),
    ),
    "six arms in the plane, a covariance each against variance 1": (PLANE, 3, ROUND),
    "twelve arms in clusters of three in the plane, a covariance each against variance 1": (
        PLANE_THREES,
        4,
        ROUND,
    ),
}


def microseconds(problem, seed, trials):
    """Return microseconds per sample, and the mean number of samples."""
    found = la.simulate(
        problem, ["ebc-h"], deltas=[0.05], trials=trials, seed=seed, n_jobs=1, max_samples=20_000
    )["ebc-h"]
    times = found.stopping_times[:, 0]
    return found.microseconds_per_sample, float(np.where(times < 0, 20_000, times).mean())


def measure():
    """Return one row per instance: medians of both, and of their ratio in each round, with quartiles."""
    rows = []
    for name, (parameters, K, families) in INSTANCES.items():
        problems = [la.Problem(parameters, K, family=family) for family in families]
        seen = [[] for _ in problems]
        for turn in range(ROUNDS):
            for problem, times in zip(problems, seen, strict=True):
                few = problem.n_arms >= 50 or problem.n_features >= MANY_DIMENSIONS
                times.append(microseconds(problem, turn, 2 if few else TRIALS))
        known, unknown = map(np.array, seen)
        rows.append(
            {
                "instance": name,
                "us": [round(float(np.median(x[:, 0])), 2) for x in (known, unknown)],
                "samples": [round(float(np.mean(x[:, 1]))) for x in (known, unknown)],
                "ratio": [
                    round(float(x), 2) for x in np.quantile(unknown[:, 0] / known[:, 0], [0.25, 0.5, 0.75])
                ],
            }
        )
        print(rows[-1], flush=True)
    return rows


def table(rows):
    """Return the rows as Markdown."""
    lines = ["| instance | known, us | unknown, us | ratio (quartiles) |", "|---|---|---|---|"]
    for row in rows:
        low, middle, high = row["ratio"]
        known, unknown = row["us"]
        lines.append(f"| {row['instance']} | {known:g} | {unknown:g} | {middle:g} ({low:g} to {high:g}) |")
    return "\n".join(lines)


def main():
    """Measure, write, print."""
    rows = measure()
    keep(HERE, "python -m benchmarks.variance", rows)
    print(table(rows))


if __name__ == "__main__":
    main()
