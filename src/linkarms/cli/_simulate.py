"""``linkarms simulate``: how many samples rules need on a known problem, and how often they are wrong."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from linkarms.cli._options import Epsilon, Json, MaxSamples, Quiet, Seed, Stopping, Theta
from linkarms.cli._output import print_json
from linkarms.cli._parse import parse_list, parse_numbers, parse_problem, parse_stopping

__all__ = ["simulate"]

ProblemName = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM",
        help="synthetic1, synthetic2[:mean], scaling[:ARMS], or a .json file (see below).",
    ),
]
Rules = Annotated[str, typer.Option(metavar="RULE[,RULE]", help="Sampling rules: ebc, ebc-h, round-robin.")]
Deltas = Annotated[str, typer.Option(metavar="P[,P]", help="Promised error probabilities.")]
Trials = Annotated[int, typer.Option(metavar="N", help="Runs of each rule.")]
Jobs = Annotated[int, typer.Option("--n-jobs", help="Processes; -1 for as many as there are cores.")]


def simulate(
    problem: ProblemName,
    rules: Rules = "ebc,ebc-h",
    stopping: Stopping = None,
    theta: Theta = None,
    epsilon: Epsilon = None,
    deltas: Deltas = "0.1,0.01",
    trials: Trials = 100,
    n_jobs: Jobs = -1,
    max_samples: MaxSamples = 1_000_000,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run rules many times on a problem whose answer is known.

    Examples:

    - linkarms simulate synthetic1 --stopping paper --theta -5,5 --trials 200
    """
    import linkarms as la

    rule = parse_stopping(stopping, theta, epsilon)
    names = parse_list(rules, "--rules")
    levels = parse_numbers(deltas, "--deltas")
    simulation = la.simulate(
        parse_problem(problem),
        names,
        stopping=rule,
        deltas=levels,
        trials=trials,
        seed=seed,
        max_samples=max_samples,
        n_jobs=n_jobs,
        progress=not quiet,
    )
    rows: Any = simulation.summary()
    if as_json:
        print_json({"problem": problem, "trials": trials, "seed": seed, "rows": rows})
    else:
        _print_table(rows)
    raise typer.Exit(0)


def _print_table(rows: Any) -> None:
    table = Table(box=box.SIMPLE_HEAD, header_style="dim")
    Console().print(table, rows)
