"""Samples against measured error, ours and the paper's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkarms.plots._style import MUTED, cluster_color, cluster_marker, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linkarms.paper import Experiment

__all__ = [
    "ErrorCurve",
    "ErrorCurveInfo",
    "error_curve_info",
    "plot_error_curve",
]


@dataclass(frozen=True)
class ErrorCurve:
    """One rule's curve.

    Attributes
    ----------
    rule : str
        Its name.
    x, x_low, x_high : tuple of float
        ``log(1/error)`` and its 95% interval; infinite above where no error is within the interval.
    samples, samples_low, samples_high : tuple of float
        Mean samples and its 95% interval.

    Examples
    --------
    >>> import linkarms as la
    >>> x, samples = {"x": (1.2,), "x_low": (1.0,), "x_high": (1.5,)}, {"samples": (90.0,), "samples_low": (80.0,), "samples_high": (99.0,)}
    >>> curve = la.plots.ErrorCurve("ebc-h", **x, **samples)
    >>> curve.rule, curve.samples
    ('ebc-h', (90.0,))
    """

    rule: str
    x: tuple[float, ...]
    x_low: tuple[float, ...]
    x_high: tuple[float, ...]
    samples: tuple[float, ...]
    samples_low: tuple[float, ...]
    samples_high: tuple[float, ...]


@dataclass(frozen=True)
class ErrorCurveInfo:
    """What `plot_error_curve` draws.

    Attributes
    ----------
    title : str
        The name of the experiment.
    ours : tuple of ErrorCurve
        Points at which some trial was wrong, up to the smallest error.
    paper : tuple of (str, tuple, tuple)
        Rule, ``log(1/P_e)`` and samples of the paper's curves.

    Examples
    --------
    >>> import linkarms as la
    >>> info = la.plots.ErrorCurveInfo("taxi", ours=(), paper=(("ebc-h", (1.0, 2.0), (300.0, 700.0)),))
    >>> [rule for rule, x, samples in info.paper]
    ['ebc-h']
    """

    title: str
    ours: tuple[ErrorCurve, ...]
    paper: tuple[tuple[str, tuple[float, ...], tuple[float, ...]], ...]


def error_curve_info(experiment: Experiment) -> ErrorCurveInfo:
    """Build the data of `plot_error_curve`.

    Parameters
    ----------
    experiment : Experiment
        From `linkarms.paper.run_taxi` or `linkarms.paper.run_movielens`.

    Examples
    --------
    >>> import numpy as np
    >>> import linkarms as la
    >>> from linkarms.datasets import Bookings, LoadReport
    >>> from linkarms.paper import run_taxi
    >>> rng = np.random.default_rng(0)
    >>> gaps = {str(zone): rng.exponential(mean, 200) for zone, mean in enumerate([200, 300, 900, 1200, 1300, 3000])}
    >>> found = run_taxi(Bookings(gaps, LoadReport("simulated", 1200, 1200, {}), (0, 24)), trials=5, rules=["fixed"])
    >>> [rule for rule, x, samples in la.plots.error_curve_info(found).paper]
    ['fixed', 'round-robin', 'ebc', 'ebc-h']
    """
    points = experiment.points()
    ours = []
    for rule in experiment.sweeps:
        mine = [p for p in points if p.rule == rule and p.errors > 0]
        # beyond the smallest error, trials that ran out of samples are what is counted
        least = min(range(len(mine)), key=lambda i: mine[i].error, default=0)
        mine = mine[: least + 1]
        ours.append(
            ErrorCurve(
                rule,
                tuple(-math.log(p.error) for p in mine),
                tuple(-math.log(p.error_high) for p in mine),
                tuple(-math.log(p.error_low) if p.error_low > 0 else math.inf for p in mine),
                tuple(p.samples for p in mine),
                tuple(p.samples_low for p in mine),
                tuple(p.samples_high for p in mine),
            )
        )
    paper = tuple((c.rule, c.x, c.samples) for c in experiment.published())
    return ErrorCurveInfo(experiment.name, tuple(ours), paper)


def plot_error_curve(experiment: Experiment, *, ax: Axes | None = None) -> Axes:
    """Draw samples against ``log(1/error)``, with 95% bands of the means; the paper's curves are dashed.

    Parameters
    ----------
    experiment : Experiment
        From `linkarms.paper.run_taxi` or `linkarms.paper.run_movielens`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> import linkarms as la
    >>> from linkarms.datasets import Bookings, LoadReport
    >>> from linkarms.paper import run_taxi
    >>> rng = np.random.default_rng(0)
    >>> gaps = {str(zone): rng.exponential(mean, 200) for zone, mean in enumerate([200, 300, 900, 1200, 1300, 3000])}
    >>> found = run_taxi(Bookings(gaps, LoadReport("simulated", 1200, 1200, {}), (0, 24)), trials=5, rules=["fixed"])
    >>> la.plots.plot_error_curve(found).get_ylabel()
    'mean samples'
    """
    info = error_curve_info(experiment)
    ax = new_axes(ax)
    tidy(ax, f"Samples against measured error: {info.title}", grid="both")
    places = {curve.rule: i for i, curve in enumerate(info.ours)}
    for curve in info.ours:
        colour, marker = cluster_color(places[curve.rule]), cluster_marker(places[curve.rule])
        ax.plot(curve.x, curve.samples, marker=marker, markersize=4, color=colour, label=curve.rule)
        ax.fill_between(curve.x, curve.samples_low, curve.samples_high, color=colour, alpha=0.15, linewidth=0)
    for rule, x, samples in info.paper:
        if rule in places:
            ax.plot(x, samples, "--", linewidth=1.0, color=cluster_color(places[rule]))
    ax.plot([], [], "--", linewidth=1.0, color=MUTED, label="the paper's")
    ax.set_yscale("log")
    ax.set_xlabel("log(1 / measured error)")
    ax.set_ylabel("mean samples")
    ax.legend(fontsize=8)
    return ax
