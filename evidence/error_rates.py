"""Error rates of the paper's rule on hard instances, against its promise: ``python -m evidence.error_rates``.

On each instance ``eta(epsilon) < psi / 10`` (psi at equal weights, which is less than psi*), so that the rule can stop. With delta = 0.1
the 99% Clopper-Pearson lower limit of the error rate must be below delta; the same check of a threshold divided by `WEAKEN` must find it
broken, or the check could not fail.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms.montecarlo import promise_is_broken
from linkarms.montecarlo._trial import run_trial

SEED, TRIALS, DELTA, CHUNK, WEAKEN = 4_711, 400, 0.1, 20, 100.0
COMMAND = "python -m evidence.error_rates"
HERE = Path(__file__)
MAX_SAMPLES = 400_000
RULES = ("ebc", "ebc-h")
#: name -> (parameters, K, family, Theta, epsilon)
INSTANCES = {
    "gaussian near-tie, d=1": ([0.0, 0.8, 1.7, 3.2, 4.0], 2, "gaussian", (-4, 8), 0.03),
    "gaussian chain of three, d=2": (
        [(0, 0), (0.9, 0), (1.8, 0), (3.3, 0.2), (3.4, 1.0)],
        2,
        "gaussian",
        (-4, 8),
        0.02,
    ),
    "exponential rates": ([1.0, 1.6, 3.0, 3.7], 2, "exponential", (0.2, 10), 0.004),
    "bernoulli": ([0.15, 0.3, 0.55, 0.72], 2, "bernoulli", (0.02, 0.98), 0.003),
}


def setting(name):
    parameters, k, family, theta, epsilon = INSTANCES[name]
    problem = la.Problem(parameters, k, family)
    stop = la.stopping.Paper(theta=theta, epsilon=epsilon)
    return problem, stop


def margin(name):
    """``eta(epsilon) / psi`` at equal weights and the true parameters; below 0.1 on every instance."""

    problem, stop = setting(name)
    model = problem.arm_families.model
    eta = max(model.shift_kl(m, problem.parameters[m], stop.epsilon) for m in range(problem.n_arms))
    weights = np.full(problem.n_arms, 1 / problem.n_arms)
    return eta / la.psi(weights, problem.parameters, problem.n_clusters, problem.family).value


def run(name, rule, weakened, trials):
    """Stopping time and correctness of the given trials."""
    problem, stop = setting(name)
    rows = []
    for i in trials:
        trial = run_trial(
            problem,
            la.sampling.resolve_sampling(rule),
            la.stopping.weaken(stop, WEAKEN) if weakened else stop,
            (DELTA,),
            np.random.SeedSequence(SEED, spawn_key=(i,)),
            MAX_SAMPLES,
        )
        rows.append([int(trial.stopped_at[0]), int(trial.wrong[0])])
    return rows


def verdict(rows):
    stopped = [wrong for t, wrong in rows if t >= 0]
    return promise_is_broken(sum(stopped), len(stopped), DELTA)


def main(arguments=None):
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    store.data.update(seed=SEED, delta=DELTA, weaken=WEAKEN, max_samples=MAX_SAMPLES)
    for name in INSTANCES:
        entry = store.data.setdefault("instances", {}).setdefault(name, {})
        entry["eta_over_psi"] = margin(name)
        for key in [*RULES, *(f"{rule} weakened" for rule in RULES)]:
            rows = entry.setdefault(key, [])
            while len(rows) < TRIALS:
                start = time.perf_counter()
                rule, _, weakened = key.partition(" ")
                rows += run(name, rule, bool(weakened), range(len(rows), min(len(rows) + CHUNK, TRIALS)))
                store.save()
                print(f"{name}, {key}: {len(rows)} trials, {time.perf_counter() - start:.1f} s", flush=True)
            times = np.array([t for t, _ in rows])
            wrong = sum(w for _, w in rows)
            print(
                f"{name}, {key}: {wrong} errors in {len(rows)}, {int((times < 0).sum())} unstopped, mean {times[times >= 0].mean():.0f} "
                f"samples, promise {'BROKEN' if verdict(rows) else 'holds'}",
                flush=True,
            )
    store.save()


if __name__ == "__main__":
    main()
