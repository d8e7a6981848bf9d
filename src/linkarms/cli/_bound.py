"""``linkarms bound``: how many samples any rule needs on a known problem."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from linkarms._words import least_samples
from linkarms.cli._options import Delta, Json, ProblemName, Quiet, Seed
from linkarms.cli._output import plain_table, print_json
from linkarms.cli._parse import parse_problem

__all__ = ["bound"]

Gap = Annotated[float, typer.Option(help="How narrow the bracket should be, relatively.")]
MaxCuts = Annotated[int, typer.Option(help="How often psi may be evaluated.")]


def bound(
    problem: ProblemName,
    delta: Delta = 0.05,
    gap: Gap = 1e-4,
    max_cuts: MaxCuts = 1000,
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bracket T*, the samples that no rule can avoid.

    T* counts samples per unit of log(1/delta). The share of the samples that each arm should get is shown, too. A problem of your
    own is a JSON file, as for `linkarms simulate`. Nothing here is random, whatever the seed. The exit code is 1 if the bracket is
    wider than --gap.

    \b
    Examples:
      linkarms bound synthetic1
      linkarms bound synthetic2:mean --gap 1e-6 --json
      linkarms bound mine.json --delta 0.01
    """
    import linkarms as la

    known = parse_problem(problem)
    found = la.lower_bound(
        known.parameters,
        known.goal.n_clusters,
        known.family,
        gap=gap,
        max_cuts=max_cuts,
        progress=not quiet,
        **known.goal.settings(),
        costs=known.costs,
    )
    samples = found.samples(delta)
    if as_json:
        print_json({"problem": problem, "delta": delta, "samples": samples, **found.to_dict()})
    else:
        console = Console(highlight=False, soft_wrap=True)
        console.print(Text(str(found), style="bold"))
        console.print(Text(least_samples(delta, samples, known.costs)))
        table: Table = plain_table("arm", "cluster", "best share")
        for arm, label, weight in zip(known.arms, known.labels, found.weights, strict=True):
            table.add_row(Text(str(arm)), str(label), f"{weight:.2%}")
        console.print(table)
    raise typer.Exit(0 if found.closed else 1)
