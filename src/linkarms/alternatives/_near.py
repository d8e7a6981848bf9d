"""The nearest foreign arms of each arm, and which edges of a cluster they may be as cheap against as a level.

A pair of length ``q`` and spread ``s`` may cost as little as ``c`` against an edge of length ``p`` and spread ``r`` only if
``q - p <= sqrt(2 c (r + s))``. So of all pairs ``(a, b)`` of an arm ``a`` the shortest for each spread of ``b`` suffice; spreads that
differ by little are one class. An arm that moves away leaves its bounds behind: they are too low, and made anew when they matter.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, lean
from linkarms.alternatives._cache import BLOCK, CLASS, HOLDS, NEAR, SLACK, SPREAD, WIDEST, Cache

__all__ = [
    "ROOM",
    "SHORT",
    "TIES",
    "block_crosses",
    "crosses",
    "fill_near",
    "fill_near_row",
    "fill_nearest",
    "first_crossing",
    "fit_classes",
    "lower_near",
    "row_crosses",
    "twice_level",
]

#: A bound has to be above a level by more than this, relatively, before it counts as above it: room for rounding.
ROOM = 1.0 + 1e-12
#: The same for lengths, of which a difference of zero, but for rounding, may cost nothing.
SHORT = 1.0 - 1e-14
#: Costs are asked for up to a level a little higher: one just at the level may be taken for one above it, and a tie missed.
TIES = 1.0 + 1e-9
#: Ratio of the largest spreads of two classes that follow each other.
_RATIO = 1.25


@flat
def twice_level(best: float, cache: Cache, side: int) -> float:
    """Double the level that a bound has to be above to rule a candidate out."""
    return 2.0 * max(best, cache.levels[HOLDS + side]) * ROOM


@flat
def crosses(q: float, s: float, p: float, spread: float, twice: float) -> bool:
    """Whether an edge and a pair of these lengths and spreads may cost as little as the level, of which ``twice`` is the double."""
    gap = q * SHORT - p
    return gap <= 0.0 or gap * gap <= twice * (spread + s)


@flat
def _class_of(spread: float, widest: float, classes: int) -> int:
    c = 0
    while c < classes - 1 and spread * _RATIO <= widest:
        widest /= _RATIO
        c += 1
    return c


@lean
def fill_near_row(dist: Array, labels: Array, cache: Cache, side: int, a: int) -> None:
    """Make the bounds of arm ``a`` anew."""
    near, kind = cache.near[side], cache.trees[side, CLASS]
    for c in range(near.shape[0] - 1):
        near[c, a] = math.inf
    row, own = dist[a], labels[a]
    for b in range(labels.shape[0]):
        if labels[b] != own and row[b] < near[kind[b], a]:
            near[kind[b], a] = row[b]


@lean
def fill_near(dist: Array, labels: Array, cache: Cache, side: int) -> None:
    """Classes and bounds of all arms."""
    inv, classes = cache.arms[side, SPREAD], cache.near.shape[1] - 1
    widest = 0.0
    for m in range(labels.shape[0]):
        widest = max(widest, inv[m])
    cache.levels[WIDEST + side] = widest
    for m in range(labels.shape[0]):
        cache.trees[side, CLASS, m] = _class_of(inv[m], widest, classes)
    for m in range(labels.shape[0]):
        fill_near_row(dist, labels, cache, side, m)


@flat
def lower_near(dist: Array, labels: Array, cache: Cache, side: int, m: int) -> None:
    """Take in that arm ``m`` has moved, and has another spread."""
    near, own = cache.near[side], labels[m]
    c = _class_of(cache.arms[side, SPREAD, m], cache.levels[WIDEST + side], near.shape[0] - 1)
    cache.trees[side, CLASS, m] = c
    bounds, row = near[c], dist[m]
    for a in range(labels.shape[0]):
        bounds[a] = min(bounds[a], row[a] if labels[a] != own else math.inf)
    fill_near_row(dist, labels, cache, side, m)


@flat
def fit_classes(dist: Array, labels: Array, cache: Cache, side: int) -> None:
    """Find the largest spread of each class; make all anew where the spreads have left the classes behind."""
    inv, kind = cache.arms[side, SPREAD], cache.trees[side, CLASS]
    classes = cache.near.shape[1] - 1
    for turn in range(2):
        tops, widest = cache.near[side, classes], 0.0
        for c in range(classes):
            tops[c] = -1.0
        for m in range(labels.shape[0]):
            tops[kind[m]] = max(tops[kind[m]], inv[m])
            widest = max(widest, inv[m])
        tops[classes] = widest
        if turn == 1 or classes == 1 or widest >= 0.5 * cache.levels[WIDEST + side]:
            return
        fill_near(dist, labels, cache, side)


@flat
def row_crosses(cache: Cache, side: int, a: int, p: float, spread: float, twice: float) -> bool:
    """Whether a pair of arm ``a`` may cost as little as the level against an edge of length ``p`` (with slack) and that spread."""
    near, own = cache.near[side], cache.arms[side, SPREAD, a]
    classes = near.shape[0] - 1
    for c in range(classes):
        top = near[classes, c]
        if top >= 0.0 and crosses(near[c, a], own + top, p, spread, twice):
            return True
    return False


@flat
def block_crosses(cache: Cache, side: int, first: int, p: float, spread: float, twice: float) -> bool:
    """`row_crosses` for any of the arms from ``first`` on, `BLOCK` of them."""
    near, inv, nearest = cache.near[side], cache.arms[side, SPREAD], cache.lengths[NEAR]
    classes = near.shape[0] - 1
    room, hits = twice * (spread + near[classes, classes]), 0
    for j in range(first, first + BLOCK):
        gap = nearest[j] * SHORT - p
        hits += gap * abs(gap) <= room + twice * inv[j]
    if hits == 0:
        return False
    for c in range(classes):
        top = near[classes, c]
        if top < 0.0:
            continue
        room = twice * (spread + top)
        hits = 0
        for j in range(first, first + BLOCK):
            gap = near[c, j] * SHORT - p
            hits += gap * abs(gap) <= room + twice * inv[j]
        if hits > 0:
            return True
    return False


@lean
def first_crossing(
    dist: Array, labels: Array, cache: Cache, side: int, z: int, w: int, twice: float, pair: Array
) -> bool:
    """Whether a pair that shares no arm with the edge ``(z, w)`` may cost as little as the level against it; ``pair`` becomes the first."""
    n, inv = labels.shape[0], cache.arms[side, SPREAD]
    p, spread = dist[z, w] + cache.levels[SLACK], inv[z] + inv[w]
    for first in range(0, n, BLOCK):
        if first + BLOCK <= n and not block_crosses(cache, side, first, p, spread, twice):
            continue
        for a in range(first, min(first + BLOCK, n)):
            if a in (z, w) or not row_crosses(cache, side, a, p, spread, twice):
                continue
            fill_near_row(dist, labels, cache, side, a)
            if not row_crosses(cache, side, a, p, spread, twice):
                continue
            for b in range(n):
                if (
                    labels[b] != labels[a]
                    and b != z
                    and b != w
                    and crosses(dist[a, b], inv[a] + inv[b], p, spread, twice)
                ):
                    pair[0], pair[1] = a, b
                    return True
    return False


@lean
def fill_nearest(dist: Array, labels: Array, near: Array) -> None:
    """The distance of each arm from the nearest one of another cluster."""
    n = labels.shape[0]
    for a in range(n):
        near[a] = math.inf
        for b in range(n):
            if labels[a] != labels[b] and dist[a, b] < near[a]:
                near[a] = dist[a, b]
