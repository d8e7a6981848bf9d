"""The answer, on stdout and in a file."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from linkarms._words import plural
from linkarms.cli._colors import terminal_color
from linkarms.cli._wording import in_options
from linkarms.errors import InvalidInput, require

if TYPE_CHECKING:
    from linkarms.plots import History
    from linkarms.result import Result

__all__ = ["answer", "check_out", "plain_table", "print_json", "print_result", "write_out"]

_PICTURES = (".png", ".svg", ".pdf")


def plain_table(*columns: str) -> Table:
    """An empty table: the first column to the left, the others to the right."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(columns):
        table.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
    return table


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on stdout."""
    print(json.dumps(content, allow_nan=False))


def print_result(result: Result) -> None:
    """The clusters in words on stdout."""
    console = Console(highlight=False, soft_wrap=True)
    price = "" if result.costs is None else f" that cost {result.cost:,.6g}"
    head = f"{plural(len(result.clusters), 'cluster')}, {plural(result.samples, 'sample')}{price}"
    console.print(Text(head, style="bold"))
    for label, arms in enumerate(result.clusters):
        line = Text("  ")
        line.append(f"● {label}", style=terminal_color(label, console))
        line.append(": " + ", ".join(map(str, arms)))
        console.print(line)
    console.print(Text(in_options(result.reason)))
    if result.has_cuts and result.cuts:
        counts = ", ".join(str(cut.n_clusters) for cut in result.cuts)
        what = ": the cut" if len(result.cuts) == 1 else ", all together: the cuts"
        console.print(Text(f"certified at delta={result.delta:g}{what} into {counts} clusters"))
    for warning in result.warnings:
        console.print(Text("warning: ", style="bold").append(Text(in_options(warning), style="not bold")))


def answer(result: Result) -> dict[str, Any]:
    """The answer as plain data, with certified cuts and what contradicts the family."""
    return result.to_dict(cuts=result.has_cuts) | {"warnings": result.warnings}


def check_out(path: Path) -> None:
    """Find out before a long run whether its result can be written."""
    suffix = path.suffix.lower()
    if suffix not in (*_PICTURES, ".csv", ".json"):
        raise InvalidInput(f"--out {path}: it has to end in .png, .svg or .pdf (a picture), .csv or .json")
    if not path.parent.is_dir():
        raise InvalidInput(f"--out {path}: there is no directory {path.parent}")
    if path.is_dir():
        raise InvalidInput(f"--out {path}: this is a directory; name a file")
    if suffix in _PICTURES:
        require("matplotlib", "plots")


def write_out(path: Path, result: Result, history: History, true_parameters: Any = None) -> None:
    """Write a picture, a table or JSON, by the ending of the name."""
    suffix = path.suffix.lower()
    try:
        if suffix == ".json":
            path.write_text(json.dumps(answer(result), allow_nan=False) + "\n", encoding="utf-8")
        elif suffix == ".csv":
            _write_csv(path, result)
        else:
            from linkarms.plots import summary

            page = summary(
                result, history if len(history.samples) > 1 else None, true_parameters=true_parameters
            )
            page.savefig(path)
    except OSError as error:
        raise InvalidInput(f"--out {path}: cannot be written: {error.strerror or error}") from error


def _write_csv(path: Path, result: Result) -> None:
    """One row per arm, the columns of ``Result.to_frame``; what is not known yet is empty."""
    from linkarms.result import table_of

    columns = table_of(result)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for cells in zip(*columns.values(), strict=True):
            writer.writerow([None if cell != cell else cell for cell in cells])  # NaN
