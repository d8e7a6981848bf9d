"""Clusters of one and two arms: which candidates may be cheap enough for the list (``_shortlist.py``).

A candidate is the edge of a cluster against a pair. The Gaussian formulas at the arms' spreads rule most of them out: a pair against all
edges by the longest and the widest of them, an edge against all pairs of an arm by the nearest foreign one.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat
from linkarms.alternatives._cache import (
    BROADEST,
    EXACT,
    HOLDS,
    LARGEST,
    LIST_A,
    LIST_B,
    LIST_U,
    LIST_V,
    LISTED,
    LISTED_TO,
    LONGEST,
    MATE,
    NEAR,
    SLACK,
    SPREAD,
    TWO_LENGTH,
    TWO_SHARED,
    TWO_SPREAD,
    Cache,
)
from linkarms.alternatives._near import ROOM, SHORT, crosses

__all__ = ["measure_two", "offer", "offer_edge", "offer_row", "raise_tops", "twice_listed"]

#: Arms that are looked at in one go: a loop of fixed length and no branches becomes vector instructions.
_BLOCK = 4


@flat
def measure_two(dist: Array, cache: Cache, side: int, u: int) -> None:
    """Length and spreads of the edge of arm ``u``; no pair is as short as that of an arm alone."""
    arms, v = cache.arms[side], cache.trees[side, MATE, u]
    inv = arms[SPREAD]
    if v < 0:
        arms[TWO_LENGTH, u], arms[TWO_SPREAD, u], arms[TWO_SHARED, u] = -math.inf, 0.0, 0.0
        return
    arms[TWO_LENGTH, u] = dist[u, v]
    arms[TWO_SPREAD, u] = inv[u] + inv[v]
    arms[TWO_SHARED, u] = 4.0 * inv[u] + inv[v]


@flat
def raise_tops(cache: Cache, side: int, u: int) -> None:
    """Take arm ``u`` and its edge into account in the longest edge, the largest spread of one, and that of an arm."""
    arms, levels = cache.arms[side], cache.levels
    levels[LONGEST + side] = max(levels[LONGEST + side], arms[TWO_LENGTH, u])
    levels[BROADEST + side] = max(levels[BROADEST + side], arms[TWO_SPREAD, u])
    levels[LARGEST + side] = max(levels[LARGEST + side], arms[SPREAD, u])


@flat
def twice_listed(cache: Cache, side: int) -> float:
    """Double the level of the list, or that at which the spreads say something."""
    return 2.0 * max(cache.levels[LISTED_TO + side], cache.levels[HOLDS + side]) * ROOM


@flat
def offer(dist: Array, cache: Cache, side: int, u: int, a: int, b: int, spread: float, twice: float) -> None:
    """List the edge of ``u`` against the pair ``(a, b)``, unless it is seen to cost more; ``spread`` is that of all arms together."""
    gap = dist[a, b] * SHORT - cache.arms[side, TWO_LENGTH, u] - cache.levels[SLACK]
    if gap * abs(gap) > twice * spread:
        return
    listed, worth, count = cache.listed[side], cache.worth[side], cache.flags[side, LISTED]
    if count < worth.shape[0]:
        v = cache.trees[side, MATE, u]
        listed[LIST_U, count], listed[LIST_V, count] = min(u, v), max(u, v)
        listed[LIST_A, count], listed[LIST_B, count] = min(a, b), max(a, b)
        listed[EXACT, count] = 0
        # (where the spreads hold at one level only, a lower bound says nothing)
        bounded = gap > 0.0 and cache.levels[HOLDS + side] == 0.0
        worth[count] = 0.5 * gap * gap / spread if bounded else 0.0
    cache.flags[side, LISTED] = count + 1


@flat
def _offer_pair(dist: Array, labels: Array, cache: Cache, side: int, a: int, b: int, twice: float) -> None:
    """List the pair ``(a, b)`` against every edge, if it may be cheap against any."""
    arms, mate, slack = cache.arms[side], cache.trees[side, MATE], cache.levels[SLACK]
    inv = arms[SPREAD]
    offer(dist, cache, side, a, a, b, arms[TWO_SHARED, a] + inv[b], twice)
    offer(dist, cache, side, b, a, b, arms[TWO_SHARED, b] + inv[a], twice)
    own = inv[a] + inv[b]
    longest, widest = cache.levels[LONGEST + side], cache.levels[BROADEST + side]
    if not crosses(dist[a, b], own, longest + slack, widest, twice):
        return
    for u in range(labels.shape[0]):
        if mate[u] > u and labels[u] != labels[a] and labels[u] != labels[b]:
            offer(dist, cache, side, u, a, b, arms[TWO_SPREAD, u] + own, twice)


@flat
def offer_row(dist: Array, labels: Array, cache: Cache, side: int, a: int, first: int, twice: float) -> None:
    """List the pairs ``(a, b)`` with all foreign arms ``b`` from ``first`` on."""
    arms, slack, n = cache.arms[side], cache.levels[SLACK], labels.shape[0]
    inv, length, shared, row, own = arms[SPREAD], arms[TWO_LENGTH], arms[TWO_SHARED], dist[a], labels[a]
    longest = cache.levels[LONGEST + side]
    here, wide = twice * shared[a], twice * (cache.levels[BROADEST + side] + inv[a])
    for i in range(first, n, _BLOCK):
        if i + _BLOCK <= n:
            hits = 0
            for b in range(i, i + _BLOCK):
                q, room = row[b] * SHORT - slack, twice * inv[b]
                x, y, z = q - length[a], q - length[b], q - longest
                hits += (labels[b] != own) & (
                    (x * abs(x) <= here + room)
                    | (y * abs(y) <= twice * (shared[b] + inv[a]))
                    | (z * abs(z) <= wide + room)
                )
            if hits == 0:
                continue
        for b in range(i, min(i + _BLOCK, n)):
            if labels[b] != own:
                _offer_pair(dist, labels, cache, side, a, b, twice)


@flat
def offer_edge(dist: Array, labels: Array, cache: Cache, side: int, m: int, twice: float) -> None:
    """List the edge of ``m`` against all pairs with which it shares no arm, by rows that may have a short one."""
    arms, near, n = cache.arms[side], cache.lengths[NEAR], labels.shape[0]
    inv, widest = arms[SPREAD], cache.levels[LARGEST + side]
    p, spread = arms[TWO_LENGTH, m] + cache.levels[SLACK], arms[TWO_SPREAD, m]
    for a in range(n):
        if labels[a] == labels[m] or not crosses(near[a], inv[a] + widest, p, spread, twice):
            continue
        for b in range(a + 1, n):
            if labels[b] != labels[m] and labels[b] != labels[a]:
                offer(dist, cache, side, m, a, b, spread + inv[a] + inv[b], twice)
