"""``linkarms cluster``: the main job on a file of recorded samples."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkarms._family_syntax import DEFAULT
from linkarms.cli._options import (
    Clip,
    Costs,
    Delta,
    DistanceThreshold,
    Epsilon,
    Json,
    NClusters,
    Quiet,
    RunBudget,
    Seed,
    Stopping,
    Theta,
    Tolerance,
)
from linkarms.cli._output import answer, check_out, print_json, print_result, write_out
from linkarms.cli._parse import (
    FAMILY_HELP,
    parse_clip,
    parse_costs,
    parse_list,
    parse_n_clusters,
    parse_stopping,
)
from linkarms.cli._view import Watch
from linkarms.cli._wording import in_options
from linkarms.errors import ColumnsLeftOut, InvalidInput, ManyArms

if TYPE_CHECKING:
    from linkarms.arms import ArmSource

__all__ = ["cluster"]

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A table: .csv, .tsv, .jsonl (also .gz), .parquet or .xlsx; one row per sample."
    ),
]
Arm = Annotated[str | None, typer.Option(metavar="COL", help="The column with the name of the arm.")]
Value = Annotated[
    str | None,
    typer.Option(
        metavar="COL[,COL]",
        help="The column, or columns, with the sample; with --wide the columns that are arms. A name with a comma goes into double quotes.",
    ),
]
Wide = Annotated[bool, typer.Option("--wide", help="The table has one column per arm.")]
DropMissing = Annotated[
    bool,
    typer.Option("--drop-missing", help="Skip rows with missing values instead of refusing the table."),
]
Family = Annotated[str | None, typer.Option(metavar="NAME", help=FAMILY_HELP)]
Sampling = Annotated[str, typer.Option(metavar="RULE", help="Which arm to pull: ebc, ebc-h, round-robin.")]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace/--no-replace",
        help="Draw with replacement, or use each recorded sample once, until an arm has no more.",
    ),
]
Out = Annotated[Path | None, typer.Option(help="Also write a plot (.png, .svg, .pdf), a .csv or a .json.")]


def cluster(
    file: File,
    n_clusters: NClusters = None,
    arm: Arm = None,
    value: Value = None,
    wide: Wide = False,
    drop_missing: DropMissing = False,
    clip: Clip = None,
    distance_threshold: DistanceThreshold = None,
    tolerance: Tolerance = 0.0,
    family: Family = None,
    delta: Delta = 0.05,
    sampling: Sampling = "ebc-h",
    stopping: Stopping = None,
    theta: Theta = None,
    epsilon: Epsilon = None,
    max_samples: RunBudget = 1_000_000,
    costs: Costs = None,
    replace: Replace = True,
    seed: Seed = 0,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cluster the arms of a file of recorded samples.

    An arm is a source of samples, and each row of the file is one sample. Rows are drawn one at a time, as if each were expensive: few of
    arms whose cluster is clear, many of arms in doubt. If the rows contradict the family, a warning says what was seen, what it means
    for the promise and what to use instead. The exit code is 1 if the rows, or --max-samples, were not enough for the promise.

    \b
    Examples:
      linkarms cluster flights.csv --arm carrier --value delay -k 2
      linkarms cluster flights.csv --arm carrier --value delay -k auto
      linkarms cluster flights.csv --arm carrier --value delay -k 2 \\
          --drop-missing --clip=-30:120
      linkarms cluster months.xlsx --wide --value jan,feb,mar,apr -k 2
      linkarms cluster trips.parquet --arm zone --value gap -k 3 \\
          --family exponential
      linkarms cluster sensors.csv --arm id --value temp \\
          --distance-threshold 0.5 --tolerance 0.05
      linkarms cluster sensors.csv --arm id --value x,y -k 4 \\
          --family gaussian:0.25 --out clusters.png
      linkarms cluster clicks.csv --arm page --value clicked -k 2 \\
          --family bernoulli --no-replace --json
      linkarms cluster trips.parquet --arm zone --value gap -k 3 \\
          --family exponential --stopping paper --theta 0.1,50
    """
    import linkarms as la
    from linkarms import families
    from linkarms.arms import make_source

    if out is not None:
        check_out(out)
    columns = None if value is None else parse_list(value, "--value")
    if not wide and (arm is None or columns is None):
        missing = "--arm" if arm is None else "--value"
        raise InvalidInput(
            f"{missing} is missing; give --arm COL and --value COL, or --wide for a table with one column per arm"
        )
    rule = parse_stopping(stopping, theta, epsilon)
    limits = None if clip is None else parse_clip(clip)
    with warnings.catch_warnings(record=True) as remarks:
        for category in (ColumnsLeftOut, ManyArms):
            warnings.simplefilter("always", category)
        source = make_source(
            file,
            arm=arm,
            value=columns,
            wide=wide,
            drop_missing=drop_missing,
            replace=replace,
            seed=seed,
        )
    for remark in () if quiet else remarks:
        print(f"linkarms: {in_options(str(remark.message))}", file=sys.stderr)
    model: Any = None
    if family is not None or limits is None:
        model = families.parse(DEFAULT if family is None else family, source.n_features)
    if not quiet and limits is None:
        _remark_on_family(family, source)
    with Watch(quiet=quiet) as watch:
        result = la.cluster(
            source,
            parse_n_clusters(n_clusters),
            delta=delta,
            family=model,
            clip=limits,
            sampling=sampling,
            seed=seed,
            max_samples=max_samples or None,
            costs=parse_costs(costs),
            callback=None if quiet and out is None else watch,  # nobody would see what it sees
            stopping=rule,
            distance_threshold=distance_threshold,
            tolerance=tolerance,
        )
    if out is not None:
        write_out(out, result, watch.history)
    if as_json:
        print_json(answer(result))
    else:
        print_result(result)
    raise typer.Exit(0 if result.stopped else 1)


def _remark_on_family(family: str | None, source: ArmSource) -> None:
    """Say on stderr if no family was given and the samples suggest one."""
    import numpy as np

    from linkarms import families
    from linkarms.arms import RecordedArms

    if family is None and isinstance(source, RecordedArms):
        text = families.suggestion(np.concatenate(source.records))
        if text is not None:
            print(f"linkarms: {in_options(text)}", file=sys.stderr)
