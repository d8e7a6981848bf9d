"""The pair problem for arms with one parameter each: a linear constraint for each sign of the intra pair."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, lean
from linkarms.alternatives._linear import linear_cost
from linkarms.alternatives._number import ADDRESS, ARM, CODE, DIVERGENCE, KAPPA, KIND, LAM, PAR, THETA, W
from linkarms.families._model import ScalarModel


@flat
def load_constraint(
    u: int, v: int, a: int, b: int, sign: float, sigma: float, box: Array, which: Array
) -> int:
    """Put the arms and the coefficients of ``sign (l_u - l_v) - sigma (l_a - l_b)`` into the work arrays; a shared arm is ``u = a``."""
    which[0, ARM], box[0, KAPPA] = u, sign
    which[1, ARM], box[1, KAPPA] = v, -sign
    which[2, ARM], box[2, KAPPA] = b, sigma
    if u == a:
        box[0, KAPPA] -= sigma
        return 3
    which[3, ARM], box[3, KAPPA] = a, -sigma
    return 4


@flat
def _load_arms(model: ScalarModel, theta: Array, w: Array, n: int, box: Array, which: Array) -> None:
    """Put what does not depend on the sign into the work arrays."""
    for i in range(n):
        m = which[i, ARM]
        which[i, CODE], which[i, ADDRESS], which[i, KIND] = model.codes[m, 0], model.address[m, 0], DIVERGENCE
        box[i, THETA], box[i, W], box[i, PAR] = theta[m, 0], w[m], model.pars[m, 0]


@lean
def scalar_pair(
    model: ScalarModel,
    theta: Array,
    w: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    level: float,
    lam: Array,
    write: bool,
    box: Array,
    which: Array,
) -> float:
    """Cost over both signs of the intra pair; with ``write`` also sets the rows of ``lam`` to the minimiser.

    Costs above ``level`` are only known to be that; others do not depend on it.
    """
    if abs(theta[u, 0] - theta[v, 0]) >= abs(theta[a, 0] - theta[b, 0]):
        return 0.0
    best = math.inf
    sign = 1.0 if theta[u, 0] >= theta[v, 0] else -1.0
    sigma = 1.0 if theta[a, 0] >= theta[b, 0] else -1.0
    for turn in range(2):
        n = load_constraint(u, v, a, b, sign, sigma, box, which)
        if turn == 0:
            _load_arms(model, theta, w, n, box, which)
        sign = -sign
        value = linear_cost(box, which, n, min(level, best))
        if value < best:
            best = value
            if write:
                for i in range(n):
                    lam[which[i, ARM], 0] = box[i, LAM]
    return best
