"""How the time of a step grows with the number of arms: ten clusters of equal size, well and badly separated."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from linkarms.bench import _settings
from linkarms.bench._clock import interleave, ratio, spread
from linkarms.bench._ours import Ours
from linkarms.bench._row import Rows
from linkarms.bench._settings import Setting

__all__ = ["KINDS", "RULE", "measure_growth"]

KINDS = ("well", "badly")
RULE = "ebc-h"
#: Samples of each arm, on average, before anything is timed. Each has one at least: forced exploration sees to it.
WARM_UP = 3
#: Sizes that are timed in turn; then those that are timed alone, because they need the memory.
_ARMS = {True: ((10, 100, 1000),), False: ((10, 20, 50, 100, 200, 500, 1000, 2000), (5000,))}
_ROUNDS = {True: 7, False: 11}
#: Seconds that a round should take, and the most steps in it: more would see the badly separated clusters fall into place.
_ROUND = {True: 0.05, False: 0.2}
_MOST, _MOST_ROWS, _PROBE = 2000, 100_000, 20
#: Seconds after which the warm-up of one size is given up, and with it all larger sizes.
_PATIENCE = {True: 5.0, False: 300.0}


def measure_growth(quick: bool, seed: int, say: Callable[[float, str], None]) -> dict[str, Any]:
    """Microseconds a step of EBC-H for each size and kind, beside yardstick (c).

    Parameters
    ----------
    quick : bool
        Fewer sizes, shorter rounds, less patience.
    seed : int
        Fixes the problems and the samples.
    say : callable
        Told the fraction of the work that is done, and what is going on.

    Returns
    -------
    dict
        ``rows``, one for each kind and size (``given_up`` where it was too slow), and how they were measured.
    """
    rows: list[dict[str, Any]] = []
    jobs = [(kind, sizes) for kind in KINDS for sizes in _ARMS[quick]]
    slow: set[str] = set()
    for i, (kind, sizes) in enumerate(jobs):
        runs: list[_Run] = []
        for j, n_arms in enumerate(sizes):
            say((i + j / (2 * len(sizes))) / len(jobs), f"growth: {kind} separated, {n_arms} arms")
            setting = _settings.clusters(n_arms, kind, seed)
            if kind not in slow:
                ours = Ours(setting, RULE, seed)
                if _warm_up(ours, _PATIENCE[quick]):
                    runs.append(_Run(kind, setting, ours, seed, _ROUND[quick]))
                    continue
                slow.add(kind)
            rows.append(_describe(kind, setting) | {"given_up": True})
        say((i + 0.5) / len(jobs), f"growth: {kind} separated, the sizes in turn")
        rows += _take_turns(runs, _ROUNDS[quick])
    rows.sort(key=lambda row: (KINDS.index(row["kind"]), row["arms"]))
    return {
        "rule": RULE,
        "warm_up_samples_of_each_arm": WARM_UP,
        "rounds": _ROUNDS[quick],
        "patience_seconds": _PATIENCE[quick],
        "rows": rows,
    }


class _Run:
    """One size, warmed up: the engine and yardstick (c), and how much of each makes a round."""

    def __init__(self, kind: str, setting: Setting, ours: Ours, seed: int, seconds: float) -> None:
        self.kind, self.setting, self.ours = kind, setting, ours
        self.row = Rows(ours.engine.state.theta, seed)
        self.steps = _fitting(ours.advance(_PROBE), seconds, _MOST)
        self.n_rows = _fitting(self.row.advance(_PROBE), seconds, _MOST_ROWS)
        self.before = ours.costs_evaluated
        self.wrong = 0

    def advance(self) -> float:
        """A round of steps; whether the partition is right is looked up after the clock."""
        nanoseconds = self.ours.advance(self.steps)
        self.wrong += not self.setting.problem.is_correct(self.ours.engine.state.labels)
        return nanoseconds

    def advance_rows(self) -> float:
        """A round of rows of distances."""
        return self.row.advance(self.n_rows)


def _warm_up(ours: Ours, patience: float) -> bool:
    """Give every arm its samples; False if that takes longer than ``patience`` seconds."""
    n_arms = ours.samples.problem.n_arms
    ours.advance(n_arms - 1)  # there is nothing to compute before every arm has one
    begin = time.perf_counter()
    while ours.t < WARM_UP * n_arms:
        ours.advance(min(_PROBE, WARM_UP * n_arms - ours.t))  # few at a time: a kernel cannot be interrupted
        if time.perf_counter() - begin > patience:
            return False
    return True


def _fitting(nanoseconds: float, seconds: float, most: int) -> int:
    """How many steps fill a round."""
    return min(max(int(1e9 * seconds / nanoseconds), 1), most)


def _take_turns(runs: list[_Run], rounds: int) -> list[dict[str, Any]]:
    contenders: dict[str, Callable[[], float]] = {}
    for run in runs:
        n_arms = run.setting.problem.n_arms
        contenders[f"step {n_arms}"], contenders[f"row {n_arms}"] = run.advance, run.advance_rows
    times = interleave(contenders, rounds)
    rows = []
    for run in runs:
        n_arms = run.setting.problem.n_arms
        step, row = times[f"step {n_arms}"], times[f"row {n_arms}"]
        costs = run.ours.costs_evaluated - run.before
        rows.append(
            _describe(run.kind, run.setting)
            | {
                "given_up": False,
                "steps_a_round": run.steps,
                "microseconds": spread(step / 1e3),
                "row_microseconds": spread(row / 1e3),
                "over_row": ratio(step, row),
                "costs_a_step": costs / (rounds * run.steps),
                "state_bytes": run.ours.state_bytes,
                "rounds_with_wrong_clusters": run.wrong,
            }
        )
    return rows


def _describe(kind: str, setting: Setting) -> dict[str, Any]:
    problem = setting.problem
    return {
        "kind": kind,
        "arms": problem.n_arms,
        "clusters": problem.n_clusters,
        "features": problem.n_features,
    }
