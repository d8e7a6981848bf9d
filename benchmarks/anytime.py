"""A step under the anytime rule beside one under the paper's: ``python -m benchmarks.anytime``.

Whole trials of EBC-H inside the core, at delta = 1e-4 for the anytime rule; under the paper's rule as many samples. With a thousand
arms, the samples from three to five per arm of runs that do not stop there. The two take turns, and the ratio of each turn counts. Times
are the thread's own. The table is in docs/anytime.md.
"""

import dataclasses
import functools
import math
from pathlib import Path

import numpy as np

import linkarms as la
from benchmarks import settings
from benchmarks._keep import keep
from benchmarks.growth import KINDS
from benchmarks.ours import Ours
from benchmarks.stretch import END, START

HERE = Path(__file__).with_suffix(".json")
ROUNDS, TRIALS, MANY = 9, 12, 1000
#: instance -> (problem, Theta, epsilon)
INSTANCES = {
    "Synthetic 1 (M = 6, d = 2)": (la.problems.synthetic1(), (-5, 5), 0.01),
    # as they are, these two stop after a few samples per arm, and the start of a run would hide the rest
    "M = 4, d = 5, means times 0.1": (
        la.Problem(0.1 * la.problems.scaling(4).parameters, 2),
        (-100, 100),
        0.01,
    ),
    "M = 20, d = 5, means times 0.1": (
        la.Problem(0.1 * la.problems.scaling(20).parameters, 10),
        (-100, 100),
        0.01,
    ),
    "Synthetic 2, rates (M = 6)": (la.problems.synthetic2(), (0.1, 50), 0.001),
    "Synthetic 2, means (M = 6)": (la.problems.synthetic2(parameter="mean"), (0.1, 50), 0.001),
    "Poisson (M = 5)": (la.Problem([1, 1.5, 4, 4.7, 9], n_clusters=3, family="poisson"), (0.1, 50), 0.001),
    "Bernoulli (M = 4)": (
        la.Problem([0.1, 0.2, 0.55, 0.65], n_clusters=2, family="bernoulli"),
        (0.02, 0.98),
        0.001,
    ),
}


def microseconds(problem, stop, seed, max_samples):
    """Return microseconds per sample, and the mean number of samples."""
    found = la.simulate(
        problem,
        ["ebc-h"],
        stopping=stop,
        deltas=[1e-4],
        trials=TRIALS,
        seed=seed,
        n_jobs=1,
        max_samples=max_samples,
    )["ebc-h"]
    times = found.stopping_times[:, 0]
    return found.microseconds_per_sample, int(np.where(times < 0, max_samples, times).mean())


def whole_trials(problem, theta, epsilon, turn):
    """Return microseconds per sample of a round of trials under the anytime rule and under the paper's."""
    ours, samples = microseconds(problem, la.stopping.Anytime(), turn, 10**6)
    return ours, microseconds(problem, la.stopping.Paper(theta=theta, epsilon=epsilon), turn, samples)[0]


def stretch(kind, turn):
    """The same for a stretch of one run of a thousand arms in ten clusters."""
    setting = settings.clusters(MANY, kind, turn)
    found = []
    for rule in (la.stopping.Anytime(), setting.stopping):
        run = Ours(dataclasses.replace(setting, stopping=rule), "ebc-h", turn, 64)
        run.levels[:] = math.log(1e4)
        run.advance(START * MANY)
        began = run.t
        found.append(run.advance((END - START) * MANY) * (END - START) * MANY / (run.t - began) / 1e3)
    return found


def measure():
    """Return one row per instance: medians of both, and of the ratio of each round with its quartiles."""
    rows = []
    rounds = {name: functools.partial(whole_trials, *instance) for name, instance in INSTANCES.items()}
    rounds |= {f"M = {MANY}, d = 5, {kind} separated": functools.partial(stretch, kind) for kind in KINDS}
    for name, one in rounds.items():
        anytime, paper = np.array([one(turn) for turn in range(ROUNDS)]).T
        low, middle, high = np.quantile(anytime / paper, [0.25, 0.5, 0.75])
        rows.append(
            {
                "instance": name,
                "paper_us": round(float(np.median(paper)), 2),
                "anytime_us": round(float(np.median(anytime)), 2),
                "ratio": round(float(middle), 2),
                "quartiles": [round(float(low), 2), round(float(high), 2)],
            }
        )
        print(rows[-1], flush=True)
    return rows


def table(rows):
    """Return the rows as Markdown."""
    lines = ["| instance | paper, us | anytime, us | ratio (quartiles) |", "|---|---|---|---|"]
    for r in rows:
        low, high = r["quartiles"]
        lines.append(
            f"| {r['instance']} | {r['paper_us']:g} | {r['anytime_us']:g} | {r['ratio']:g} ({low:g} to {high:g}) |"
        )
    return "\n".join(lines)


def main():
    """Measure, write, print."""
    rows = measure()
    keep(HERE, "python -m benchmarks.anytime", rows)
    print(table(rows))


if __name__ == "__main__":
    main()
