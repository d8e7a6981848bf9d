"""``linkarms reproduce``: the paper's figures and tables from our code, with the paper's own numbers beside them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from linkarms.cli._options import Backend, Jobs, Json, Quiet, Seed
from linkarms.cli._output import plain_table, print_json
from linkarms.cli._parse import parse_trials
from linkarms.errors import InvalidInput, require

__all__ = ["reproduce"]

What = Annotated[
    list[str], typer.Argument(metavar="PIECE...", help="figure1 ... figure5, table1, table2, or all.")
]
Trials = Annotated[
    str | None,
    typer.Option(
        metavar="N|RULE=N,...",
        help="Runs of each curve, or of the curves of some rules. [default: the paper's, curve by curve]",
    ),
]
Out = Annotated[
    Path, typer.Option(metavar="FOLDER", help="Where pictures, tables, the report and finished trials go.")
]
Markdown = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write the report as a Markdown page.")
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Few runs per curve: a few minutes in all, with wide intervals.")
]
Taxi = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="TLC trip records and zone lookup, for figure4.")
]
MovieLens = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="HetRec or MovieLens ratings, for figure5.")
]


def reproduce(
    what: What,
    trials: Trials = None,
    out: Out = Path("linkarms-paper"),
    markdown: Markdown = None,
    quick: Quick = False,
    taxi: Taxi = None,
    movielens: MovieLens = None,
    n_jobs: Jobs = -1,
    backend: Backend = "local",
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments and compare its numbers with ours.

    Each figure and table is written with the paper's numbers next to ours. Finished trials are kept in --out: an interrupted run
    continues there, and nothing is run twice unless its settings change. Without --taxi or --movielens, `all` leaves out figure4 or
    figure5 and says so. The exit code is 1 if a number is farther from the paper's than it should be.

    \b
    Examples:
      linkarms reproduce all --quick
      linkarms reproduce figure2 table1 --trials 50 --out fig2
      linkarms reproduce figure4 --taxi ~/data/taxi --json
    """
    require("matplotlib", "plots")
    _check_folder(out)
    if markdown is not None and not markdown.parent.is_dir():
        raise InvalidInput(f"--markdown {markdown}: there is no directory {markdown.parent}")
    from linkarms.paper import reproduce as run
    from linkarms.plots import write_report

    found = run(
        what,
        trials=None if trials is None else parse_trials(trials),
        quick=quick,
        seed=seed,
        n_jobs=n_jobs,
        backend=backend,
        taxi=taxi,
        movielens=movielens,
        store=out / "runs",
        progress=not quiet,
    )
    words = _command(what, trials, quick, seed, taxi is not None, movielens is not None)
    words += _places({"--out": out, "--markdown": markdown})
    command = shlex.join(words)
    write_report(found, out, command=command, markdown=markdown)
    if as_json:
        print_json({**found.to_dict(), "report": str(out / "report.html")})
    else:
        _print_table(found)
        print(f"report: {out / 'report.html'}")
    raise typer.Exit(0 if found.agrees else 1)


def _check_folder(out: Path) -> None:
    """Find out before a long run whether its results can be kept."""
    try:
        (out / "runs").mkdir(parents=True, exist_ok=True)
        probe = out / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InvalidInput(
            f"--out {out}: this folder cannot be written to ({error.strerror or error}); choose another one"
        ) from error


def _command(
    what: list[str], trials: str | None, quick: bool, seed: int, taxi: bool, movielens: bool
) -> list[str]:
    """Return the command that gives the same numbers again, without the paths of the data."""
    words = ["linkarms", "reproduce", *what]
    words += [] if trials is None else ["--trials", trials]
    words += ["--quick"] if quick else []
    words += ["--seed", str(seed)] if seed else []
    words += ["--taxi", "TAXI"] if taxi else []
    words += ["--movielens", "MOVIELENS"] if movielens else []
    return words


def _places(options: dict[str, Path | None]) -> list[str]:
    """Return the options that say where the report was written; only relative paths, which say nothing about the machine."""
    return [
        word
        for option, path in options.items()
        if path is not None and not path.is_absolute() and ".." not in path.parts
        for word in (option, path.as_posix())
    ]


def _print_table(found: Any) -> None:
    table = plain_table("piece", "answer")
    table.columns[1].justify = "left"
    table.columns[1].no_wrap = False
    for name, piece in found.pieces.items():
        table.add_row(name, ("" if piece.agrees else "DIFFERS: ") + piece.answer)
    for name, why in found.not_run.items():
        table.add_row(name, f"not run: {why}")
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(table)
