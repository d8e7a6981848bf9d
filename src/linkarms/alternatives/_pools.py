"""Arms with one parameter each: the cheapest alternative for one split of a cluster.

On a line a cluster falls into two parts iff a gap opens between its left arms ``L`` and its right arms ``R``. With ``x`` the right end of
``L``, ``y`` the left end of ``R`` and ``theta_a <= theta_b`` the problem of one split is

    min sum_m w_m KL(theta_m, lambda_m)    subject to    lambda_u <= x (u in L),  lambda_v >= y (v in R),  y - x >= lambda_b - lambda_a .

At the minimum the arms of ``L`` that moved lie together at ``x``, those of ``R`` at ``y``. ``KL(theta, .)`` depends on ``theta`` through
its mean parameter, linearly, so arms of one family in one place are one arm: weights add up, mean parameters are averaged, and
``sum w KL(theta_m, average)`` is left over. What remains is the pair problem of ``_linear.py`` with the two *pools* as intra pair. Pools
start with the arms next to the gap. An arm that ends on the wrong side of it joins, and none ever has to leave: each that joins holds
the gap's end back on its own side of the arm. (The shared arm, ``a`` or ``b`` in the cluster, is first left out of the pool; if it then
lies on the wrong side its constraint holds with equality, and it belongs to the pool.)

The other sign of ``lambda_b - lambda_a`` need not be looked at: where the minimum above has ``y < x`` both signs hold with equality, which
costs at least as much as to bring ``a`` and ``b`` together, and that is an alternative by itself.

Where a divergence is not convex (gamma by the mean beyond its inflection) all this holds as long as no arm can reach its inflection at
less than the cost of an alternative that is known: the problem is convex where it matters.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._linear import linear_cost
from linkarms.alternatives._number import ADDRESS, ARM, CODE, DIVERGENCE, KAPPA, KIND, LAM, PAR, THETA, W
from linkarms.families._scalar import (
    BERNOULLI,
    GAMMA_RATE,
    GAUSSIAN,
    POISSON,
    scalar_inflection,
    scalar_kl,
)


@kernel
def _convex_up_to(
    codes: Array, pars: Array, address: Array, theta: Array, w: Array, m: int, level: float
) -> bool:
    """Whether the divergence of arm ``m`` is convex as far up as it can go at a cost below ``level``."""
    bend = scalar_inflection(codes[m], pars[m], address[m], theta[m])
    if bend == math.inf:
        return True
    return w[m] * scalar_kl(codes[m], pars[m], address[m], theta[m], bend) >= level


@kernel
def load_arm(
    codes: Array,
    pars: Array,
    address: Array,
    theta: Array,
    w: Array,
    m: int,
    kappa: float,
    box: Array,
    which: Array,
    row: int,
) -> None:
    """Put arm ``m`` and its coefficient in the constraint into a row of the work arrays of ``_linear.py``."""
    which[row, CODE], which[row, ADDRESS], which[row, ARM] = codes[m], address[m], m
    which[row, KIND] = DIVERGENCE
    box[row, THETA], box[row, W], box[row, PAR], box[row, KAPPA] = theta[m], w[m], pars[m], kappa


@kernel
def _load_pool(
    codes: Array,
    pars: Array,
    address: Array,
    theta: Array,
    w: Array,
    pool: Array,
    n: int,
    kappa: float,
    box: Array,
    which: Array,
    row: int,
) -> float:
    """Put the one arm that ``pool[:n]``, arms of one family, make together into a row; return their ``sum w KL`` at its parameter.

    Variances and shapes only scale the divergence and go into the weight.
    """
    first = pool[0]
    code = codes[first]
    load_arm(codes, pars, address, theta, w, first, kappa, box, which, row)
    if n == 1:
        return 0.0
    origin = 1.0 / theta[first] if code == GAMMA_RATE else theta[first]
    total = 0.0
    mean = 0.0
    for i in range(n):
        m = pool[i]
        weight = w[m]
        if code == GAUSSIAN:
            weight /= pars[m]
        elif code not in (BERNOULLI, POISSON):
            weight *= pars[m]
        total += weight
        mean += weight * ((1.0 / theta[m] if code == GAMMA_RATE else theta[m]) - origin)
    mean = origin + mean / total
    if code == GAMMA_RATE:
        mean = 1.0 / mean
    box[row, THETA], box[row, W], box[row, PAR] = mean, total, 1.0
    rest = 0.0
    for i in range(n):
        m = pool[i]
        rest += w[m] * scalar_kl(code, pars[m], 0, theta[m], mean)
    return rest


@kernel
def split_cost(
    codes: Array,
    pars: Array,
    address: Array,
    theta: Array,
    w: Array,
    arms: Array,
    right: Array,
    n: int,
    a: int,
    b: int,
    level: float,
    box: Array,
    which: Array,
    lam: Array,
) -> tuple[float, float]:
    """The cheapest alternative for one split: a lower bound of its cost, and the cost of the point written into ``lam``.

    Parameters
    ----------
    codes, pars, address, theta, w : ndarray, shape (M,)
        The arms; no weight is zero.
    arms : ndarray of int
        The cluster, sorted by ``theta``, in the first ``n`` places. All of one family, unless ``n`` is 2.
    right : ndarray of bool
        Which of them are in ``R``.
    a, b : int
        The inter pair, ``theta[a] <= theta[b]``.
    level : float
        Costs of this and more are only known to be that; not above what it costs to bring ``a`` and ``b`` together.
    box, which : ndarray
        Scratch, of at least four rows.
    lam : ndarray, shape (M,)
        A copy of ``theta`` whose rows are set where the second result is below ``level``.

    Returns
    -------
    lower, upper : float
        The same but for rounding, except where an arm can pass its inflection at less than ``level``. Where the first is at least
        ``level`` the second is infinite.
    """
    shared = -1
    convex = _convex_up_to(codes, pars, address, theta, w, a, level)
    for i in range(n):
        if arms[i] in (a, b):
            shared = i
        if right[i]:
            convex = convex and _convex_up_to(codes, pars, address, theta, w, arms[i], level)
    home = 1 if shared >= 0 and right[shared] else 0
    lone = shared >= 0 and right[:n].sum() == (1 if home == 1 else n - 1)
    pull = 1.0 if shared >= 0 and arms[shared] == a else -1.0
    pools = np.empty((2, n), dtype=np.int64)
    size = np.zeros(2, dtype=np.int64)
    lower = -1.0
    joined = lone  # whether the shared arm is in the pool of its side
    rows = 0
    while True:
        size[0], size[1] = 0, 0
        if joined:
            pools[home, 0] = arms[shared]
            size[home] = 1
        box[0, LAM], box[1, LAM] = math.inf, -math.inf
        left, following = n - 1, 0  # the next arm of L and of R to join, from the gap outwards
        while True:
            while left >= 0 and (right[left] or left == shared):
                left -= 1
            while following < n and (not right[following] or following == shared):
                following += 1
            grown = False
            if left >= 0 and (size[0] == 0 or theta[arms[left]] > box[0, LAM]):
                pools[0, size[0]] = arms[left]
                size[0] += 1
                left -= 1
                grown = True
            if following < n and (size[1] == 0 or theta[arms[following]] < box[1, LAM]):
                pools[1, size[1]] = arms[following]
                size[1] += 1
                following += 1
                grown = True
            if not grown:
                break
            value = 0.0
            for side in range(2):
                kappa = (1.0 if side == 1 else -1.0) + (pull if joined and side == home else 0.0)
                value += _load_pool(
                    codes, pars, address, theta, w, pools[side], size[side], kappa, box, which, side
                )
            rows = 2
            for m in (a, b):
                if not (joined and m == arms[shared]):
                    load_arm(codes, pars, address, theta, w, m, 1.0 if m == a else -1.0, box, which, rows)
                    rows += 1
            value += linear_cost(box, which, rows, level - value)
            if lower < 0.0 or convex:
                lower = value
            if value >= level:
                return lower, math.inf
        if shared < 0 or joined:
            break
        at = box[2 if arms[shared] == a else 3, LAM]
        if (at <= box[0, LAM]) if home == 0 else (at >= box[1, LAM]):
            break
        joined = True
    x, y = box[0, LAM], box[1, LAM]
    if y < x:
        return level if convex else lower, math.inf
    for row in range(2, rows):
        lam[which[row, ARM]] = box[row, LAM]
    for i in range(n):
        if i != shared:
            lam[arms[i]] = max(theta[arms[i]], y) if right[i] else min(theta[arms[i]], x)
        elif joined:
            lam[arms[i]] = y if right[i] else x
    cost = 0.0
    for i in range(n + 2):
        m = arms[i] if i < n else (a if i == n else b)
        if i >= n and shared >= 0 and m == arms[shared]:
            continue
        cost += w[m] * scalar_kl(codes[m], pars[m], address[m], theta[m], lam[m])
    return lower, cost
