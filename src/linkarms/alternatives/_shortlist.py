"""Clusters of one and two arms: a list of the candidates that may be cheap.

A cluster of two has one edge, so that every candidate is one cost. All that cost no more than a level are listed; psi is the least of the
list as long as it is below that level. A sample of an arm ``m`` leaves every candidate without ``m`` as it was. Those with ``m`` are
the pairs ``(m, b)`` against any edge, and any pair against the edge of ``m``: both are ruled out together by the longest and the widest
of the others, but for a few.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat
from linkarms.alternatives._answer import take_smaller
from linkarms.alternatives._cache import (
    BROADEST,
    COUNTS_SIDE,
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
    MEMBERS,
    N_LISTED,
    NEAR,
    SPREAD,
    START,
    TWO_LENGTH,
    TWO_SHARED,
    Cache,
)
from linkarms.alternatives._near import ROOM, TIES
from linkarms.alternatives._offer import measure_two, offer, offer_edge, offer_row, raise_tops, twice_listed
from linkarms.alternatives._pair import has_closed_form
from linkarms.alternatives._parts import oriented_cost
from linkarms.families._model import Model

__all__ = ["fill_list", "least_of_list", "move_list", "reaches"]

#: How far above psi the level of a new list is; with a wider one more candidates are listed, with a narrower one it is made more often.
_WIDE = 1.15
#: The same for a list that is used once.
_NARROW = 1.0 + 1e-6
#: Costs are found up to this times the least: psi mostly grows.
_AHEAD = 1.02


@flat
def _guess(dist: Array, labels: Array, cache: Cache, side: int) -> None:
    """List the arm that looks cheapest to move half-way to a foreign one, and that one."""
    arms, near, n = cache.arms[side], cache.lengths[NEAR], labels.shape[0]
    inv, length, shared = arms[SPREAD], arms[TWO_LENGTH], arms[TWO_SHARED]
    u, least = -1, math.inf
    for m in range(n):
        gap = near[m] - length[m]
        if gap * gap < least * shared[m]:
            u, least = m, gap * gap / shared[m]
    if u < 0:
        return
    b, least = -1, math.inf
    for m in range(n):
        gap, spread = dist[u, m] - length[u], shared[u] + inv[m]
        if labels[m] != labels[u] and gap * gap < least * spread:
            b, least = m, gap * gap / spread
    if b >= 0:
        offer(dist, cache, side, u, u, b, shared[u] + inv[b], math.inf)


@flat
def fill_list(
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
    """List all candidates that may cost as little as psi, or a little more; there is no list where they are too many.

    ``best`` is an upper bound of psi, the value of ``found``; returned is a lower one if any was found, which is psi if there is a list.
    """
    n, mate = labels.shape[0], cache.trees[side, MATE]
    start, members = cache.nodes[START], cache.nodes[MEMBERS]
    for k in range(n_clusters):
        u, v = members[start[k]], members[start[k + 1] - 1]
        mate[u], mate[v] = (v, u) if u != v else (-1, -1)
    for top in (LONGEST, BROADEST, LARGEST):
        cache.levels[top + side] = 0.0
    for u in range(n):
        measure_two(dist, cache, side, u)
        raise_tops(cache, side, u)
    # a list for any weights serves once
    wide = _WIDE if side == COUNTS_SIDE else _NARROW
    _list_up_to(cache, side, wide * best)
    cache.flags[side, LISTED] = 0
    _guess(dist, labels, cache, side)
    best = least_of_list(model, theta, dist, labels, cache, side, 0, best, found)
    _list_up_to(cache, side, wide * best)
    cache.flags[side, LISTED] = 0
    for a in range(n):
        first = cache.flags[side, LISTED]
        offer_row(dist, labels, cache, side, a, a + 1, twice_listed(cache, side))
        if cache.flags[side, LISTED] > cache.worth.shape[1]:
            cache.flags[side, LISTED] = -1
            return best
        if has_closed_form(model):  # with a lower level fewer are listed
            best = least_of_list(model, theta, dist, labels, cache, side, first, best, found)
            _list_up_to(cache, side, wide * best)
    if not has_closed_form(model):
        best = least_of_list(model, theta, dist, labels, cache, side, 0, best, found)
    if not best * TIES <= cache.levels[LISTED_TO + side]:
        cache.flags[side, LISTED] = -1
    return best


@flat
def _list_up_to(cache: Cache, side: int, level: float) -> None:
    """Set the level of the list, if the spreads say anything of it; else that at which they do."""
    if cache.levels[HOLDS + side] > 0.0:
        level = cache.levels[HOLDS + side]
    cache.levels[LISTED_TO + side] = min(level, cache.levels[side])


@flat
def move_list(dist: Array, labels: Array, cache: Cache, side: int, m: int) -> bool:
    """List the candidates of arm ``m``, which has moved and has another spread, anew; False if there are too many."""
    n, arms, v = labels.shape[0], cache.arms[side], cache.trees[side, MATE, m]
    listed, worth = cache.listed[side], cache.worth[side]
    inv, twice = arms[SPREAD], twice_listed(cache, side)
    count, kept = cache.flags[side, LISTED], 0
    for i in range(count):
        if (
            listed[LIST_U, i] == m
            or listed[LIST_V, i] == m
            or listed[LIST_A, i] == m
            or listed[LIST_B, i] == m
        ):
            continue
        if kept < i:
            worth[kept] = worth[i]
            for j in range(N_LISTED):
                listed[j, kept] = listed[j, i]
        kept += 1
    cache.flags[side, LISTED] = kept
    measure_two(dist, cache, side, m)
    if v >= 0:
        measure_two(dist, cache, side, v)
    raise_tops(cache, side, m)
    offer_row(dist, labels, cache, side, m, 0, twice)
    if v >= 0:
        for b in range(n):
            if labels[b] != labels[m]:
                offer(dist, cache, side, v, v, b, arms[TWO_SHARED, v] + inv[b], twice)
        offer_edge(dist, labels, cache, side, m, twice)
    if cache.flags[side, LISTED] > worth.shape[0]:
        cache.flags[side, LISTED] = -1
        return False
    return True


@flat
def least_of_list(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    cache: Cache,
    side: int,
    first: int,
    best: float,
    found: Array,
) -> float:
    """The least of ``best``, the value of ``found``, and the costs in the list from ``first`` on; ``found`` becomes its candidate.

    Of equal ones that is the first. It is psi if `reaches` says that the list goes as far.
    """
    listed, worth, count = cache.listed[side], cache.worth[side], cache.flags[side, LISTED]
    top = cache.levels[LISTED_TO + side]
    for i in range(first, count):
        if has_closed_form(model) and listed[EXACT, i] == 0:
            _find_worth(model, theta, dist, cache, side, i, math.inf)
        if listed[EXACT, i] == 1 and worth[i] <= best:
            best = _take(labels, cache, side, i, best, found)
    while not has_closed_form(model):
        next_one = -1
        for i in range(first, count):
            if (
                listed[EXACT, i] == 0
                and worth[i] <= min(best * ROOM, top)
                and (next_one < 0 or worth[i] < worth[next_one])
            ):
                next_one = i
        if next_one < 0:
            break
        _find_worth(model, theta, dist, cache, side, next_one, min(best * _AHEAD, top))
        if listed[EXACT, next_one] == 1:
            best = _take(labels, cache, side, next_one, best, found)
    return best


@flat
def reaches(cache: Cache, side: int, best: float) -> bool:
    """Whether all candidates that cost no more than ``best`` are in the list, and not many more."""
    return bool(best * TIES <= cache.levels[LISTED_TO + side] <= 2.0 * best)


@flat
def _find_worth(
    model: Model, theta: Array, dist: Array, cache: Cache, side: int, i: int, level: float
) -> None:
    """Find the cost of a candidate, or that it is above ``level``."""
    listed = cache.listed[side]
    u, v, a, b = listed[LIST_U, i], listed[LIST_V, i], listed[LIST_A, i], listed[LIST_B, i]
    value = oriented_cost(model, theta, dist, cache, side, u, v, a, b, level)
    # no number, where a user's function failed
    cache.worth[side, i] = math.inf if math.isnan(value) else value
    listed[EXACT, i] = not value > level


@flat
def _take(labels: Array, cache: Cache, side: int, i: int, best: float, found: Array) -> float:
    """Make a candidate of the list the answer if it is cheaper, or as cheap and first."""
    listed, value = cache.listed[side], cache.worth[side, i]
    found[5], found[6] = listed[LIST_U, i], listed[LIST_V, i]
    if take_smaller(value, labels[found[5]], listed[LIST_A, i], listed[LIST_B, i], best, found):
        return float(value)
    return best
