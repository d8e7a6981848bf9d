"""``linkarms bench``: how fast a step is, beside yardsticks taken in the same run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from linkarms.cli._options import Json, Quiet, Seed
from linkarms.cli._output import check_out, print_json
from linkarms.errors import InvalidInput

__all__ = ["bench"]

Quick = Annotated[
    bool, typer.Option("--quick", help="Fewer sizes and rounds: under a minute once all is compiled.")
]
Only = Annotated[
    str | None, typer.Option(metavar="SECTION", help="One section: step, growth or startup. [default: all]")
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the figures to a .json file.")]


def bench(
    quick: Quick = False,
    only: Only = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the time of a step beside the same step in NumPy, a plain compiled loop, and one row of distances.

    All of them go through the same samples, in turn, in one run; medians and quartiles are shown, and the
    paper's own times, which are another machine's. The exit code is 1 if a target is missed.

    Examples:

    - linkarms bench --quick

    - linkarms bench --only step --json

    - linkarms bench --out results.json
    """
    if out is not None:
        if out.suffix.lower() != ".json":
            raise InvalidInput(f"--out {out}: it has to end in .json")
        check_out(out)
    from linkarms.bench import run

    report = run(only, quick=quick, seed=seed, progress=not quiet)
    if out is not None:
        _write(out, report)
    if as_json:
        print_json(report)
    else:
        _print_tables(report)
    raise typer.Exit(0 if all(t["met"] for t in report["targets"]) else 1)


def _write(path: Path, report: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(report, allow_nan=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"--out {path}: cannot be written: {error.strerror or error}") from error


def _print_tables(report: dict[str, Any]) -> None:
    from linkarms.bench import tables

    # A table in a file or a pipe is not cut to the width of a screen.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    for content in tables(report):
        shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=content.title, title_justify="left")
        for i, name in enumerate(content.columns):
            shown.add_column(name, justify="left" if i == 0 else "right")
        for row in content.rows:
            shown.add_row(*(Text(word, style="bold red" if word == "NO" else "") for word in row))
        console.print(shown)
        if content.remark:
            console.print(Text(content.remark, style="dim"))
