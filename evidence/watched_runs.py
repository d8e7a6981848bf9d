"""What runs show before they stop, on hard instances: ``python -m evidence.watched_runs``.

A run is watched at every sample up to `SAMPLES`, whether or not it would have stopped. For each delta, an *error* is a run in which

* ``bound``: at some moment a wrong partition was named while `Result.error_bound` was at most delta (math.md 9);
* ``cuts``: at some moment some K had a wrong cut among the certified ones (math.md 7.2), looked at each time the samples have grown by 5%.

Neither may happen in more than a share delta of the runs (99% Clopper-Pearson), while the same audit of a threshold divided by `WEAKER`
must find both broken on at least four instances. ``evidence/watched_runs.json`` keeps the errors of every `CHUNK` runs;
``tests/test_mode_audits.py`` checks them and computes some again.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms.linkage import single_linkage
from linkarms.montecarlo import error_interval, promise_is_broken

SEED, TRIALS, CHUNK, SAMPLES = 27_182, 500, 50, 200
DELTAS = (0.05, 0.1, 0.2, 0.5)
WEAKER, WEAK_TRIALS = 12.0, 200
COMMAND = "python -m evidence.watched_runs"
HERE = Path(__file__)
KINDS = ("bound", "cuts")
#: name -> (parameters, K, family)
INSTANCES = {
    "three arms, near-tie": ([0.0, 1.0, 2.2], 2, "gaussian"),
    "four arms on a line": ([0.0, 1.0, 2.2, 3.1], 2, "gaussian"),
    "five arms, chain of three": ([0.0, 1.0, 2.1, 3.4, 4.3], 2, "gaussian"),
    "four arms in the plane": ([(0, 0), (1, 0), (0, 1.2), (2.4, 1.4)], 2, "gaussian"),
    "unknown variance": ([0.0, 1.0, 2.4, 3.3], 2, la.families.UnknownVariance()),
}


def setting(name):
    """The problem."""
    parameters, k, family = INSTANCES[name]
    return la.Problem(parameters, k, family)


def watch(problem, rule, seed):
    """For each kind and delta, whether the run of this seed was ever wrong."""
    rng = np.random.default_rng(seed)
    run = la.BanditClusterer(
        problem.n_clusters,
        problem.n_arms,
        problem.n_features,
        family=problem.families,
        stopping=rule,
        delta=1e-300,
    )
    engine, theta = run._engine, problem.parameters
    cuts = {k: single_linkage(theta, k) for k in range(2, problem.n_arms)}
    draws = [f.statistics(f.draw(rng, theta[m], SAMPLES)) for m, f in enumerate(problem.families)]
    least, wrong_cuts, next_look = 1.0, np.zeros(len(DELTAS), bool), 0
    for t in range(SAMPLES):
        m = engine.choose()
        engine.observe(m, draws[m][int(engine.core.counts[m])])
        if not engine.ready:
            continue
        if not problem.is_correct(engine.core.labels):
            least = min(least, engine.error_bound())
        if t >= next_look:
            next_look = 1.05 * t
            for j, delta in enumerate(DELTAS):
                found = [] if wrong_cuts[j] else engine.core.cuts(rule.level(delta))
                wrong_cuts[j] |= any(
                    cuts[k][1] or labels.tolist() != cuts[k][0].tolist() for k, labels in found
                )
    return [[least <= delta for delta in DELTAS], wrong_cuts.tolist()]


def run(name, factor, first, trials):
    """Errors of the given trials: a list per kind, with one number per delta."""
    problem, rule = setting(name), la.stopping.weaken(la.stopping.Anytime(), factor)
    found = [watch(problem, rule, [SEED, trial]) for trial in range(first, first + trials)]
    return np.sum(found, axis=0).astype(int).tolist()


def total(chunks):
    """Errors, shape (kinds, deltas), and the number of runs."""
    return np.array(chunks).sum(axis=0), CHUNK * len(chunks)


def broken(chunks):
    """For each kind and delta, whether the promise is broken."""
    errors, n = total(chunks)
    return [[promise_is_broken(int(k), n, d) for k, d in zip(row, DELTAS, strict=True)] for row in errors]


def table(data):
    """The table of the docs."""
    lines = [
        "| instance | what | " + " | ".join(f"delta = {d:g}" for d in DELTAS) + " | threshold / 12 |",
        "|---" * (len(DELTAS) + 3) + "|",
    ]
    words = {"bound": "`error_bound`", "cuts": "`cuts`"}
    for name, entry in data["instances"].items():
        (errors, n), (weak, weak_n) = total(entry["1"]), total(entry[f"{WEAKER:g}"])
        for i, kind in enumerate(KINDS):
            cells = [f"{k} of {n:,} (at most {error_interval(int(k), n)[1]:.4f})" for k in errors[i]]
            rates = ", ".join(f"{k / weak_n:.2f}" for k in weak[i])
            lines.append(
                f"| {name if i == 0 else ''} | {words[kind]} | {' | '.join(cells)} | error rates {rates} |"
            )
    return "\n".join(lines)


def complete(store, name, factor, trials):
    """Run what is missing."""
    chunks = store.data.setdefault("instances", {}).setdefault(name, {}).setdefault(f"{factor:g}", [])
    start = time.perf_counter()
    while len(chunks) * CHUNK < trials:
        chunks.append(run(name, factor, len(chunks) * CHUNK, CHUNK))
        store.save()
    print(
        f"{name}, threshold / {factor:g}: {total(chunks)[0].tolist()}, {time.perf_counter() - start:.1f} s",
        flush=True,
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS)
    options = parser.parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    store.data.update(seed=SEED, chunk=CHUNK, deltas=list(DELTAS), samples=SAMPLES)
    for name in INSTANCES:
        complete(store, name, WEAKER, WEAK_TRIALS)
        complete(store, name, 1.0, options.trials)
    print(table(store.data))


if __name__ == "__main__":
    main()
