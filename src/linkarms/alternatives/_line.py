"""Arms with one parameter each: psi over all splits, exactly.

Given the ends ``x, y`` of the gap (``_pools.py``), ``lambda_a`` and ``lambda_b``, every other arm of the cluster chooses the cheaper side
for itself, whatever its weight; and for one family ``KL(theta, x)`` grows and ``KL(theta, y)`` falls with ``theta`` in between, so that the
arms below some point are left. Only where all would choose one side must one arm be taken to the other. So besides the two sides of
a shared arm the splits in question are those of the sorted arms, and single arms against the rest: not ``2^n`` but about ``3 n``.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._linear import linear_cost
from linkarms.alternatives._number import COLUMNS, INT_COLUMNS, LAM
from linkarms.alternatives._pools import load_arm, split_cost
from linkarms.families._scalar import scalar_kl
from linkarms.families._vector import kl_interval


@kernel
def meeting_cost(
    codes: Array,
    pars: Array,
    address: Array,
    theta: Array,
    w: Array,
    a: int,
    b: int,
    level: float,
    box: Array,
    which: Array,
) -> float:
    """What it costs to bring ``a`` and ``b``, ``theta[a] <= theta[b]``, to one place, which ``box[0, LAM]`` becomes."""
    load_arm(codes, pars, address, theta, w, a, 1.0, box, which, 0)
    load_arm(codes, pars, address, theta, w, b, -1.0, box, which, 1)
    linear_cost(box, which, 2, level)
    place = box[0, LAM]
    cost = w[a] * scalar_kl(codes[a], pars[a], address[a], theta[a], place)
    return cost + w[b] * scalar_kl(codes[b], pars[b], address[b], theta[b], place)


@kernel
def _reach(
    codes: Array,
    pars: Array,
    address: Array,
    theta: Array,
    w: Array,
    members: Array,
    start: Array,
    level: float,
    low: Array,
    high: Array,
    widest: Array,
) -> None:
    """Where each arm can be at a cost below ``level``, and how wide a gap each cluster can then have at most.

    Any split of a cluster parts some two neighbours, and its gap is no wider than they can come apart.
    """
    for m in range(theta.shape[0]):
        low[m] = kl_interval(codes[m], pars[m], address[m], theta[m], level / w[m], -1, 0.01)
        high[m] = kl_interval(codes[m], pars[m], address[m], theta[m], level / w[m], 1, 0.01)
    for k in range(widest.shape[0]):
        widest[k] = -math.inf
        for s in range(start[k], start[k + 1] - 1):
            u, v = members[s], members[s + 1]
            widest[k] = max(widest[k], high[u] - low[v], high[v] - low[u])


@kernel
def _assign(kind: int, cut: int, side: int, shared: int, rest: Array, others: int, right: Array) -> bool:
    """Which arms of a cluster are right of the gap; False where one side has none.

    Of those that are not shared, ``rest[:others]`` from left to right: all from ``cut`` on (kind 0), all but ``cut`` (kind 1), or ``cut``
    alone (kind 2). The shared one, if there is one, is right where ``side`` is 1.
    """
    count = 0
    for s in range(others):
        if kind == 0:
            right[rest[s]] = s >= cut
        else:
            right[rest[s]] = (s == cut) == (kind == 2)
        count += right[rest[s]]
    if shared >= 0:
        right[shared] = side == 1
        return 0 < count + side < others + 1
    return 0 < count < others


@kernel
def line_psi(
    codes: Array,
    pars: Array,
    address: Array,
    theta: Array,
    w: Array,
    labels: Array,
    members: Array,
    start: Array,
    loose: Array,
    floor: float,
    ceiling: float,
    lam: Array,
) -> tuple[float, float]:
    """psi of arms on a line: a lower bound, and the cost of ``lam``.

    Parameters
    ----------
    codes, pars, address, theta, w, labels : ndarray, shape (M,)
        The arms; no weight is zero.
    members : ndarray of int, shape (M,)
        The arms by cluster, within it sorted by ``theta``; those of cluster ``k`` from ``start[k]`` to ``start[k + 1]``.
    loose : ndarray of bool, shape (K,)
        Clusters of three arms and more that are not of one shipped family: nothing but ``floor`` is known of them.
    floor, ceiling : float
        A lower bound of psi, and an upper one: what ``lam`` costs, or infinite.
    lam : ndarray, shape (M,)
        Filled with the cheapest alternative that was found, a true one but for rounding; left alone where none is below ``ceiling``.
    """
    n = theta.shape[0]
    box = np.zeros((4, COLUMNS))
    which = np.zeros((4, INT_COLUMNS), dtype=np.int64)
    upper = ceiling
    for i in range(n):
        for j in range(i + 1, n):
            if labels[i] != labels[j]:
                a, b = (i, j) if theta[i] <= theta[j] else (j, i)
                cost = meeting_cost(codes, pars, address, theta, w, a, b, upper, box, which)
                if cost < upper:
                    upper = cost
                    lam[:] = theta
                    lam[a] = box[0, LAM]
                    lam[b] = box[0, LAM]
    lower = upper
    low, high, widest = np.empty(n), np.empty(n), np.empty(start.shape[0] - 1)
    _reach(codes, pars, address, theta, w, members, start, upper, low, high, widest)
    point = theta.copy()
    right = np.zeros(n, dtype=np.bool_)
    rest = np.empty(n, dtype=np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            if labels[i] == labels[j]:
                continue
            a, b = (i, j) if theta[i] <= theta[j] else (j, i)
            for k in range(start.shape[0] - 1):
                if not widest[k] >= low[b] - high[a]:
                    continue
                if loose[k]:
                    lower = min(lower, floor)
                    continue
                arms = members[start[k] : start[k + 1]]
                size = arms.shape[0]
                shared = -1
                others = 0
                for s in range(size):
                    if arms[s] in (a, b):
                        shared = s
                    else:
                        rest[others] = s
                        others += 1
                for place in range(3 * (others + 1) * (1 if shared < 0 else 2)):
                    kind, cut, side = place % 3, place // 3 % (others + 1), place // 3 // (others + 1)
                    # an arm has to be alone on one side only where the shared one is on the other
                    if shared >= 0 and kind == 1 + side:
                        continue
                    if kind > 0 and cut == others:
                        continue
                    if not _assign(kind, cut, side, shared, rest, others, right):
                        continue
                    below, above = split_cost(
                        codes, pars, address, theta, w, arms, right, size, a, b, upper, box, which, point
                    )
                    lower = min(lower, below)
                    if above < upper:
                        upper = above
                        lam[:] = point
                    for s in range(size):
                        point[arms[s]] = theta[arms[s]]
                    point[a], point[b] = theta[a], theta[b]
    return min(lower, upper), upper
