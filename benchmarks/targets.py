"""What the figures have to show; the only place that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["TARGETS", "Target", "judge"]

Report = dict[str, Any]
Find = Callable[[Any], float | None]


@dataclass(frozen=True)
class Target:
    """One figure of a report and its limit.

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
        ``"times"``, ``"us"`` (microseconds: of this machine), ``"s"`` or ``"MB"``.
    figure : callable
        From the section to the figure; None if it was not measured.
    """

    name: str
    what: str
    section: str
    limit: float
    at_least: bool
    unit: str
    figure: Find

    def judge(self, report: Report) -> dict[str, Any]:
        """Return the limit, the figure (None: not measured), and whether it is met."""
        figure = self.figure(report[self.section])
        met = figure is not None and (figure >= self.limit if self.at_least else figure <= self.limit)
        fields = ("name", "what", "limit", "at_least", "unit")
        return {**{field: getattr(self, field) for field in fields}, "figure": figure, "met": met}


def _step(rule: str, key: str, problem: str = "scaling(20)") -> Find:
    """Return the median under ``key`` on one problem."""

    def find(section: Any) -> float | None:
        rows = [r for r in section["rows"] if (r["problem"], r["rule"]) == (problem, rule)]
        return rows[0][key]["median"] if rows and rows[0][key] is not None else None

    return find


def _size(section: Any, kind: str, arms: int) -> Any:
    rows = [r for r in section["rows"] if (r["kind"], r["arms"]) == (kind, arms) and not r["given_up"]]
    return rows[0] if rows else None


def _growth(kind: str) -> Find:
    def find(section: Any) -> float | None:
        small, large = _size(section, kind, 100), _size(section, kind, 1000)
        if small is None or large is None:
            return None
        return float(large["microseconds"]["median"] / small["microseconds"]["median"])

    return find


def _over_row(kind: str) -> Find:
    def find(section: Any) -> float | None:
        row = _size(section, kind, 1000)
        return None if row is None else float(row["over_row"]["median"])

    return find


def _megabytes(kind: str) -> Find:
    def find(section: Any) -> float | None:
        row = _size(section, kind, 1000)
        return None if row is None else row["state_bytes"] / 1e6

    return find


def _startup(key: str) -> Find:
    return lambda section: float(section[key]["median"])


def _slowest_family(section: Any) -> float:
    return max(float(x["median"]) for x in section["cluster_seconds"].values())


def _at_least(name: str, what: str, section: str, limit: float, unit: str, figure: Find) -> Target:
    return Target(name, what, section, limit, True, unit, figure)


def _at_most(name: str, what: str, section: str, limit: float, unit: str, figure: Find) -> Target:
    return Target(name, what, section, limit, False, unit, figure)


_NUMPY, _LOOP = (_step("ebc-h", f"{name}_over_linkarms") for name in ("plain_numpy", "loop"))
_FOUR, _EXPONENTIAL = (_step("ebc-h", "microseconds", problem) for problem in ("scaling(4)", "synthetic2"))
TARGETS = (
    _at_least("numpy", "(a) NumPy from scratch over EBC-H, M = 20", "step", 200, "times", _NUMPY),
    _at_least("loop", "(b) plain loop over EBC-H, M = 20", "step", 4, "times", _LOOP),
    _at_most("ebc", "EBC over EBC-H, M = 20", "step", 5, "times", _step("ebc", "over_ebc_h")),
    _at_most("four", "EBC-H, M = 4", "step", 1, "us", _FOUR),
    _at_most("exponential", "EBC-H, exponential, M = 6", "step", 5, "us", _EXPONENTIAL),
    *(
        _at_most(f"{name}-{kind}", f"{what}, {kind} separated", "growth", limit, unit, figure(kind))
        for kind in ("well", "badly")
        for name, what, limit, unit, figure in (
            ("growth", "M = 1000 over M = 100", 12, "times", _growth),
            ("row", "step over (c) one row, M = 1000", 60, "times", _over_row),
            ("memory", "memory of the state, M = 1000", 100, "MB", _megabytes),
        )
    ),
    _at_most("import", "import linkarms", "startup", 0.15, "s", _startup("import_seconds")),
    _at_most("help", "linkarms --help", "startup", 0.4, "s", _startup("help_seconds")),
    _at_most("answer", "ask and tell", "startup", 1.0, "s", _startup("first_answer_seconds")),
    _at_most("cluster", "la.cluster, the slowest family", "startup", 1.5, "s", _slowest_family),
)


def judge(report: Report) -> list[dict[str, Any]]:
    """Return every target of the sections that were run."""
    return [target.judge(report) for target in TARGETS if report.get(target.section) is not None]
