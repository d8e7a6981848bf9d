"""Quantiles of the samples over those of their model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms.errors import InvalidInput
from linkarms.plots._style import FAINT, cluster_color, cluster_marker, new_axes, tidy
from linkarms.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linkarms.families import Family
    from linkarms.paper import Experiment

__all__ = ["FitInfo", "fit_info", "plot_fit"]

#: Quantiles beyond so many means are drawn on logarithmic axes.
_WIDE = 5.0
#: Fewer samples of an arm than this are not drawn.
_FEWEST = 5
_LEVELS = 50


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

    Examples
    --------
    >>> import linkarms as la
    >>> info = la.plots.fit_info(la.cluster(la.problems.synthetic1()))
    >>> info.unit, len(info.model) == len(info.names)
    ('standard deviation', True)
    """

    names: tuple[str, ...]
    model: tuple[tuple[float, ...], ...]
    records: tuple[tuple[float, ...], ...]
    unit: str
    title: str


def fit_info(run: Result | Experiment) -> FitInfo:
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


def _of_result(result: Result) -> FitInfo:
    if result.fit is None or result.fit.families is None:
        raise InvalidInput(
            "this result holds no samples; use the result of the run itself, not one from a file or campaign"
        )
    names, model, records = [], [], []
    for arm, family, samples in zip(
        result.arms, result.fit.families.families, result.fit.samples, strict=True
    ):
        for i in range(samples.shape[1] if len(samples) >= _FEWEST else 0):
            n = min(len(samples), _LEVELS)
            levels = (np.arange(n) + 0.5) / n
            expected = _model(family, samples, i)
            mean, deviation = float(expected.mean()), float(expected.std())
            if deviation == 0.0:
                continue
            coordinate = str(i) if result.features is None else result.features[i]
            names.append(f"{arm}, {coordinate}" if samples.shape[1] > 1 else str(arm))
            model.append(tuple(((expected.ppf(levels) - mean) / deviation).tolist()))
            records.append(tuple(((np.quantile(samples[:, i], levels) - mean) / deviation).tolist()))
    if not names:
        raise InvalidInput(f"no arm has {_FEWEST} samples that vary; there is nothing to compare yet")
    return FitInfo(
        tuple(names), tuple(model), tuple(records), "standard deviation", "Samples against the model"
    )


def _model(family: Family, samples: NDArray[np.float64], coordinate: int) -> Any:
    """Return the SciPy distribution that a family says one coordinate of the samples has, at their own mean."""
    from scipy import stats

    parts = getattr(family, "families", None)
    part: Any = family if parts is None else parts[coordinate]
    numbers = samples[:, coordinate]
    mean = float(numbers.mean())
    if part.name == "gaussian":
        variances = np.diag(part.matrix(samples.shape[1] if parts is None else 1))
        return stats.norm(mean, np.sqrt(variances[coordinate if parts is None else 0]))
    if part.name.startswith("gaussian-unknown"):
        return stats.norm(mean, numbers.std(ddof=1))
    if part.name == "poisson":
        return stats.poisson(mean)
    if part.name in ("exponential", "gamma"):
        return stats.gamma(part.shape, scale=mean / part.shape)
    if part.name == "bernoulli":
        return stats.bernoulli(mean)
    raise InvalidInput(
        f"the {part.name} family has no distribution to compare with: it assumes none, or it is your own"
    )


def plot_fit(run: Result | Experiment, *, ax: Axes | None = None) -> Axes:
    """Draw quantiles of the samples against those of the model; on the diagonal they agree.

    Points above the diagonal on the right, or below it on the left, are samples further out than the model expects.

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
    ax = new_axes(ax)
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
    ax.legend(fontsize=7, ncols=1 + len(info.names) // 12)
    return ax
