"""How soon the anytime rule stops: ``python -m evidence.anytime``.

Four experiments, all with fixed seeds; trial ``i`` has the seed (SEED, i). The stopping times of all trials are kept, so that the
suite can compute some of them again. ``python -m evidence.anytime --table`` prints the tables of the docs.

``times``     mean stopping times on the instances of the design, at three deltas, beside the paper's rule
``scales``    the same instances with all means times 0.1 and 10: the grid of c against single values of it
``slopes``    the rise of the mean stopping time with log(1/delta), beside T*
``version 2`` stopping times of version 2 of the rule; the experiments above are of version 1
``sampling``  EBC-H and EBC that look at psi at the weights of the evidence, and at the numbers of samples, on ten instances
"""

import argparse
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._anytime_rules import RULES
from evidence._store import Store
from linkarms.arms import resampled_problem
from linkarms.montecarlo._trial import run_trial

SEED = 20265
COMMAND = "python -m evidence.anytime"
HERE = Path(__file__)
DELTAS = (0.1, 0.01, 1e-4)
#: What the results were measured with.
RULE = la.stopping.Anytime(version=1)
#: Means times this: the trials on each instance, and the single values of c to compare with, around the best.
SCALES = {
    0.1: ({"synthetic 1": 24, "twenty arms": 6}, (25.0, 125.0, 625.0, 3125.0)),
    1.0: ({"synthetic 1": 100, "twenty arms": 40}, (0.2, 1.0, 5.0, 25.0, 125.0)),
    10.0: ({"synthetic 1": 400, "twenty arms": 400}, (0.008, 0.04, 0.2, 1.0, 5.0)),
}


def twenty(scale=1.0):
    """M = 20, K = 10, d = 5: means ``2.5 i + {0, 0.5}`` in every coordinate."""
    x = scale * np.array([2.5 * i + e for i in range(10) for e in (0.0, 0.5)])
    return la.Problem(np.tile(x[:, None], (1, 5)), n_clusters=10)


def synthetic1(scale=1.0):
    return la.Problem(la.problems.synthetic1().parameters * scale, n_clusters=3)


#: What the design asks of version 2 besides: two pairs, and a chain of three beside one arm. Both have four arms in two clusters.
ASKED = {
    "two pairs on a line": lambda: la.Problem([0, 1, 2.4, 3.4], n_clusters=2),
    "three and one on a line": lambda: la.Problem([0, 1, 2, 3.4], n_clusters=2),
    "three and one, further apart": lambda: la.Problem([0, 1, 2, 3.52], n_clusters=2),
    "near-tie of three": lambda: la.Problem([0, 10, 20.6], n_clusters=2),
}
#: Ten instances for the comparison of sampling rules.
INSTANCES = {
    "synthetic 1": synthetic1,
    "synthetic 2": la.problems.synthetic2,
    "twenty arms": twenty,
    "five in a row": lambda: la.Problem([0, 0.8, 1.6, 2.9, 3.6], n_clusters=2),
    "a chain of five": lambda: la.Problem([0, 0.5, 1, 1.5, 2, 3.4, 3.9, 4.4], n_clusters=2),
    "threes in the plane": lambda: la.Problem(
        [[0, 0], [0.6, 0], [0, 0.6], [2, 2], [2.6, 2], [2, 2.6]], n_clusters=2
    ),
    "unequal gaps": lambda: la.Problem([0, 0.1, 1, 1.05, 4], n_clusters=3),
    "unequal variances": lambda: la.Problem(
        [0, 0.6, 2.5, 3.0, 6.0],
        n_clusters=3,
        family=[la.families.Gaussian(v) for v in (0.2, 1.0, 3.0, 0.5, 1.0)],
    ),
    "Bernoulli": lambda: la.Problem([0.1, 0.2, 0.55, 0.65], n_clusters=2, family="bernoulli"),
    "Poisson": lambda: la.Problem([1, 1.5, 4, 4.7, 9], n_clusters=3, family="poisson"),
}

#: Those of `ASKED` for which no one split of delta is best: four arms in two pairs, and in a chain of three and one.
SPLIT = ("two pairs on a line", "three and one, further apart")
#: Those of arms with one parameter that are not Gaussian, and those of them whose slopes are measured, with the trials.
ONE_PARAMETER = ("synthetic 2", "Bernoulli", "Poisson")
SLOPES = {"synthetic 2": 500, "Bernoulli": 40}


def without_noise():
    """Synthetic 2 with samples that are all equal to their mean: how EBC-H and the evidence do when nothing is left to chance."""
    problem = la.problems.synthetic2()
    means = {str(m): [1.0 / float(rate)] * 2 for m, rate in enumerate(problem.parameters[:, 0])}
    return resampled_problem(means, problem.n_clusters, problem.family)


def experiments():
    """name -> (problem, sampling rule, stopping rule, deltas, trials)."""
    found = {}
    for name, make, trials in (("synthetic 1", synthetic1, 1000), ("twenty arms", twenty, 300)):
        found[f"times/{name}"] = (make(), "ebc-h", RULE, DELTAS, trials)
    found["times/synthetic 1, EBC"] = (synthetic1(), "ebc", RULE, DELTAS, 300)
    for name, make in (("synthetic 1", synthetic1), ("twenty arms", twenty)):
        for scale, (trials, single) in SCALES.items():
            for c in (None, *single):
                found[f"scales/{name}/{scale:g}/{'grid' if c is None else f'{c:g}'}"] = (
                    make(scale),
                    "ebc-h",
                    la.stopping.Anytime(c, version=1),
                    (0.1,),
                    trials[name],
                )
    levels = tuple(float(np.exp(-x)) for x in (50.0, 100.0, 200.0, 400.0, 700.0))
    for rule in ("ebc-h", "ebc"):
        found[f"slopes/synthetic 1/{rule}"] = (synthetic1(), rule, RULE, levels, 100)
    for version in (1, 2):
        rule = la.stopping.Anytime(version=version)
        for name, make in ASKED.items():
            found[f"version {version}/{name}"] = (
                make(),
                "ebc-h",
                rule,
                DELTAS,
                1000 if name in SPLIT else 100,
            )
    for name, make in INSTANCES.items():
        trials = {"synthetic 1": 1000}.get(name, 200 if name in (*ONE_PARAMETER, "twenty arms") else 20)
        found[f"version 2/{name}"] = (make(), "ebc-h", rule, DELTAS, trials)
    found["version 2/slopes"] = (synthetic1(), "ebc-h", rule, levels, 40)
    for name in SLOPES:
        found[f"version 2/slopes/{name}"] = (INSTANCES[name](), "ebc-h", rule, levels, SLOPES[name])
    for version in (1, 2):
        rule = la.stopping.Anytime(version=version)
        found[f"version {version}/slopes/synthetic 2"] = (
            la.problems.synthetic2(),
            "ebc-h",
            rule,
            levels,
            SLOPES["synthetic 2"],
        )
        found[f"version {version}/slopes/without noise"] = (without_noise(), "ebc-h", rule, levels, 1)
    for name, make in INSTANCES.items():
        for rule in RULES:
            trials = 200 if name in ONE_PARAMETER and rule == "ebc-h" else 20
            found[f"sampling/{name}/{rule}"] = (make(), RULES[rule], RULE, DELTAS, trials)
    return found


def run(name, trials):
    """Stopping times (one row per trial, one column a delta) and the number of errors."""
    problem, sampling, stopping, deltas, _ = experiments()[name]
    rule = la.sampling.resolve_sampling(sampling() if callable(sampling) else sampling)
    rows, wrong = [], 0
    for i in trials:
        trial = run_trial(
            problem, rule, stopping, deltas, np.random.SeedSequence(SEED, spawn_key=(i,)), 10**6
        )
        rows.append([int(x) for x in trial.stopped_at])
        wrong += int(trial.wrong.sum())
    return rows, wrong


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "only", nargs="*", help="times, scales, slopes, version 1, version 2, sampling; all by default"
    )
    parser.add_argument("--table", action="store_true", help="print the tables of the docs")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    args = parser.parse_args(argv)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    if args.table:
        from evidence._anytime_tables import tables

        print(tables(store.data))
        return
    start = time.monotonic()
    for name, (*_, trials) in experiments().items():
        if args.only and name.split("/")[0] not in args.only:
            continue
        entry = store.data.setdefault(name, {"times": [], "errors": 0})
        while len(entry["times"]) < trials and time.monotonic() - start < args.seconds:
            done = len(entry["times"])
            rows, wrong = run(name, range(done, min(done + 20, trials)))
            entry["times"] += rows
            entry["errors"] += wrong
            store.save()
        mean = np.mean(entry["times"], axis=0).round(1).tolist() if entry["times"] else []
        print(f"{name}: {len(entry['times'])} trials, mean {mean}, {entry['errors']} errors", flush=True)


if __name__ == "__main__":
    main()
