"""``linkarms audit``: does a rule keep its promise on a problem whose answer is known?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from linkarms.cli._options import (
    Backend,
    Budget,
    Deltas,
    Epsilon,
    Jobs,
    Json,
    ProblemName,
    Quiet,
    Seed,
    Stopping,
    Theta,
)
from linkarms.cli._output import plain_table, print_json
from linkarms.cli._parse import parse_numbers, parse_problem, parse_stopping

__all__ = ["audit"]

Sampling = Annotated[str, typer.Option(metavar="RULE", help="Which arm to pull: ebc, ebc-h, round-robin.")]
Trials = Annotated[int, typer.Option(metavar="N", help="Runs.")]
Weaken = Annotated[
    float, typer.Option(metavar="X", help="Divide the threshold by X: the audit should catch that.")
]


def audit(
    problem: ProblemName,
    sampling: Sampling = "ebc-h",
    stopping: Stopping = None,
    theta: Theta = None,
    epsilon: Epsilon = None,
    deltas: Deltas = "0.1,0.01",
    trials: Trials = 1000,
    weaken: Weaken = 1.0,
    n_jobs: Jobs = -1,
    backend: Backend = "local",
    max_samples: Budget = 1_000_000,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count the errors of a rule, and compare them with its promise.

    The problem is a name or a JSON file, as for `linkarms simulate`. Runs that did not stop within --max-samples
    are not errors; they are counted separately. The exit code is 1 if the promise is broken at 99% confidence (for each
    delta), or if no run stopped, so that there is nothing to judge.

    \b
    Examples:
      linkarms audit synthetic1
      linkarms audit mine.json --deltas 0.2,0.1 --trials 10000 --json
      linkarms audit synthetic1 --weaken 10
      linkarms audit synthetic1 --stopping paper --theta -5,5 --sampling ebc
    """
    import linkarms as la

    found = la.audit(
        parse_problem(problem),
        sampling,
        stopping=parse_stopping(stopping, theta, epsilon),
        deltas=parse_numbers(deltas, "--deltas"),
        trials=trials,
        weaken=weaken,
        seed=seed,
        max_samples=max_samples,
        n_jobs=n_jobs,
        backend=backend,
        progress=not quiet,
    )
    if as_json:
        print_json({"problem": problem, "seed": seed, "weaken": weaken, **found.to_dict()})
    else:
        # A table in a file or a pipe is not cut to the width of a screen.
        console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 240)
        console.print(Text(found.head()))
        head, cells = found.table()
        table = plain_table(*head)
        for row in cells:
            table.add_row(*map(Text, row))
        console.print(table)
        console.print(Text(found.conclusion()))
    if found.rows[0].trials < trials and not quiet:
        print(f"linkarms: interrupted after {found.rows[0].trials} of {trials} runs", file=sys.stderr)
    raise typer.Exit(0 if found.passed else 1)
