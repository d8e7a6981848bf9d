"""The special functions of the checks, for single numbers: to import SciPy's takes as long as the rest of a short run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count

__all__ = ["log_mixed_tilt", "log_normal_tail", "log_upper_gamma", "student_tail"]

_ENOUGH = 1e-15
_TINY = 1e-300


def log_normal_tail(z: float) -> float:
    """Return ``log P(N > z)`` of a standard Gaussian; beyond 25 by its asymptotic series."""
    if z > 25.0:
        y = 1.0 / (z * z)
        series = -y * (1.0 - y * (3.0 - y * (15.0 - 105.0 * y)))
        return -0.5 * z * z - math.log(z * math.sqrt(2.0 * math.pi)) + math.log1p(series)
    if z < 0.0:
        return math.log1p(-0.5 * math.erfc(-z / math.sqrt(2.0)))
    return math.log(0.5 * math.erfc(z / math.sqrt(2.0)))


def log_mixed_tilt(a: float, x: float) -> float:
    """Return ``log of the integral of t^(a-1) e^((1-t) x)`` over t in (0, 1), for a > 0 and x > 0.

    It is ``e^x x^-a gamma(a, x)``, gamma the lower incomplete gamma function. Up to ``x = a + 1`` as the series
    ``sum_n x^n / (a (a + 1) ... (a + n))``, beyond as one less the upper function.
    """
    if x < a + 1.0:
        return math.log(_gamma_series(a, x))
    return x + math.lgamma(a) - a * math.log(x) + math.log1p(-math.exp(log_upper_gamma(a, x)))


def log_upper_gamma(a: float, x: float) -> float:
    """Return ``log Q(a, x)``, Q the regularised upper incomplete gamma function, for a > 0 and x >= 0."""
    if x <= 0.0:
        return 0.0
    scale = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1.0:
        return math.log(max(-math.expm1(scale + math.log(_gamma_series(a, x))), _TINY))
    return scale - math.log(_fraction(x + 1.0 - a, ((-i * (i - a), x + 2.0 * i + 1.0 - a) for i in count(1))))


def student_tail(freedom: float, t: float) -> float:
    """Return ``P(T > t)`` of Student's distribution, for t >= 0."""
    if t == 0.0:
        return 0.5
    y = t * t / (freedom + t * t)
    return (
        0.5 * (1.0 - _beta(0.5, 0.5 * freedom, y))
        if y < 1.5 / (2.5 + 0.5 * freedom)
        else 0.5 * _beta(0.5 * freedom, 0.5, 1.0 - y)
    )


def _gamma_series(a: float, x: float) -> float:
    total = term = 1.0 / a
    while term > _ENOUGH * total:
        a += 1.0
        term *= x / a
        total += term
    return total


def _beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, for x < (a + 1) / (a + b + 2)."""

    def terms() -> Iterator[tuple[float, float]]:
        for m in count():
            yield -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), 1.0
            k = m + 1
            yield k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)), 1.0

    log_front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(log_front) / (a * _fraction(1.0, terms()))


def _fraction(first: float, terms: Iterator[tuple[float, float]]) -> float:
    """Return the continued fraction ``b0 + a1 / (b1 + a2 / (b2 + ...))`` by Lentz's method; ``terms`` gives (a1, b1), ..."""
    value = first or _TINY
    c, d = value, 0.0
    for a, b in terms:
        d = 1.0 / ((b + a * d) or _TINY)
        c = b + a / c or _TINY
        value *= c * d
        if abs(c * d - 1.0) < _ENOUGH:
            break
    return value
