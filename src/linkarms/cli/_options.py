"""The options that several commands have."""

from __future__ import annotations

import os
from typing import Annotated

import typer

__all__ = [
    "Delta",
    "Epsilon",
    "Json",
    "MaxSamples",
    "ProblemName",
    "Quiet",
    "Seed",
    "Stopping",
    "Theta",
]


def _hush(quiet: bool) -> bool:
    if quiet:
        os.environ["LINKARMS_QUIET"] = "1"  # nothing about compiling either; `run` puts it back
    return quiet


Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_hush, help="No progress, no remarks: only the answer.")
]
ProblemName = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM",
        help="synthetic1, synthetic2[:mean], scaling[:ARMS], or a .json file (see below).",
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same run.")]
Delta = Annotated[float, typer.Option(help="The promised error probability.")]
Stopping = Annotated[
    str | None,
    typer.Option(metavar="RULE", help="When to stop: paper (needs --theta). There is no default."),
]
Theta = Annotated[
    str | None,
    typer.Option(metavar="LO,HI", help="Where all parameters lie; for --stopping paper."),
]
Epsilon = Annotated[
    float | None,
    typer.Option(help="Width of the paper's rule; smaller for harder problems. [default: 0.01]"),
]
MaxSamples = Annotated[int | None, typer.Option(help="Give up after so many samples.")]
