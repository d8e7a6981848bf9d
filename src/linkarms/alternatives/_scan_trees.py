"""Ruling candidates out by the trees of the clusters, and evaluating those that are not.

A candidate ``(k, a, b)`` with neither arm in the cluster is ruled out by the tree of the cluster; one with an arm ``u`` in it by the
edges of the tree that are not at ``u``, the attachment of ``u``, and the alternative edges of its children (``_trees.py``). Of the
trees' edges only those that are neither shorter nor narrower than another one need be looked at: the front.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined, lean
from linkarms.alternatives._answer import consider
from linkarms.alternatives._attach import attachment
from linkarms.alternatives._cache import (
    ALT_EDGE,
    ALT_U,
    ALT_V,
    CLASS,
    EDGE,
    FRONT,
    FRONT_SPREAD,
    LINK,
    MEMBERS,
    NEAR,
    SLACK,
    SPREAD,
    START,
    STUCK,
    Cache,
)
from linkarms.alternatives._near import (
    ROOM,
    SHORT,
    TIES,
    crosses,
    fill_near_row,
    row_crosses,
    twice_level,
)
from linkarms.alternatives._replace import replace_alternative, replace_edge
from linkarms.alternatives._scan_attachments import attachment_cost
from linkarms.alternatives._trees import below
from linkarms.families._model import Model

__all__ = ["scan_alternatives", "scan_trees"]

#: How finely the spreads of edges are told apart.
_PARTS = 64


@flat
def _fill_front(cache: Cache, side: int) -> int:
    """Lengths and spreads such that no edge of the trees is longer and wider than all of them; how many there are.

    Edges of about the same spread count as one, as long as the longest and as wide as the widest of them: no sorting, no branches.
    """
    trees, arms, classes = cache.trees[side], cache.arms[side], cache.near.shape[1] - 1
    length, spread, inv, slack = arms[FRONT], arms[FRONT_SPREAD], arms[SPREAD], cache.levels[SLACK]
    parts, widest = min(_PARTS, inv.shape[0]), 2.0 * cache.near[side, classes, classes]
    scale = (parts - 1) / widest if widest > 0.0 else 0.0
    for i in range(parts):
        length[i], spread[i] = -1.0, 0.0
    for x in range(inv.shape[0]):
        up = trees[LINK, x]
        if up >= 0:
            s = inv[x] + inv[up]
            i = min(int(s * scale), parts - 1)
            length[i], spread[i] = max(length[i], arms[EDGE, x] + slack), max(spread[i], s)
    size, longest = 0, -1.0
    for i in range(parts - 1, -1, -1):
        if length[i] > longest:
            longest = length[i]
            # what is kept comes last, in order, so that nothing is overwritten
            size += 1
            length[parts - size], spread[parts - size] = length[i], spread[i]
    for i in range(size):
        length[i], spread[i] = length[parts - size + i], spread[parts - size + i]
    return size


@flat
def _fill_reach(cache: Cache, side: int, size: int, twice: float) -> None:
    """How long a pair has to be, by the classes of its arms, to cost more than the level against all edges of the front."""
    length, spread, reach = cache.arms[side, FRONT], cache.arms[side, FRONT_SPREAD], cache.reach[side]
    classes = reach.shape[0]
    tops = cache.near[side, classes]
    for c in range(classes):
        reach[c, classes] = -1.0
        for k in range(c + 1):
            longest = -1.0
            if tops[c] >= 0.0 and tops[k] >= 0.0:
                for i in range(size):
                    longest = max(longest, length[i] + math.sqrt(twice * (spread[i] + tops[c] + tops[k])))
            # (the square root is rounded, and a pair of no length counts as short)
            reach[c, k] = reach[k, c] = longest * (1.0 + 1e-14)
            reach[c, classes] = max(reach[c, classes], reach[c, k])
            reach[k, classes] = max(reach[k, classes], reach[c, k])


@flat
def _row_reaches(cache: Cache, side: int, a: int) -> bool:
    """Whether a pair of arm ``a`` may be as short."""
    near, reach = cache.near[side], cache.reach[side, cache.trees[side, CLASS, a]]
    classes = near.shape[0] - 1
    if cache.lengths[NEAR, a] * SHORT > reach[classes]:
        return False
    hits = 0
    for c in range(classes):
        hits += near[c, a] * SHORT <= reach[c]
    return hits > 0


@lean
def _cheap_edge(dist: Array, cache: Cache, side: int, k: int, a: int, b: int, twice: float) -> int:
    """An arm of cluster ``k`` whose edge to its parent, of which neither is ``a`` or ``b``, may be as cheap as the level; -1 for none."""
    trees, inv, edge, slack = (
        cache.trees[side],
        cache.arms[side, SPREAD],
        cache.arms[side, EDGE],
        cache.levels[SLACK],
    )
    q, s = dist[a, b], inv[a] + inv[b]
    for i in range(cache.nodes[START, k], cache.nodes[START, k + 1]):
        x = cache.nodes[MEMBERS, i]
        up = trees[LINK, x]
        if up < 0 or x in (a, b) or up in (a, b):
            continue
        if crosses(q, s, edge[x] + slack, inv[x] + inv[up], twice):
            return int(x)
    return -1


@lean
def _scan_pair(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    a: int,
    b: int,
    best: float,
    found: Array,
) -> float:
    """The pair ``(a, b)`` against the trees of all clusters; edges that do not rule it out are replaced where that is possible."""
    start = cache.nodes[START]
    for k in range(n_clusters):
        if start[k + 1] - start[k] < 2:
            continue
        twice = twice_level(best, cache, side)
        x = _cheap_edge(dist, cache, side, k, a, b, twice)
        while (
            x >= 0
            and start[k + 1] - start[k] > 2
            and replace_edge(dist, labels, cache, side, k, x, a, b, twice, found[5:])
        ):
            x = _cheap_edge(dist, cache, side, k, a, b, twice)
            cache.trees[side, STUCK, labels.shape[0]] = 1
        if x >= 0:
            best = consider(model, theta, dist, labels, cache, side, k, a, b, best, found)
    return best


@inlined
def scan_trees(
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
    """All pairs against the edges of the trees with which they share no arm."""
    inv, n = cache.arms[side, SPREAD], labels.shape[0]
    length, spread, kind = cache.arms[side, FRONT], cache.arms[side, FRONT_SPREAD], cache.trees[side, CLASS]
    for m in range(n + 1):  # the last says that the trees were changed
        cache.trees[side, STUCK, m] = 0
    size = _fill_front(cache, side)
    twice = twice_level(best, cache, side)
    _fill_reach(cache, side, size, twice)
    for a in range(n - 1):
        if not _row_reaches(cache, side, a):
            continue
        fill_near_row(dist, labels, cache, side, a)
        if not _row_reaches(cache, side, a):
            continue
        reach, row = cache.reach[side, kind[a]], dist[a]
        for b in range(a + 1, n):
            if row[b] * SHORT > reach[kind[b]] or labels[b] == labels[a]:
                continue
            for i in range(size):
                if crosses(row[b], inv[a] + inv[b], length[i], spread[i], twice):
                    best = _scan_pair(model, theta, dist, labels, n_clusters, cache, side, a, b, best, found)
                    twice = twice_level(best, cache, side)
                    if cache.trees[side, STUCK, n] == 1:
                        size = _fill_front(cache, side)
                        _fill_reach(cache, side, size, twice)
                        cache.trees[side, STUCK, n] = 0
                    break
    return best


@flat
def _hangs_from_parent(
    model: Model, theta: Array, dist: Array, cache: Cache, side: int, x: int, b: int, best: float
) -> bool:
    """Whether ``u``, the parent of ``x``, holds ``x`` and holds on to the rest itself, at more than ``best`` against ``(u, b)``.

    That is, to its own parent, or to its attachment if that is not below it.
    """
    trees = cache.trees[side]
    u = trees[LINK, x]
    if not attachment_cost(model, theta, dist, cache, side, u, x, b, best * TIES) > best * ROOM:
        return False
    if cache.shared[side, u, b] > best * ROOM and not below(trees, u, attachment(cache, side, u, b)):
        return True
    return attachment_cost(model, theta, dist, cache, side, u, trees[LINK, u], b, best * TIES) > best * ROOM


@lean
def scan_alternatives(
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
    """The pairs of each arm against the alternative edges of its children."""
    trees, inv, slack = cache.trees[side], cache.arms[side, SPREAD], cache.levels[SLACK]
    n, near, classes = labels.shape[0], cache.lengths[NEAR], cache.near.shape[1] - 1
    widest, length = cache.near[side, classes, classes], cache.arms[side, ALT_EDGE]
    for x in range(n):
        u = trees[LINK, x]
        if u < 0 or trees[LINK, u] < 0:
            continue
        k = labels[x]
        twice = twice_level(best, cache, side)
        z, w = trees[ALT_U, x], trees[ALT_V, x]
        if length[x] < 0.0:
            length[x] = dist[z, w]
        p, spread = length[x] + slack, inv[z] + inv[w]
        if not crosses(near[u], inv[u] + widest, p, spread, twice) or not row_crosses(
            cache, side, u, p, spread, twice
        ):
            continue
        fill_near_row(dist, labels, cache, side, u)
        if not row_crosses(cache, side, u, p, spread, twice):
            continue
        tried = False
        for b in range(n):
            if labels[b] == k or not crosses(dist[u, b], inv[u] + inv[b], p, spread, twice):
                continue
            if not tried:
                tried = True
                if replace_alternative(dist, labels, cache, side, k, x, b, twice, found[5:]):
                    break
            if _hangs_from_parent(model, theta, dist, cache, side, x, b, best):
                continue
            best = consider(model, theta, dist, labels, cache, side, k, u, b, best, found)
            twice = twice_level(best, cache, side)
    return best
