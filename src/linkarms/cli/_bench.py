"""``linkarms bench``: how fast linkarms is on this machine."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.text import Text

from linkarms._progress import Progress
from linkarms.cli._options import Json, Quiet, Seed
from linkarms.cli._output import plain_table, print_json

__all__ = ["bench"]


def bench(seed: Seed = 0, as_json: Json = False, quiet: Quiet = False) -> None:
    """Time linkarms on this machine: a few seconds.

    It shows microseconds per sample for a few problems, milliseconds per simulated trial, the time of the
    import and the time to a first answer, each with the median and the quartiles of a few rounds. The
    benchmarks of the project itself, with what they are compared with, are in its repository.

    \b
    Examples:
      linkarms bench
      linkarms bench --json --quiet
    """
    from linkarms._validate import check_integer
    from linkarms.cli._timing import measure

    check_integer("seed", seed, 0)
    with Progress("bench", enabled=not quiet) as bar:
        report = measure(seed, bar.update)
    if as_json:
        print_json(report)
    else:
        _print(report)


def _print(report: dict[str, Any]) -> None:
    m = report["machine"]
    versions = ", ".join(f"{name} {m[name]}" for name in ("linkarms", "python", "numpy", "scipy"))
    load = "" if m["load_average"] is None else f", load {m['load_average']:g}"
    # A table in a file or a pipe is not cut to the width of a screen.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    console.print(Text(f"{m['cpu']}, {m['cores']} cores{load}; {versions}"))
    table = plain_table("what", "median", "quartiles", "unit")
    for step in report["steps"]:
        what = f"one sample, {step['family']}, {step['arms']} arms, {step['rule']}"
        table.add_row(*_cells(what, step["microseconds"], "us"))
    table.add_row(*_cells("one trial, synthetic1, anytime rule", report["trial_milliseconds"], "ms"))
    table.add_row(*_cells("import linkarms", report["import_seconds"], "s"))
    table.add_row(*_cells("first answer, from the start of python", report["first_answer_seconds"], "s"))
    console.print(table)


def _cells(what: str, times: dict[str, float], unit: str) -> tuple[str, ...]:
    return what, f"{times['median']:.3g}", f"{times['low']:.3g} to {times['high']:.3g}", unit
