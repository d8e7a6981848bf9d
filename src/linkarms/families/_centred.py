"""The centred mixtures of ``_evidence.py`` as costs of one number: where ``l`` is smallest, how it rises, and its one-arm step.

For an arm with ``n`` samples of mean ``mean``, ``S = n mean``, and a prior that weighs as much as ``c`` samples, the functions here
stand to ``l(lam) - min l`` as those of ``_scalar.py`` stand to ``KL(theta, lam)``, with the minimiser of ``l`` in the place of
``theta``. In the rate, the exponential and gamma families have closed forms: with ``k`` the shape, ``A = k (n + c) + 1`` and ``phi(x)
= x - log(1 + x)``::

    l(lam) - min l = A phi(S (lam - lam0) / A),   lam0 = (k n + 1) / S

Gaussian arms do not come here: theirs is the KL with the weight ``n^2 / (n + c)``.
"""

from __future__ import annotations

import math

from linkarms._jit import kernel
from linkarms.families._evidence import scalar_log_evidence
from linkarms.families._scalar import BERNOULLI, GAMMA_MEAN, GAMMA_RATE, POISSON, TINY, phi
from linkarms.families._special import digamma, trigamma

__all__ = [
    "centred_gain",
    "centred_inflection",
    "centred_minimiser",
    "centred_rise",
    "centred_slope_limit",
    "centred_step",
]


@kernel
def _count_slope(s: float, m: float, c: float) -> float:
    """Derivative in ``m`` of ``lgamma(s + c m) - lgamma(c m) - s log m``, the part of a count ``s``; ``m > 0`` where ``s > 1``."""
    if s <= 1.0:
        return 0.0  # one sample: the terms cancel
    x = c * m
    # psi(x) = psi(1 + x) - 1/x takes one of the s poles away
    return c * (digamma(s + x) - digamma(1.0 + x)) - (s - 1.0) / m


@kernel
def _count_curvature(s: float, m: float, c: float) -> float:
    """Second derivative in ``m`` of the same."""
    if s <= 1.0:
        return 0.0
    x = c * m
    return c * c * (trigamma(s + x) - trigamma(1.0 + x)) + (s - 1.0) / (m * m)


@kernel
def _slope(code: int, n: float, total: float, c: float, m: float) -> float:
    """``dl/dm`` for Bernoulli and Poisson arms."""
    if code == BERNOULLI:
        return _count_slope(total, m, c) - _count_slope(n - total, 1.0 - m, c)
    return c * phi(n / c) + _count_slope(total, m, c)


@kernel
def _curvature(code: int, n: float, total: float, c: float, m: float) -> float:
    if code == BERNOULLI:
        return _count_curvature(total, m, c) + _count_curvature(n - total, 1.0 - m, c)
    return _count_curvature(total, m, c)


@kernel
def _count_step(code: int, n: float, mean: float, c: float, slope: float) -> float:
    """Where ``dl/dm`` reaches ``slope``: Newton's method inside a bracket; the ends of the domain where it does not."""
    total = math.floor(n * mean + 0.5)
    tail = n - total if code == BERNOULLI else 2.0
    if total <= 1.0 and _slope(code, n, total, c, 0.0) >= slope:
        return 0.0
    if tail <= 1.0 and _slope(code, n, total, c, 1.0) <= slope:
        return 1.0
    if code == POISSON and slope >= c * phi(n / c):
        return math.inf
    low, high = 0.0, 1.0 if code == BERNOULLI else math.inf
    x = total / n if total > 0.0 and (code == POISSON or total < n) else 0.5
    for _ in range(200):
        g = _slope(code, n, total, c, x) - slope
        if g > 0.0:
            high = x
        else:
            low = x
        curvature = _curvature(code, n, total, c, x)
        step = x - g / curvature if curvature > 0.0 else math.inf
        if not low < step < high:
            if high == math.inf:
                step = 2.0 * x
            else:
                step = 0.5 * (low + high) if high < 16.0 * low or low == 0.0 else math.sqrt(low * high)
            if low == 0.0:
                step = min(step, 0.0625 * high) if g > 0.0 else step
        if abs(step - x) <= 4e-16 * x or step in (low, high):
            return step
        x = step
    return x


@kernel
def centred_minimiser(code: int, par: float, n: float, mean: float, c: float) -> float:
    """Where ``l`` is smallest. It is not the maximum likelihood estimate."""
    total = n * mean
    if code == GAMMA_RATE:
        return (par * n + 1.0) / max(total, TINY)
    if code == GAMMA_MEAN:
        return par * max(total, TINY) / (par * n + 1.0)
    return _count_step(code, n, mean, c, 0.0)


@kernel
def centred_rise(code: int, par: float, n: float, mean: float, c: float, low: float, lam: float) -> float:
    """``l(lam) - l(low)``, ``low`` the minimiser; infinite outside the domain."""
    total = n * mean
    if code in (GAMMA_RATE, GAMMA_MEAN):
        total = max(total, TINY)
        a = par * (n + c) + 1.0
        if code == GAMMA_RATE:
            return a * phi(total * (lam - low) / a) if lam >= 0.0 else math.inf
        if lam <= 0.0:
            return math.inf
        y = 0.0 if lam == math.inf else total * par / lam
        return a * phi((y - par * n - 1.0) / a)
    if lam < 0.0 or (code == BERNOULLI and lam > 1.0):
        return math.inf
    rise = scalar_log_evidence(code, par, n, mean, lam, c) - scalar_log_evidence(code, par, n, mean, low, c)
    return max(rise, 0.0)


@kernel
def _mean_step(k: float, n: float, c: float, total: float, slope: float) -> float:
    """The step of a gamma arm in the mean, before the inflection, by ``y = k S / lam``.

    ``dl/dlam = y^2 (B - y) / ((k c + y) k S)`` with ``B = k n + 1`` rises in ``lam`` while ``y`` is above the inflection's.
    """
    b, x = k * n + 1.0, k * c
    right = slope * k * total
    edge = k * total / centred_inflection(GAMMA_MEAN, k, n, total / n, c)
    low, high = edge, b
    if right > 0.0:
        if right >= edge * edge * (b - edge) / (x + edge):
            return k * total / edge
    elif right < 0.0:
        low, high = b, 2.0 * b
        while high * high * (b - high) / (x + high) > right:
            low, high = high, 2.0 * high
    else:
        return k * total / b
    y = 0.5 * (low + high)
    for _ in range(200):
        f = y * y * (b - y) / (x + y) - right
        if f > 0.0:
            low = y
        else:
            high = y
        slope_y = (2.0 * y * (b - y) - y * y) / (x + y) - y * y * (b - y) / ((x + y) * (x + y))
        step = y - f / slope_y if slope_y < 0.0 else math.inf
        if not low < step < high:
            step = 0.5 * (low + high)
        if abs(step - y) <= 4e-16 * y or step in (low, high):
            y = step
            break
        y = step
    return k * total / y


@kernel
def centred_step(code: int, par: float, n: float, mean: float, c: float, slope: float) -> float:
    """``argmin over lam of l(lam) - slope lam``, before the inflection; infinite at or beyond `centred_slope_limit`."""
    total = n * mean
    if code == GAMMA_RATE:
        total = max(total, TINY)
        if slope >= total:
            return math.inf
        return max((par * (n + c) + 1.0) / (total - slope) - par * c / total, 0.0)
    if code == GAMMA_MEAN:
        return _mean_step(par, n, c, max(total, TINY), slope)
    return _count_step(code, n, mean, c, slope)


@kernel
def centred_gain(code: int, par: float, n: float, mean: float, c: float, lam: float) -> float:
    """Derivative of `centred_step` in the slope, ``1 / l''(lam)``; it only steers Newton's method."""
    total = n * mean
    if code == GAMMA_RATE:
        if lam <= 0.0:
            return 0.0
        total = max(total, TINY)
        y = lam + par * c / total
        return y * y / (par * (n + c) + 1.0)
    if code == GAMMA_MEAN:
        total = max(total, TINY)
        b, x, y = par * n + 1.0, par * c, par * total / lam
        slope_y = (2.0 * y * (b - y) - y * y) / (x + y) - y * y * (b - y) / ((x + y) * (x + y))
        curvature = -slope_y * y / (lam * par * total)
        return 1.0 / curvature if curvature > 0.0 else 0.0
    if lam <= 0.0 or (code == BERNOULLI and lam >= 1.0):
        return 0.0
    curvature = _curvature(code, n, math.floor(total + 0.5), c, lam)
    return 1.0 / curvature if curvature > 0.0 else 0.0


@kernel
def centred_slope_limit(code: int, par: float, n: float, mean: float, c: float) -> float:
    """The slope at which `centred_step` becomes infinite (inf: never)."""
    if code == GAMMA_RATE:
        return max(n * mean, TINY)
    if code == POISSON:
        return c * phi(n / c)  # n - c log(1 + n/c), without cancellation
    return math.inf


@kernel
def centred_inflection(code: int, par: float, n: float, mean: float, c: float) -> float:
    """Where ``l`` stops being convex (inf: nowhere): the gamma family in the mean, ``k S / y*``."""
    if code != GAMMA_MEAN:
        return math.inf
    b, x = par * n + 1.0, par * c
    q = b - 3.0 * x
    root = math.sqrt(q * q + 16.0 * b * x)
    y = 0.25 * (q + root) if q > 0.0 else 4.0 * b * x / (root - q)
    return par * max(n * mean, TINY) / y
