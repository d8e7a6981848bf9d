"""One candidate: the bottleneck of a cluster against an inter pair, with the help of a spanning tree.

``V_k(a,b)`` is the smallest edge of a maximum spanning tree of the cluster ``k`` with edge weights ``cost(u,v; a,b)``. Any spanning tree
whose edges all cost more than a level shows that ``V_k(a,b)`` is above it. If some cost less, the cluster falls into parts, and only
the edges between the parts have to be looked at: usually one arm against the rest.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined, lean
from linkarms.alternatives._cache import (
    BLOCK,
    CHOSEN,
    COSTS,
    EDGE,
    JOIN,
    JOIN_U,
    JOIN_V,
    LINK,
    MEMBERS,
    PART,
    REST,
    SIZE,
    SLACK,
    SPREAD,
    STACK,
    START,
    WEIGHT,
    Cache,
)
from linkarms.alternatives._near import SHORT, twice_level
from linkarms.alternatives._pair import call_cost, has_closed_form
from linkarms.families._model import Model

__all__ = ["bottleneck", "is_dear", "join_parts", "name_parts", "oriented_cost", "precedes"]


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


@flat
def is_dear(dist: Array, cache: Cache, side: int, m: int, up: int, a: int, b: int, level: float) -> bool:
    """Whether the spreads show that the tree's edge from ``m`` to its parent costs more than ``level`` against ``(a, b)``."""
    if level > cache.levels[side]:  # they say nothing about it
        return False
    inv = cache.arms[side, SPREAD]
    spread = inv[m] + inv[up] + inv[a] + inv[b]
    if m in (a, b):
        spread += 2.0 * inv[m]
    elif up in (a, b):
        spread += 2.0 * inv[up]
    gap = dist[a, b] * SHORT - cache.arms[side, EDGE, m] - cache.levels[SLACK]
    return gap > 0.0 and gap * gap > twice_level(level, cache, side) * spread


@inlined
def precedes(u: int, v: int, x: int, y: int) -> bool:
    return u < x or (u == x and v < y)


@flat
def name_parts(cache: Cache, side: int, k: int) -> None:
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


@flat
def _list_part(cache: Cache, side: int, k: int, part: int, a: int, b: int) -> tuple[int, float]:
    """List the arms of a part of cluster ``k`` in `STACK`, an arm of the pair ``(a, b)`` first; their number, and their least spread."""
    trees, inv, count, narrow = cache.trees[side], cache.arms[side, SPREAD], 0, math.inf
    for i in range(cache.nodes[START, k], cache.nodes[START, k + 1]):
        m = cache.nodes[MEMBERS, i]
        if trees[PART, m] == part:
            trees[STACK, count] = m
            if m in (a, b):
                trees[STACK, 0], trees[STACK, count] = m, trees[STACK, 0]
            count += 1
            narrow = min(narrow, inv[m])
    return count, narrow


@flat
def _within(cost: float, q: float, spread: float) -> float:
    """How long an edge may be to cost as much, rounding aside."""
    return q * (1.0 + 1e-14) - math.sqrt(2.0 * cost * spread) * (1.0 - 1e-12) if cost > 0.0 else math.inf


@lean
def _cross_row(
    model: Model,
    theta: Array,
    dist: Array,
    cache: Cache,
    side: int,
    x: int,
    a: int,
    b: int,
    count: int,
    narrow: float,
    level: float,
    g: int,
) -> None:
    """Compare the dearest edge to part ``g`` so far with all edges of ``x`` to the arms of `_list_part`, where costs are closed forms.

    Only those are looked at that are short enough for the cost so far, at their least spread, ``narrow``.
    """
    trees, inv, best = cache.trees[side], cache.arms[side, SPREAD], cache.arms[side, JOIN]
    arms, row, q, spread = trees[STACK], dist[x], dist[a, b], inv[x] + narrow + inv[a] + inv[b]
    shares = x in (a, b)
    near = math.inf if shares else _within(best[g], q, spread)
    for first in range(0, count, BLOCK):
        end = min(first + BLOCK, count)
        if first > 0 and end - first == BLOCK:
            hits = 0
            for j in range(first, first + BLOCK):
                hits += row[arms[j]] <= near
            if hits == 0:
                continue
        for j in range(first, end):
            y = arms[j]
            if row[y] > near and y != a and y != b:
                continue
            value = oriented_cost(model, theta, dist, cache, side, x, y, a, b, level)
            u, v = min(x, y), max(x, y)
            if value > best[g] or (value == best[g] and precedes(u, v, trees[JOIN_U, g], trees[JOIN_V, g])):
                best[g], trees[JOIN_U, g], trees[JOIN_V, g] = value, u, v
                if value > level:
                    best[g] = math.inf
                    return
                near = math.inf if shares else _within(value, q, spread)


@lean
def _join_two(
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
    """`join_parts` for two parts where costs are closed forms, from the edge of the tree between them on."""
    trees, best = cache.trees[side], cache.arms[side, JOIN]
    first, end = cache.nodes[START, k], cache.nodes[START, k + 1]
    ones = 0
    best[0] = -1.0
    for i in range(first, end):
        x = cache.nodes[MEMBERS, i]
        ones += trees[PART, x]
        up = trees[LINK, x]
        if up >= 0 and trees[PART, x] != trees[PART, up]:
            trees[JOIN_U, 0], trees[JOIN_V, 0] = min(x, up), max(x, up)
            best[0] = oriented_cost(model, theta, dist, cache, side, x, up, a, b, level)
    small = 1 if 2 * ones <= end - first else 0
    count, narrow = _list_part(cache, side, k, 1 - small, a, b)
    for i in range(first, end):
        x = cache.nodes[MEMBERS, i]
        if trees[PART, x] == small:
            _cross_row(model, theta, dist, cache, side, x, a, b, count, narrow, level, 0)
            if best[0] == math.inf:
                break
    edge[0], edge[1] = trees[JOIN_U, 0], trees[JOIN_V, 0]
    return float(best[0])


@lean
def join_parts(
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
    """Smallest edge of a maximum spanning tree of the parts of a cluster, which ``edge`` becomes; infinite above ``level``."""
    if parts == 2 and has_closed_form(model):
        return _join_two(model, theta, dist, cache, side, k, a, b, level, edge)
    return _join_many(model, theta, dist, cache, side, k, parts, a, b, level, edge)


@inlined
def _join_many(
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
    """`join_parts` for any number of parts, by Prim's algorithm.

    Edges above ``level`` are all the same. Of equal ones the first by index counts as the dearer, so that there is just one answer,
    whatever the parts were.
    """
    trees, best, inv = cache.trees[side], cache.arms[side, JOIN], cache.arms[side, SPREAD]
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
    for _ in range(parts - 1):
        trees[CHOSEN, last] = 1
        rest = 0
        for i in range(first, end):
            m = cache.nodes[MEMBERS, i]
            if trees[CHOSEN, trees[PART, m]] == 0:
                trees[REST, rest] = m
                rest += 1
        if has_closed_form(model) and trees[SIZE, last] > rest + BLOCK:
            count, narrow = _list_part(cache, side, k, last, a, b)
            for j in range(rest):
                y = trees[REST, j]
                if best[trees[PART, y]] < math.inf:
                    _cross_row(model, theta, dist, cache, side, y, a, b, count, narrow, level, trees[PART, y])
            trees[SIZE, last] = -1  # done
        for i in range(first, end):
            x = cache.nodes[MEMBERS, i]
            if trees[PART, x] != last or trees[SIZE, last] < 0:
                continue
            for j in range(rest):
                y = trees[REST, j]
                g = trees[PART, y]
                if best[g] == math.inf:
                    continue
                if has_closed_form(model) and best[g] > 0.0 and x not in (a, b) and y not in (a, b):
                    gap = dist[a, b] - dist[x, y]
                    if gap * abs(gap) < 1.999999 * best[g] * (inv[x] + inv[y] + inv[a] + inv[b]):
                        continue
                value = oriented_cost(model, theta, dist, cache, side, x, y, a, b, level)
                if not value <= level:  # nor is one that is no number, where a user's function failed
                    value = math.inf
                u, v = min(x, y), max(x, y)
                if value > best[g] or (
                    value == best[g] and precedes(u, v, trees[JOIN_U, g], trees[JOIN_V, g])
                ):
                    best[g], trees[JOIN_U, g], trees[JOIN_V, g] = value, u, v
        last = -1
        for g in range(parts):
            if trees[CHOSEN, g] == 0 and (
                last < 0
                or best[g] > best[last]
                or (
                    best[g] == best[last]
                    and precedes(trees[JOIN_U, g], trees[JOIN_V, g], trees[JOIN_U, last], trees[JOIN_V, last])
                )
            ):
                last = g
        u, v = trees[JOIN_U, last], trees[JOIN_V, last]
        if best[last] < smallest or (best[last] == smallest and precedes(edge[0], edge[1], u, v)):
            smallest, edge[0], edge[1] = best[last], u, v
    return smallest


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
    most: int,
    edge: Array,
) -> float:
    """``V_k(a,b)`` and its ``edge``, ``u < v``, if it is at most ``level``; else any value above that.

    -1 where the cluster falls into more than ``most`` parts.
    """
    first = cache.nodes[START, k]
    if cache.nodes[START, k + 1] - first > 2:
        return _bottleneck_of_many(model, theta, dist, cache, side, k, a, b, level, most, edge)
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
    most: int,
    edge: Array,
) -> float:
    """`bottleneck` of a cluster of three arms and more."""
    first, end = cache.nodes[START, k], cache.nodes[START, k + 1]
    trees, parts = cache.trees[side], 0
    for i in range(first, end):
        m = cache.nodes[MEMBERS, i]
        up = trees[LINK, m]
        trees[PART, m] = -1
        if up < 0 or (
            not is_dear(dist, cache, side, m, up, a, b, level)
            and oriented_cost(model, theta, dist, cache, side, m, up, a, b, level) <= level
        ):
            trees[PART, m] = -2 - parts
            parts += 1
    if parts == 1:
        return math.inf
    if parts > most:
        return -1.0
    name_parts(cache, side, k)
    return join_parts(model, theta, dist, cache, side, k, parts, a, b, level, edge)
