"""The pair problem in two dimensions, for any family: a certified search over the direction of the intra pair.

``lambda`` obeys ``|lambda_u - lambda_v| >= |lambda_a - lambda_b|`` iff for some unit vector ``e``
``e.(lambda_u - lambda_v) >= |lambda_a - lambda_b|``. For all directions within an angle ``alpha`` of ``e`` together this implies

    e.(lambda_u - lambda_v) >= cos(alpha) h.(lambda_a - lambda_b)      for every unit vector h,

one linear constraint. Its minimum is a lower bound for that whole range of directions, whatever ``h``; the best ``h`` is the direction of
``lambda_a - lambda_b``. Ranges whose bound is too low are halved: the deficit falls with ``alpha^2``.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._dominating import dominating_pair, tangent_basis
from linkarms.alternatives._linear import linear_cost
from linkarms.alternatives._number import ADDRESS, ARM, CODE, DIVERGENCE, KAPPA, KIND, LAM, PAR, THETA, W
from linkarms.alternatives._simplex import simplex_linear_cost
from linkarms.families._model import CATEGORICAL, COVARIANCE, VectorModel
from linkarms.families._vector import arm_kl

#: The search ends where lower and upper bound differ by less than this, relatively.
ANGLE_GAP = 3e-8
#: ... or after so many directions; the lower bound reached by then is returned.
MOST_DIRECTIONS = 600


@kernel
def _linear_bound(
    model: VectorModel,
    theta: Array,
    w: Array,
    arms: Array,
    n: int,
    kappa: Array,
    level: float,
    box: Array,
    which: Array,
    point: Array,
) -> float:
    """Minimum of the cost under ``sum_m kappa_m . lambda_m >= 0``, ``kappa`` of shape (n, d); writes the minimiser into ``point``."""
    d = theta.shape[1]
    if model.codes[0, 0] == CATEGORICAL:
        return simplex_linear_cost(theta, w, arms, n, kappa, level, point)
    row = 0
    for i in range(n):
        m = arms[i]
        for k in range(d):
            which[row, ARM], which[row, CODE], which[row, ADDRESS] = m, model.codes[m, k], model.address[m, k]
            which[row, KIND] = DIVERGENCE
            box[row, THETA], box[row, W], box[row, PAR] = theta[m, k], w[m], model.pars[m, k]
            box[row, KAPPA] = kappa[i, k]
            row += 1
    value = linear_cost(box, which, row, level)
    row = 0
    for i in range(n):
        for k in range(d):
            point[i, k] = box[row, LAM]
            row += 1
    return value


@kernel
def _range_bound(
    model: VectorModel,
    theta: Array,
    w: Array,
    arms: Array,
    n: int,
    basis: Array,
    angle: float,
    alpha: float,
    level: float,
    box: Array,
    which: Array,
    point: Array,
) -> float:
    """Lower bound over all directions within ``alpha`` of ``angle``; ``point`` becomes the minimiser of the last linear problem."""
    d = theta.shape[1]
    last = 3 if n == 4 else 0
    shrink = math.cos(alpha)
    e = np.empty(d)
    h = np.empty(d)
    for k in range(d):
        e[k] = math.cos(angle) * basis[k, 0] + math.sin(angle) * basis[k, 1]
        h[k] = theta[arms[last], k] - theta[arms[2], k]
    h /= math.sqrt((h * h).sum())
    kappa = np.zeros((n, d))
    best = 0.0
    for _ in range(40):
        for k in range(d):
            kappa[0, k] = e[k]
            kappa[1, k] = -e[k]
            kappa[2, k] = shrink * h[k]
            if n == 4:
                kappa[3, k] = -shrink * h[k]
            else:
                kappa[0, k] -= shrink * h[k]
        value = _linear_bound(model, theta, w, arms, n, kappa, level, box, which, point)
        best = max(best, value)
        if best >= level:
            break
        turn = point[last] - point[2]
        size = math.sqrt((turn * turn).sum())
        if size <= 0.0:
            break
        turn /= size
        change = math.sqrt(((turn - h) ** 2).sum())
        if change <= 1e-9:
            break
        h += turn
        h /= math.sqrt((h * h).sum())
    return best


@kernel
def _repaired_cost(model: VectorModel, theta: Array, w: Array, arms: Array, n: int, point: Array) -> float:
    """Bring the inter pair of ``point`` as near as the intra pair is long, so that it is feasible, and return its cost."""
    last = 3 if n == 4 else 0
    p = point[0] - point[1]
    q = point[last] - point[2]
    have, need = math.sqrt((p * p).sum()), math.sqrt((q * q).sum())
    if need > have:
        t = have / need
        if n == 4:
            centre = 0.5 * (point[2] + point[3])
            point[3] = centre + 0.5 * t * q
            point[2] = centre - 0.5 * t * q
        else:
            point[2] = point[0] - t * q
    cost = 0.0
    for i in range(n):
        cost += w[arms[i]] * arm_kl(model, arms[i], theta[arms[i]], point[i])
    return cost


@kernel
def vector_pair(
    model: VectorModel,
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
    """A lower bound of the cost, within `ANGLE_GAP` of it in two dimensions; with ``write`` the rows of ``lam`` become the minimiser.

    Costs of ``level`` and more are only known to be that.
    """
    basis = tangent_basis(model)
    arms = np.array([u, v, b, a])
    n = 3 if u == a else 4
    best_point = np.empty((n, theta.shape[1]))
    aim = np.empty((n, theta.shape[1]))
    lower, upper = dominating_pair(model, theta, w, u, v, a, b, level, basis, best_point, aim)
    separable = True
    for i in range(n):
        separable = separable and model.codes[arms[i], 0] != COVARIANCE
    if (
        separable
        and basis.shape[1] == 2
        and lower < level
        and upper > 0.0
        and lower < upper * (1.0 - ANGLE_GAP)
    ):
        floor = lower
        # a stack of ranges: middle, half width, lower bound
        stack = np.empty((128, 3))
        depth = 8
        for i in range(8):
            stack[i, 0], stack[i, 1], stack[i, 2] = i * math.pi / 4.0, math.pi / 8.0, floor
        lower = math.inf
        point = np.empty((n, theta.shape[1]))
        for count in range(10**9):
            if depth == 0:
                break
            # the range with the smallest bound comes first: were the directions used up in another, this one would decide
            lowest = 0
            for i in range(1, depth):
                if stack[i, 2] < stack[lowest, 2]:
                    lowest = i
            angle, alpha, bound = stack[lowest, 0], stack[lowest, 1], stack[lowest, 2]
            depth -= 1
            stack[lowest, 0], stack[lowest, 1], stack[lowest, 2] = (
                stack[depth, 0],
                stack[depth, 1],
                stack[depth, 2],
            )
            enough = min(upper * (1.0 - ANGLE_GAP), level)
            if bound < enough and count < MOST_DIRECTIONS and depth < 120:
                value = _range_bound(model, theta, w, arms, n, basis, angle, alpha, enough, box, which, point)
                bound = max(bound, value)
                cost = _repaired_cost(model, theta, w, arms, n, point) if bound < enough else math.inf
                if cost < upper:
                    upper = cost
                    best_point[:] = point
                if bound < min(upper * (1.0 - ANGLE_GAP), level):
                    for side in (-1.0, 1.0):
                        stack[depth, 0], stack[depth, 1] = angle + side * alpha / 2.0, alpha / 2.0
                        stack[depth, 2] = bound
                        depth += 1
                    continue
            lower = min(lower, bound)
        lower = max(lower, floor)
    lower = min(lower, upper)
    if write:
        for i in range(n):
            lam[arms[i]] = best_point[i] if lower >= upper * (1.0 - 1e-6) else aim[i]
    return lower
