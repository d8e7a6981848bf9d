"""A step under a distance threshold and with a tolerance beside one for a fixed K: ``python -m benchmarks.goals``.

Whole trials of EBC-H under the anytime rule inside the core, at delta = 1e-4, each to its own stop. The three goals name the same
clusters of the same arms; they take turns, and the ratio of each turn counts. Times are the thread's own. The table is in
docs/without-k.md.
"""

from pathlib import Path

import numpy as np

import linkarms as la
from benchmarks._keep import keep

HERE = Path(__file__).with_suffix(".json")
ROUNDS, TRIALS = 5, 8
#: instance -> (parameters, family, K, distance threshold, tolerance)
INSTANCES = {
    "Gaussian (M = 6, d = 2)": (
        [[0, 0], [0.6, 0], [3, 0], [3.5, 0.4], [0, 4], [0.4, 4.4]],
        "gaussian",
        3,
        1.7,
        0.4,
    ),
    "Gaussian (M = 20, d = 1)": (np.repeat(2.0 * np.arange(10), 2) + [0, 0.5] * 10, "gaussian", 10, 1.0, 0.4),
    "exponential, rates (M = 5)": ([1, 1.5, 4, 4.7, 9], "exponential", 3, 1.6, 0.3),
    "Poisson (M = 5)": ([1, 1.5, 4, 4.7, 9], "poisson", 3, 1.6, 0.4),
    "Bernoulli (M = 4)": ([0.1, 0.2, 0.55, 0.65], "bernoulli", 2, 0.22, 0.05),
    "unknown variance (M = 6)": ([0, 0.6, 3, 3.5, 7, 7.4], la.families.UnknownVariance(), 3, 1.5, 0.4),
}


def microseconds(problem, seed):
    """Return microseconds per sample, and the mean number of samples."""
    found = la.simulate(
        problem, ["ebc-h"], deltas=[1e-4], trials=TRIALS, seed=seed, n_jobs=1, max_samples=20_000
    )["ebc-h"]
    times = found.stopping_times[:, 0]
    return found.microseconds_per_sample, float(np.where(times < 0, 20_000, times).mean())


def goals(parameters, family, K, threshold, tolerance):
    """Return the three problems by the name of their goal."""
    return {
        "K": la.Problem(parameters, K, family=family),
        "threshold": la.Problem(parameters, distance_threshold=threshold, family=family),
        "tolerance": la.Problem(parameters, K, tolerance=tolerance, family=family),
    }


def measure():
    """Return one row per instance: medians of each goal, and of its ratio to K in each round, with quartiles."""
    rows = []
    for name, setting in INSTANCES.items():
        problems = goals(*setting)
        times = {goal: [] for goal in problems}
        samples = {goal: [] for goal in problems}
        for turn in range(ROUNDS):
            for goal, problem in problems.items():
                us, n = microseconds(problem, turn)
                times[goal].append(us)
                samples[goal].append(n)
        row = {"instance": name, "us": {}, "samples": {}, "ratio": {}}
        for goal in problems:
            row["us"][goal] = round(float(np.median(times[goal])), 2)
            row["samples"][goal] = round(float(np.mean(samples[goal])))
            if goal != "K":
                ratios = np.array(times[goal]) / times["K"]
                row["ratio"][goal] = [round(float(x), 2) for x in np.quantile(ratios, [0.25, 0.5, 0.75])]
        rows.append(row)
        print(row, flush=True)
    return rows


def table(rows):
    """Return the rows as Markdown."""
    lines = [
        "| instance | K, us | threshold, us | ratio (quartiles) | tolerance, us | ratio (quartiles) |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [f"{row['us']['K']:g}"]
        for goal in ("threshold", "tolerance"):
            low, middle, high = row["ratio"][goal]
            cells += [f"{row['us'][goal]:g}", f"{middle:g} ({low:g} to {high:g})"]
        lines.append(f"| {row['instance']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    """Measure, write, print."""
    rows = measure()
    keep(HERE, "python -m benchmarks.goals", rows)
    print(table(rows))


if __name__ == "__main__":
    main()
