"""``linkarms cluster``: the main job on a file of recorded samples."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkarms._family_syntax import DEFAULT
from linkarms.cli._options import Delta, Epsilon, Json, MaxSamples, Quiet, Seed, Stopping, Theta
from linkarms.cli._output import check_out, print_json, print_result, write_out
from linkarms.cli._parse import FAMILY_HELP, parse_list, parse_stopping
from linkarms.cli._view import Watch

if TYPE_CHECKING:
    from linkarms.arms import RecordedArms

__all__ = ["cluster"]

File = Annotated[Path, typer.Argument(help="A .csv, .csv.gz, .tsv or .parquet file, one row a sample.")]
Arm = Annotated[str, typer.Option(metavar="COL", help="The column with the name of the arm.")]
Value = Annotated[str, typer.Option(metavar="COL[,COL]", help="The column, or columns, with the sample.")]
NClusters = Annotated[int, typer.Option("--n-clusters", "-k", metavar="K", help="The number of clusters.")]
Family = Annotated[str | None, typer.Option(metavar="NAME", help=FAMILY_HELP)]
Sampling = Annotated[str, typer.Option(metavar="RULE", help="Which arm to pull: ebc, ebc-h, round-robin.")]
Replace = Annotated[
    bool,
    typer.Option(
        "--replace/--no-replace",
        help="Draw recorded samples again and again, or each of them once until an arm has no more.",
    ),
]
Out = Annotated[Path | None, typer.Option(help="Also write a picture (.png, .svg, .pdf), a .csv or a .json.")]


def cluster(
    file: File,
    arm: Arm,
    value: Value,
    n_clusters: NClusters,
    family: Family = None,
    delta: Delta = 0.05,
    sampling: Sampling = "ebc-h",
    stopping: Stopping = None,
    theta: Theta = None,
    epsilon: Epsilon = None,
    max_samples: MaxSamples = None,
    replace: Replace = True,
    seed: Seed = 0,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cluster the arms of a file of recorded samples.

    The file is drawn from as if samples had to be paid for: few from arms whose cluster is clear, many where
    it is not. The exit code is 1 if the samples, or --max-samples, did not suffice for the promise.

    Examples:

    - linkarms cluster flights.csv --arm carrier --value delay -k 2

    - linkarms cluster trips.parquet --arm zone --value gap -k 3 --family exponential

    - linkarms cluster sensors.csv --arm id --value x,y -k 4 --family gaussian:0.25 --out clusters.png

    - linkarms cluster clicks.csv --arm page --value clicked -k 2 --family bernoulli --no-replace --json

    - linkarms cluster trips.parquet --arm zone --value gap -k 3 --family exponential
      --stopping paper --theta 0.1,50
    """
    import linkarms as la
    from linkarms import families
    from linkarms.arms import from_frame, read_table

    if out is not None:
        check_out(out)
    columns = parse_list(value, "--value")
    model = families.parse(DEFAULT if family is None else family, len(columns))
    rule = parse_stopping(stopping, theta, epsilon)
    source = from_frame(read_table(file), arm, columns, replace=replace, seed=seed)
    if not quiet:
        _remark_on_family(family, source)
    with Watch(quiet=quiet) as watch:
        result = la.cluster(
            source,
            n_clusters,
            delta=delta,
            family=model,
            sampling=sampling,
            seed=seed,
            max_samples=max_samples,
            callback=watch,
            stopping=rule,
        )
    if out is not None:
        write_out(out, result, watch.history)
    if as_json:
        print_json(result.to_dict())
    else:
        print_result(result)
    raise typer.Exit(0 if result.stopped else 1)


def _remark_on_family(family: str | None, source: RecordedArms) -> None:
    """Say on stderr if no family was given and the samples suggest one, or if they are wider than ``gaussian`` takes for granted."""
    import numpy as np

    from linkarms import families

    if family is None:
        text = families.suggestion(np.concatenate(source.records))
        if text is not None:
            print(f"linkarms: {text}", file=sys.stderr)
    elif family == "gaussian":
        variances = source.variances.max(axis=1)
        widest = int(variances.argmax())
        # A sample variance of n records varies by about sqrt(2 / n): speak only of what is no chance.
        if variances[widest] > 1.0 + 5.0 * math.sqrt(2.0 / source.n_records[widest]):
            print(
                f"linkarms: --family gaussian means variance 1, and arm {source.names[widest]!r} has "
                f"{variances[widest]:.3g}; give --family gaussian-unknown or gaussian:VARIANCE",
                file=sys.stderr,
            )
