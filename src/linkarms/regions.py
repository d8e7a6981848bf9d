"""Confidence regions of the arms' parameters, valid at all times together.

The region of an arm is where the centred mixture of ``families/_evidence.py`` does not speak against a value: ``l(lam) < log(M / delta)``.
Since ``exp(l)`` is a martingale of mean one at the truth, Ville's inequality and a union bound over the arms give: with probability at
least ``1 - delta`` every arm's parameter lies in its region at every moment, however arms were chosen and whenever one looks.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._jit import Array, kernel
from linkarms._validate import check_delta
from linkarms.families import ArmFamilies
from linkarms.families._evidence import arm_log_evidence
from linkarms.families._model import CATEGORICAL, Model
from linkarms.families._unknown import LOG_PREDICTIVE, MEAN_FROM, PREDICTED, SQUARES
from linkarms.families._vector import arm_estimate

__all__ = ["confidence_radii"]

#: The weight, in samples, of the prior of the mixture.
_C = 5.0
_HALVINGS = 50


@kernel
def _radius(
    model: Model,
    m: int,
    n: float,
    mean: Array,
    center: Array,
    step: Array,
    most: float,
    level: float,
    c: float,
) -> float:
    """How far one can go from ``center`` along ``step`` until the evidence reaches ``level``, at most ``most``."""
    point = center.copy()
    low, high = 0.0, min(1.0, most)
    while high < most:  # double until outside
        for i in range(center.shape[0]):
            point[i] = center[i] + high * step[i]
        if not arm_log_evidence(model, m, n, mean, point, c) < level:
            break
        low, high = high, min(2.0 * high, most)
        if high > 1e150:
            return math.inf
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        for i in range(center.shape[0]):
            point[i] = center[i] + middle * step[i]
        if arm_log_evidence(model, m, n, mean, point, c) < level:
            low = middle
        else:
            high = middle
    return high  # outside, or the end of the domain: never too small


@kernel
def _fill_radii(
    model: Model,
    counts: Array,
    means: Array,
    steps: Array,
    domain: Array,
    level: float,
    c: float,
    radii: Array,
) -> None:
    """``radii[m, k]`` along ``steps[k]`` from the estimate of arm ``m``; NaN without a sample."""
    d = means.shape[1]
    everywhere = np.empty((d, 2))
    everywhere[:, 0], everywhere[:, 1] = -math.inf, math.inf
    center, step = np.empty(d), np.empty(d)
    for m in range(means.shape[0]):
        arm_estimate(model, m, means[m], everywhere, center)
        for k in range(steps.shape[0]):
            radii[m, k] = math.nan
            if counts[m] == 0 or not np.isfinite(center).all():
                continue
            step[:] = steps[k]
            if model.codes[m, 0] == CATEGORICAL:  # stay where probabilities add up to one
                step -= step.mean()
            if not np.abs(step).max() > 1e-12:
                radii[m, k] = 0.0
                continue
            most = math.inf
            for i in range(d):  # a hair inside the domain: at its end the evidence may divide by zero
                if step[i] > 0.0:
                    most = min(most, (domain[m, i, 1] - center[i]) / step[i] * (1.0 - 1e-9))
                elif step[i] < 0.0:
                    most = min(most, (domain[m, i, 0] - center[i]) / step[i] * (1.0 - 1e-9))
            radii[m, k] = (
                _radius(model, m, counts[m], means[m], center, step, most, level, c) if most > 0.0 else 0.0
            )


def _unknown_radii(
    counts: NDArray[np.int64], means: NDArray[np.float64], moments: NDArray[np.float64] | None, level: float
) -> NDArray[np.float64]:
    """Where the evidence of universal inference reaches ``level``, as a distance from the estimate: a closed form.

    ``sum log predictive + (n' d / 2) (log(2 pi (S' + n' r^2) / (n' d)) + 1) = level`` at the distance ``r`` from the mean of the
    predicted samples.
    """
    radii = np.where(counts > 0, np.inf, np.nan)
    if moments is None:
        return radii
    d = means.shape[1]
    for m in np.flatnonzero(moments[:, SQUARES] > 0.0):
        n, squares, total = moments[m, PREDICTED], moments[m, SQUARES], moments[m, LOG_PREDICTIVE]
        room = n * d / (2.0 * math.pi) * math.exp(min(2.0 * (level - total) / (n * d) - 1.0, 700.0)) - squares
        apart = float(np.linalg.norm(moments[m, MEAN_FROM:] - means[m]))
        radii[m] = math.sqrt(max(room, 0.0) / n) + apart
    return radii


def confidence_radii(
    families: ArmFamilies,
    counts: ArrayLike,
    means: ArrayLike,
    directions: ArrayLike,
    delta: float,
    moments: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """How far the confidence region of each arm reaches from its estimate, along each direction.

    Parameters
    ----------
    families : ArmFamilies
        The families of the arms, those of the package; ``BanditClusterer.families``.
    counts : array of int, shape (M,)
        Samples of each arm.
    means : array of shape (M, d)
        Means of their sufficient statistics; ``BanditClusterer.means``.
    directions : array of shape (n, d)
        Vectors in parameter space; for categories their part along the simplex counts.
    delta : float
        The probability that any region ever misses its arm.
    moments : array, optional
        ``BanditClusterer.moments``: needed where the variance is unknown. Without them nothing bounds the regions.

    Returns
    -------
    ndarray, shape (M, n)
        Multiples of the directions; infinite where nothing bounds the region, NaN for an arm without a sample.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.regions import confidence_radii
    >>> c = la.BanditClusterer(2, ["ada", "ben", "cy"], family="gaussian", stopping=la.stopping.Paper(theta=(-9, 9)))
    >>> c.tell_many(["ada", "ada", "ben"], [0.1, 0.3, 5.0])
    >>> confidence_radii(c.families, c.result().pulls, c.means, [[1.0], [-1.0]], delta=0.05).round(2).tolist()
    [[3.86, 3.86], [7.09, 7.09], [nan, nan]]
    """
    steps = np.atleast_2d(np.array(directions, dtype=np.float64))
    mean = np.array(means, dtype=np.float64)
    n_arms, d = mean.shape
    domain = np.empty((n_arms, d, 2))
    for m, family in enumerate(families.families):
        domain[m] = [part.domain for part in getattr(family, "families", [family] * d)]
    radii = np.empty((n_arms, len(steps)))
    level = math.log(n_arms / check_delta(delta))
    if families.unknown_variance:
        distance = _unknown_radii(
            np.array(counts), mean, None if moments is None else np.array(moments), level
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(distance[:, None] / np.linalg.norm(steps, axis=1)[None, :])
    _fill_radii(families.model, np.array(counts, np.float64), mean, steps, domain, level, _C, radii)
    return radii
