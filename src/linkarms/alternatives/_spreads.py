"""The weights of the arms, and the spreads that follow from them."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined
from linkarms.alternatives._cache import HOLDS, SLACK, SPREAD, WEIGHT, Cache
from linkarms.alternatives._near import SHORT
from linkarms.alternatives._pair import arm_spread, has_fixed_spread, has_quadratic
from linkarms.families._model import Model

__all__ = ["FLOOR", "fit_spreads", "set_weight", "set_weights"]

#: Weights below this share of the largest are raised to it; the limits of all formulas are then right.
FLOOR = 1e-12
#: Spreads that depend on the level are found for one so much higher, and used until it is reached or is this much squared too high.
_AHEAD = 1.15


@flat
def set_weight(model: Model, theta: Array, cache: Cache, side: int, m: int, weight: float) -> None:
    """Give arm ``m`` its weight, which must not be zero, and its spread at the present level."""
    arms = cache.arms[side]
    arms[WEIGHT, m] = weight
    if not has_fixed_spread(model):  # such costs are found from the parameters, not from their differences
        for i in range(theta.shape[1]):
            cache.levels[SLACK] = max(cache.levels[SLACK], (1.0 - SHORT) * abs(theta[m, i]))
    # an infinite spread times a level of zero would be no number
    arms[SPREAD, m] = min(arm_spread(model, m, theta[m], weight, cache.levels[side]), 1e300)


@flat
def set_weights(model: Model, theta: Array, cache: Cache, side: int, weights: Array) -> None:
    """Give all arms their weights, raised to `FLOOR` times the largest."""
    largest = 0.0
    for m in range(weights.shape[0]):
        largest = max(largest, weights[m])
    for m in range(weights.shape[0]):
        set_weight(model, theta, cache, side, m, max(weights[m], FLOOR * largest))


@inlined
def fit_spreads(model: Model, theta: Array, cache: Cache, side: int, value: float) -> bool:
    """See to it that the spreads hold at ``value``, where they depend on the level; whether they had to be found anew."""
    if has_fixed_spread(model):
        cache.levels[side], cache.levels[SLACK], cache.levels[HOLDS + side] = math.inf, 0.0, 0.0
        return False
    level = cache.levels[side]
    if value <= level <= _AHEAD * _AHEAD * value:
        return False
    cache.levels[side], cache.levels[SLACK] = _AHEAD * value, 0.0
    cache.levels[HOLDS + side] = 0.0 if has_quadratic(model) else _AHEAD * value
    for m in range(theta.shape[0]):
        set_weight(model, theta, cache, side, m, cache.arms[side, WEIGHT, m])
    return True
