"""The stretch of a run on which the growth is timed: the same one, in samples per arm, for every number of arms.

Small problems pass it quickly, so each round takes several runs, with samples of their own, through all of it. Large ones take long to
warm up: there is one run, and its stretch is divided between the rounds.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Any

from benchmarks.ours import Ours
from benchmarks.settings import Setting

__all__ = ["END", "RULE", "START", "NewRuns", "OneRun", "Stretch", "warm_up"]

RULE = "ebc-h"
#: Samples per arm, on average, where the clock starts and stops. Forced exploration gives each arm at least one.
START, END = 3, 5
#: The most runs per round.
_MOST_RUNS = 200
#: Steps per call: patience is checked between calls. Up to a hundred arms, the stretch is a single call.
_CALL = 200
#: Samples of an arm drawn ahead: few, because a run is short, and enough that arms rarely run out.
_AHEAD = 128


def warm_up(setting: Setting, seed: int, patience: float) -> Ours | None:
    """Return a run at the start of the stretch; None if ``patience`` seconds were not enough."""
    run = Ours(setting, RULE, seed, _AHEAD)
    n_arms = setting.problem.n_arms
    run.advance(n_arms - 1)  # nothing is computed before every arm has one
    begin = time.perf_counter()
    _go(run, START * n_arms, patience)
    return run if time.perf_counter() - begin <= patience else None


def _go(run: Ours, goal: int, patience: float) -> float:
    """Take in samples until there are ``goal`` or ``patience`` seconds have passed; return nanoseconds under the clock."""
    begin, elapsed = time.perf_counter(), 0.0
    while run.t < goal:
        steps = min(_CALL, goal - run.t)
        elapsed += steps * run.advance(steps)
        if time.perf_counter() - begin > patience:
            break
    return elapsed


class Stretch(ABC):
    """What all kinds of rounds share: the clock and the counts.

    Parameters
    ----------
    setting : Setting
        The problem.
    first : Ours
        A run at the start of the stretch.
    patience : float
        Seconds after which a run ends early.
    """

    runs_per_round = 1

    def __init__(self, setting: Setting, first: Ours, patience: float) -> None:
        self.setting, self.n_arms, self.patience = setting, int(setting.problem.n_arms), patience
        self.state_bytes = first.state_bytes
        self.nanoseconds = 0.0
        self.rounds = self.runs = self.steps = self.costs = self.ends = self.wrong = self.wrong_rounds = 0
        self.reached = math.inf

    def advance(self) -> float:
        """Run one round; return nanoseconds per step."""
        steps, nanoseconds, wrong = self.steps, self.nanoseconds, self.wrong
        self._round()
        self.rounds += 1
        self.wrong_rounds += self.wrong > wrong
        return (self.nanoseconds - nanoseconds) / (self.steps - steps)

    @abstractmethod
    def _round(self) -> None:
        """Take runs through the steps of one round, by `_time`."""

    def _time(self, run: Ours, goal: int) -> None:
        """Take a run to its goal under the clock, then count what it did."""
        t, costs = run.t, run.costs_evaluated
        self.nanoseconds += _go(run, goal, self.patience)
        self.steps += run.t - t
        self.costs += run.costs_evaluated - costs
        self.ends += 1
        self.wrong += not self.setting.problem.is_correct(run.labels)

    def as_dict(self) -> dict[str, Any]:
        """Return what was covered, for a report."""
        return {
            "steps_per_round": round(self.steps / self.rounds),
            "costs_per_step": self.costs / self.steps,
            "state_bytes": self.state_bytes,
            "rounds_with_wrong_clusters": self.wrong_rounds,
            "from_samples_per_arm": START,
            "to_samples_per_arm": self.reached / self.n_arms,
            "runs": self.runs,
            "steps": self.steps,
            "mean_microseconds": self.nanoseconds / self.steps / 1e3,
            "ends": self.ends,
            "ends_with_wrong_clusters": self.wrong,
        }


class NewRuns(Stretch):
    """Each round takes new runs through the whole stretch; they are warmed up outside the clock.

    ``seed`` is that of ``first``, which only shows how many runs fill ``seconds``; the runs have the next ones.
    """

    def __init__(self, setting: Setting, first: Ours, patience: float, seed: int, seconds: float) -> None:
        super().__init__(setting, first, patience)
        self.seed = seed
        nanoseconds = _go(first, END * self.n_arms, patience)
        self.runs_per_round = min(math.ceil(1e9 * seconds / max(nanoseconds, 1.0)), _MOST_RUNS)

    def _round(self) -> None:
        for _ in range(self.runs_per_round):
            self.runs += 1
            run = warm_up(self.setting, self.seed + self.runs, math.inf)
            assert run is not None  # its patience was infinite
            self._time(run, END * self.n_arms)
            self.reached = min(self.reached, run.t)


class OneRun(Stretch):
    """Each round takes the one run through its part of the stretch, all of the same length."""

    def __init__(self, setting: Setting, first: Ours, patience: float, rounds: int) -> None:
        super().__init__(setting, first, patience)
        self.run, self.runs = first, 1
        self.part = max((END - START) * self.n_arms // rounds, 1)

    def _round(self) -> None:
        self._time(self.run, self.run.t + self.part)
        self.reached = self.run.t
