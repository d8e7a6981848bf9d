"""What the figures have to show; the only place that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["TARGETS", "Target", "judge"]

Report = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """One figure of a report and the limit it has to keep.

    Attributes
    ----------
    name : str
        A short name.
    what : str
        The figure, in words.
    section : str
        The part of the report that holds it.
    limit : float
        The limit.
    at_least : bool
        Whether the figure has to be at least, or at most, the limit.
    unit : str
        ``"times"``, ``"us"`` (microseconds: of this machine) or ``"MB"``.
    figure : callable
        From the section to the figure; None if it was not measured.
    """

    name: str
    what: str
    section: str
    limit: float
    at_least: bool
    unit: str
    figure: Callable[[Any], float | None]


def _step(rule: str, key: str, problem: str = "scaling(20)") -> Callable[[Any], float | None]:
    """The median under ``key`` on one problem."""

    def find(section: Any) -> float | None:
        rows = [r for r in section["rows"] if (r["problem"], r["rule"]) == (problem, rule)]
        return rows[0][key]["median"] if rows and rows[0][key] is not None else None

    return find


def _row(section: Any, kind: str, arms: int) -> Any:
    rows = [r for r in section["rows"] if (r["kind"], r["arms"]) == (kind, arms) and not r["given_up"]]
    return rows[0] if rows else None


def _growth(kind: str) -> Callable[[Any], float | None]:
    def find(section: Any) -> float | None:
        small, large = _row(section, kind, 100), _row(section, kind, 1000)
        if small is None or large is None:
            return None
        return float(large["microseconds"]["median"] / small["microseconds"]["median"])

    return find


def _over_row(kind: str) -> Callable[[Any], float | None]:
    def find(section: Any) -> float | None:
        row = _row(section, kind, 1000)
        return None if row is None else float(row["over_row"]["median"])

    return find


def _megabytes(kind: str) -> Callable[[Any], float | None]:
    def find(section: Any) -> float | None:
        row = _row(section, kind, 1000)
        return None if row is None or row["state_bytes"] is None else row["state_bytes"] / 1e6

    return find


TARGETS = (
    Target(
        "numpy",
        "(a) NumPy from scratch over EBC-H, M = 20",
        "step",
        200,
        True,
        "times",
        _step("ebc-h", "plain_numpy_over_linkarms"),
    ),
    Target(
        "loop",
        "(b) plain loop over EBC-H, M = 20",
        "step",
        4,
        True,
        "times",
        _step("ebc-h", "loop_over_linkarms"),
    ),
    Target("ebc", "EBC over EBC-H, M = 20", "step", 5, False, "times", _step("ebc", "over_ebc_h")),
    Target("four", "EBC-H, M = 4", "step", 1, False, "us", _step("ebc-h", "microseconds", "scaling(4)")),
    Target(
        "exponential",
        "EBC-H, exponential, M = 6",
        "step",
        5,
        False,
        "us",
        _step("ebc-h", "microseconds", "synthetic2"),
    ),
    *(
        target
        for kind in ("well", "badly")
        for target in (
            Target(
                f"growth-{kind}",
                f"M = 1000 over M = 100, {kind} separated",
                "growth",
                12,
                False,
                "times",
                _growth(kind),
            ),
            Target(
                f"row-{kind}",
                f"step over (c) one row, M = 1000, {kind} separated",
                "growth",
                60,
                False,
                "times",
                _over_row(kind),
            ),
            Target(
                f"memory-{kind}",
                f"memory of the state, M = 1000, {kind} separated",
                "growth",
                100,
                False,
                "MB",
                _megabytes(kind),
            ),
        )
    ),
)


def judge(report: Report) -> list[dict[str, Any]]:
    """Every target of the sections that were run: the limit, the figure (None: not measured), and whether it is met."""
    found = []
    for target in TARGETS:
        if report.get(target.section) is None:
            continue
        figure = target.figure(report[target.section])
        met = figure is not None and (figure >= target.limit if target.at_least else figure <= target.limit)
        found.append(
            {
                "name": target.name,
                "what": target.what,
                "limit": target.limit,
                "at_least": target.at_least,
                "unit": target.unit,
                "figure": figure,
                "met": met,
            }
        )
    return found
