"""``linkarms plan``: what to expect before the first sample."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from linkarms.cli._options import Budget, Delta, Epsilon, Json, ProblemName, Quiet, Seed, Theta
from linkarms.cli._output import plain_table, print_json
from linkarms.cli._parse import parse_list, parse_problem, parse_stopping

__all__ = ["plan"]

Sampling = Annotated[str | None, typer.Option(metavar="RULE[,RULE]", help="Sampling rules. [default: all]")]
Stopping = Annotated[
    str | None,
    typer.Option(metavar="RULE", help="When to stop: anytime, or paper (needs --theta). [default: both]"),
]
Trials = Annotated[int, typer.Option(metavar="N", help="Simulated runs of each pair of rules.")]
Jobs = Annotated[int, typer.Option("--n-jobs", help="Threads; -1 for one per core.")]


def plan(
    problem: ProblemName,
    delta: Delta = 0.05,
    sampling: Sampling = None,
    stopping: Stopping = None,
    theta: Theta = None,
    epsilon: Epsilon = None,
    trials: Trials = 100,
    max_samples: Budget = 100_000,
    n_jobs: Jobs = -1,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate how many samples to budget for, from a guess.

    Put a guess of the parameters into a JSON file, as for `linkarms simulate`. Without --stopping all rules
    are tried, the paper's with a Theta and an epsilon that suit the guess. The exit code is 1 if no pair of
    rules stopped in all runs.

    \b
    Examples:
      linkarms plan synthetic1 --delta 0.01
      linkarms plan mine.json --sampling ebc-h --stopping anytime --trials 200
      linkarms plan mine.json --json
    """
    import linkarms as la

    known = parse_problem(problem)
    asked = any(word is not None for word in (stopping, theta, epsilon))
    rule = parse_stopping(stopping, theta, epsilon) if asked else None
    found = la.plan(
        known.parameters,
        known.goal.n_clusters,
        known.family,
        delta,
        sampling=None if sampling is None else parse_list(sampling, "--sampling"),
        stopping=rule,
        arms=known.arms,
        costs=known.costs,
        trials=trials,
        max_samples=max_samples,
        seed=seed,
        n_jobs=n_jobs,
        progress=not quiet,
        **known.goal.settings(),
    )
    if as_json:
        print_json({"problem": problem, "seed": seed, **found.to_dict()})
    else:
        console = Console(highlight=False, soft_wrap=True)
        for line in found.head():
            console.print(Text(line))
        head, cells = found.table()
        table = plain_table(*head)
        for row in cells:
            table.add_row(*map(Text, row))
        # A table in a file or a pipe is not cut to the width of a screen.
        Console(highlight=False, width=None if sys.stdout.isatty() else 240).print(table)
        for line in found.notes():
            console.print(Text(line))
    raise typer.Exit(0 if any(row.mean is not None for row in found.rows) else 1)
