"""Ruling candidates out: all inter pairs against the trees of all clusters.

A candidate ``(k, a, b)`` is ruled out by a spanning tree of the cluster all of whose edges cost more than the best value so far. Only edges
that are neither shorter nor narrower than another one need be looked at: the front.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined, lean
from linkarms.alternatives._cache import (
    FRONT,
    FRONT_SPREAD,
    HOLDS,
    LINK,
    MEMBERS,
    N_LAST,
    NEAR,
    SLACK,
    SPREAD,
    START,
    Cache,
)
from linkarms.alternatives._parts import ROOM, SHORT, bottleneck
from linkarms.families._model import Model

__all__ = ["first_finite", "remember", "scan", "scan_shared", "take_smaller"]


@inlined
def take_smaller(value: float, k: int, a: int, b: int, best: float, found: Array) -> bool:
    """Make ``(k, a, b)``, ``a < b``, with the edge in ``found[5:]`` the answer if it is smaller, or equal and first."""
    if not value <= best:
        return False
    if value == best and found[4] >= 0:
        if a != found[2]:
            first = a < found[2]
        elif b != found[3]:
            first = b < found[3]
        else:
            first = k < found[4]
        if not first:
            return False
    found[0], found[1], found[2], found[3], found[4] = found[5], found[6], a, b, k
    return True


@flat
def remember(cache: Cache, side: int, found: Array) -> None:
    """Keep the answer ``found`` for the next search to begin with."""
    last = cache.last[side]
    for i in range(N_LAST - 1, 0, -1):
        for j in range(4):
            last[i, j] = last[i - 1, j]
    for j in range(4):
        last[0, j] = found[j]


@lean
def consider(
    model: Model,
    theta: Array,
    dist: Array,
    cache: Cache,
    side: int,
    k: int,
    a: int,
    b: int,
    best: float,
    found: Array,
) -> float:
    """The smaller of ``best`` and ``V_k(a,b)``."""
    a, b = min(a, b), max(a, b)
    if found[2] == a and found[3] == b and found[4] == k:
        return best
    value = bottleneck(model, theta, dist, cache, side, k, a, b, best, found[5:])
    if take_smaller(value, k, a, b, best, found):
        remember(cache, side, found)
        return value
    return best


@inlined
def first_finite(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    found: Array,
) -> float:
    """Where the first candidate costs infinitely much: one that does not, if there is any."""
    n, start = labels.shape[0], cache.nodes[START]
    for a in range(n):
        for b in range(a + 1, n):
            for k in range(n_clusters):
                if labels[a] != labels[b] and start[k + 1] - start[k] > 1:
                    best = consider(model, theta, dist, cache, side, k, a, b, math.inf, found)
                    if best < math.inf:
                        return best
    return math.inf


@flat
def _fill_front(dist: Array, cache: Cache, side: int) -> int:
    """Lengths and spreads of the trees' edges, without those that are shorter and narrower than another one; how many there are."""
    trees, arms = cache.trees[side], cache.arms[side]
    length, spread, inv = arms[FRONT], arms[FRONT_SPREAD], arms[SPREAD]
    size = 0
    for x in range(inv.shape[0]):
        up = trees[LINK, x]
        if up < 0:
            continue
        p, s = dist[x, up] + cache.levels[SLACK], inv[x] + inv[up]
        kept, inside = 0, False
        for i in range(size):
            if length[i] >= p and spread[i] >= s:
                inside = True
                break
            if length[i] > p or spread[i] > s:
                length[kept], spread[kept] = length[i], spread[i]
                kept += 1
        if not inside:
            length[kept], spread[kept] = p, s
            size = kept + 1
    return size


@flat
def _twice(best: float, cache: Cache, side: int) -> float:
    """Double the level that a bound has to be above to rule a candidate out."""
    return 2.0 * max(best, cache.levels[HOLDS + side]) * ROOM


@flat
def _crosses(q: float, s: float, p: float, spread: float, twice: float) -> bool:
    """Whether an edge and a pair of these lengths and spreads may cost as little as the level, of which ``twice`` is the double."""
    gap = q * SHORT - p
    return gap <= 0.0 or gap * gap <= twice * (spread + s)


@flat
def _row_crosses(
    row: Array, labels: Array, inv: Array, a: int, p: float, spread: float, twice: float
) -> bool:
    """Whether a pair ``(a, b)``, ``b > a``, may cost as little as the level against an edge of that length and spread."""
    own, room = labels[a], twice * (spread + inv[a])
    hits = 0
    for b in range(a + 1, row.shape[0]):
        gap = row[b] * SHORT - p
        hits += ((gap <= 0.0) | (gap * gap <= room + twice * inv[b])) & (labels[b] != own)
    return hits > 0


@inlined
def scan(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    best: float,
    found: Array,
) -> float:
    """Rule out or evaluate all candidates whose inter pair has no arm in common with an edge of the cluster's tree."""
    trees, arms = cache.trees[side], cache.arms[side]
    length, spread, inv, near = arms[FRONT], arms[FRONT_SPREAD], arms[SPREAD], cache.lengths[NEAR]
    n, slack = labels.shape[0], cache.levels[SLACK]
    size = _fill_front(dist, cache, side)
    widest = 0.0
    for m in range(n):
        widest = max(widest, inv[m])
    for a in range(n - 1):
        twice = _twice(best, cache, side)
        row = dist[a]
        hit = False
        for i in range(size):
            if _crosses(near[a], inv[a] + widest, length[i], spread[i], twice) and _row_crosses(
                row, labels, inv, a, length[i], spread[i], twice
            ):
                hit = True
                break
        if not hit:
            continue
        for b in range(a + 1, n):
            if labels[b] == labels[a]:
                continue
            s = inv[a] + inv[b]
            hit = False
            for i in range(size):
                if _crosses(row[b], s, length[i], spread[i], twice):
                    hit = True
                    break
            if not hit:
                continue
            for k in range(n_clusters):
                for i in range(cache.nodes[START, k], cache.nodes[START, k + 1]):
                    x = cache.nodes[MEMBERS, i]
                    up = trees[LINK, x]
                    if up < 0 or x in (a, b) or up in (a, b):
                        continue
                    if _crosses(row[b], s, dist[x, up] + slack, inv[x] + inv[up], twice):
                        best = consider(model, theta, dist, cache, side, k, a, b, best, found)
                        twice = _twice(best, cache, side)
                        break
    return best


@inlined
def scan_shared(
    model: Model, theta: Array, dist: Array, labels: Array, cache: Cache, side: int, best: float, found: Array
) -> float:
    """The other candidates: an edge ``(u, v)`` of a tree against the pairs ``(u, b)`` and ``(v, b)``.

    Their cost is at least ``(|q| - |p|)^2 / (2 (4 i_u + i_v + i_b))``, ``u`` the arm in common.
    """
    trees, inv, near = cache.trees[side], cache.arms[side, SPREAD], cache.lengths[NEAR]
    n = labels.shape[0]
    widest = 0.0
    for m in range(n):
        widest = max(widest, inv[m])
    for x in range(n):
        up = trees[LINK, x]
        if up < 0:
            continue
        p = dist[x, up] + cache.levels[SLACK]
        for end in range(2):
            u, v = (x, up) if end == 0 else (up, x)
            twice, s = _twice(best, cache, side), 4.0 * inv[u] + inv[v]
            if not _crosses(near[u], widest, p, s, twice):
                continue
            row, own = dist[u], labels[u]
            for b in range(n):
                if labels[b] != own and _crosses(row[b], inv[b], p, s, twice):
                    best = consider(model, theta, dist, cache, side, own, u, b, best, found)
                    twice = _twice(best, cache, side)
    return best
