"""The time of one step on the paper's run-time problem, beside yardsticks (a), (a') and (b), and on exponential arms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import settings
from benchmarks.clock import interleave, nanoseconds, ratio, spread
from benchmarks.ours import Ours
from benchmarks.paper import published
from benchmarks.settings import Setting
from benchmarks.yardsticks import YARDSTICKS
from benchmarks.yardsticks.record import Trajectory, check, check_evidence, record
from linkarms.errors import LinkarmsError

__all__ = ["CHECKED", "RULES", "measure_step"]

RULES = ("ebc-h", "ebc")
#: Samples per arm, on average, before anything is checked or timed.
WARM_UP = 50
#: Steps along which a yardstick has to agree with the engine before it is timed.
CHECKED = 200
#: Rounds, and steps per round; --quick and not.
_SIZE = {True: (7, 2000), False: (15, 4000)}
_ARMS = {True: (4, 20), False: (4, 8, 14, 20)}


def measure_step(quick: bool, seed: int, say: Callable[[float, str], None]) -> dict[str, Any]:
    """Return microseconds per step, rule by rule and problem by problem.

    Parameters
    ----------
    quick : bool
        Fewer problems, rounds and steps.
    seed : int
        Fixes the samples.
    say : callable
        Told the fraction of the work that is done, and what is going on.

    Returns
    -------
    dict
        ``rows``, one per problem and rule, and how they were measured.
    """
    rounds, steps = _SIZE[quick]
    jobs = [(settings.scaling(m), True) for m in _ARMS[quick]] + [(settings.exponential(), False)]
    rows: list[dict[str, Any]] = []
    for i, (setting, yardsticks) in enumerate(jobs):
        say(i / len(jobs), f"step: {setting.name}")
        rows += _one_problem(setting, yardsticks, rounds, steps, seed)
    return {
        "warm_up_samples_per_arm": WARM_UP,
        "rounds": rounds,
        "steps_per_round": steps,
        "checked_steps": CHECKED,
        "rows": rows,
    }


class _Timed:
    """A yardstick that follows the engine's trajectory, round by round."""

    def __init__(self, name: str, track: Trajectory, steps: int) -> None:
        self.name, self.track, self.steps, self.at = name, track, steps, CHECKED
        self.yardstick = YARDSTICKS[name](track.setting, track.rule, track.start)
        check(name, self.yardstick, track, CHECKED)

    def advance(self) -> float:
        """Run one round; return nanoseconds per step."""
        part = slice(self.at, self.at + self.steps)
        arms, statistics = self.track.arms[part], self.track.statistics[part]
        start = nanoseconds()
        evidence, _ = self.yardstick.run(arms, statistics)
        elapsed = nanoseconds() - start
        check_evidence(self.name, evidence, self.track.evidence[part])
        self.at += self.steps
        return elapsed / self.steps


def _one_problem(
    setting: Setting, yardsticks: bool, rounds: int, steps: int, seed: int
) -> list[dict[str, Any]]:
    """Time all rules and yardsticks on one problem, in turn; return one row per rule."""
    warm_up = WARM_UP * setting.problem.n_arms
    ours: dict[str, Ours] = {}
    tracks: dict[str, Trajectory] = {}
    contenders: dict[str, Callable[[], float]] = {}
    for rule in RULES:
        mine = ours[rule] = Ours(setting, rule, seed)
        mine.advance(warm_up + CHECKED)
        contenders[rule] = lambda mine=mine: mine.advance(steps)  # type: ignore[misc]
        if yardsticks:
            tracks[rule] = record(setting, rule, warm_up, CHECKED + rounds * steps, seed)
            for name in (name for name, kind in YARDSTICKS.items() if rule in kind.rules):
                contenders[f"{name} {rule}"] = _Timed(name, tracks[rule], steps).advance
    before = {rule: ours[rule].costs_evaluated for rule in RULES}
    times = interleave(contenders, rounds)
    for rule, track in tracks.items():
        _same_trajectory(ours[rule], track)
    return [_row(setting, rule, ours[rule], before[rule], times, rounds * steps) for rule in RULES]


def _same_trajectory(mine: Ours, track: Trajectory) -> None:
    counts = track.start.counts + np.bincount(track.arms, minlength=len(track.start.counts))
    if not np.array_equal(mine.counts, counts):
        raise LinkarmsError(
            f"the engine pulled other arms under the clock than before, on {track.setting.name} with {track.rule}: "
            "the times cannot be compared; report this"
        )


def _row(
    setting: Setting,
    rule: str,
    mine: Ours,
    before: int,
    times: dict[str, NDArray[np.float64]],
    steps: int,
) -> dict[str, Any]:
    problem, own = setting.problem, times[rule]
    others = {name: times.get(f"{name} {rule}") for name in YARDSTICKS}
    return {
        "problem": setting.name,
        "family": problem.families[0].name,
        "arms": problem.n_arms,
        "clusters": problem.n_clusters,
        "features": problem.n_features,
        "rule": rule,
        "microseconds": spread(own / 1e3),
        **{f"{name}_microseconds": None if x is None else spread(x / 1e3) for name, x in others.items()},
        **{f"{name}_over_linkarms": None if x is None else ratio(x, own) for name, x in others.items()},
        "over_ebc_h": ratio(own, times["ebc-h"]),
        "costs_per_step": (mine.costs_evaluated - before) / steps,
        "state_bytes": mine.state_bytes,
        "paper_milliseconds": published(rule, problem.n_arms) if setting.name.startswith("scaling") else None,
    }
