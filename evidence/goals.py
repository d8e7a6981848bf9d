"""Audits of runs by a distance threshold and of runs with a tolerance: ``python -m evidence.goals``.

Distances that are just beside the threshold, and exact ties. EBC-H; with a tolerance a partition is wrong if it is not right up to it.
The error rate must not be above delta (99% Clopper-Pearson), while the same audit of a threshold divided by some of `WEAKER` must find it
broken on most instances. ``evidence/goals.json`` keeps, for every 250 runs, errors, unstopped runs and samples for each delta;
``tests/test_goal_evidence.py`` checks them and computes some again.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._store import Store
from evidence.audits import CHUNK, DELTAS, WEAKER, broken, caught, total
from linkarms.montecarlo import error_interval

SEED, TRIALS, WEAK_TRIALS = 27_182, 10_000, 500
MAX_SAMPLES = 20_000
RULE = la.stopping.Anytime()
COMMAND = "python -m evidence.goals"
HERE = Path(__file__)
#: Five arms in a row, a gap, and one more; in the plane.
ROW = [(0.0, 0.0), (4.0, 0.0), (8.0, 0.0), (12.0, 0.0), (16.0, 0.0), (22.0, 0.0)]
#: name -> the arguments of the problem. A new instance is one more line; runs of the old ones are kept.
INSTANCES = {
    "threshold, just beside it": {"parameters": [0.0, 4.2, 10.0], "distance_threshold": 5.0},
    "threshold, clusters of five, d=2": {"parameters": ROW, "distance_threshold": 5.0},
    "threshold, unequal variances, d=2": {
        "parameters": [(0.0, 0.0), (0.0, 2.0), (4.2, 0.0)],
        "distance_threshold": 3.0,
        "family": [la.families.Gaussian(v) for v in (0.5, 1.0, 2.0)],
    },
    "threshold, poisson": {"parameters": [1.0, 3.0, 8.0], "distance_threshold": 3.5, "family": "poisson"},
    "threshold, bernoulli": {
        "parameters": [0.1, 0.3, 0.8],
        "distance_threshold": 0.35,
        "family": "bernoulli",
    },
    "threshold, unknown variance": {
        "parameters": [0.0, 4.0, 10.0],
        "distance_threshold": 5.0,
        "family": "gaussian-unknown",
    },
    "tolerance, three on a line": {"parameters": [0.0, 3.0, 6.0], "n_clusters": 2, "tolerance": 1.0},
    "tolerance, a row of five, d=2": {
        "parameters": [(0.0, 0.0), (3.0, 0.0), (6.0, 0.0), (9.0, 0.0), (13.2, 0.0)],
        "n_clusters": 2,
        "tolerance": 1.0,
    },
    "tolerance, four arms and a near-tie": {
        "parameters": [0.0, 4.0, 9.1, 13.2],
        "n_clusters": 2,
        "tolerance": 0.8,
    },
    "tolerance, poisson": {
        "parameters": [2.0, 6.0, 10.0],
        "n_clusters": 2,
        "tolerance": 2.0,
        "family": "poisson",
    },
    "tolerance, a triangle, d=2": {
        "parameters": [(0.0, 0.0), (3.0, 0.0), (1.5, 3.0 * 0.75**0.5)],
        "n_clusters": 2,
        "tolerance": 1.0,
    },
    "tolerance around a threshold": {
        "parameters": [0.0, 3.0, 7.2],
        "distance_threshold": 3.0,
        "tolerance": 0.9,
    },
}
#: Runs of these take longer.
FEWER = {
    "threshold, unknown variance": 2_000,
    "tolerance, poisson": 2_000,
    "tolerance, a row of five, d=2": 5_000,
    "tolerance, a triangle, d=2": 2_500,
    "threshold, poisson": 2_000,
    "threshold, bernoulli": 2_000,
}


def setting(name):
    """The problem."""
    return la.Problem(**INSTANCES[name])


def run(name, factor, first, trials):
    """``[errors, unstopped, samples]`` of the given trials, each a list with one number per delta."""
    found = la.simulate(
        setting(name),
        "ebc-h",
        stopping=la.stopping.weaken(RULE, factor),
        deltas=DELTAS,
        trials=trials,
        seed=SEED,
        max_samples=MAX_SAMPLES,
        first_trial=first,
    )["ebc-h"]
    times = found.stopping_times
    spent = np.where(times < 0, MAX_SAMPLES, times)
    return [a.sum(axis=0).tolist() for a in (found.errors, times < 0, spent)]


def table(data):
    """The table of the docs."""
    head = [
        "instance",
        "delta",
        "errors",
        "95% interval",
        "unstopped",
        "mean samples",
        "threshold / X is caught; its error rate",
    ]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, entry in data["instances"].items():
        errors, unstopped, mean, n = total(entry["runs"]["1"])
        x = caught(entry)
        for j, delta in enumerate(DELTAS):
            low, high = error_interval(int(errors[j]), n)
            last = "never"
            if x is not None:
                weak, _, _, weak_n = total(entry["runs"][f"{x:g}"])
                last = f"X = {x:g}: {weak[j] / weak_n:.2f}"
            lines.append(
                f"| {name if j == 0 else ''} | {delta:g} | {errors[j]} of {n:,} | {low:.4f} to {high:.4f} | {unstopped[j]} | "
                f"{mean[j]:.0f} | {last} |"
            )
    return "\n".join(lines)


def complete(store, name, factor, trials):
    """Run what is missing."""
    chunks = store.data["instances"][name]["runs"].setdefault(f"{factor:g}", [])
    start = time.perf_counter()
    while len(chunks) * CHUNK < trials:
        chunks.append(run(name, factor, len(chunks) * CHUNK, CHUNK))
        store.save()
    errors, unstopped, mean, n = total(chunks)
    print(
        f"{name}, threshold / {factor:g}: {errors.tolist()} errors in {n}, {unstopped.tolist()} unstopped, mean "
        f"{mean.round(1).tolist()} samples, broken {broken(chunks)}, {time.perf_counter() - start:.1f} s",
        flush=True,
    )
    return chunks


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS)
    options = parser.parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    store.data.update(seed=SEED, chunk=CHUNK, deltas=list(DELTAS), max_samples=MAX_SAMPLES)
    for name in INSTANCES:
        store.data.setdefault("instances", {}).setdefault(name, {"runs": {}})
        for factor in WEAKER:
            if all(broken(complete(store, name, factor, WEAK_TRIALS))):
                break
        complete(store, name, 1.0, min(options.trials, FEWER.get(name, TRIALS)))
    store.save()
    print(table(store.data))


if __name__ == "__main__":
    main()
