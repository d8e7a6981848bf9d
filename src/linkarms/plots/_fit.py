"""Samples beside what their family says: quantiles of both, their range, or the probabilities of their categories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linkarms._words import few
from linkarms.arms._resampled import Resampled
from linkarms.errors import InvalidInput
from linkarms.families import Bounded
from linkarms.plots._fit_categories import CategoryFitInfo, categories_info, draw_categories
from linkarms.plots._fit_model import distribution, family_of
from linkarms.plots._fit_ranges import RangeFitInfo, RangeRow, draw_ranges, ranges_info
from linkarms.plots._style import FAINT, cluster_color, cluster_marker, new_axes, tidy
from linkarms.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linkarms.paper import Experiment

__all__ = ["FitInfo", "fit_info", "plot_fit"]

#: Quantiles beyond so many means are drawn on logarithmic axes.
_WIDE = 5.0
#: Fewer samples of an arm than this are not drawn.
_FEWEST = 5
_LEVELS = 50

Quantiles: TypeAlias = tuple[float, ...]


@dataclass(frozen=True)
class FitInfo:
    """What `plot_fit` draws: for each arm and coordinate the samples' quantiles over the model's.

    Attributes
    ----------
    names : tuple of str
        The arm, and the coordinate where there are several.
    model, records : tuple of tuples of float
        Quantiles at the same levels.
    unit : str
        ``"mean"``: in units of the model's mean. ``"standard deviation"``: from the arm's mean, in the model's standard deviations.
    title : str
        What is shown.
    left_out : tuple of str
        Arms and coordinates of which only a range is assumed, where others have a distribution to compare with.

    Examples
    --------
    >>> import linkarms as la
    >>> info = la.plots.fit_info(la.cluster(la.problems.synthetic1()))
    >>> info.unit, len(info.model) == len(info.names)
    ('standard deviation', True)
    """

    names: tuple[str, ...]
    model: tuple[Quantiles, ...]
    records: tuple[Quantiles, ...]
    unit: str
    title: str
    left_out: tuple[str, ...] = ()


def fit_info(run: Result | Experiment) -> FitInfo | RangeFitInfo | CategoryFitInfo:
    """Build the data of `plot_fit`.

    Examples
    --------
    >>> import linkarms as la
    >>> la.plots.fit_info(la.cluster(la.problems.synthetic1())).names[:2]
    ('0, 0', '0, 1')
    """
    return _of_result(run) if isinstance(run, Result) else _of_experiment(run)


def _of_experiment(experiment: Experiment) -> FitInfo:
    names, model, records = [], [], []
    for f in experiment.fit:
        several = sum(g.arm == f.arm for g in experiment.fit) > 1
        names.append(f"{f.arm}, {f.coordinate}" if several else f.arm)
        model.append(tuple(float(q) / f.mean for q in f.model_quantiles))
        records.append(tuple(float(q) / f.mean for q in f.quantiles))
    title = f"Records against the model: {experiment.name}"
    return FitInfo(tuple(names), tuple(model), tuple(records), "mean", title)


def _of_result(result: Result) -> FitInfo | RangeFitInfo | CategoryFitInfo:
    if result.fit is None or result.fit.families is None:
        raise InvalidInput(
            "this result holds no samples; use the result of the run itself, not one from a file or campaign"
        )
    if not any(len(x) >= _FEWEST for x in result.fit.samples):
        raise InvalidInput(f"no arm has {_FEWEST} samples; there is nothing to compare yet")
    if result.fit.families.families[0].name == "categorical":
        return categories_info(result)
    columns = list(_columns(result))
    ranges = [row for row in columns if isinstance(row, RangeRow)]
    compared = [row for row in columns if not isinstance(row, RangeRow)]
    if ranges and not compared:
        return ranges_info(ranges)
    if not compared:
        raise InvalidInput(f"no arm has {_FEWEST} samples that vary; there is nothing to compare yet")
    names, model, records = zip(*compared, strict=True)
    left_out = tuple(row.name for row in ranges)
    return FitInfo(names, model, records, "standard deviation", "Samples against the model", left_out)


def _columns(result: Result) -> Iterator[RangeRow | tuple[str, Quantiles, Quantiles]]:
    """For each arm and coordinate with samples: its range, or its name and quantiles if the samples vary."""
    assert result.fit is not None
    assert result.fit.families is not None
    families = (f.model if isinstance(f, Resampled) else f for f in result.fit.families.families)
    for arm, label, family, samples in zip(
        result.arms, result.labels, families, result.fit.samples, strict=True
    ):
        n, d = samples.shape
        for i in range(d if n >= _FEWEST else 0):
            coordinate = str(i) if result.features is None else result.features[i]
            name, part = f"{arm}, {coordinate}" if d > 1 else str(arm), family_of(family, i)
            numbers = samples[:, i]
            if isinstance(part, Bounded):
                low, high = (float(np.broadcast_to(end, d)[i]) for end in (part.low, part.high))
                yield RangeRow(name, int(label), low, high, tuple(numbers.tolist()))
                continue
            expected = distribution(family, samples, i)
            mean, deviation = float(expected.mean()), float(expected.std())
            levels = (np.arange(min(n, _LEVELS)) + 0.5) / min(n, _LEVELS)
            if deviation > 0.0:
                both = (expected.ppf(levels), np.quantile(numbers, levels))
                model, told = (tuple(((x - mean) / deviation).tolist()) for x in both)
                yield name, model, told


def plot_fit(run: Result | Experiment, *, ax: Axes | None = None) -> Axes:
    """Draw the samples of a run beside what their family says.

    Where the family has a distribution: quantiles of the samples against those of the model. On the diagonal they agree; points above it on
    the right, or below it on the left, are samples further out than the model expects. For ``bounded``, which assumes a range only: the
    samples in it, and how many are at its ends. For categories: how often each was told, beside its estimated probability.

    Parameters
    ----------
    run : Result or Experiment
        The result of any run, or what `linkarms.paper.run_taxi` or `linkarms.paper.run_movielens` returned. A result holds the first 2,000
        samples of each arm, or all records of a table.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import linkarms as la
    >>> result = la.cluster(la.problems.synthetic1())
    >>> la.plots.plot_fit(result).get_title(loc="left")
    'Samples against the model'
    """
    info = fit_info(run)
    if isinstance(info, RangeFitInfo):
        ax = new_axes(ax, rows=2 * len(info.rows))
        draw_ranges(info, ax)
    elif isinstance(info, CategoryFitInfo):
        ax = new_axes(ax, rows=len(info.names))
        draw_categories(info, ax)
    else:
        ax = new_axes(ax)
        _draw_quantiles(info, ax)
    return ax


def _draw_quantiles(info: FitInfo, ax: Axes) -> None:
    tidy(ax, info.title, grid="both")
    most = max(max(q) for q in (*info.model, *info.records))
    least = min(0.0, *(min(q) for q in (*info.model, *info.records)))
    ax.plot([least, 1e-3, most], [least, 1e-3, most], color=FAINT)
    for i, (name, x, y) in enumerate(zip(info.names, info.model, info.records, strict=True)):
        ax.plot(
            x, y, marker=cluster_marker(i), markersize=3, linewidth=0.8, color=cluster_color(i), label=name
        )
    if min(min(q) for q in info.model) > 0 and most > _WIDE:
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(left=0.5 * min(min(q) for q in info.model))
        ax.set_ylim(bottom=0.5 * min(min(q) for q in info.model))
    if info.unit == "mean":
        ax.set_xlabel("quantile of the model / mean")
        ax.set_ylabel("quantile of the records / mean")
    else:
        ax.set_xlabel("quantile of the model (standard deviations)")
        ax.set_ylabel("quantile of the samples (standard deviations)")
    if info.left_out:
        ax.plot([], [], linestyle="none", label=f"without a distribution: {few(info.left_out)}")
    ax.legend(fontsize=7, ncols=1 + len(info.names) // 12)
