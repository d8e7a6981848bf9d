"""Separable costs under one linear constraint: a concave dual in one multiplier.

Minimise ``sum_m w_m f_m(lambda_m)`` subject to ``sum_m kappa_m lambda_m >= 0``, each ``lambda_m`` a number and ``f_m`` its cost:
``KL(theta_m, .)``, or the rise of a centred mixture above its minimum. The few numbers that move are held in two work arrays with one
row each, ``box`` and ``which``; see ``_number.py``.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel, lean
from linkarms.alternatives._number import (
    CAP,
    CODE,
    DIVERGENCE,
    KAPPA,
    KIND,
    LAM,
    THETA,
    W,
    number_cost,
    number_gain,
    number_inflection,
    number_slope_limit,
    number_step,
)
from linkarms.alternatives._poles import has_poles, pole_cost
from linkarms.families._scalar import POISSON

#: Relative gap at which the search over a non-convex arm ends; its answer is the lower end.
GAP = 1e-9
#: A lower bound has to be above a level by more than this, relatively, before it counts as above it.
ROUNDING = 1e-12


@lean
def _dual(box: Array, which: Array, n: int, offset: float, level: float) -> tuple[float, float, float]:
    """Minimise ``sum w_m f_m(lambda_m)`` subject to ``sum kappa_m lambda_m >= offset``, ``lambda_m <= cap_m``.

    Maximises ``D(mu) = sum_m min_lambda [w_m f_m(lambda) - mu kappa_m lambda] + mu offset`` over ``mu >= 0`` by Newton's
    method on ``G(mu) = sum kappa_m lambda_m(mu) - offset`` inside a bracket. Every ``D(mu)`` is a lower bound of the minimum, so
    that the search ends early where one exceeds ``level``.

    Returns
    -------
    value, mu, residual : float
        ``D(mu)``, the multiplier, and ``G(mu)``. ``box[:, LAM]`` holds ``lambda(mu)``.
    """
    limit = math.inf
    start = -offset
    gain = 0.0
    loose = False
    for i in range(n):
        theta, w, kappa = box[i, THETA], box[i, W], box[i, KAPPA]
        box[i, LAM] = theta
        start += kappa * theta
        loose = loose or which[i, KIND] != DIVERGENCE
        gain += kappa * kappa / w * number_gain(box, which, i, 0.0, theta)
        if kappa > 0.0 and box[i, CAP] == math.inf:
            limit = min(limit, number_slope_limit(box, which, i) * w / kappa)
    if start >= 0.0:
        return 0.0, 0.0, start
    low, high, growth = 0.0, limit, 2.0
    mu = -start / gain if gain > 0.0 else math.inf
    if not mu < 0.9 * high:
        mu = 0.5 * high if high < math.inf else 1.0
    before = math.inf
    for turn in range(300):
        g, gain, scale = _residual(box, which, n, mu, offset)
        if turn == 2 and level < math.inf and g < math.inf:
            value = _dual_value(box, which, n) - mu * g
            if value > level + ROUNDING * abs(level):
                return value, mu, g
        step = mu - g / gain if gain > 0.0 and g < math.inf else math.inf
        # D lacks about g^2 / (2 gain). What a mixture costs is only needed to stop or not to stop, and any D is a lower bound
        if loose and gain > 0.0 and g * g <= 2e-10 * gain:
            break
        if abs(g) <= 4e-16 * scale or (abs(g) <= 1e-9 * scale and abs(step - mu) <= 1e-15 * mu):
            break
        if g > 0.0:
            high = mu
        else:
            low = mu
        # Newton crawls on the far side of a pole: halve the bracket where it does not halve the residual
        if not (low < step < high and abs(g) < 0.5 * before):
            if high < math.inf:
                step = 0.5 * (low + high) if high < 16.0 * low or low == 0.0 else math.sqrt(low * high)
            elif low < step < math.inf:
                step = max(step, 2.0 * mu)  # nothing bounds mu from above yet: do not creep
            else:
                growth *= growth
                step = mu * growth
                if step > 1e250:  # the caps leave no way to satisfy the constraint
                    return math.inf, low, -math.inf
        before = abs(g)
        if abs(step - mu) <= 1e-15 * mu:
            break
        mu = step
    g, gain, scale = _residual(box, which, n, mu, offset)
    if g == math.inf:  # lambda(mu) jumps to infinity here: just below, everything is finite
        mu = low
        g, gain, scale = _residual(box, which, n, mu, offset)
    return max(_dual_value(box, which, n) - mu * g, 0.0), mu, g


@lean
def _residual(box: Array, which: Array, n: int, mu: float, offset: float) -> tuple[float, float, float]:
    """``G(mu)``, its derivative, and the size of its terms; writes ``lambda(mu)`` into ``box[:, LAM]``. Infinite where a ``lambda`` is."""
    g = -offset
    gain = 0.0
    scale = abs(offset)
    for i in range(n):
        kappa = box[i, KAPPA]
        slope = mu * kappa / box[i, W]
        lam = number_step(box, which, i, slope)
        if lam < box[i, CAP]:
            gain += kappa * kappa / box[i, W] * number_gain(box, which, i, slope, lam)
        else:
            lam = box[i, CAP]
        if lam == math.inf:
            return math.inf, 0.0, 0.0
        box[i, LAM] = lam
        g += kappa * lam
        scale += abs(kappa * lam)
    return g, gain, scale


@lean
def _dual_value(box: Array, which: Array, n: int) -> float:
    """``sum w_m f_m(lambda_m)`` at ``box[:, LAM]``."""
    total = 0.0
    for i in range(n):
        if box[i, LAM] != box[i, THETA]:
            total += box[i, W] * number_cost(box, which, i, box[i, LAM])
    return total


@kernel
def _beyond(box: Array, which: Array, n: int, j: int, level: float) -> float:
    """Arm ``j`` beyond its inflection, the others before theirs: a certified lower bound of the minimum.

    ``f(x)``, the cost of arm ``j`` at ``x``, is increasing and concave there; ``g(x)``, the cost of the others given ``x``, is
    decreasing and convex, with slope ``-mu kappa_j``. So between two points ``f`` lies above its chord and ``g`` above its
    tangents, whose sum is piecewise linear: its smallest value bounds the interval from below. Intervals whose bound is not
    above what is known are halved. ``box[j, LAM]`` is left at the best ``x``.
    """
    w, kappa = box[j, W], box[j, KAPPA]
    start = box[j, CAP]
    end = 0.0
    for i in range(n):
        if i != j:
            end -= box[i, KAPPA] * box[i, THETA]
    end /= kappa
    if end <= start:
        return math.inf
    # an explicit stack of intervals: x1, f1, g1, slope1, x2, f2, g2, slope2
    stack = np.empty((64, 8))
    f1 = w * number_cost(box, which, j, start)
    f2 = w * number_cost(box, which, j, end)
    g1, s1 = _others(box, which, n, j, start)
    upper, best_x = f2, end
    if f1 + g1 < upper:
        upper, best_x = f1 + g1, start
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = start, f1, g1, s1
    stack[0, 4], stack[0, 5], stack[0, 6], stack[0, 7] = end, f2, 0.0, 0.0
    depth = 1
    lower = upper
    while depth > 0:
        depth -= 1
        x1, f1, g1, s1 = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        x2, f2, g2, s2 = stack[depth, 4], stack[depth, 5], stack[depth, 6], stack[depth, 7]
        bound = _interval_bound(x1, f1, g1, s1, x2, f2, g2, s2)
        # (a bound that is no number, from a user's function that failed, ends the search as well)
        if not (bound <= level and bound < upper * (1.0 - GAP)) or x2 - x1 <= 1e-12 * x2 or depth > 58:
            lower = min(lower, bound)
            continue
        x = 0.5 * (x1 + x2) if x2 < 4.0 * x1 else math.sqrt(x1 * x2)
        f = w * number_cost(box, which, j, x)
        g, s = _others(box, which, n, j, x)
        if f + g < upper:
            upper, best_x = f + g, x
        # the left half lies on top of the right one
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = x, f, g, s
        depth += 1
        stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = x1, f1, g1, s1
        stack[depth, 4], stack[depth, 5], stack[depth, 6], stack[depth, 7] = x, f, g, s
        depth += 1
    _others(box, which, n, j, best_x)
    box[j, LAM] = best_x
    return lower


@lean
def _interval_bound(
    x1: float, f1: float, g1: float, s1: float, x2: float, f2: float, g2: float, s2: float
) -> float:
    """Minimum over ``[x1, x2]`` of the chord of ``f`` plus the larger of the two tangents of ``g``."""
    chord = (f2 - f1) / (x2 - x1)
    left, right = f1 + g1, f2 + g2
    if g1 == math.inf:  # the others cannot satisfy the constraint at x1
        if s2 > -math.inf:
            return min(f1 + g2 - s2 * (x2 - x1) if s2 < 0.0 else f1 + g2, right)
        return f1 + g2
    if s1 + chord >= 0.0:
        return left
    if s2 + chord <= 0.0:
        return right
    # where the two tangents cross
    x = (g2 - g1 + s1 * x1 - s2 * x2) / (s1 - s2)
    x = min(max(x, x1), x2)
    return f1 + chord * (x - x1) + max(g1 + s1 * (x - x1), g2 + s2 * (x - x2))


@lean
def _others(box: Array, which: Array, n: int, j: int, x: float) -> tuple[float, float]:
    """Cost of all arms but ``j`` when arm ``j`` is at ``x``, and its derivative in ``x``."""
    kappa = box[j, KAPPA]
    box[j, KAPPA] = 0.0  # takes arm j out of the problem
    value, mu, _ = _dual(box, which, n, -kappa * x, math.inf)
    box[j, KAPPA] = kappa
    return value, -mu * kappa


@lean
def linear_cost(box: Array, which: Array, n: int, level: float) -> float:
    """The minimum, or a lower bound of it within `GAP`; leaves the minimiser in ``box[:, LAM]``.

    Numbers with a finite inflection are capped there (a convex problem); at a minimum at most one lies beyond, so each of them
    in turn is tried there as well. Costs above ``level`` are only known to be that; others do not depend on it.
    """
    if has_poles(box, which, n):
        return pole_cost(box, which, n, level)
    convex = True
    for i in range(n):
        box[i, CAP] = number_inflection(box, which, i)
        if box[i, KAPPA] > 0.0 and box[i, CAP] < math.inf:
            convex = False
    value, _, residual = _dual(box, which, n, 0.0, level if convex else math.inf)
    if value < math.inf and residual < 0.0:
        _give_residual(box, which, n, residual)
    if convex:
        return value
    return _beyond_each(box, which, n, value, level)


@kernel
def _beyond_each(box: Array, which: Array, n: int, value: float, level: float) -> float:
    """The smaller of ``value`` and the minima with one number beyond its inflection; see `linear_cost`."""
    best, above = value, math.inf
    saved = box[:n, LAM].copy()
    for j in range(n):
        if not (box[j, KAPPA] > 0.0 and box[j, CAP] < math.inf):
            continue
        at_cap = box[j, W] * number_cost(box, which, j, box[j, CAP])
        if at_cap >= best:
            continue
        value = at_cap if at_cap > level else _beyond(box, which, n, j, level)
        if value > level:
            above = min(above, value)
            continue
        if level < math.inf:  # where the search does not look depends on the level: the answer may not
            value = _beyond(box, which, n, j, math.inf)
        if not value >= best:
            best = value
            saved[:] = box[:n, LAM]
    box[:n, LAM] = saved
    return min(best, above)


@lean
def convex_cost(box: Array, which: Array, n: int) -> float:
    """The minimum over numbers before their inflections, infinite if there is none: an upper bound of `linear_cost` for far less work.

    Leaves the minimiser in ``box[:, LAM]``.
    """
    for i in range(n):
        box[i, CAP] = number_inflection(box, which, i)
    value, _, residual = _dual(box, which, n, 0.0, math.inf)
    if value < math.inf and residual < 0.0:
        _give_residual(box, which, n, residual)
    return value


@lean
def _give_residual(box: Array, which: Array, n: int, residual: float) -> None:
    """Give what the constraint lacks to an arm whose cost is linear (Poisson with estimate 0): ``lambda(mu)`` jumps there."""
    for i in range(n):
        if box[i, KAPPA] > 0.0 and box[i, THETA] == 0.0 and which[i, CODE] == POISSON:
            box[i, LAM] -= residual / box[i, KAPPA]
            return
