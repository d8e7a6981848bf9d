"""Digamma and trigamma for kernels: numba has `math.lgamma` and not its derivatives."""

from __future__ import annotations

import math

from linkarms._jit import kernel

__all__ = ["digamma", "trigamma"]

#: From here on the asymptotic series are exact to a few units in the last place.
_LARGE = 10.0


@kernel
def digamma(x: float) -> float:
    """``d log Gamma(x) / dx`` for ``x > 0``: the recurrence up to a large argument, then the asymptotic series."""
    shift = 0.0
    while x < _LARGE:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (
        1.0 / 12.0
        - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y * (1.0 / 132.0 - y * 691.0 / 32760.0))))
    )
    return shift + math.log(x) - 0.5 / x - series


@kernel
def trigamma(x: float) -> float:
    """The second derivative of ``log Gamma(x)`` for ``x > 0``."""
    shift = 0.0
    while x < _LARGE:
        shift += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (
        1.0 / 6.0
        - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * (5.0 / 66.0 - y * 691.0 / 2730.0))))
    )
    return shift + (1.0 + 0.5 / x + series) / x
