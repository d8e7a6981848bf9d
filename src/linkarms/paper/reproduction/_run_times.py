"""Table 2: time per sample, by the number of arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkarms.montecarlo import simulate
from linkarms.paper._chunks import load_chunk, save_chunk, settings_digest
from linkarms.paper.published import run_times
from linkarms.paper.reproduction._deviation import compare
from linkarms.paper.reproduction._piece import Piece
from linkarms.paper.reproduction._runs import Execution, available
from linkarms.problem import Problem, problems
from linkarms.stopping import Paper

__all__ = ["REFERENCE", "RunTime", "RunTimes", "run_table2"]

#: The rule whose time the others' are divided by.
REFERENCE = "ebc-h"
#: Rules that stop by themselves; the others are run with the paper's stop.
_OWN_STOP = ("atboc", "lucbboc")
_DELTA, _EPSILON = 1e-10, 0.01
#: Distance between the true means and the ends of Theta.
_ROOM = 10.0
#: Repetitions, runs in each, and the most samples of a run: quick and not.
_SIZE = {True: (2, 2, 1000), False: (5, 5, 5000)}


@dataclass(frozen=True)
class RunTime:
    """One cell of the table.

    Attributes
    ----------
    rule, arms
        Which.
    milliseconds : tuple of float
        Processor time per sample in each repetition, with the time to draw the samples.
    samples : int
        Samples of all repetitions.
    paper : float
        The paper's, on its authors' machine.
    """

    rule: str
    arms: int
    milliseconds: tuple[float, ...]
    samples: int
    paper: float

    @property
    def median(self) -> float:
        """The median over the repetitions."""
        return float(np.median(self.milliseconds))


@dataclass(frozen=True)
class RunTimes:
    """Table 2."""

    cells: tuple[RunTime, ...]

    def ratio(self, cell: RunTime) -> tuple[float, float]:
        """Return the time over that of EBC-H with as many arms: ours, and the paper's; NaN where EBC-H was not run."""
        reference = [c for c in self.cells if (c.rule, c.arms) == (REFERENCE, cell.arms)]
        if not reference:
            return math.nan, math.nan
        return cell.median / reference[0].median, cell.paper / reference[0].paper


def run_table2(trials: int | None, quick: bool, seed: int, execution: Execution) -> Piece:
    """Measure Table 2, one run at a time in this process, whatever the backend."""
    repetitions, runs, most = _SIZE[quick]
    repetitions = min(repetitions, trials or repetitions)
    table = run_times()
    wanted = [(rule, arms) for rule in table if available(rule) for arms in table[rule]]
    cells = []
    for i, (rule, arms) in enumerate(wanted):
        execution.say(i / len(wanted), f"time of {rule}, {arms} arms")
        cells.append(_cell(rule, arms, (repetitions, runs, most), seed, execution))
    content = RunTimes(tuple(cells))
    return Piece(
        "table2",
        "Time per sample, in milliseconds",
        content,
        tuple(
            compare(("table2", c.rule, f"{c.arms} arms"), np.array(c.milliseconds), c.paper) for c in cells
        ),
        {"table2": [_row(content, c) for c in cells]},
        {
            "delta": _DELTA,
            "epsilon": _EPSILON,
            "repetitions": repetitions,
            "runs": runs,
            "max_samples": most,
            "seed": seed,
        },
        (
            "Another machine and other programs: the times cannot be expected to agree. What can be compared is how they grow with the "
            "number of arms, and their ratios.",
            *_growth(content),
        ),
        (),
        tuple(rule for rule in table if not available(rule)),
    )


def _cell(rule: str, arms: int, size: tuple[int, int, int], seed: int, execution: Execution) -> RunTime:
    repetitions, runs, most = size
    problem = problems.scaling(arms)
    stop = None if rule in _OWN_STOP else _stop(problem)
    spec = {
        "table2": [rule, arms, runs, most, seed, _DELTA],
        "stop": None if stop is None else stop.to_dict(),
    }
    folder = None if execution.store is None else execution.store / settings_digest(spec)
    times: list[float] = []
    samples = 0
    for i in range(repetitions):
        found = load_chunk(folder, f"{i:05}")
        if found is None:
            common: dict[str, Any] = {"stopping": stop, "deltas": [_DELTA], "seed": seed, "max_samples": most}
            if not times:  # what is compiled on the way is not counted
                simulate(problem, rule, trials=1, **common)
            s = simulate(problem, rule, trials=runs, first_trial=i * runs, **common)
            if s.completed < runs:
                raise KeyboardInterrupt
            (r,) = s.values()
            used = np.where(r.stopping_times < 0, most, r.stopping_times)
            found = {"microseconds": r.microseconds_per_sample, "samples": int(used.sum())}
            save_chunk(folder, f"{i:05}", found)
        times.append(found["microseconds"] / 1e3)
        samples += found["samples"]
    return RunTime(rule, arms, tuple(times), samples, run_times()[rule][arms])


def _stop(problem: Problem) -> Paper:
    low, high = float(problem.parameters.min()) - _ROOM, float(problem.parameters.max()) + _ROOM
    return Paper((low, high), _EPSILON)


def _row(content: RunTimes, cell: RunTime) -> dict[str, Any]:
    ours, theirs = content.ratio(cell)
    return {
        "rule": cell.rule,
        "arms": cell.arms,
        "milliseconds": cell.median,
        "low": min(cell.milliseconds),
        "high": max(cell.milliseconds),
        "samples": cell.samples,
        "paper_milliseconds": cell.paper,
        "paper_over_ours": cell.paper / cell.median,
        "over_ebc_h": ours,
        "paper_over_ebc_h": theirs,
    }


def _growth(content: RunTimes) -> list[str]:
    """From the fewest arms to the most, ours and theirs."""
    words = []
    for rule in dict.fromkeys(c.rule for c in content.cells):
        mine = [c for c in content.cells if c.rule == rule]
        first, last = mine[0], mine[-1]
        words.append(
            f"{rule}: from {first.arms} to {last.arms} arms the time grows {last.median / first.median:.1f}-fold, in the paper "
            f"{last.paper / first.paper:.1f}-fold."
        )
    return words
