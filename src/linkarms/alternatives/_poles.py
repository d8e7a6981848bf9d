"""The dual of ``_linear.py`` where every step has a pole: exponential, gamma by rate and Poisson arms.

With ``limit`` the slope at which the step becomes infinite, these families have

    ``lambda(slope) = theta / (1 - slope / limit)``  and  ``KL(theta, lambda) = theta limit phi(lambda / theta - 1)``,

so that in ``G(mu) = sum_m kappa_m lambda_m(mu)`` each term is ``part_m / (1 - mu rate_m)`` with ``part = kappa theta`` and
``rate = kappa / (w limit)``. The terms with positive ``kappa`` add up to ``P``, which increases, the others to ``-N``, and ``1 / P`` and
``1 / N`` are straight lines where each has one term: Newton's method on ``1 / P - 1 / N`` needs three or four steps, where on ``G`` it
would first have to find its way along the pole.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, lean
from linkarms.alternatives._number import (
    ADDRESS,
    CODE,
    DIVERGENCE,
    KAPPA,
    KIND,
    LAM,
    MEAN,
    PAR,
    THETA,
    N,
    W,
)
from linkarms.families._scalar import GAMMA_RATE, POISSON, phi_ratio, scalar_slope_limit

__all__ = ["has_poles", "pole_cost"]

#: Columns that only mixtures use.
_PART, _RATE = N, MEAN
#: A step so small, relative to the multiplier and to its distance from the pole, is the last: Newton's method squares it.
_LAST = 1e-8
#: ``G`` is only known up to this, relative to its terms.
_NOISE = 1e-15
#: The level is asked about from the first step on that is so small, relatively: ``D`` is then nearly as large as it gets.
_CLOSE = 0.1
#: A lower bound has to be above a level by more than this, relatively, before it counts as above it.
_ROUNDING = 1e-12
#: Most steps; the bracket is halved where they are of no use.
_TURNS = 300


@flat
def has_poles(box: Array, which: Array, n: int) -> bool:
    """Whether the steps of all numbers have a pole."""
    for i in range(n):
        if which[i, KIND] != DIVERGENCE or which[i, CODE] not in (GAMMA_RATE, POISSON):
            return False
        if not box[i, THETA] > 0.0:  # the KL of a Poisson arm from 0 is linear
            return False
    return True


@flat
def _bound(box: Array, n: int, mu: float, g: float) -> float:
    """``D(mu)`` or a little less, without logarithms; leaves ``lambda(mu)`` in ``box[:, LAM]``.

    ``phi(x) >= x^2 / (2 + 4 x / 3)``, here with ``x = s / (1 - s)`` and the weight ``part / rate``.
    """
    total = -mu * g
    for i in range(n):
        s = mu * box[i, _RATE]
        ratio = 1.0 / (1.0 - s)
        box[i, LAM] = box[i, THETA] * ratio
        total += box[i, _PART] * mu * s * ratio / (2.0 - (2.0 / 3.0) * s)
    return total


@flat
def _value(box: Array, n: int, mu: float) -> float:
    """``D(mu)``; leaves ``lambda(mu)`` in ``box[:, LAM]``."""
    total, g = 0.0, 0.0
    for i in range(n):
        part, rate = box[i, _PART], box[i, _RATE]
        ratio = 1.0 / (1.0 - mu * rate)
        box[i, LAM] = box[i, THETA] * ratio
        g += part * ratio
        if rate != 0.0:
            total += part / rate * phi_ratio(ratio, 1.0, mu * rate * ratio)
    return total - mu * g


@lean
def pole_cost(box: Array, which: Array, n: int, level: float) -> float:
    """`linear_cost` where `has_poles`; leaves the minimiser in ``box[:, LAM]``.

    Every ``D(mu)`` is a lower bound of the minimum, so that the search ends early where one exceeds ``level``. Costs above
    ``level`` are only known to be that; others do not depend on it.
    """
    plus, minus, rise, fall, top = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        theta, kappa = box[i, THETA], box[i, KAPPA]
        limit = scalar_slope_limit(which[i, CODE], box[i, PAR], which[i, ADDRESS], theta)
        part, rate = kappa * theta, kappa / (box[i, W] * limit)
        box[i, LAM], box[i, _PART], box[i, _RATE] = theta, part, rate
        top = max(top, rate)
        if rate > 0.0:
            plus += part
            rise += part * rate
        else:
            minus -= part
            fall += part * rate
    if plus >= minus:
        return 0.0
    if plus == 0.0:
        return math.inf
    pole = 1.0 / top
    low, high, mu, before = 0.0, pole, 0.0, math.inf
    for turn in range(_TURNS):
        ratio = plus / minus
        off = abs(1.0 - ratio) / plus
        step = mu + (1.0 - ratio) * plus / (rise + fall * ratio * ratio)
        if turn > 0:
            g, noise = plus - minus, _NOISE * (plus + minus)
            change = abs(step - mu)
            if level < math.inf and change <= _CLOSE * mu:
                value = _bound(box, n, mu, g)
                if value > level * (1.0 + _ROUNDING) + mu * noise:
                    return value
            if abs(g) <= noise:
                break
            if change <= _LAST * min(mu, pole - mu):
                mu = step
                break
            if g > 0.0:
                high = mu
            else:
                low = mu
        if not (low < step < high and off < 0.5 * before):
            step = 0.5 * (low + high) if high < 16.0 * low or low == 0.0 else math.sqrt(low * high)
        before = off
        if abs(step - mu) <= 1e-15 * mu:
            break
        mu = step
        plus, minus, rise, fall = 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            rate = box[i, _RATE]
            r = 1.0 / (1.0 - mu * rate)
            term = box[i, _PART] * r
            if rate > 0.0:
                plus += term
                rise += term * rate * r
            else:
                minus -= term
                fall += term * rate * r
    value = _value(box, n, mu)
    if not value < math.inf:  # at the pole itself: just below, everything is finite
        value = _value(box, n, low)
    return max(value, 0.0)
