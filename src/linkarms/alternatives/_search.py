"""psi: the smallest bottleneck over all clusters and inter pairs.

``psi = min over clusters k and inter pairs (a,b) of V_k(a,b)``; ties go to the smallest ``(a, b, k)``. A search begins with an upper
bound, the best of the last answers, and rules out all other candidates: every cluster has a spanning tree, and where all its edges
cost more than the bound against ``(a,b)``, so does ``V_k(a,b)``. For that the Gaussian formulas at the arms' spreads do, which need
one look at a pair of distances. What they do not rule out is evaluated (``_parts.py``).
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined, kernel, lean
from linkarms.alternatives._cache import (
    FREE_SIDE,
    HOLDS,
    LINK,
    MEMBERS,
    N_LAST,
    NEAR,
    NEXT,
    RENEWED,
    SLACK,
    SPREAD,
    START,
    VALID,
    WEIGHT,
    Cache,
    new_cache,
)
from linkarms.alternatives._pair import arm_spread, call_solution, has_fixed_spread, has_quadratic
from linkarms.alternatives._parts import ROOM, SHORT, bottleneck, connect, oriented_cost
from linkarms.alternatives._scan import first_finite, remember, scan, scan_shared, take_smaller
from linkarms.families._model import Model
from linkarms.families._vector import arm_kl

__all__ = ["FLOOR", "fill_near", "free_psi", "list_members", "psi_at", "psi_kernel"]

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
    arms[SPREAD, m] = arm_spread(model, m, theta[m], weight, cache.levels[side])


@flat
def set_weights(model: Model, theta: Array, cache: Cache, side: int, weights: Array) -> None:
    """Give all arms their weights, raised to `FLOOR` times the largest."""
    largest = 0.0
    for m in range(weights.shape[0]):
        largest = max(largest, weights[m])
    for m in range(weights.shape[0]):
        set_weight(model, theta, cache, side, m, max(weights[m], FLOOR * largest))


@lean
def _fit_trees(dist: Array, labels: Array, n_clusters: int, cache: Cache, side: int) -> None:
    """Take the edges between clusters out of the trees, and join what has fallen apart."""
    trees = cache.trees[side]
    for m in range(labels.shape[0]):
        up = trees[LINK, m]
        if up >= 0 and labels[up] != labels[m]:
            trees[LINK, m] = -1
    for k in range(n_clusters):
        connect(dist, cache, side, k)
    cache.flags[side, VALID] = 1


@inlined
def _fit_spreads(model: Model, theta: Array, cache: Cache, side: int, value: float) -> None:
    """See to it that the spreads hold at ``value``, where they depend on the level."""
    if has_fixed_spread(model):
        cache.levels[side], cache.levels[SLACK], cache.levels[HOLDS + side] = math.inf, 0.0, 0.0
        return
    largest = 0.0  # other costs are found from the parameters, not from their differences
    for m in range(theta.shape[0]):
        for i in range(theta.shape[1]):
            largest = max(largest, abs(theta[m, i]))
    cache.levels[SLACK] = (1.0 - SHORT) * largest
    level = cache.levels[side]
    if value <= level <= _AHEAD * _AHEAD * value:
        return
    cache.levels[side] = _AHEAD * value
    cache.levels[HOLDS + side] = 0.0 if has_quadratic(model) else _AHEAD * value
    for m in range(theta.shape[0]):
        set_weight(model, theta, cache, side, m, cache.arms[side, WEIGHT, m])


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
    """An upper bound of psi and its candidate, ``found[:5] = u, v, a, b, k``: the best of the last answers."""
    last, edge = cache.last[side], found[5:]
    best = math.inf
    found[4] = -1
    for i in range(N_LAST):
        u, v, a, b = last[i, 0], last[i, 1], last[i, 2], last[i, 3]
        if u < 0 or labels[u] != labels[v] or labels[a] == labels[b]:
            continue
        if found[2] == a and found[3] == b and found[4] == labels[u]:
            continue
        k = labels[u]
        value = math.inf
        if cache.nodes[START, k + 1] - cache.nodes[START, k] == 2:
            value = bottleneck(model, theta, dist, cache, side, k, a, b, best, edge)
        else:
            # the former edge's cost is a guess of the bottleneck that is seldom too low
            guess = min(oriented_cost(model, theta, dist, cache, side, u, v, a, b, math.inf) * ROOM, best)
            value = bottleneck(model, theta, dist, cache, side, k, a, b, guess, edge)
            while value > guess and guess < best:
                guess = 1.5 * guess if 0.0 < guess < 10.0 * value else best
                value = bottleneck(model, theta, dist, cache, side, k, a, b, min(guess, best), edge)
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
        With the members of the clusters, the bounds of the nearest foreign distances and the weights as they are now.
    side : int
        Which weights.
    found : ndarray of int, shape (7,)
        Filled with the witness ``u, v, a, b`` and the cluster ``k``, -1 where there is no alternative; the rest is scratch.

    Returns
    -------
    float
        psi; infinite where there is no alternative (K = 1 or K = M).
    """
    trees = cache.trees[side]
    if cache.flags[side, VALID] == 0:
        _fit_trees(dist, labels, n_clusters, cache, side)
    n = labels.shape[0]
    for m in range(n):
        trees[NEXT, m] = trees[LINK, m]
    for k in range(n_clusters):
        trees[RENEWED, k] = 0
    for i in range(7):
        found[i] = -1
    best = _begin(model, theta, dist, labels, n_clusters, cache, side, found)
    if found[4] < 0:
        return math.inf
    if best == math.inf:
        best = first_finite(model, theta, dist, labels, n_clusters, cache, side, found)
        if best == math.inf:
            return best
    _fit_spreads(model, theta, cache, side, best)
    for m in range(n):
        trees[LINK, m] = trees[NEXT, m]
    for k in range(n_clusters):
        trees[RENEWED, k] = 0
    best = scan(model, theta, dist, labels, n_clusters, cache, side, best, found)
    best = scan_shared(model, theta, dist, labels, cache, side, best, found)
    for m in range(n):
        trees[LINK, m] = trees[NEXT, m]
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
    if m >= 0:
        set_weight(model, theta, cache, side, m, weights[m])
    else:
        set_weights(model, theta, cache, side, weights)
    found = cache.answer
    value = search(model, theta, dist, labels, n_clusters, cache, side, found)
    if found[4] < 0:
        return math.inf
    _solve(model, theta, dist, cache, side, found, lam, kl)
    for j in range(4):
        if weights[found[j]] <= 0.0:
            value = 0.0  # an arm of no weight moves for free
    return value


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
    calls : ndarray of int, shape (2,)
        `linkarms.alternatives._pair.pair_addresses` of the model.

    Returns
    -------
    float
        psi; infinite where there is no alternative.
    """
    cache = new_cache(theta.shape[0], theta.shape[1], calls)
    list_members(labels, n_clusters, cache.nodes)
    fill_near(dist, labels, cache.lengths[NEAR])
    return free_psi(model, theta, dist, weights, labels, n_clusters, cache, lam, kl, found)


@lean
def fill_near(dist: Array, labels: Array, near: Array) -> None:
    """The distance of each arm from the nearest one of another cluster."""
    n = labels.shape[0]
    for a in range(n):
        near[a] = math.inf
        for b in range(n):
            if labels[a] != labels[b] and dist[a, b] < near[a]:
                near[a] = dist[a, b]
