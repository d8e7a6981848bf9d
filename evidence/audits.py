"""Audits of the anytime rule on hard instances: ``python -m evidence.audits``.

Each instance has another partition that is nearly as good. Ten thousand runs of each, with EBC-H: the error rate must not be above
delta (99% Clopper-Pearson), while the same audit of a threshold divided by some of `WEAKER` must find it broken.
``evidence/audits.json`` keeps, for every 250 runs, errors, unstopped runs and samples for each delta;
``tests/test_audit_evidence.py`` checks them and computes some again.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms.montecarlo import error_interval, promise_is_broken

SEED, TRIALS, CHUNK, DELTAS = 61_803, 10_000, 250, (0.1, 0.2)
#: Divisors of the threshold, tried in this order until the audit finds the rule broken at both deltas; so many trials each.
WEAKER, WEAK_TRIALS = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0), 1_000
MAX_SAMPLES = 20_000
#: What the results were measured with.
RULE = la.stopping.Anytime(version=1)
COMMAND = "python -m evidence.audits"
HERE = Path(__file__)
F = la.families
TILTED = np.array([[1.0, 0.6], [0.6, 0.8]])
#: name -> (parameters, K, family). A new instance is one more line; runs of the old ones are kept.
INSTANCES = {
    "gaussian near-tie, d=1": ([0.0, 10.0, 21.0], 2, "gaussian"),
    "gaussian chain of five, d=1": ([0.0, 5.0, 10.0, 15.0, 20.0, 26.5], 2, "gaussian"),
    "gaussian chain of three, d=2": (
        [(0.0, 0.0), (5.0, 0.0), (10.0, 0.0), (16.5, 0.0), (16.5, 5.0)],
        2,
        "gaussian",
    ),
    "gaussian near-tie, d=5": ([[0.0] * 5, [5.0] * 5, [10.5] * 5], 2, "gaussian"),
    "unequal variances, d=1": (
        [0.0, 5.0, 11.0, 16.0],
        2,
        [F.Gaussian(v) for v in (0.25, 2.0, 1.0, 0.5)],
    ),
    "unequal covariances, d=2": (
        [(0.0, 0.0), (6.0, 0.0), (6.0, 7.4)],
        2,
        [F.Gaussian(TILTED), F.Gaussian(2.0 * TILTED), F.Gaussian(np.diag([0.3, 1.5]))],
    ),
    "exponential rates": ([1.0, 5.0, 14.0], 2, "exponential"),
    "bernoulli": ([0.1, 0.35, 0.85], 2, "bernoulli"),
    "poisson": ([1.0, 6.0, 13.0], 2, "poisson"),
    "exponential means": ([1.0, 5.0, 17.0], 2, F.Exponential("mean")),
    "unknown variance, one for all": ([0.0, 10.0, 21.0], 2, F.UnknownVariance(shared=True)),
    "unknown variance, one for each": (
        [(0.0, 0.0), (10.0, 0.0), (20.5, 0.0)],
        2,
        [F.UnknownVariance(draw_variance=v) for v in (0.5, 2.0, 1.0)],
    ),
}


#: A sample of these costs several times as much as of others. Raise a number, run again, and the missing trials are added.
FEWER = {"exponential means": 500, "unknown variance, one for each": 2_000}


def setting(name):
    """The problem."""
    parameters, k, family = INSTANCES[name]
    return la.Problem(parameters, k, family)


def run(name, factor, first, trials):
    """``[errors, unstopped, samples]`` of the given trials, one number per delta; unstopped runs have used `MAX_SAMPLES`."""
    problem = setting(name)
    found = la.simulate(
        problem,
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


def total(chunks):
    """Errors, unstopped, mean samples (unstopped runs with their budget) for each delta, and the number of runs."""
    errors, unstopped, samples = np.array(chunks).sum(axis=0)
    n = CHUNK * len(chunks)
    return errors, unstopped, samples / n, n


def broken(chunks):
    """For each delta, whether the promise is broken."""
    errors, _, _, n = total(chunks)
    return [promise_is_broken(int(k), n, delta) for k, delta in zip(errors, DELTAS, strict=True)]


def caught(entry):
    """The smallest divisor at which the audit found the rule broken at both deltas; None if there is none."""
    found = [float(x) for x, chunks in entry["runs"].items() if float(x) > 1.0 and all(broken(chunks))]
    return min(found, default=None)


def table(data):
    """The table of the docs."""
    head = ["instance", "delta", "errors", "95% interval", "unstopped", "mean samples", "information bound"]
    lines = [
        "| " + " | ".join([*head, "threshold / X is caught; its error rate"]) + " |",
        "|---" * (len(head) + 1) + "|",
    ]
    for name, entry in data["instances"].items():
        errors, unstopped, mean, n = total(entry["runs"]["1"])
        x = caught(entry)
        weak_errors, _, _, weak_n = total(entry["runs"][f"{x:g}"])
        for j, delta in enumerate(DELTAS):
            low, high = error_interval(int(errors[j]), n)
            lines.append(
                f"| {name if j == 0 else ''} | {delta:g} | {errors[j]} of {n:,} | {low:.4f} to {high:.4f} | {unstopped[j]} | "
                f"{mean[j]:.0f} | {entry['bound'][j]:.0f} | X = {x:g}: {weak_errors[j] / weak_n:.2f} |"
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
        f"{name}, threshold / {factor:g}: {errors.tolist()} errors in {n}, {unstopped.tolist()} unstopped, mean {mean.round(1).tolist()} "
        f"samples, broken {broken(chunks)}, {time.perf_counter() - start:.1f} s",
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
        entry = store.data.setdefault("instances", {}).setdefault(name, {"runs": {}})
        problem = setting(name)
        # to know the variance can only help
        known = [
            F.Gaussian(f.draw_variance) if isinstance(f, F.UnknownVariance) else f for f in problem.families
        ]
        bound = la.lower_bound(problem.parameters, problem.n_clusters, known)
        entry["bound"] = [bound.samples(delta) for delta in DELTAS]
        for factor in WEAKER[2:] if name in FEWER else WEAKER:
            if all(broken(complete(store, name, factor, WEAK_TRIALS))):
                break
        complete(store, name, 1.0, min(options.trials, FEWER.get(name, TRIALS)))
    store.save()
    print(table(store.data))


if __name__ == "__main__":
    main()
