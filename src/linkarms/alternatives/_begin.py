"""Where a search begins: an upper bound of psi, and the candidate it belongs to."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined
from linkarms.alternatives._answer import TIES, take_smaller
from linkarms.alternatives._cache import COUNTS_SIDE, LENGTH, LINKED, MANY, N_LAST, NEAR, START, UP, Cache
from linkarms.alternatives._exchange import exchange
from linkarms.alternatives._parts import bottleneck, oriented_cost
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
            value = bottleneck(model, theta, dist, cache, side, k, a, b, best * TIES, edge)
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
