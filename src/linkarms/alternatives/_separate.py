"""A true alternative under a distance threshold: a cluster comes apart, all of it, or two arms of two clusters meet.

psi by the bottleneck moves two arms. Where a cluster has three arms or more, moving one pair apart need not split it. Here all arms of the
cluster move along one direction ``e`` until there is a gap of ``r`` between them: arms of the upper part to ``e.x >= z + r``, the others to
``e.x <= z``. Along a line that is every way to split a cluster, and the best ``z`` and part give the exact psi; elsewhere a cost that
is not too small.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkarms._goal import Goal
from linkarms.families import ArmFamilies, Gaussian

__all__ = ["separate"]

Array = NDArray[np.float64]

#: Golden section: enough turns for full precision of the cost, whose error is the square of that of ``z``.
_TURNS = 60
_RATIO = (math.sqrt(5.0) - 1.0) / 2.0


def separate(
    theta: Array, arms: NDArray[np.int64], direction: Array, weights: Array, families: ArmFamilies, goal: Goal
) -> tuple[float, Array]:
    """Return the least cost of splitting a cluster along a direction, and the parameters, shape (M, d), that are reached.

    Parameters
    ----------
    theta : ndarray, shape (M, d)
        The parameters.
    arms : ndarray of int
        The arms of the cluster, at least two.
    direction : ndarray, shape (d,)
        A unit vector.
    weights : ndarray, shape (M,)
        Weights of the arms.
    families : ArmFamilies
        The families of the arms.
    goal : Goal
        With a distance threshold.
    """
    assert goal.distance_threshold is not None
    gap = goal.distance_threshold + goal.tolerance
    place = theta[arms] @ direction
    order = np.argsort(place, kind="stable")
    best, found = math.inf, theta
    tops = [frozenset(order[i:].tolist()) for i in range(1, len(arms))]
    tops += [frozenset([i]) for i in range(len(arms))]
    tops += [frozenset(range(len(arms))) - {i} for i in range(len(arms))]
    for top in dict.fromkeys(t for t in tops if 0 < len(t) < len(arms)):
        upper = np.array([i in top for i in range(len(arms))])

        def moved(z: float, upper: NDArray[np.bool_] = upper) -> Array:
            target = np.where(upper, np.maximum(place, z + gap), np.minimum(place, z))
            point = theta.copy()
            for i, m in enumerate(arms):
                point[m] += (target[i] - place[i]) * _along(families, int(m), direction)
            return point

        def cost(z: float) -> float:
            point = moved(z)
            return sum(
                float(weights[m])
                * families.model.kl(int(m), np.ascontiguousarray(theta[m]), np.ascontiguousarray(point[m]))
                for m in arms
                if np.any(point[m] != theta[m])
            )

        low = min(float(place[upper].min()) - gap, float(place[~upper].min()))
        high = max(float(place[~upper].max()), float(place[upper].max()) - gap)
        z = _minimise(cost, low, high)
        value = cost(z)
        if value < best:
            best, found = value, moved(z)
    return best, found


def _along(families: ArmFamilies, m: int, direction: Array) -> Array:
    """Return a step of an arm with ``e.step = 1``: that of least cost, along ``Sigma e``, of Gaussian arms."""
    if len(direction) == 1 or not isinstance(families.families[m], Gaussian):
        return direction
    step = families.covariance(m) @ direction
    return np.asarray(step / (direction @ step))


def _minimise(cost: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that falls and then rises is smallest."""
    x, y = high - _RATIO * (high - low), low + _RATIO * (high - low)
    at_x, at_y = cost(x), cost(y)
    for _ in range(_TURNS):
        if at_x <= at_y:
            high, y, at_y = y, x, at_x
            x = high - _RATIO * (high - low)
            at_x = cost(x)
        else:
            low, x, at_x = x, y, at_y
            y = low + _RATIO * (high - low)
            at_y = cost(y)
    return x if at_x <= at_y else y
