"""psi: the smallest bottleneck over all clusters and inter pairs.

``psi = min over clusters k and inter pairs (a,b) of V_k(a,b)``; ties go to the smallest ``(a, b, k)``. A search begins with an upper
bound, the best of the last answers and of the cheapest attachments, and rules out all other candidates (``_scan.py``). For that the
Gaussian formulas at the arms' spreads do, which need one look at a pair of distances. What they do not rule out is evaluated
(``_parts.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from linkarms._jit import Array, address_of, call_for_float, flat, inlined, kernel, lean
from linkarms.alternatives._attach import fill_attachments, move_attachments
from linkarms.alternatives._cache import (
    ABOUT,
    COUNTS_SIDE,
    FILLED,
    FREE_SIDE,
    HOLDS,
    LENGTH,
    LINKED,
    MANY,
    MEMBERS,
    N_LAST,
    NEAR,
    SEARCH,
    SLACK,
    SPREAD,
    START,
    UP,
    VALID,
    WEIGHT,
    Cache,
    new_cache,
)
from linkarms.alternatives._exchange import exchange
from linkarms.alternatives._near import SHORT, fill_near, fit_classes, lower_near
from linkarms.alternatives._pair import (
    arm_spread,
    call_solution,
    has_fixed_spread,
    has_quadratic,
    pair_addresses,
)
from linkarms.alternatives._parts import bottleneck, oriented_cost
from linkarms.alternatives._scan import (
    first_finite,
    remember,
    scan_alternatives,
    scan_attachments,
    scan_trees,
    take_smaller,
)
from linkarms.alternatives._trees import fit_trees, measure_edges, mend_trees, move_edges
from linkarms.families._model import Model
from linkarms.families._vector import arm_kl

__all__ = ["FLOOR", "fill_nearest", "free_psi", "list_members", "psi_addresses", "psi_at", "psi_kernel"]

#: Weights below this share of the largest are raised to it; the limits of all formulas are then right.
FLOOR = 1e-12
#: Spreads that depend on the level are found for one so much higher, and used until it is reached or is this much squared too high.
_AHEAD = 1.15


@lean
def list_members(labels: Array, n_clusters: int, nodes: Array) -> None:
    """List the arms of each cluster: `MEMBERS` from `START` on."""
    n = labels.shape[0]
    for k in range(n_clusters + 1):
        nodes[START, k] = 0
    for m in range(n):
        nodes[START, labels[m] + 1] += 1
    for k in range(n_clusters):
        nodes[START, k + 1] += nodes[START, k]
    # fill from the end of each cluster: afterwards START[k + 1] has moved to the cluster's beginning
    for m in range(n - 1, -1, -1):
        nodes[START, labels[m] + 1] -= 1
        nodes[MEMBERS, nodes[START, labels[m] + 1]] = m
    for k in range(n_clusters):
        nodes[START, k] = nodes[START, k + 1]
    nodes[START, n_clusters] = n


@flat
def set_weight(model: Model, theta: Array, cache: Cache, side: int, m: int, weight: float) -> None:
    """Give arm ``m`` its weight, which must not be zero, and its spread at the present level."""
    arms = cache.arms[side]
    arms[WEIGHT, m] = weight
    # an infinite spread times a level of zero would be no number
    arms[SPREAD, m] = min(arm_spread(model, m, theta[m], weight, cache.levels[side]), 1e300)


@flat
def set_weights(model: Model, theta: Array, cache: Cache, side: int, weights: Array) -> None:
    """Give all arms their weights, raised to `FLOOR` times the largest."""
    largest = 0.0
    for m in range(weights.shape[0]):
        largest = max(largest, weights[m])
    for m in range(weights.shape[0]):
        set_weight(model, theta, cache, side, m, max(weights[m], FLOOR * largest))


@inlined
def _fit_spreads(model: Model, theta: Array, cache: Cache, side: int, value: float) -> bool:
    """See to it that the spreads hold at ``value``, where they depend on the level; whether they had to be found anew."""
    if has_fixed_spread(model):
        cache.levels[side], cache.levels[SLACK], cache.levels[HOLDS + side] = math.inf, 0.0, 0.0
        return False
    largest = 0.0  # other costs are found from the parameters, not from their differences
    for m in range(theta.shape[0]):
        for i in range(theta.shape[1]):
            largest = max(largest, abs(theta[m, i]))
    cache.levels[SLACK] = (1.0 - SHORT) * largest
    level = cache.levels[side]
    if value <= level <= _AHEAD * _AHEAD * value:
        return False
    cache.levels[side] = _AHEAD * value
    cache.levels[HOLDS + side] = 0.0 if has_quadratic(model) else _AHEAD * value
    for m in range(theta.shape[0]):
        set_weight(model, theta, cache, side, m, cache.arms[side, WEIGHT, m])
    return True


@flat
def _propose(dist: Array, labels: Array, cache: Cache, guess: Array) -> bool:
    """The longest edge of the linkage tree against one of the shortest foreign distances: the answer where clusters nearly touch."""
    length, near, n = cache.lengths[LENGTH], cache.lengths[NEAR], labels.shape[0]
    u, a, b = 0, 0, -1
    for m in range(n):
        if length[m] > length[u]:
            u = m
        if near[m] < near[a]:
            a = m
    for m in range(n):
        if labels[m] != labels[a] and (b < 0 or dist[a, m] < dist[a, b]):
            b = m
    if b < 0 or cache.nodes[UP, u] < 0:
        return False
    near[a] = dist[a, b]
    guess[0], guess[1], guess[2], guess[3] = u, cache.nodes[UP, u], min(a, b), max(a, b)
    return True


@inlined
def _begin(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    found: Array,
) -> float:
    """An upper bound of psi and its candidate, ``found[:5] = u, v, a, b, k``: the best of the last answers and one more guess."""
    last, edge = cache.last[side], found[5:]
    best, guesses = math.inf, N_LAST
    found[4] = -1
    if cache.flags[side, MANY] == 1 and cache.flags[COUNTS_SIDE, LINKED] == 1:
        guesses += _propose(dist, labels, cache, last[N_LAST])
    # the one that looks cheapest first: the others are only compared with it
    cheapest, least = 0, math.inf
    if guesses > N_LAST:
        for i in range(guesses):
            u, v, a, b = last[i, 0], last[i, 1], last[i, 2], last[i, 3]
            if u < 0 or labels[u] != labels[v] or labels[a] == labels[b]:
                continue
            value = oriented_cost(model, theta, dist, cache, side, u, v, a, b, least)
            if value < least:
                cheapest, least = i, value
    for j in range(guesses):
        i = (cheapest + j) % guesses
        u, v, a, b = last[i, 0], last[i, 1], last[i, 2], last[i, 3]
        if u < 0 or labels[u] != labels[v] or labels[a] == labels[b]:
            continue
        k = labels[u]
        if found[2] == a and found[3] == b and found[4] == k:
            continue
        if j == 0 and cache.nodes[START, k + 1] - cache.nodes[START, k] > 2:
            value = exchange(model, theta, dist, labels, cache, side, k, a, b, best, edge)
        else:
            value = bottleneck(model, theta, dist, cache, side, k, a, b, best, edge)
        if take_smaller(value, k, a, b, best, found):
            best = value
    if found[4] >= 0:
        return best
    # the nearest two arms of different clusters, against the first cluster of several
    k = 0
    while k < n_clusters and cache.nodes[START, k + 1] - cache.nodes[START, k] < 2:
        k += 1
    a, b = -1, -1
    for x in range(labels.shape[0]):
        for y in range(x + 1, labels.shape[0]):
            if labels[x] != labels[y] and (a < 0 or dist[x, y] < dist[a, b]):
                a, b = x, y
    if k == n_clusters or a < 0:
        return math.inf
    if cache.nodes[START, k + 1] - cache.nodes[START, k] > 2:
        best = exchange(model, theta, dist, labels, cache, side, k, a, b, math.inf, edge)
    else:
        best = bottleneck(model, theta, dist, cache, side, k, a, b, math.inf, edge)
    found[0], found[1], found[2], found[3], found[4] = edge[0], edge[1], a, b, k
    return best


@lean
def search(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    found: Array,
) -> float:
    """psi at the weights of a side of the cache.

    Parameters
    ----------
    model, theta (M, d), dist (M, M), labels (M,), n_clusters
        The problem; ``labels`` are 0..K-1.
    cache : Cache
        With the members of the clusters and the weights as they are now.
    side : int
        Which weights.
    found : ndarray of int, shape (7,)
        Filled with the witness ``u, v, a, b`` and the cluster ``k``, -1 where there is no alternative; the rest is scratch.

    Returns
    -------
    float
        psi; infinite where there is no alternative (K = 1 or K = M).
    """
    for i in range(7):
        found[i] = -1
    best = _begin(model, theta, dist, labels, n_clusters, cache, side, found)
    if found[4] < 0:
        return math.inf
    if best == math.inf:
        best = first_finite(model, theta, dist, labels, n_clusters, cache, side, found)
        if best == math.inf:
            return best
    changed = _fit_spreads(model, theta, cache, side, best)
    if cache.flags[side, FILLED] == 0:
        fill_near(dist, labels, cache, side)
        fill_attachments(model, dist, labels, cache, side)
        cache.flags[side, FILLED] = 1
    elif changed:
        fill_near(dist, labels, cache, side)
    fit_classes(dist, labels, cache, side)
    many = cache.flags[side, MANY] == 1
    best = scan_attachments(model, theta, dist, labels, cache, side, best, found)
    if many:
        mend_trees(dist, labels, n_clusters, cache, side)
    best = scan_trees(model, theta, dist, labels, n_clusters, cache, side, best, found)
    if many:
        best = scan_alternatives(model, theta, dist, labels, n_clusters, cache, side, best, found)
    cache.levels[ABOUT + side] = 1.05 * best
    last = cache.last[side]
    if last[0, 0] != found[0] or last[0, 1] != found[1] or last[0, 2] != found[2] or last[0, 3] != found[3]:
        remember(cache, side, found)
    return best


@inlined
def _solve(
    model: Model, theta: Array, dist: Array, cache: Cache, side: int, found: Array, lam: Array, kl: Array
) -> None:
    """Move the rows of the witness in ``lam`` (elsewhere a copy of ``theta``) to the minimiser, and fill their divergences."""
    u, v, a, b = found[0], found[1], found[2], found[3]
    if v in (a, b):
        u, v = v, u
    if u == b:
        a, b = b, a
    w, inv = cache.arms[side, WEIGHT], cache.arms[side, SPREAD]
    call_solution(model, theta, dist, w, inv, u, v, a, b, lam, cache.box, cache.which, cache.calls)
    for m in (u, v, a, b):
        kl[m] = arm_kl(model, m, theta[m], lam[m])


@lean
def _psi_at(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    weights: Array,
    m: int,
    lam: Array,
    kl: Array,
) -> float:
    """psi at ``weights``, of which some may be zero, with the minimiser; see `search`.

    Parameters
    ----------
    model, theta, dist, labels, n_clusters, cache, side
        As for `search`. The answer is left in ``cache.answer``.
    weights : ndarray, shape (M,)
        The weights.
    m : int
        The arm whose weight and estimate have changed since the last time; -1 if those of others may have.
    lam, kl : ndarray, shape (M, d) and (M,)
        The rows of the witness become ``lambda*`` and its divergences; in ``lam`` they must be the estimates before.
    """
    if cache.flags[side, VALID] == 0:
        fit_trees(dist, labels, n_clusters, cache, side)
    elif m >= 0:
        move_edges(dist, labels, cache, side, m)
    else:
        for k in range(n_clusters):
            measure_edges(dist, cache, side, k)
    if m >= 0:
        set_weight(model, theta, cache, side, m, weights[m])
        if cache.flags[side, FILLED] == 1:
            lower_near(dist, labels, cache, side, m)
            move_attachments(model, dist, labels, cache, side, m)
    else:
        set_weights(model, theta, cache, side, weights)
        cache.flags[side, FILLED] = 0
    found = cache.answer
    value = search(model, theta, dist, labels, n_clusters, cache, side, found)
    if found[4] < 0:
        return math.inf
    _solve(model, theta, dist, cache, side, found, lam, kl)
    for j in range(4):
        if weights[found[j]] <= 0.0:
            value = 0.0  # an arm of no weight moves for free
    return value


@flat
def psi_at(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    weights: Array,
    m: int,
    lam: Array,
    kl: Array,
) -> float:
    """`_psi_at`, by its address, so that it is not compiled again with each of its callers."""
    return float(
        call_for_float(
            cache.calls[SEARCH], (model, theta, dist, labels, n_clusters, cache, side, weights, m, lam, kl)
        )
    )


def psi_addresses(model: Any) -> Any:
    """Where the kernels of this type of model lie in this process: `pair_addresses`, and `psi_at`."""
    kind = numba.typeof(model)
    if kind not in _ADDRESSES:
        calls = np.append(pair_addresses(model), 0)
        matrix, row, labels = np.zeros((1, 1)), np.zeros(1), np.zeros(1, dtype=np.int64)
        cache = new_cache(1, 1, calls)
        calls[SEARCH] = address_of(_psi_at, model, matrix, matrix, labels, 1, cache, 0, row, 0, matrix, row)
        _ADDRESSES[kind] = calls
    return _ADDRESSES[kind]


_ADDRESSES: dict[Any, Any] = {}


@lean
def free_psi(
    model: Model,
    theta: Array,
    dist: Array,
    weights: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    lam: Array,
    kl: Array,
    found: Array,
) -> float:
    """psi at any ``weights``; see `psi_kernel`. The cache holds the partition."""
    for m in range(theta.shape[0]):
        kl[m] = 0.0
        for i in range(theta.shape[1]):
            lam[m, i] = theta[m, i]
    value = psi_at(model, theta, dist, labels, n_clusters, cache, FREE_SIDE, weights, -1, lam, kl)
    for j in range(4):
        found[j] = cache.answer[j]
    return value


@kernel
def psi_kernel(
    model: Model,
    theta: Array,
    dist: Array,
    weights: Array,
    labels: Array,
    n_clusters: int,
    lam: Array,
    kl: Array,
    found: Array,
    calls: Array,
) -> float:
    """psi for the partition ``labels`` with nothing known beforehand, with the minimiser and the KL of each arm.

    Parameters
    ----------
    model, theta (M, d), dist (M, M), weights (M,), labels (M,), n_clusters
        The problem; ``labels`` are 0..K-1.
    lam : ndarray, shape (M, d)
        Filled with the alternative ``lambda*``.
    kl : ndarray, shape (M,)
        Filled with ``KL_m(theta_m, lambda*_m)``.
    found : ndarray of int, shape (4,)
        Filled with the witness ``u, v, a, b``; -1 where there is no alternative (K = 1 or K = M).
    calls : ndarray of int, shape (3,)
        `psi_addresses` of the model.

    Returns
    -------
    float
        psi; infinite where there is no alternative.
    """
    cache = new_cache(theta.shape[0], theta.shape[1], calls)
    list_members(labels, n_clusters, cache.nodes)
    fill_nearest(dist, labels, cache.lengths[NEAR])
    return free_psi(model, theta, dist, weights, labels, n_clusters, cache, lam, kl, found)


@lean
def fill_nearest(dist: Array, labels: Array, near: Array) -> None:
    """The distance of each arm from the nearest one of another cluster."""
    n = labels.shape[0]
    for a in range(n):
        near[a] = math.inf
        for b in range(n):
            if labels[a] != labels[b] and dist[a, b] < near[a]:
                near[a] = dist[a, b]
