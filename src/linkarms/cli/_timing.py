"""A short timing of this machine: steps, trials, and what is paid before the first answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from linkarms._machine import machine
from linkarms.cli._startup import first_answer_seconds, import_seconds
from linkarms.engine import Engine
from linkarms.montecarlo import simulate
from linkarms.problem import Problem, problems
from linkarms.sampling import resolve_sampling
from linkarms.stopping import Paper

__all__ = ["measure"]

_ROUNDS, _PROCESSES, _TRIALS = 7, 3, 100
#: Steps that are timed in a round; before the first, as many pass outside the clock.
_STEPS = 3000
_PAPER, _RATES = Paper(theta=(-100, 2000), epsilon=0.01), Paper(theta=(0.1, 50.0), epsilon=0.001)
#: What is timed: in words, the problem, the sampling rule and the stopping rule.
_SETTINGS: tuple[tuple[str, Callable[[], Problem], str, Paper], ...] = (
    ("Gaussian, d = 5", lambda: problems.scaling(4), "ebc-h", _PAPER),
    ("Gaussian, d = 5", lambda: problems.scaling(20), "ebc-h", _PAPER),
    ("Gaussian, d = 5", lambda: problems.scaling(20), "ebc", _PAPER),
    ("Gaussian, d = 5", lambda: problems.scaling(200), "ebc-h", _PAPER),
    ("exponential", problems.synthetic2, "ebc-h", _RATES),
)


def measure(seed: int, say: Callable[[float, str], None]) -> dict[str, Any]:
    """Time steps, trials and start-up.

    Parameters
    ----------
    seed : int
        Fixes the samples; times vary all the same.
    say : callable
        Told the fraction of the work that is done, and what is going on.

    Returns
    -------
    dict
        Plain data: ``seed``, ``machine``, ``steps`` (one entry per setting), ``trial_milliseconds``, ``import_seconds``,
        ``first_answer_seconds``; each time with its median and quartiles.
    """
    report: dict[str, Any] = {"seed": seed, "machine": machine(), "steps": []}
    for i, (family, make, rule, stopping) in enumerate(_SETTINGS):
        problem = make()
        say(i / (len(_SETTINGS) + 2), f"{rule}, {problem.n_arms} arms")
        report["steps"].append(
            {
                "family": family,
                "arms": problem.n_arms,
                "rule": rule,
                "microseconds": _quartiles(_step_times(problem, rule, stopping, seed)),
            }
        )
    say(len(_SETTINGS) / (len(_SETTINGS) + 2), "trials")
    report["trial_milliseconds"] = _quartiles([_trial_milliseconds(seed + r) for r in range(_ROUNDS)])
    say((len(_SETTINGS) + 1) / (len(_SETTINGS) + 2), "start-up")
    report["import_seconds"] = _quartiles([import_seconds() for _ in range(_PROCESSES)])
    report["first_answer_seconds"] = _quartiles([first_answer_seconds() for _ in range(_PROCESSES)])
    return report


def _step_times(problem: Problem, rule: str, stopping: Paper, seed: int) -> list[float]:
    """Return microseconds per sample of each round, inside the core, over samples drawn before."""
    rng = np.random.default_rng(seed)
    n_arms, total = problem.n_arms, (_ROUNDS + 1) * _STEPS
    engine = Engine(problem.arm_families, problem.goal, resolve_sampling(rule), stopping, 0.1, rng)
    # an arm that has used its samples starts again with the first: the values do not matter here, and memory does
    samples = np.stack(
        [
            family.statistics(family.draw(rng, parameters, total // 4))
            for family, parameters in zip(problem.families, problem.parameters, strict=True)
        ]
    )
    used = np.zeros(n_arms, dtype=np.int64)
    never, stopped_at = np.array([math.inf]), np.full(1, -1, dtype=np.int64)
    labels = np.empty((1, n_arms), dtype=np.int64)
    times = []
    for r in range(_ROUNDS + 1):
        start, ending = time.perf_counter(), "need_samples"
        while ending == "need_samples":
            used[used == samples.shape[1]] = 0
            outcome = engine.core.run(samples, used, never, stopped_at, labels, (r + 1) * _STEPS)
            ending = outcome.ending
        times.append(1e6 * (time.perf_counter() - start) / _STEPS)
    return times[1:]


def _trial_milliseconds(seed: int) -> float:
    """Return milliseconds per trial of Synthetic 1 under the anytime rule at delta = 0.1, all of `simulate` included."""
    start = time.perf_counter()
    simulate(problems.synthetic1(), "ebc-h", deltas=[0.1], trials=_TRIALS, seed=seed, n_jobs=1)
    return 1e3 * (time.perf_counter() - start) / _TRIALS


def _quartiles(values: list[float]) -> dict[str, float]:
    low, median, high = (float(x) for x in np.quantile(values, (0.25, 0.5, 0.75)))
    return {"median": median, "low": low, "high": high}
