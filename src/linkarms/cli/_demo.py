"""``linkarms demo``: the main job on a built-in problem."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from linkarms.cli._options import Delta, Json, Quiet, Seed
from linkarms.cli._output import check_out, print_json, print_result, write_out
from linkarms.cli._view import Watch
from linkarms.errors import MissingDependency

__all__ = ["demo"]

_PICTURE = Path("linkarms-demo.png")


def demo(
    delta: Delta = 0.05,
    seed: Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="The file of the plot. [default: linkarms-demo.png]")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run at full speed instead of a pace that the eye can follow.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Cluster six simulated arms, with a live view and a plot.

    The arms are those of Synthetic Dataset 1: six Gaussians in the plane, in three clusters. Each sample is taken from
    the arm that is most informative. The run stops as soon as the clusters are wrong with probability at most delta.

    \b
    Examples:
      linkarms demo
      linkarms demo --delta 0.001 --seed 7 --out demo.svg
      linkarms demo --quiet --json
    """
    import numpy as np

    import linkarms as la

    picture = _picture(out, quiet)
    problem = la.problems.synthetic1()
    with Watch(quiet=quiet, pace=not quick) as watch:
        result = la.cluster(
            problem,
            problem.n_clusters,
            delta=delta,
            sampling="ebc-h",
            seed=seed,
            callback=watch,
        )
    if picture is not None:
        write_out(picture, result, watch.history, problem.parameters)
    right = bool(np.array_equal(result.labels, problem.labels))
    least = la.lower_bound(problem.parameters, problem.n_clusters, problem.family)
    if as_json:
        print_json(
            {
                **result.to_dict(),
                "correct": right,
                "picture": None if picture is None else str(picture),
                "lower_bound": [least.lower, least.upper],
                "least_samples": least.samples(delta),
            }
        )
    else:
        print_result(result)
        print(f"the truth is known here: the clusters are {'right' if right else 'wrong'}")
        print(
            f"{least}: no rule can promise as much with fewer than {least.samples(delta):.1f} samples on average"
        )
        if picture is not None:
            print(f"picture: {picture}")
    raise typer.Exit(0 if result.stopped else 1)


def _picture(out: Path | None, quiet: bool) -> Path | None:
    """Where the picture goes; without matplotlib there is none, unless it was asked for."""
    try:
        check_out(out or _PICTURE)
    except MissingDependency as error:
        if out is not None:
            raise
        if not quiet:
            print(f"no picture: {error}", file=sys.stderr)
        return None
    return out or _PICTURE
