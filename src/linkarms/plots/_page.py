"""What both pages of a report say: the tables as words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkarms.paper.reproduction import Piece, Reproduction

__all__ = ["DEVIATIONS", "deviation_rows", "number", "overview", "settings_rows", "side_tables"]

DEVIATIONS = (
    "curve",
    "at",
    "linkarms",
    "standard error",
    "trials",
    "paper",
    "deviation",
    "in standard errors",
    "verdict",
)
Table = tuple[tuple[str, ...], list[tuple[str, ...]]]


def number(value: Any) -> str:
    """Return four digits, or whole numbers where there are more; a dash for what is not known."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def overview(reproduction: Reproduction) -> list[tuple[str, str, str]]:
    """Return piece, title and outcome, one row per piece."""
    rows = []
    for name, piece in reproduction.pieces.items():
        judged = any(d.limit is not None for d in piece.deviations) or not piece.deviations
        word = ("agrees: " if judged else "") if piece.agrees else "DIFFERS: "
        rows.append((name, piece.title, word + piece.answer))
    return rows + [(name, "", f"not run: {why}") for name, why in reproduction.not_run.items()]


def deviation_rows(piece: Piece) -> list[tuple[str, ...]]:
    """Return the table of deviations, as words."""
    rows: list[tuple[str, ...]] = []
    for d in piece.deviations:
        rows.append(
            (
                d.curve,
                d.point,
                number(d.ours),
                number(d.standard_error),
                str(d.trials),
                number(d.paper),
                f"{d.percent:+.1f}%",
                "-" if math.isnan(d.standard_errors) else f"{d.standard_errors:+.1f}",
                d.verdict,
            )
        )
    return rows


def side_tables(piece: Piece) -> dict[str, Table]:
    """Return the tables of a piece that say more than its deviations; points of curves are left to the plots."""
    wanted = [
        n
        for n in piece.tables
        if n in ("figure1", "table1", "table2") or n.endswith(("-slopes", "-at-error"))
    ]
    return {name: _table(piece.tables[name]) for name in wanted if piece.tables[name]}


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    heads = tuple(k.replace("_", " ") for k in rows[0])
    return heads, [tuple(number(v) for v in row.values()) for row in rows]


def settings_rows(reproduction: Reproduction) -> list[tuple[str, str]]:
    """Return settings, versions and processor."""
    rows = []
    for key, value in reproduction.settings.items():
        words = (
            "the paper's"
            if key == "trials" and value is None and not reproduction.settings["quick"]
            else value
        )
        rows.append((key, ", ".join(map(str, words)) if isinstance(words, list) else str(words)))
    return rows + [(key, str(value)) for key, value in reproduction.machine.items()]
