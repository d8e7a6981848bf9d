"""Whole trials under the anytime rule, as `linkarms.simulate` runs them: milliseconds of the processor per trial."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import linkarms as la
from benchmarks.clock import interleave, spread

__all__ = ["DELTA", "PROBLEMS", "Trials", "measure_trials"]

DELTA = 0.1
_MOST = 10**6
PROBLEMS = {"synthetic1": la.problems.synthetic1, "synthetic2": la.problems.synthetic2}
#: Rounds, and trials per round; --quick and not.
_ROUNDS = {True: 7, False: 15}
_TRIALS = {"synthetic1": {True: 50, False: 400}, "synthetic2": {True: 5, False: 20}}


class Trials:
    """Rounds of trials of EBC-H with seeds of their own, in this thread.

    Attributes
    ----------
    whole, inside : list of float
        Milliseconds per trial of each round: of the processor in all of `linkarms.simulate`, and of the run alone, as it reports.
    samples : list of int
        Samples taken in each round.
    """

    def __init__(self, problem: str, trials: int, seed: int, stopping: Any = "anytime") -> None:
        self.problem, self.trials, self.seed = PROBLEMS[problem](), trials, seed
        self.stopping = stopping
        self.whole: list[float] = []
        self.inside: list[float] = []
        self.samples: list[int] = []

    def advance(self) -> float:
        """Run one round; return nanoseconds per trial."""
        start = time.process_time_ns()
        found = la.simulate(
            self.problem,
            ["ebc-h"],
            stopping=self.stopping,
            deltas=[DELTA],
            trials=self.trials,
            seed=self.seed + len(self.samples),
            n_jobs=1,
            max_samples=_MOST,
        )["ebc-h"]
        elapsed = (time.process_time_ns() - start) / self.trials
        times = found.stopping_times[:, 0]
        samples = int(np.where(times < 0, _MOST, times).sum())
        self.whole.append(elapsed / 1e6)
        self.inside.append(found.microseconds_per_sample * samples / self.trials / 1e3)
        self.samples.append(samples)
        return elapsed


def measure_trials(quick: bool, seed: int, say: Callable[[float, str], None]) -> dict[str, Any]:
    """Return milliseconds per trial of the paper's two synthetic problems.

    Parameters
    ----------
    quick : bool
        Fewer rounds and trials.
    seed : int
        Fixes the samples.
    say : callable
        Told the fraction of the work that is done, and what is going on.

    Returns
    -------
    dict
        ``rows``, one per problem, and how they were measured.
    """
    runs = {name: Trials(name, _TRIALS[name][quick], seed) for name in PROBLEMS}
    say(0.0, "trials under the anytime rule")
    interleave({name: run.advance for name, run in runs.items()}, _ROUNDS[quick])
    rows = [
        {
            "problem": name,
            "rule": "ebc-h",
            "trials_per_round": run.trials,
            "milliseconds": spread(np.array(run.whole)),
            "inside_milliseconds": spread(np.array(run.inside)),
            "samples_per_trial": sum(run.samples) / len(run.samples) / run.trials,
        }
        for name, run in runs.items()
    ]
    return {"delta": DELTA, "rounds": _ROUNDS[quick], "rows": rows}
