"""The pair problem for arms with one parameter each: a linear constraint for each sign of the intra pair."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._linear import linear_cost
from linkarms.alternatives._number import ADDRESS, ARM, CODE, DIVERGENCE, KAPPA, KIND, LAM, PAR, THETA, W
from linkarms.families._model import ScalarModel
from linkarms.families._vector import kl_interval


@kernel
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


@kernel
def _load(
    model: ScalarModel,
    theta: Array,
    w: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    sign: float,
    box: Array,
    which: Array,
) -> int:
    """Put the arms and the coefficients of the constraint into the work arrays."""
    sigma = 1.0 if theta[a, 0] >= theta[b, 0] else -1.0
    n = load_constraint(u, v, a, b, sign, sigma, box, which)
    for i in range(n):
        m = which[i, ARM]
        which[i, CODE], which[i, ADDRESS], which[i, KIND] = model.codes[m, 0], model.address[m, 0], DIVERGENCE
        box[i, THETA], box[i, W], box[i, PAR] = theta[m, 0], w[m], model.pars[m, 0]
    return n


@kernel
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

    Costs of ``level`` and more are only known to be that.
    """
    if abs(theta[u, 0] - theta[v, 0]) >= abs(theta[a, 0] - theta[b, 0]):
        return 0.0
    best = math.inf
    first = 1.0 if theta[u, 0] >= theta[v, 0] else -1.0
    for turn in range(2):
        sign = first if turn == 0 else -first
        n = _load(model, theta, w, u, v, a, b, sign, box, which)
        value = linear_cost(box, which, n, min(level, best))
        if value < best:
            best = value
            if write:
                for i in range(n):
                    lam[which[i, ARM], 0] = box[i, LAM]
    return best


@kernel
def scalar_reach(
    model: ScalarModel, theta: Array, w: Array, level: float, longer: Array, shorter: Array
) -> None:
    """Bounds of ``|lambda_u - lambda_v|`` where each arm's ``w KL`` is at most ``level``: each stays in an interval."""
    n = theta.shape[0]
    low = np.empty(n)
    high = np.empty(n)
    for m in range(n):
        code, par, address = model.codes[m, 0], model.pars[m, 0], model.address[m, 0]
        low[m] = kl_interval(code, par, address, theta[m, 0], level / w[m], -1, 0.01)
        high[m] = kl_interval(code, par, address, theta[m, 0], level / w[m], 1, 0.01)
    for m in range(n):
        for j in range(n):
            longer[m, j] = max(high[m] - low[j], high[j] - low[m])
            shorter[m, j] = max(low[m] - high[j], low[j] - high[m], 0.0)
