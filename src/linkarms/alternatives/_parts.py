"""One candidate: the bottleneck of a cluster against an inter pair, with the help of a spanning tree.

``V_k(a,b)`` is the smallest edge of a maximum spanning tree of the cluster ``k`` with edge weights ``cost(u,v; a,b)``. Any spanning tree
whose edges all cost more than a level shows that ``V_k(a,b)`` is above it. If some cost less, the cluster falls into parts, and only
the edges between the parts have to be looked at: usually one arm against the rest.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined, lean
from linkarms.alternatives._cache import (
    CHOSEN,
    COSTS,
    HOLDS,
    JOIN,
    JOIN_U,
    JOIN_V,
    LINK,
    MEMBERS,
    NEXT,
    PART,
    RENEWED,
    REST,
    SIZE,
    SLACK,
    SPREAD,
    STACK,
    START,
    WEIGHT,
    Cache,
)
from linkarms.alternatives._pair import call_cost
from linkarms.families._model import Model

__all__ = ["ROOM", "SHORT", "bottleneck", "connect", "oriented_cost", "spread_bound"]

#: A bound has to be above a level by more than this, relatively, before it counts as above it: room for rounding.
ROOM = 1.0 + 1e-12
#: The same for lengths, of which a difference of zero, but for rounding, may cost nothing.
SHORT = 1.0 - 1e-14


@flat
def oriented_cost(
    model: Model,
    theta: Array,
    dist: Array,
    cache: Cache,
    side: int,
    u: int,
    v: int,
    a: int,
    b: int,
    level: float,
) -> float:
    """`pair_cost` with a shared arm, if there is one, put first in both pairs, and else the smaller index."""
    cache.flags[side, COSTS] += 1
    if v in (a, b):
        u, v = v, u
    if u == b:
        a, b = b, a
    if u != a:
        u, v = min(u, v), max(u, v)
        a, b = min(a, b), max(a, b)
    arms = cache.arms[side]
    return call_cost(
        model, theta, dist, arms[WEIGHT], arms[SPREAD], u, v, a, b, level, cache.box, cache.which, cache.calls
    )


@inlined
def spread_bound(dist: Array, inv: Array, u: int, v: int, a: int, b: int, slack: float) -> float:
    """The Gaussian formula at the spreads ``inv``: a lower bound of costs up to the level at which they hold."""
    gap = dist[a, b] * SHORT - dist[u, v] - slack
    if gap <= 0.0:
        return 0.0
    spread = inv[u] + inv[v] + inv[a] + inv[b]
    if u in (a, b):
        spread += 2.0 * inv[u]
    elif v in (a, b):
        spread += 2.0 * inv[v]
    return gap * gap / (2.0 * spread)


@inlined
def _precedes(u: int, v: int, x: int, y: int) -> bool:
    return u < x or (u == x and v < y)


@flat
def _name_parts(cache: Cache, side: int, k: int) -> None:
    """Turn ``PART`` (-2 - i for the top arm of part i, -1 for arms that belong to their parent's) into numbers 0, 1, ..."""
    trees = cache.trees[side]
    first, end = cache.nodes[START, k], cache.nodes[START, k + 1]
    for i in range(first, end):
        depth, m = 0, cache.nodes[MEMBERS, i]
        while trees[PART, m] == -1:
            trees[STACK, depth] = m
            depth += 1
            m = trees[LINK, m]
        for j in range(depth):
            trees[PART, trees[STACK, j]] = trees[PART, m]
    for i in range(first, end):
        m = cache.nodes[MEMBERS, i]
        trees[PART, m] = -2 - trees[PART, m]


@inlined
def _join_parts(
    model: Model,
    theta: Array,
    dist: Array,
    cache: Cache,
    side: int,
    k: int,
    parts: int,
    a: int,
    b: int,
    level: float,
    edge: Array,
) -> float:
    """Smallest edge of a maximum spanning tree of the parts; ``edge`` becomes that edge and `STACK` the edges, two arms each.

    Edges above ``level`` are all the same. Of equal ones the first by index counts as the dearer, so that there is just one answer,
    whatever the parts were.
    """
    trees, best = cache.trees[side], cache.arms[side, JOIN]
    first, end = cache.nodes[START, k], cache.nodes[START, k + 1]
    for g in range(parts):
        trees[SIZE, g], trees[CHOSEN, g], best[g] = 0, 0, -1.0
    for i in range(first, end):
        trees[SIZE, trees[PART, cache.nodes[MEMBERS, i]]] += 1
    last = 0
    for g in range(parts):
        if trees[SIZE, g] < trees[SIZE, last]:
            last = g
    smallest = math.inf
    for joined in range(parts - 1):
        trees[CHOSEN, last] = 1
        rest = 0
        for i in range(first, end):
            m = cache.nodes[MEMBERS, i]
            if trees[CHOSEN, trees[PART, m]] == 0:
                trees[REST, rest] = m
                rest += 1
        for i in range(first, end):
            x = cache.nodes[MEMBERS, i]
            if trees[PART, x] != last:
                continue
            for j in range(rest):
                y = trees[REST, j]
                g = trees[PART, y]
                if best[g] == math.inf:
                    continue
                value = oriented_cost(model, theta, dist, cache, side, x, y, a, b, level)
                if not value <= level:  # nor is one that is no number, where a user's function failed
                    value = math.inf
                u, v = min(x, y), max(x, y)
                if value > best[g] or (
                    value == best[g] and _precedes(u, v, trees[JOIN_U, g], trees[JOIN_V, g])
                ):
                    best[g], trees[JOIN_U, g], trees[JOIN_V, g] = value, u, v
        last = -1
        for g in range(parts):
            if trees[CHOSEN, g] == 0 and (
                last < 0
                or best[g] > best[last]
                or (
                    best[g] == best[last]
                    and _precedes(
                        trees[JOIN_U, g], trees[JOIN_V, g], trees[JOIN_U, last], trees[JOIN_V, last]
                    )
                )
            ):
                last = g
        u, v = trees[JOIN_U, last], trees[JOIN_V, last]
        if best[last] < smallest or (best[last] == smallest and _precedes(edge[0], edge[1], u, v)):
            smallest, edge[0], edge[1] = best[last], u, v
        trees[STACK, joined] = last
    return smallest


@lean
def _relink(cache: Cache, side: int, k: int, row: int, parts: int) -> None:
    """Make the edges of `_join_parts` part of the tree in ``row``, in place of those between parts."""
    trees = cache.trees[side]
    for i in range(cache.nodes[START, k], cache.nodes[START, k + 1]):
        m = cache.nodes[MEMBERS, i]
        up = trees[row, m]
        if up >= 0 and trees[PART, up] != trees[PART, m]:
            trees[row, m] = -1
    for j in range(parts - 1):
        g = trees[STACK, j]
        # turn the path from one end to its root round, and hang it from the other end
        above, m = trees[JOIN_U, g], trees[JOIN_V, g]
        while m >= 0:
            up = trees[row, m]
            trees[row, m] = above
            above, m = m, up


@inlined
def bottleneck(
    model: Model,
    theta: Array,
    dist: Array,
    cache: Cache,
    side: int,
    k: int,
    a: int,
    b: int,
    level: float,
    edge: Array,
) -> float:
    """``V_k(a,b)`` and its ``edge``, ``u < v``, if it is at most ``level``; else any value above that."""
    first = cache.nodes[START, k]
    if cache.nodes[START, k + 1] - first > 2:
        return _bottleneck_of_many(model, theta, dist, cache, side, k, a, b, level, edge)
    edge[0], edge[1] = cache.nodes[MEMBERS, first], cache.nodes[MEMBERS, first + 1]  # by index
    return oriented_cost(model, theta, dist, cache, side, edge[0], edge[1], a, b, level)


@lean
def _bottleneck_of_many(
    model: Model,
    theta: Array,
    dist: Array,
    cache: Cache,
    side: int,
    k: int,
    a: int,
    b: int,
    level: float,
    edge: Array,
) -> float:
    """`bottleneck` of a cluster of three arms and more.

    Where edges of the tree were replaced, the tree of the next search gets the new ones: the present one goes on
    vouching for candidates that were ruled out before.
    """
    first, end = cache.nodes[START, k], cache.nodes[START, k + 1]
    trees, inv = cache.trees[side], cache.arms[side, SPREAD]
    parts = 0
    known = level <= cache.levels[side]
    above = max(level, cache.levels[HOLDS + side]) * ROOM
    for i in range(first, end):
        m = cache.nodes[MEMBERS, i]
        up = trees[LINK, m]
        trees[PART, m] = -1
        dear = up >= 0 and known and spread_bound(dist, inv, m, up, a, b, cache.levels[SLACK]) > above
        if not dear and (
            up < 0 or oriented_cost(model, theta, dist, cache, side, m, up, a, b, level) <= level
        ):
            trees[PART, m] = -2 - parts
            parts += 1
    if parts == 1:
        return math.inf
    _name_parts(cache, side, k)
    value = _join_parts(model, theta, dist, cache, side, k, parts, a, b, level, edge)
    if trees[RENEWED, k] == 0:  # the parts are those of the present tree: they fit into the next one once
        trees[RENEWED, k] = 1
        _relink(cache, side, k, NEXT, parts)
    return value


@lean
def connect(dist: Array, cache: Cache, side: int, k: int) -> None:
    """Make the forest of cluster ``k`` a tree, by its shortest edges."""
    trees, best = cache.trees[side], cache.arms[side, JOIN]
    first, end = cache.nodes[START, k], cache.nodes[START, k + 1]
    parts = 0
    for i in range(first, end):
        m = cache.nodes[MEMBERS, i]
        trees[PART, m] = -1
        if trees[LINK, m] < 0:
            trees[PART, m] = -2 - parts
            parts += 1
    if parts < 2:
        return
    _name_parts(cache, side, k)
    for g in range(parts):
        trees[CHOSEN, g], best[g] = 0, math.inf
    last = trees[PART, cache.nodes[MEMBERS, first]]
    for joined in range(parts - 1):
        trees[CHOSEN, last] = 1
        for i in range(first, end):
            x = cache.nodes[MEMBERS, i]
            if trees[PART, x] != last:
                continue
            for j in range(first, end):
                y = cache.nodes[MEMBERS, j]
                g = trees[PART, y]
                if trees[CHOSEN, g] == 0 and dist[x, y] < best[g]:
                    best[g], trees[JOIN_U, g], trees[JOIN_V, g] = dist[x, y], x, y
        last = -1
        for g in range(parts):
            if trees[CHOSEN, g] == 0 and (last < 0 or best[g] < best[last]):
                last = g
        trees[STACK, joined] = last
    _relink(cache, side, k, LINK, parts)
