"""How the time of a step grows with the number of arms: ten clusters of equal size, well and badly separated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks import settings
from benchmarks.clock import interleave, ratio, spread
from benchmarks.settings import Setting
from benchmarks.stretch import END, RULE, START, NewRuns, OneRun, Stretch, warm_up
from benchmarks.yardsticks.rows import Rows

__all__ = ["KINDS", "measure_growth"]

KINDS = ("well", "badly")
#: Sizes that are timed in turn; then those that are timed alone, because they need the memory.
_ARMS = {True: ((100, 1000),), False: ((100, 200, 500, 1000, 2000), (5000,))}
#: Up to this many arms, every round has new runs.
_NEW_RUNS = 1000
_ROUNDS = {True: 7, False: 11}
#: Seconds that a round should take at least, and after which a run ends early.
_ROUND, _LONGEST = {True: 0.02, False: 0.1}, {True: 2.0, False: 20.0}
_MOST_ROWS, _PROBE = 100_000, 20
#: Seconds after which the warm-up of one size is given up, and with it all larger sizes.
_PATIENCE = {True: 5.0, False: 300.0}


def measure_growth(quick: bool, seed: int, say: Callable[[float, str], None]) -> dict[str, Any]:
    """Return microseconds per step of EBC-H for each size and kind, beside yardstick (c).

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
        ``rows``, one per kind and size (``given_up`` where it was too slow), and how they were measured.
    """
    rows: list[dict[str, Any]] = []
    jobs = [(kind, sizes) for kind in KINDS for sizes in _ARMS[quick]]
    slow: set[str] = set()
    for i, (kind, sizes) in enumerate(jobs):
        found: list[_Size] = []
        for j, n_arms in enumerate(sizes):
            say((i + j / (2 * len(sizes))) / len(jobs), f"growth: {kind} separated, {n_arms} arms")
            setting = settings.clusters(n_arms, kind, seed)
            size = None if kind in slow else _prepare(kind, setting, quick, seed)
            if size is None:
                slow.add(kind)
                rows.append(_describe(kind, setting) | {"given_up": True})
            else:
                found.append(size)
        say((i + 0.5) / len(jobs), f"growth: {kind} separated, the sizes in turn")
        rows += _take_turns(found, _ROUNDS[quick])
    rows.sort(key=lambda row: (KINDS.index(row["kind"]), row["arms"]))
    return {
        "rule": RULE,
        "warm_up_samples_per_arm": START,
        "end_samples_per_arm": END,
        "rounds": _ROUNDS[quick],
        "patience_seconds": _PATIENCE[quick],
        "longest_seconds": _LONGEST[quick],
        "rows": rows,
    }


class _Size:
    """One number of arms: the stretch and yardstick (c)."""

    def __init__(self, kind: str, stretch: Stretch, row: Rows, seconds: float) -> None:
        self.kind, self.stretch, self.row = kind, stretch, row
        self.n_rows = min(max(int(1e9 * seconds / row.advance(_PROBE)), 1), _MOST_ROWS)

    def advance_rows(self) -> float:
        """Run a round of rows of distances."""
        return self.row.advance(self.n_rows)


def _prepare(kind: str, setting: Setting, quick: bool, seed: int) -> _Size | None:
    """Warm up; return None if that takes too long."""
    first = warm_up(setting, seed, _PATIENCE[quick])
    if first is None:
        return None
    row = Rows(first.engine.core.estimates, seed)
    stretch: Stretch
    if setting.problem.n_arms <= _NEW_RUNS:
        stretch = NewRuns(setting, first, _LONGEST[quick], seed, _ROUND[quick])
    else:
        stretch = OneRun(setting, first, _LONGEST[quick], _ROUNDS[quick])
    return _Size(kind, stretch, row, _ROUND[quick])


def _take_turns(sizes: list[_Size], rounds: int) -> list[dict[str, Any]]:
    contenders: dict[str, Callable[[], float]] = {}
    for size in sizes:
        n_arms = size.stretch.n_arms
        contenders[f"step {n_arms}"], contenders[f"row {n_arms}"] = size.stretch.advance, size.advance_rows
    times = interleave(contenders, rounds)
    rows = []
    for size in sizes:
        n_arms = size.stretch.n_arms
        step, row = times[f"step {n_arms}"], times[f"row {n_arms}"]
        rows.append(
            _describe(size.kind, size.stretch.setting)
            | {
                "given_up": False,
                "microseconds": spread(step / 1e3),
                "row_microseconds": spread(row / 1e3),
                "over_row": ratio(step, row),
            }
            | size.stretch.as_dict()
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
