"""``linkarms simulate``: how many samples rules need on a known problem, and how often they are wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.console import Console

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
    Trials,
)
from linkarms.cli._output import plain_table, print_json
from linkarms.cli._parse import parse_list, parse_numbers, parse_problem, parse_stopping
from linkarms.cli._wording import in_options

__all__ = ["simulate"]

Rules = Annotated[str, typer.Option(metavar="RULE[,RULE]", help="Sampling rules: ebc, ebc-h, round-robin.")]


def simulate(
    problem: ProblemName,
    rules: Rules = "ebc,ebc-h",
    stopping: Stopping = None,
    theta: Theta = None,
    epsilon: Epsilon = None,
    deltas: Deltas = "0.1,0.01",
    trials: Trials = 100,
    n_jobs: Jobs = -1,
    backend: Backend = "local",
    max_samples: Budget = 1_000_000,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run rules many times on a problem whose answer is known.

    A problem of your own is a JSON file such as

    \b
      {"parameters": [[0, 0], [0, 1], [5, 5]], "n_clusters": 2,
       "family": "gaussian:2"}

    The exit code is 1 if
    some runs did not stop within --max-samples, or could not be finished (Ctrl-C, workers that were lost).

    \b
    Examples:
      linkarms simulate synthetic1 --trials 200
      linkarms simulate mine.json --rules ebc-h,round-robin --deltas 0.05 --json
      linkarms simulate synthetic2 --stopping paper --theta 0.1,50 \\
          --epsilon 0.001
    """
    import linkarms as la
    from linkarms.montecarlo import BackendError

    rule = parse_stopping(stopping, theta, epsilon)
    try:
        simulation = la.simulate(
            parse_problem(problem),
            parse_list(rules, "--rules"),
            stopping=rule,
            deltas=parse_numbers(deltas, "--deltas"),
            trials=trials,
            seed=seed,
            max_samples=max_samples,
            n_jobs=n_jobs,
            backend=backend,
            progress=not quiet,
        )
    except BackendError as error:
        if error.simulation is None or not error.simulation.completed:
            raise
        simulation = error.simulation  # hours of work, perhaps
        print(f"linkarms: {in_options(str(error))}", file=sys.stderr)
    rows = simulation.summary()
    if as_json:
        print_json({"problem": problem, "trials": simulation.completed, "seed": seed, "summary": list(rows)})
    else:
        _print_table(rows)
    if simulation.completed < trials and not quiet:
        print(f"linkarms: interrupted after {simulation.completed} of {trials} trials", file=sys.stderr)
    complete = simulation.completed == trials and not any(row["unstopped"] for row in rows)
    raise typer.Exit(0 if complete else 1)


def _print_table(rows: Iterable[dict[str, Any]]) -> None:
    table = plain_table("rule", "delta", "trials", "mean samples", "95% interval", "error rate", "unstopped")
    for row in rows:
        table.add_row(
            row["rule"],
            f"{row['delta']:.3g}",
            f"{row['trials']:,}",
            "-" if row["mean"] is None else f"{row['mean']:,.1f}",
            "-" if row["low"] is None else f"{row['low']:,.1f} to {row['high']:,.1f}",
            "-" if row["error_rate"] is None else f"{row['error_rate']:.3g}",
            f"{row['unstopped']:,}",
        )
    # A table in a file or a pipe is not cut to the width of a screen.
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(table)
