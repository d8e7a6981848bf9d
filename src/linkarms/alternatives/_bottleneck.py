"""psi: the cheapest way to another partition, by the bottleneck of docs/how-it-works.md.

``psi = min over clusters k and inter pairs (a,b) of the smallest edge of a maximum spanning tree of D_k with edge weights
cost(u,v; a,b)``. How one ``cost`` is found depends on the type of the model; see ``_pair.py``.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, inlined, kernel
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH, fill_reach, pair_cost, pair_solution
from linkarms.families._model import Model
from linkarms.families._vector import arm_kl, arm_variance

#: Weights below this share of the largest are raised to it; the limits of all formulas are then right.
FLOOR = 1e-12


@inlined
def _oriented_cost(
    model: Model,
    theta: Array,
    dist: Array,
    w: Array,
    inv: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    level: float,
    box: Array,
    which: Array,
    costs: Array,
) -> float:
    """`pair_cost` with a shared arm, if there is one, put first in both pairs; ``costs[0]`` counts the calls."""
    costs[0] += 1
    if v in (a, b):
        u, v = v, u
    if u == b:
        a, b = b, a
    return pair_cost(model, theta, dist, w, inv, u, v, a, b, level, box, which)


@kernel
def _bottleneck(
    model: Model,
    theta: Array,
    dist: Array,
    w: Array,
    inv: Array,
    members: Array,
    start: int,
    n: int,
    a: int,
    b: int,
    level: float,
    found: Array,
    box: Array,
    which: Array,
    costs: Array,
) -> float:
    """Smallest edge of a maximum spanning tree of a cluster under ``cost(.; a,b)``; its ``n`` arms are in ``members[start:]``.

    If it is at least ``level`` any such value may be returned; otherwise ``found`` becomes the edge ``(u, v)``.
    """
    if n == 2:
        found[0], found[1] = members[start], members[start + 1]
        return _oriented_cost(model, theta, dist, w, inv, found[0], found[1], a, b, level, box, which, costs)
    # Grow from the first arm along edges of at least `level`: if all arms are reached, no tree is needed.
    reached = np.zeros(n, dtype=np.bool_)
    queue = np.empty(n, dtype=np.int64)
    reached[0] = True
    queue[0] = 0
    head, tail = 0, 1
    while head < tail and tail < n:
        i = queue[head]
        head += 1
        for j in range(n):
            if not reached[j]:
                value = _oriented_cost(
                    model,
                    theta,
                    dist,
                    w,
                    inv,
                    members[start + i],
                    members[start + j],
                    a,
                    b,
                    level,
                    box,
                    which,
                    costs,
                )
                if value >= level:
                    reached[j] = True
                    queue[tail] = j
                    tail += 1
    if tail == n:
        return level
    # Prim's algorithm for the maximum spanning tree.
    reached[:] = False
    weight = np.full(n, -1.0)
    parent = np.zeros(n, dtype=np.int64)
    reached[0] = True
    last = 0
    smallest = math.inf
    for _ in range(n - 1):
        best = -1
        for j in range(n):
            if reached[j]:
                continue
            value = _oriented_cost(
                model,
                theta,
                dist,
                w,
                inv,
                members[start + last],
                members[start + j],
                a,
                b,
                math.inf,
                box,
                which,
                costs,
            )
            if value > weight[j]:
                weight[j], parent[j] = value, last
            if best < 0 or weight[j] > weight[best]:
                best = j
        reached[best] = True
        last = best
        if weight[best] < smallest:
            smallest = weight[best]
            found[0], found[1] = members[start + parent[best]], members[start + best]
    return smallest


@kernel
def _longest_edges(length: Array, members: Array, start: Array, longest: Array, edges: Array) -> None:
    """The longest edge of a minimum spanning tree of each cluster under ``length``, shape (M, M); -inf for single arms."""
    for k in range(start.shape[0] - 1):
        first, n = start[k], start[k + 1] - start[k]
        longest[k] = -math.inf
        near = np.empty(n)
        parent = np.zeros(n, dtype=np.int64)
        joined = np.zeros(n, dtype=np.bool_)
        for j in range(n):
            near[j] = length[members[first], members[first + j]]
        joined[0] = True
        for _ in range(n - 1):
            best = -1
            for j in range(n):
                if not joined[j] and (best < 0 or near[j] < near[best]):
                    best = j
            joined[best] = True
            if near[best] > longest[k]:
                longest[k] = near[best]
                edges[k, 0], edges[k, 1] = members[first + parent[best]], members[first + best]
            for j in range(n):
                if not joined[j] and length[members[first + best], members[first + j]] < near[j]:
                    near[j] = length[members[first + best], members[first + j]]
                    parent[j] = best


@kernel
def _likely_candidate(
    dist: Array, inv: Array, labels: Array, longest: Array, edges: Array
) -> tuple[int, int, int]:
    """``(k, a, b)`` whose cost looks smallest: the longest edge of ``k``, as if all arms were Gaussian; -1 if there is none."""
    n = labels.shape[0]
    best = math.inf
    found = (-1, -1, -1)
    for k in range(longest.shape[0]):
        if longest[k] < 0.0:
            continue
        u, v = edges[k, 0], edges[k, 1]
        for a in range(n):
            for b in range(a + 1, n):
                if labels[a] == labels[b]:
                    continue
                gap = max(dist[a, b] - dist[u, v], 0.0)
                spread = inv[u] + inv[v] + inv[a] + inv[b]
                if gap * gap / spread < best:
                    best = gap * gap / spread
                    found = (k, a, b)
    return found


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
    costs: Array,
) -> float:
    """psi for the partition ``labels``, with the minimiser and the KL of each arm.

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
    costs : ndarray of int, shape (1,)
        Raised by the number of pair costs evaluated.

    Returns
    -------
    float
        psi; infinite where there is no alternative.
    """
    n = theta.shape[0]
    largest = 0.0
    for m in range(n):
        largest = max(largest, weights[m])
    w = np.empty(n)
    inv = np.empty(n)
    start = np.zeros(n_clusters + 1, dtype=np.int64)
    for m in range(n):
        w[m] = max(weights[m], FLOOR * largest)
        inv[m] = arm_variance(model, m, theta[m]) / w[m]
        start[labels[m] + 1] += 1
        kl[m] = 0.0
        lam[m] = theta[m]
    for k in range(n_clusters):
        start[k + 1] += start[k]
    members = np.empty(n, dtype=np.int64)
    fill = start.copy()
    for m in range(n):
        members[fill[labels[m]]] = m
        fill[labels[m]] += 1
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    edge = np.zeros(
        2, dtype=np.int64
    )  # arms, also where every edge costs infinitely much (a user's function failed)
    found[:] = -1
    # Start from the candidate that looks smallest: it is the answer unless another one is smaller.
    longest = np.empty(n_clusters)
    edges = np.empty((n_clusters, 2), dtype=np.int64)
    _longest_edges(dist, members, start, longest, edges)
    k, a, b = _likely_candidate(dist, inv, labels, longest, edges)
    if k < 0:
        return math.inf
    best = _bottleneck(
        model,
        theta,
        dist,
        w,
        inv,
        members,
        start[k],
        start[k + 1] - start[k],
        a,
        b,
        math.inf,
        edge,
        box,
        which,
        costs,
    )
    found[0], found[1], found[2], found[3] = edge[0], edge[1], a, b
    # An alternative that costs less than that keeps every arm near its estimate. Where no pair of a spanning tree of the cluster can
    # become as long as (a, b) must stay, the candidate is out.
    longer = np.empty_like(dist)
    shorter = np.empty_like(dist)
    fill_reach(model, theta, dist, w, inv, best, longer, shorter)
    _longest_edges(longer, members, start, longest, edges)
    for a in range(n):
        for b in range(a + 1, n):
            if labels[a] == labels[b]:
                continue
            for k in range(n_clusters):
                if longest[k] < shorter[a, b]:
                    continue
                size = start[k + 1] - start[k]
                value = _bottleneck(
                    model, theta, dist, w, inv, members, start[k], size, a, b, best, edge, box, which, costs
                )
                if value < best:
                    best = value
                    found[0], found[1], found[2], found[3] = edge[0], edge[1], a, b
    if found[0] < 0:
        return math.inf
    u, v, a, b = found[0], found[1], found[2], found[3]
    if v in (a, b):
        u, v = v, u
    if u == b:
        a, b = b, a
    pair_solution(model, theta, dist, w, inv, u, v, a, b, lam, box, which)
    for m in (u, v, a, b):
        kl[m] = arm_kl(model, m, theta[m], lam[m])
        if weights[m] <= 0.0:
            best = 0.0  # an arm of no weight moves for free
    return best
