"""The options that several commands have."""

from __future__ import annotations

import os
from typing import Annotated

import typer

__all__ = [
    "Backend",
    "Budget",
    "Clip",
    "Costs",
    "Delta",
    "Deltas",
    "DistanceThreshold",
    "Epsilon",
    "Jobs",
    "Json",
    "MaxSamples",
    "NClusters",
    "ProblemName",
    "Quiet",
    "RunBudget",
    "Seed",
    "Stopping",
    "Theta",
    "Tolerance",
    "Trials",
    "goal_words",
]


def _silence(quiet: bool) -> bool:
    if quiet:
        os.environ["LINKARMS_QUIET"] = "1"  # `run` puts it back
    return quiet


Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=_silence, help="Print only the answer: no progress, no remarks."),
]
ProblemName = Annotated[
    str,
    typer.Argument(
        metavar="PROBLEM",
        help="synthetic1, synthetic2[:mean], scaling[:ARMS], or a .json file (`linkarms simulate --help` shows one).",
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same run.")]
Delta = Annotated[float, typer.Option(help="The promised error probability.")]
Stopping = Annotated[
    str | None,
    typer.Option(metavar="RULE", help="When to stop: anytime, or paper (needs --theta). [default: anytime]"),
]
Theta = Annotated[
    str | None,
    typer.Option(metavar="LO,HI", help="A range that contains all parameters; only for --stopping paper."),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        help="The small number epsilon of the paper's rule; only for --stopping paper. [default: 0.01]"
    ),
]
Trials = Annotated[int, typer.Option(metavar="N", help="Runs of each rule.")]
Deltas = Annotated[str, typer.Option(metavar="P[,P]", help="Promised error probabilities.")]
Jobs = Annotated[
    int,
    typer.Option(
        "--n-jobs",
        help="Threads, or processes of --backend dask; -1 for one per core. A Dask cluster sets its own number.",
    ),
]
Backend = Annotated[
    str,
    typer.Option(
        metavar="local|dask|ADDRESS",
        help="Where trials run: threads here, Dask processes here, or the scheduler at tcp://HOST:PORT.",
    ),
]
Budget = Annotated[int, typer.Option("--max-samples", help="Give up a run after this many samples.")]
Clip = Annotated[
    str | None,
    typer.Option(
        metavar="LOW:HIGH",
        help="Move samples outside LOW..HIGH to its ends and cluster the clipped means; the default family is then bounded:LOW:HIGH.",
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(metavar="ARM=X,ARM=X", help="What a sample costs, for every arm. [default: 1]"),
]
MaxSamples = Annotated[int | None, typer.Option(help="Give up after this many samples.")]
RunBudget = Annotated[
    int, typer.Option("--max-samples", min=0, help="Give up after this many samples; 0 for no limit.")
]
NClusters = Annotated[
    str | None,
    typer.Option(
        "--n-clusters",
        "-k",
        metavar="K|auto",
        help="The number of clusters; auto, the default without --distance-threshold, is the cut with the largest gap.",
    ),
]
DistanceThreshold = Annotated[
    float | None,
    typer.Option(metavar="R", help="Instead of -k: arms closer than this are in one cluster."),
]
Tolerance = Annotated[
    float, typer.Option(metavar="EPS", help="Differences of distances below this do not matter.")
]


def goal_words(n_clusters: int | None, distance_threshold: float | None, tolerance: float) -> str:
    """Return what is asked for, in words."""
    if n_clusters is not None:
        what = f"{n_clusters} clusters"
    else:
        what = "largest gap" if distance_threshold is None else f"distance threshold {distance_threshold:g}"
    return what if tolerance == 0.0 else f"{what}, tolerance {tolerance:g}"
