"""Where a search begins: an upper bound of psi, and the candidate it belongs to."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined
from linkarms.alternatives._answer import take_smaller
from linkarms.alternatives._cache import (
    COUNTS_SIDE,
    GUESS,
    LAST,
    LENGTH,
    LINKED,
    MANY,
    N_STARTS,
    NEAR,
    START,
    UP,
    Cache,
)
from linkarms.alternatives._exchange import exchange
from linkarms.alternatives._near import TIES
from linkarms.alternatives._parts import oriented_cost
from linkarms.families._model import Model

__all__ = ["begin"]


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


@flat
def _is_candidate(labels: Array, start: Array) -> bool:
    """Whether ``u, v, a, b`` are two arms of one cluster and two of different ones."""
    return start[0] >= 0 and labels[start[0]] == labels[start[1]] and labels[start[2]] != labels[start[3]]


@flat
def _looks_cheaper(
    model: Model, theta: Array, dist: Array, labels: Array, cache: Cache, side: int, i: int, j: int
) -> bool:
    """Whether the pair of pairs in row ``i`` of `Cache.last` costs less than that in row ``j``."""
    x, y = cache.last[side, i], cache.last[side, j]
    if not _is_candidate(labels, y):
        return True
    cost = oriented_cost(model, theta, dist, cache, side, y[0], y[1], y[2], y[3], math.inf)
    return oriented_cost(model, theta, dist, cache, side, x[0], x[1], x[2], x[3], cost) < cost


@inlined
def begin(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    found: Array,
) -> float:
    """An upper bound of psi and its candidate, ``found[:5] = u, v, a, b, k``: the last answer or a guess, whichever is better."""
    last, edge = cache.last[side], found[5:]
    best, start = math.inf, cache.nodes[START]
    found[4] = -1
    for j in range(4):
        last[GUESS, j] = -1
    order = LAST
    if (
        cache.flags[side, MANY] == 1
        and cache.flags[COUNTS_SIDE, LINKED] == 1
        and _propose(dist, labels, cache, last[GUESS])
        and _looks_cheaper(model, theta, dist, labels, cache, side, GUESS, LAST)
    ):
        order = GUESS
    for turn in range(N_STARTS):
        i = order if turn == 0 else 1 - order
        if not _is_candidate(labels, last[i]):
            continue
        a, b, k = last[i, 2], last[i, 3], labels[last[i, 0]]
        if found[2] == a and found[3] == b and found[4] == k:
            continue
        value = exchange(model, theta, dist, labels, cache, side, k, a, b, best * TIES, True, edge)
        if take_smaller(value, k, a, b, best, found):
            best = value
    if found[4] >= 0:
        return best
    # the nearest two arms of different clusters, against the first cluster of several
    k = 0
    while k < n_clusters and start[k + 1] - start[k] < 2:
        k += 1
    a, b = -1, -1
    for x in range(labels.shape[0]):
        for y in range(x + 1, labels.shape[0]):
            if labels[x] != labels[y] and (a < 0 or dist[x, y] < dist[a, b]):
                a, b = x, y
    if k == n_clusters or a < 0:
        return math.inf
    best = exchange(model, theta, dist, labels, cache, side, k, a, b, math.inf, True, edge)
    found[0], found[1], found[2], found[3], found[4] = edge[0], edge[1], a, b, k
    return best
