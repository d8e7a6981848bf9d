"""The price of not knowing the parameter, for families without a centred mixture: a fixed prior.

For an exponential family and a prior ``pi`` the evidence ``log of integral pi(x) prod p(sample | x) / p(sample | lam) dx`` is
``N KL(theta_hat, lam) - R`` with ``R = -log of integral pi(x) exp(-N KL(theta_hat, x)) dx``: the ordinary costs, less one number an
arm. Here ``R`` is rounded up, so that the evidence is never above the true one.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, kernel
from linkarms.families._model import CATEGORICAL, Model
from linkarms.families._scalar import BERNOULLI, GAUSSIAN, USER, scalar_kl
from linkarms.families._vector import kl_interval

__all__ = ["HALF_LINE", "LINE", "UNIT", "arm_regret", "scalar_regret"]

#: Where a coordinate's parameter may lie, as far as the prior knows: anywhere, above 0, between 0 and 1.
LINE, HALF_LINE, UNIT = range(3)
#: Spread of the logarithm of the parameter under the prior, and the cells of the sum: width in standard deviations, number on each side.
_SPREAD, _WIDTH, _CELLS = 3.0, 0.2, 32


@kernel
def prior_mass_below(domain: int, x: float) -> float:
    """The prior's distribution function: uniform on the unit interval; elsewhere ``log |x|`` is Cauchy, so that no scale is special."""
    if domain == UNIT:
        return min(max(x, 0.0), 1.0)
    if x == 0.0:
        return 0.0 if domain == HALF_LINE else 0.5
    half = 0.5 + math.atan(math.log(abs(x)) / _SPREAD) / math.pi
    if domain == HALF_LINE:
        return half if x > 0.0 else 0.0
    return 0.5 + 0.5 * half if x > 0.0 else 0.5 - 0.5 * half


@kernel
def _side(code: int, par: float, address: int, n: float, theta: float, domain: int, side: int) -> float:
    """``integral of pi(x) exp(-n KL(theta, x))`` on one side of ``theta``, rounded down.

    The integrand's second factor falls away from ``theta``, so each cell's mass times its value at the far end is too small.
    """
    unit = abs(kl_interval(code, par, address, theta, 0.5 / n, side, 0.01) - theta)
    total, at = 0.0, prior_mass_below(domain, theta)
    for i in range(1, _CELLS + 1):
        x = theta + side * unit * _WIDTH * i
        far = prior_mass_below(domain, x)
        divergence = n * scalar_kl(code, par, address, theta, x)
        if not divergence < 700.0:
            break
        total += abs(far - at) * math.exp(-divergence)
        at = far
    return total


@kernel
def scalar_regret(code: int, par: float, address: int, n: float, theta: float) -> float:
    """``R`` of one coordinate after ``n`` samples with the estimate ``theta``; 0 without samples."""
    if n <= 0.0:
        return 0.0
    if code == BERNOULLI:
        domain = UNIT
    elif code == GAUSSIAN:
        domain = LINE
    else:
        domain = int(par) if code == USER else HALF_LINE
    total = _side(code, par, address, n, theta, domain, -1) + _side(code, par, address, n, theta, domain, 1)
    return -math.log(total) if total > 0.0 else math.inf


@kernel
def arm_regret(model: Model, m: int, n: float, theta: Array) -> float:
    """``R_m``: independent coordinates add up; categories have the prior Dirichlet(1/2), in closed form."""
    d = theta.shape[0]
    total = 0.0
    if n <= 0.0:
        return 0.0
    if model.codes[m, 0] == CATEGORICAL:
        total = math.lgamma(n + 0.5 * d) - math.lgamma(0.5 * d)
        for i in range(d):
            s = n * theta[i]
            total -= math.lgamma(s + 0.5) - math.lgamma(0.5)
            if s > 0.0:
                total += s * math.log(theta[i])
        return total
    for i in range(d):
        total += scalar_regret(model.codes[m, i], model.pars[m, i], model.address[m, i], n, theta[i])
    return total
