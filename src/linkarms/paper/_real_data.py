"""The paper's two experiments on real data (Figures 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from linkarms.arms import resampled_problem
from linkarms.datasets import Bookings, Ratings, fetch, load_bookings, load_ratings
from linkarms.families import Exponential, Gaussian
from linkarms.montecarlo._simulate import Backend
from linkarms.paper._choice import Choice, choose_regions, choose_users, linkage_edges
from linkarms.paper._experiment import Experiment
from linkarms.paper._fit import check_fit
from linkarms.paper._sweep import FIXED, Rules, run_sweep
from linkarms.paper._uniform import UniformStartEBC
from linkarms.paper.published import Figure
from linkarms.problem import Problem
from linkarms.sampling import SamplingRule

__all__ = ["RULES", "run_movielens", "run_taxi"]

#: The rules of Figures 4 and 5, in the order of their legends (FSS, RR, EBC, EBC-H), and one that explains EBC's place.
RULES: dict[str, str | SamplingRule] = {
    FIXED: FIXED,
    "round-robin": "round-robin",
    "ebc": "ebc",
    "ebc-h": "ebc-h",
    UniformStartEBC.name: UniformStartEBC(),
}
_TAXI_FILES = ("green_tripdata_2025-01.parquet", "taxi_zone_lookup.csv")
#: No gap is shorter than the clock's second, none of interest longer than a day; the paper does not give its Theta.
_TAXI_THETA = (1.0, 86400.0)
_STARS = (0.5, 5.0)


def run_taxi(
    data: str | Path | Bookings,
    *,
    trials: int = 500,
    seed: int = 0,
    n_jobs: int = 1,
    backend: Backend = "local",
    quick: bool = False,
    progress: bool = False,
    download: bool = False,
    store: str | Path | None = None,
    rules: Rules = RULES,
    parameter: Literal["mean", "rate"] = "mean",
    hours: tuple[int, int] = (0, 24),
) -> Experiment:
    """Run the paper's Figure 4: six regions of Manhattan in three clusters by the time between bookings.

    Regions are zones of the TLC, chosen by `choose_regions`. Samples are drawn with replacement from January's gaps and
    weighed as exponential. Zones are clustered by the **mean** gap: that gives a busy, a moderate and a quiet cluster as in
    the paper, and errors as large as the paper's at its numbers of samples. By the rate, two zones would be clusters of
    their own and the problem far easier. The threshold is swept, see `EvidenceLevel`.

    Parameters
    ----------
    data : str, Path or Bookings
        The folder with ``green_tripdata_2025-01.parquet`` and ``taxi_zone_lookup.csv``; or what `linkarms.datasets.load_bookings` returned.
    trials : int, default 500
        At most 50 with ``quick``.
    seed, n_jobs, backend
        As for `linkarms.simulate`.
    quick : bool, default False
        Fewer trials, and a budget of 3000 samples instead of 12000.
    progress : bool, default False
        Show progress on stderr.
    download : bool, default False
        Fetch files that are missing.
    store : str or Path, optional
        A folder that keeps finished chunks of trials, so that an interrupted run can continue.
    rules : sequence of str, or a dict name -> rule
        Any sampling rules, and ``"fixed"``; those of the figure, and EBC from uniform weights, by default.
    parameter : {"mean", "rate"}, default "mean"
        What is clustered.
    hours : tuple of int, default (0, 24)
        The part of the day, for files from a folder.

    Returns
    -------
    Experiment
        ``print`` it, or ask for its ``points()`` and ``at_error()``.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.datasets import Bookings, LoadReport
    >>> from linkarms.paper import run_taxi
    >>> rng = np.random.default_rng(0)
    >>> gaps = {str(zone): rng.exponential(mean, 200) for zone, mean in enumerate([200, 300, 900, 1200, 1300, 3000])}
    >>> found = run_taxi(Bookings(gaps, LoadReport("simulated", 1200, 1200, {}), (0, 24)), trials=5, rules=["fixed"])
    >>> found.problem.labels.tolist()
    [0, 0, 1, 1, 1, 2]
    """
    if not isinstance(data, Bookings):
        for name in ("tlc-green-2025-01", "tlc-zones"):
            fetch(name, data, download=download, progress=progress)
        trips, zones = (Path(data) / name for name in _TAXI_FILES)
        data = load_bookings(trips, zones, hours=hours)
    choice = choose_regions(data)
    gaps = {arm: data.gaps[str(arm)] for arm in choice.arms}
    problem = resampled_problem(gaps, choice.n_clusters, Exponential(parameter))
    choice = replace(choice, edges=linkage_edges(problem.parameters))  # of what is clustered
    low, high = _TAXI_THETA
    return _run(
        "taxi",
        "figure4",
        problem,
        choice,
        data,
        rules,
        levels=np.geomspace(0.25, 10.0, 20),
        sizes=(20, 40, 60, 80, 100, 130, 160, 200, 250, 300, 400, 500, 700, 1000),
        theta=(low, high) if parameter == "mean" else (1.0 / high, 1.0 / low),
        targets=(0.4, 0.3, 0.25, 0.2, 0.15),
        trials=min(trials, 50) if quick else trials,
        max_samples=3000 if quick else 12000,
        run={"seed": seed, "n_jobs": n_jobs, "backend": backend, "progress": progress, "store": store},
        settings={"parameter": parameter, "hours": data.hours},
    )


def run_movielens(
    data: str | Path | Ratings,
    *,
    trials: int = 1000,
    seed: int = 0,
    n_jobs: int = 1,
    backend: Backend = "local",
    quick: bool = False,
    progress: bool = False,
    download: bool = False,
    store: str | Path | None = None,
    rules: Rules = RULES,
) -> Experiment:
    """Run the paper's Figure 5: six users in four clusters by their ratings of Comedy and Drama.

    Users are chosen by `choose_users`. A sample is a Comedy rating and a Drama rating of the user, drawn independently and
    with replacement, and weighed as Gaussian with unit covariance. The threshold is swept, see `EvidenceLevel`.

    Parameters
    ----------
    data : str, Path or Ratings
        A folder with HetRec's ``.dat`` files (the paper's data) or MovieLens' ``.csv`` files; or what
        `linkarms.datasets.load_ratings` returned.
    trials : int, default 1000
        At most 100 with ``quick``.
    seed, n_jobs, backend, quick, progress, store, rules
        As for `run_taxi`.
    download : bool, default False
        If the folder has neither, fetch ``ml-latest-small``. The paper's HetRec data have no published checksum and are not downloaded.

    Returns
    -------
    Experiment
        ``print`` it, or ask for its ``points()`` and ``at_error()``.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.datasets import LoadReport, Ratings
    >>> from linkarms.paper import run_movielens
    >>> means = [(1, 1), (1, 1.2), (2, 4), (4, 2), (4.5, 4.5), (4.4, 4.6)]
    >>> stars = {user: tuple(np.full(60, float(mean)) for mean in pair) for user, pair in enumerate(means)}
    >>> found = run_movielens(Ratings(stars, ("Comedy", "Drama"), LoadReport("made up", 720, 720, {})), trials=5, rules=["fixed"])
    >>> found.problem.labels.tolist()
    [0, 0, 1, 2, 3, 3]
    """
    if not isinstance(data, Ratings):
        if download and not (Path(data) / "user_ratedmovies.dat").is_file():
            fetch("movielens-latest-small", data, download=True, progress=progress)
        elif not (Path(data) / "ratings.csv").is_file():
            fetch("movielens-hetrec", data)
        data = load_ratings(data, progress=progress)
    choice = choose_users(data)
    stars = {user: data.users[int(user)] for user in choice.arms}
    problem = resampled_problem(stars, choice.n_clusters, Gaussian(), independent=True)
    return _run(
        "movielens",
        "figure5",
        problem,
        choice,
        data,
        rules,
        levels=np.geomspace(0.01, 5.0, 24),
        sizes=(1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100),
        theta=_STARS,
        targets=(0.4, 0.3, 0.2, 0.1, 0.05),
        trials=min(trials, 100) if quick else trials,
        max_samples=10_000,
        run={"seed": seed, "n_jobs": n_jobs, "backend": backend, "progress": progress, "store": store},
        settings={"genres": data.genres},
    )


def _run(
    name: str,
    figure: Figure,
    problem: Problem,
    choice: Choice,
    data: Bookings | Ratings,
    rules: Rules,
    *,
    levels: Any,
    sizes: Sequence[int],
    theta: tuple[float, float],
    targets: tuple[float, ...],
    trials: int,
    max_samples: int,
    run: dict[str, Any],
    settings: dict[str, Any],
) -> Experiment:
    # rounded to four digits: the level is a name in a file, too
    heights = [float(f"{x:.4g}") for x in levels]
    sweeps = run_sweep(
        problem,
        rules,
        levels=heights,
        sizes=sizes,
        theta=theta,
        trials=trials,
        max_samples=max_samples,
        title=name,
        **run,
    )
    said = {"trials": trials, "seed": run["seed"], "max_samples": max_samples, "theta": theta} | settings
    return Experiment(name, figure, problem, choice, data.report, sweeps, check_fit(problem), targets, said)
