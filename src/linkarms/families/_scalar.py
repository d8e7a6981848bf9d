"""The formulas of the one-dimensional families, by integer code.

Each function takes the ``code`` of the family, its known parameter ``par`` (variance, shape) and ``address``, the
table of functions of a user's own family (unused otherwise). With ``theta`` the estimate and ``lam`` the value tested:

=============  ==================  =====================================================================
code           ``par``             ``KL(theta, lam)``
=============  ==================  =====================================================================
GAUSSIAN       variance ``v``      ``(lam - theta)^2 / (2 v)``
GAMMA_RATE     shape ``k``         ``k phi(lam / theta - 1)`` (exponential by rate: ``k = 1``)
GAMMA_MEAN     shape ``k``         ``k phi(theta / lam - 1)`` (exponential by mean: ``k = 1``)
BERNOULLI      -                   ``theta phi((lam - theta) / theta) + (1-theta) phi((theta - lam) / (1-theta))``
POISSON        -                   ``theta phi(lam / theta - 1)``, or ``lam`` where ``theta = 0``
USER           -                   the user's
=============  ==================  =====================================================================

with ``phi(x) = x - log(1 + x)``, which keeps its relative precision for small ``x``.
"""

from __future__ import annotations

import math

from linkarms._jit import kernel
from linkarms.families._callbacks import call_address

GAUSSIAN, GAMMA_RATE, GAMMA_MEAN, BERNOULLI, POISSON, USER = range(6)
#: The order of a user family's functions in its row of addresses.
USER_FUNCTIONS = ("kl", "step", "fisher", "estimate", "slope_limit", "inflection")
U_KL, U_STEP, U_FISHER, U_ESTIMATE, U_SLOPE_LIMIT, U_INFLECTION = range(len(USER_FUNCTIONS))

#: Estimates of rates and means that must be positive are kept above this (an arm whose samples are all zero).
TINY = 1e-100


@kernel
def phi(x: float) -> float:
    """``x - log(1 + x)`` for ``x >= -1``, to full relative precision.

    Below ``|x| = 0.01`` the difference would cancel: the alternating series is used, eight terms of which are exact to
    1e-17 there.
    """
    if abs(x) < 0.01:
        s = 0.0
        for n in range(9, 1, -1):
            s = s * -x + 1.0 / n
        return x * x * s
    if x <= -1.0:
        return math.inf
    return x - math.log1p(x)


@kernel
def phi_reach(level: float, tolerance: float) -> float:
    """The ``x >= 0`` with ``phi(x) = level``, rounded up by at most ``tolerance``, relatively (but 1e-12 at least).

    ``phi(x) >= x^2 / (2 + 4 x / 3)`` gives a first one that is not too small; as ``phi`` is convex, Newton's method stays on its side.
    """
    if not 0.0 < level < 1e100:
        return max(2.0 * level, 0.0)  # so far out phi(x) > x / 2
    third = level * (2.0 / 3.0)
    x = third + math.sqrt(third * third + 2.0 * level)
    for _ in range(60):
        step = (phi(x) - level) * (1.0 + x) / x
        x -= step
        if not step > tolerance * x:
            break
    return x * (1.0 + 1e-12)


@kernel
def phi_ratio(value: float, base: float, change: float) -> float:
    """``phi(value / base - 1)`` for positive ``base``, where ``change = value - base``.

    Near one the change decides, which the caller knows better than the ratio; far away the ratio itself, whose logarithm keeps its
    precision where ``value`` is tiny (``1 + x`` would not).
    """
    if abs(change) < 0.5 * base:
        return phi(change / base)
    ratio = value / base
    return ratio - 1.0 - math.log(ratio) if ratio > 0.0 else math.inf


@kernel
def scalar_kl(code: int, par: float, address: int, theta: float, lam: float) -> float:
    """``KL(theta, lam)``; infinite where ``lam`` is outside the family's domain."""
    if code == GAUSSIAN:
        return (lam - theta) * (lam - theta) / (2.0 * par)
    if code == GAMMA_RATE:
        return par * phi_ratio(lam, theta, lam - theta) if lam > 0.0 else math.inf
    if code == GAMMA_MEAN:
        return par * phi_ratio(theta, lam, theta - lam) if lam > 0.0 else math.inf
    if code == BERNOULLI:
        if lam < 0.0 or lam > 1.0:
            return math.inf
        # at theta = 0 or 1 one of the two terms is gone, and with it the cancelling linear part
        if theta <= 0.0:
            return -math.log1p(-lam) if lam < 1.0 else math.inf
        if theta >= 1.0:
            return -math.log(lam) if lam > 0.0 else math.inf
        up = theta * phi_ratio(lam, theta, lam - theta)
        return up + (1.0 - theta) * phi_ratio(1.0 - lam, 1.0 - theta, theta - lam)
    if code == POISSON:
        if lam < 0.0:
            return math.inf
        if theta <= 0.0:
            return lam
        return theta * phi_ratio(lam, theta, lam - theta)
    return call_address(address, U_KL, theta, lam)


@kernel
def scalar_step(code: int, par: float, address: int, theta: float, slope: float) -> float:
    """The one-arm step of the pair problem: ``argmin over lam of KL(theta, lam) - slope lam``.

    Where the KL is convex only up to an inflection, the minimum is over the part before it, so that the step is
    increasing in ``slope``. Infinite at or beyond `scalar_slope_limit`.
    """
    if code == GAUSSIAN:
        return theta + par * slope
    if code == GAMMA_RATE:
        rest = 1.0 / theta - slope / par
        return 1.0 / rest if rest > 0.0 else math.inf
    if code == GAMMA_MEAN:
        disc = 1.0 - 4.0 * slope / par * theta
        return 2.0 * theta / (1.0 + math.sqrt(disc)) if disc > 0.0 else 2.0 * theta
    if code == BERNOULLI:
        # the root in [0, 1] of  slope x^2 + (1 - slope) x - theta = 0, by the form that does not cancel
        rest = 1.0 - slope
        root = math.sqrt(max(rest * rest + 4.0 * slope * theta, 0.0))
        if rest >= 0.0:
            lam = 2.0 * theta / (rest + root) if rest + root > 0.0 else 0.0
        else:
            lam = (root - rest) / (2.0 * slope)
        return min(max(lam, 0.0), 1.0)
    if code == POISSON:
        if slope < 1.0:
            return theta / (1.0 - slope)
        return 0.0 if theta <= 0.0 and slope == 1.0 else math.inf
    return call_address(address, U_STEP, theta, slope)


@kernel
def scalar_gain(code: int, par: float, address: int, theta: float, slope: float, lam: float) -> float:
    """Derivative of `scalar_step` in the slope, ``1 / KL''(lam)``: it only steers Newton's method."""
    if code == GAUSSIAN:
        return par
    if code == GAMMA_RATE:
        return lam * lam / par
    if code == GAMMA_MEAN:
        curvature = par * (2.0 * theta - lam) / (lam * lam * lam)
        return 1.0 / curvature if curvature > 0.0 else 0.0
    if code == BERNOULLI:
        curvature = 0.0
        if theta > 0.0:
            curvature += theta / (lam * lam)
        if theta < 1.0:
            curvature += (1.0 - theta) / ((1.0 - lam) * (1.0 - lam))
        return 1.0 / curvature
    if code == POISSON:
        return lam * lam / theta if theta > 0.0 else 0.0
    h = 1e-6 * (1.0 + abs(slope))
    return (lam - call_address(address, U_STEP, theta, slope - h)) / h


@kernel
def scalar_slope_limit(code: int, par: float, address: int, theta: float) -> float:
    """The slope at which `scalar_step` becomes infinite (inf: never)."""
    if code == GAMMA_RATE:
        return par / theta
    if code == POISSON:
        return 1.0
    if code == USER:
        return call_address(address, U_SLOPE_LIMIT, theta, 0.0)
    return math.inf


@kernel
def scalar_inflection(code: int, par: float, address: int, theta: float) -> float:
    """Where ``KL(theta, .)`` stops being convex (inf: nowhere)."""
    if code == GAMMA_MEAN:
        return 2.0 * theta
    if code == USER:
        return call_address(address, U_INFLECTION, theta, 0.0)
    return math.inf


@kernel
def scalar_fisher(code: int, par: float, address: int, theta: float) -> float:
    """Fisher information of one sample about ``theta``."""
    if code == GAUSSIAN:
        return 1.0 / par
    if code in (GAMMA_RATE, GAMMA_MEAN):
        return par / (theta * theta)
    if code == BERNOULLI:
        return 1.0 / max(theta * (1.0 - theta), TINY)
    if code == POISSON:
        return 1.0 / max(theta, TINY)
    return call_address(address, U_FISHER, theta, 0.0)


@kernel
def scalar_estimate(code: int, par: float, address: int, mean: float) -> float:
    """Maximum likelihood estimate from the mean of the sufficient statistics."""
    if code == GAMMA_RATE:
        return par / max(mean, TINY)
    if code == GAMMA_MEAN:
        return max(mean, TINY)
    if code == USER:
        return call_address(address, U_ESTIMATE, mean, 0.0)
    return mean
