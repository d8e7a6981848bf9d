"""The paper's threshold, compiled."""

from __future__ import annotations

import math

from linkarms._jit import Array, lean
from linkarms.families._model import Model
from linkarms.families._vector import arm_fisher, arm_shift_kl, chart_dimension

#: Integer codes of the stopping rules; `USER` rules are asked in Python. `LEVEL` is the evidence alone: its arms have no penalties.
USER, PAPER, LEVEL, BOC, ANYTIME = range(5)


@lean
def log_inner_mass(x: float) -> float:
    """``W = log(1 - 2 Q(x))`` for ``x > 0``, ``Q`` the Gaussian upper tail.

    ``1 - 2 Q(x) = erf(x / sqrt 2)`` is precise where it is small, ``log1p(-erfc)`` where it is close to one.
    """
    z = x / math.sqrt(2.0)
    if z < 1.0:
        return math.log(math.erf(z))
    return math.log1p(-math.erfc(z))


@lean
def paper_penalty(model: Model, m: int, theta: Array, n: int, epsilon: float, log_volume: float) -> float:
    """Arm ``m``'s part of the threshold ``beta``, everything but ``log(1/delta)``::

        (d/2) log(I N) - d W + log|Theta| - (d/2) log(2 pi) + N sum_i max(KL(theta, theta -+ eps e_i))

    with ``I`` the largest eigenvalue of the Fisher information at the estimate and ``W = log(1 - 2 Q(eps sqrt(N I)))``. The paper
    takes the largest eigenvalue of the observed information under the root; where that is random (Bernoulli, Poisson, means)
    its expectation ``N I`` stands for it, where it is not (Gaussian, rates) the two are the same.
    """
    d = chart_dimension(model)
    information = n * arm_fisher(model, m, theta)
    return (
        0.5 * d * math.log(information)
        - d * log_inner_mass(epsilon * math.sqrt(information))
        + log_volume
        - 0.5 * d * math.log(2.0 * math.pi)
        + n * arm_shift_kl(model, m, theta, epsilon)
    )
