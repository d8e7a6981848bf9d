"""Confidence bounds on the gaps between neighbours on a line, for MaxGap."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from linkarms._jit import Array, kernel
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies, Bernoulli, Family, Gaussian
from linkarms.sampling._base import View

__all__ = ["check_line", "gap_bounds", "view_bounds"]


@kernel
def _right_gap(low: Array, high: Array, a: int, x: float) -> float:
    """The largest gap to the right of arm ``a``, if its mean is ``x``: the nearest arm that is surely on the right limits it."""
    nearest, farthest = math.inf, 0.0
    for j in range(low.shape[0]):
        if j == a:
            continue
        if low[j] > x:
            nearest = min(nearest, high[j] - x)
        farthest = max(farthest, high[j] - x)
    return nearest if nearest < math.inf else farthest


@kernel
def _largest_right_gap(low: Array, high: Array, a: int) -> float:
    """Over all places of arm ``a``: between left ends of others the gap shrinks, so that these and ``low[a]`` are enough."""
    largest = _right_gap(low, high, a, low[a])
    for j in range(low.shape[0]):
        if low[a] <= low[j] <= high[a]:
            largest = max(largest, _right_gap(low, high, a, low[j]))
    return largest


@kernel
def gap_bounds(low: Array, high: Array, upper: Array) -> float:
    """Fill ``upper`` with a bound on the gaps beside each arm; return a lower bound on the largest gap (0 if none is certain).

    Parameters
    ----------
    low, high : ndarray, shape (M,)
        Ends of the arms' confidence intervals.
    upper : ndarray, shape (M,)
        Filled.
    """
    n = low.shape[0]
    left, right = -high, -low  # the line seen from the other side
    for a in range(n):
        upper[a] = max(_largest_right_gap(low, high, a), _largest_right_gap(left, right, a))
    certain = 0.0
    for k in range(n):
        clear = True
        gap = math.inf
        for j in range(n):
            if j == k:
                continue
            if low[j] <= low[k] <= high[j]:
                clear = False
            if high[j] < low[k]:
                gap = min(gap, low[k] - high[j])
        if clear and gap < math.inf:
            certain = max(certain, gap)
    return certain


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


def view_bounds(view: View, delta: float) -> tuple[NDArray[np.float64], float]:
    """`gap_bounds` at the samples so far: an upper bound for each arm, shape (M,), and the lower bound.

    The radius after ``s`` samples is ``sqrt(2 v log(4 M s^2 / delta) / s)``, ``v`` the variance proxy: each interval misses its mean with
    probability at most ``2 delta / (4 M s^2)``, and these add up to less than delta over all arms and all ``s``.
    """
    s = view.counts.astype(np.float64)
    proxies = np.array([_proxy(family) for family in view.families.families], dtype=np.float64)
    radius = np.sqrt(2.0 * proxies * np.log(4.0 * view.n_arms * s**2 / delta) / s)
    mean = view.estimates[:, 0]
    upper = np.empty(view.n_arms)
    return upper, float(gap_bounds(mean - radius, mean + radius, upper))
