"""Confidence bounds on the gaps between neighbours on a line, for MaxGap."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies, Bernoulli, Family, Gaussian
from linkarms.sampling._base import View

__all__ = ["check_line", "gap_bounds", "view_bounds"]

Array: TypeAlias = NDArray[np.float64]


def _largest_right_gap(low: Array, high: Array, a: int) -> float:
    """Return the largest gap to the right of arm ``a``, over all places ``x`` of its mean.

    The nearest arm that is surely on the right limits it: ``min high_j - x`` over ``low_j > x``; where there is none, the farthest
    end. Between left ends of others the gap shrinks, so these and ``low[a]`` are enough for ``x``.
    """
    others = np.arange(len(low)) != a
    inside = low[(low >= low[a]) & (low <= high[a])]
    places = np.append(inside, low[a])
    room = high[others][None, :] - places[:, None]
    nearest = np.where(low[others][None, :] > places[:, None], room, np.inf).min(axis=1)
    farthest = np.maximum(room.max(axis=1), 0.0)
    return float(np.where(np.isfinite(nearest), nearest, farthest).max())


def gap_bounds(low: Array, high: Array) -> tuple[Array, float]:
    """Return an upper bound on the gaps beside each arm, shape (M,), and a lower bound on the largest gap (0 if none is certain).

    Parameters
    ----------
    low, high : ndarray, shape (M,)
        Ends of the arms' confidence intervals.
    """
    n = len(low)
    left, right = -high, -low  # the line seen from the other side
    upper = np.array(
        [max(_largest_right_gap(low, high, a), _largest_right_gap(left, right, a)) for a in range(n)]
    )
    certain = 0.0
    for k in range(n):
        others = np.arange(n) != k
        clear = not np.any((low[others] <= low[k]) & (low[k] <= high[others]))
        gaps = low[k] - high[others][high[others] < low[k]]
        if clear and len(gaps):
            certain = max(certain, float(gaps.min()))
    return upper, certain


def _proxy(family: Family) -> float | None:
    """The variance of the Gaussian whose tails bound those of a sample; None where there is none."""
    if isinstance(family, Gaussian):
        return 1.0 if family.covariance is None else float(family.covariance.ravel()[0])
    return 0.25 if isinstance(family, Bernoulli) else None


def check_line(families: ArmFamilies, n_clusters: int) -> None:
    """MaxGap needs two clusters of means on a line, with Gaussian tails."""
    if n_clusters != 2 or families.n_features != 1:
        raise InvalidInput(
            f"maxgap is for two clusters and one feature, not {n_clusters} and {families.n_features}; take another sampling rule"
        )
    for m, family in enumerate(families.families):
        if _proxy(family) is None:
            raise InvalidInput(
                f"maxgap needs samples with Gaussian tails (gaussian, bounded, bernoulli), and arm {m} is {family.name}; "
                "take another sampling rule"
            )


def view_bounds(view: View, delta: float) -> tuple[Array, float]:
    """`gap_bounds` at the samples so far: an upper bound for each arm, shape (M,), and the lower bound.

    The radius after ``s`` samples is ``sqrt(2 v log(4 M s^2 / delta) / s)``, ``v`` the variance proxy: each interval misses its mean with
    probability at most ``2 delta / (4 M s^2)``, and these add up to less than delta over all arms and all ``s``.
    """
    s = view.counts.astype(np.float64)
    proxies = np.array([_proxy(family) for family in view.families.families], dtype=np.float64)
    radius = np.sqrt(2.0 * proxies * np.log(4.0 * view.n_arms * s**2 / delta) / s)
    mean = view.estimates[:, 0]
    return gap_bounds(mean - radius, mean + radius)
