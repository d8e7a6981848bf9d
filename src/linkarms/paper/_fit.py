"""How well the model fits the records: a distance, moments, and quantiles to plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from linkarms.arms import Resampled
from linkarms.errors import InvalidInput
from linkarms.families import Exponential, Gaussian
from linkarms.problem import Problem

__all__ = ["Fit", "check_fit"]


@dataclass(frozen=True)
class Fit:
    """One coordinate of one arm against its model.

    Attributes
    ----------
    arm, coordinate
        Which.
    records : int
        How many.
    mean, variance, variation : float
        Of the records; ``variation`` is the coefficient of variation, which is 1 for exponential samples.
    model_variance : float
        The variance that the model has at that mean.
    distance : float
        Kolmogorov-Smirnov: the largest difference of the two distribution functions. For ratings, which lie on a grid of
        half stars, it is at least half the largest step.
    quantiles, model_quantiles : ndarray
        The records' and the model's quantiles at the same levels, for a picture.

    Examples
    --------
    >>> from linkarms.arms import resampled_problem
    >>> from linkarms.paper import check_fit
    >>> p = resampled_problem({"a": [1.0, 3.0], "b": [2.0, 2.2], "c": [9.0, 11.0, 10.0]}, n_clusters=2)
    >>> fit = check_fit(p)[0]
    >>> fit.arm, fit.records, fit.mean, fit.model_variance
    ('a', 2, 2.0, 1.0)
    """

    arm: str
    coordinate: int
    records: int
    mean: float
    variance: float
    variation: float
    model_variance: float
    distance: float
    quantiles: NDArray[np.float64] = field(repr=False)
    model_quantiles: NDArray[np.float64] = field(repr=False)


def check_fit(problem: Problem, levels: Sequence[float] | None = None) -> list[Fit]:
    """Compare the records of each arm with its model at the full records' parameter.

    Parameters
    ----------
    problem : Problem
        From `linkarms.arms.resampled_problem`, with exponential or Gaussian models.
    levels : sequence of float, optional
        Where quantiles are taken; 0.01, 0.03, ..., 0.99 by default.

    Examples
    --------
    >>> from linkarms.arms import resampled_problem
    >>> from linkarms.paper import check_fit
    >>> p = resampled_problem({"a": [1.0, 3.0], "b": [2.0, 2.2], "c": [9.0, 11.0, 10.0]}, n_clusters=2)
    >>> [(fit.arm, round(fit.variance, 2)) for fit in check_fit(p)]
    [('a', 2.0), ('b', 0.02), ('c', 1.0)]
    """
    from scipy import stats

    at = np.arange(0.01, 1.0, 0.02) if levels is None else np.array(levels, dtype=np.float64)
    rows = []
    for name, family, theta in zip(problem.arms, problem.families, problem.parameters, strict=True):
        if not isinstance(family, Resampled):
            raise InvalidInput(
                f"arm {name!r} has no records; make the problem with linkarms.arms.resampled_problem"
            )
        columns = [column for c in family.columns for column in c.T]
        for i, x in enumerate(columns):
            model = _model(family.model, float(theta[i]), i)
            mean, variance = float(x.mean()), float(x.var(ddof=1)) if len(x) > 1 else math.nan
            rows.append(
                Fit(
                    str(name),
                    i,
                    len(x),
                    mean,
                    variance,
                    math.sqrt(variance) / mean if mean > 0 else math.nan,
                    float(model.var()),
                    float(stats.kstest(x, model.cdf).statistic),
                    np.quantile(x, at),
                    np.asarray(model.ppf(at), dtype=np.float64),
                )
            )
    return rows


def _model(family: object, theta: float, i: int):  # type: ignore[no-untyped-def]
    """Return the SciPy distribution of one coordinate; it shares nothing with our own formulas."""
    from scipy import stats

    if isinstance(family, Exponential):
        return stats.expon(scale=theta if family.parameter == "mean" else 1.0 / theta)
    if isinstance(family, Gaussian):
        c = np.asarray(1.0 if family.covariance is None else family.covariance)
        variance = c if c.ndim == 0 else c[i] if c.ndim == 1 else c[i, i]
        return stats.norm(theta, math.sqrt(float(variance)))
    raise InvalidInput(f"there is no check for {family!r}; use exponential or Gaussian models")
