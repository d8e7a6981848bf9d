"""What a reproduction returns."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkarms.errors import InvalidInput
from linkarms.paper.reproduction._deviation import Deviation

__all__ = ["Piece", "Reproduction", "write_csv"]

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Piece:
    """One figure or table.

    Attributes
    ----------
    name, title : str
        ``"figure2"``, and what it is.
    content : LinkageSteps, StoppingTimes, Slopes, RunTimes or Experiment
        Our numbers, for a picture.
    deviations : tuple of Deviation
        Ours beside the paper's.
    tables : dict of str to rows
        What is written to CSV files, by the name of the file.
    settings : dict
        What was set.
    remarks : tuple of str
        What a reader should know.
    mistakes : tuple of str
        Where ours differs in kind, in words; these count against agreement, as a number beyond its limit does.
    missing : tuple of str
        Curves that this version cannot run.

    Examples
    --------
    >>> from linkarms.paper import reproduce
    >>> piece = reproduce("figure1")["figure1"]
    >>> piece.agrees, piece.answer
    (True, "the same as the paper's")
    """

    name: str
    title: str
    content: Any = field(repr=False)
    deviations: tuple[Deviation, ...] = field(repr=False)
    tables: Mapping[str, Rows] = field(repr=False)
    settings: Mapping[str, Any]
    remarks: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def beyond(self) -> tuple[Deviation, ...]:
        """The numbers that are farther from the paper's than they should be."""
        return tuple(d for d in self.deviations if d.verdict == "beyond")

    @property
    def agrees(self) -> bool:
        """Whether everything that was asked for is there and within its limits."""
        return not (self.beyond or self.mistakes or self.missing)

    @property
    def answer(self) -> str:
        """The outcome in a few words."""
        judged = sum(d.limit is not None for d in self.deviations)
        words = []
        if judged:
            words.append(f"{judged - len(self.beyond)} of {judged} numbers within their limits")
        if judged < len(self.deviations):
            words.append(f"{len(self.deviations) - judged} for information")
        words += self.mistakes
        words += [f"not available: {name}" for name in self.missing]
        return "; ".join(words) or "the same as the paper's"


@dataclass(frozen=True)
class Reproduction:
    """Figures and tables of the paper, from our code.

    Attributes
    ----------
    pieces : dict of str to Piece
        By name.
    not_run : dict of str to str
        Pieces that were not run, and why.
    settings : dict
        What was set for all of them.
    machine : dict
        Processor and versions.

    Examples
    --------
    >>> from linkarms.paper import reproduce
    >>> found = reproduce("figure1")
    >>> list(found.pieces), found.agrees
    (['figure1'], True)
    """

    pieces: Mapping[str, Piece]
    not_run: Mapping[str, str]
    settings: Mapping[str, Any]
    machine: Mapping[str, Any]

    def __getitem__(self, name: str) -> Piece:
        return self.pieces[name]

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """The deviations of all pieces."""
        return tuple(d for piece in self.pieces.values() for d in piece.deviations)

    @property
    def agrees(self) -> bool:
        """Whether every piece that was run agrees with the paper."""
        return all(piece.agrees for piece in self.pieces.values())

    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write the tables of all pieces, and ``deviations.csv``; returns the paths."""
        tables = {name: rows for piece in self.pieces.values() for name, rows in piece.tables.items()}
        tables["deviations"] = [d.to_dict() for d in self.deviations]
        return [write_csv(Path(folder) / f"{name}.csv", rows) for name, rows in tables.items() if rows]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "agrees": self.agrees,
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "not_run": dict(self.not_run),
            "pieces": {
                name: {
                    "title": piece.title,
                    "agrees": piece.agrees,
                    "answer": piece.answer,
                    "settings": dict(piece.settings),
                    "remarks": list(piece.remarks),
                    "deviations": [d.to_dict() for d in piece.deviations],
                }
                for name, piece in self.pieces.items()
            },
        }

    def __str__(self) -> str:
        lines = [f"{name}: {piece.answer}" for name, piece in self.pieces.items()]
        lines += [f"{name}: not run: {why}" for name, why in self.not_run.items()]
        return "\n".join(lines)


def write_csv(path: Path, rows: Rows) -> Path:
    """Write rows; what is not known, or not finite, is left empty."""

    def cell(value: Any) -> Any:
        return "" if value is None or (isinstance(value, float) and not math.isfinite(value)) else value

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({k: cell(v) for k, v in row.items()} for row in rows)
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be written: {error.strerror or error}") from error
    return path
