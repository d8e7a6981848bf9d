"""Other edges for the trees: where one no longer rules a pair out, one that does, and rules out all other pairs as well."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, lean
from linkarms.alternatives._cache import (
    ENTER,
    LEAVE,
    LINK,
    MEMBERS,
    REST,
    SKIP,
    SLACK,
    SPREAD,
    START,
    STUCK,
    Cache,
)
from linkarms.alternatives._near import crosses, first_crossing
from linkarms.alternatives._trees import below, hang, order_tree, set_alternative

__all__ = ["replace_alternative", "replace_edge"]

#: How many pairs a new edge is chosen by.
_PAIRS = 5
#: How often an edge for which none was found is passed over before another one is looked for,
_SKIPPED = 6
#: and once more for so many edges of its cut: a search costs as much as the cut has edges.
_EDGES_A_TURN = 2_000


@flat
def _note_pair(dist: Array, cache: Cache, side: int, i: int, a: int, b: int) -> None:
    """Make ``(a, b)`` one of the pairs that a new edge is chosen by; the scratch space of pair problems holds them."""
    inv = cache.arms[side, SPREAD]
    cache.box[i, 0], cache.box[i, 1] = dist[a, b], inv[a] + inv[b]
    cache.which[i, 0], cache.which[i, 1] = a, b


@flat
def _is_of_pair(cache: Cache, pairs: int, x: int, y: int) -> bool:
    for i in range(pairs):
        a, b = cache.which[i, 0], cache.which[i, 1]
        if x in (a, b) or y in (a, b):
            return True
    return False


@lean
def _best_edge(
    dist: Array, cache: Cache, side: int, k: int, x: int, u: int, pairs: int, edge: Array
) -> float:
    """The edge between the arms below ``x`` and those not below ``u`` whose least cost against the pairs is largest.

    Twice the cost comes back, by the Gaussian formula of four arms at the spreads; 0 where no edge costs anything.
    """
    trees, members, inv = cache.trees[side], cache.nodes[MEMBERS], cache.arms[side, SPREAD]
    first, end, slack = cache.nodes[START, k], cache.nodes[START, k + 1], cache.levels[SLACK]
    outside, rest = 0, trees[REST]
    for i in range(first, end):
        if not below(trees, u, members[i]):
            rest[outside] = members[i]
            outside += 1
    most = 0.0
    for i in range(first, end):
        z = members[i]
        if not below(trees, x, z):
            continue
        for j in range(outside):
            w = rest[j]
            p, spread = dist[z, w] + slack, inv[z] + inv[w]
            better = True
            for y in range(pairs):
                gap = cache.box[y, 0] - p
                if gap * abs(gap) <= most * (spread + cache.box[y, 1]):
                    better = False
                    break
            if better and not _is_of_pair(cache, pairs, z, w):
                most, edge[0], edge[1] = math.inf, z, w
                for y in range(pairs):
                    gap = cache.box[y, 0] - p
                    most = min(most, gap * abs(gap) / (spread + cache.box[y, 1]))
    return most


@lean
def replace_edge(
    dist: Array,
    labels: Array,
    cache: Cache,
    side: int,
    k: int,
    x: int,
    a: int,
    b: int,
    twice: float,
    edge: Array,
) -> bool:
    """Replace the edge of ``x`` to its parent, which is too cheap against ``(a, b)``, by one that is not, nor against any other pair.

    Where there is none the edge is `STUCK`, and passed over for some searches. ``edge``, shape (2,), is scratch.
    """
    trees = cache.trees[side]
    if trees[STUCK, x] == 1:
        return False
    if trees[SKIP, x] > 0:
        trees[SKIP, x] -= 1
        return False
    _note_pair(dist, cache, side, 0, a, b)
    pairs = 1
    while _best_edge(dist, cache, side, k, x, x, pairs, edge) > twice:
        z, w = edge[0], edge[1]
        if not first_crossing(dist, labels, cache, side, z, w, twice, edge):
            trees[LINK, x] = -1
            hang(dist, cache, side, z, w)
            order_tree(dist, labels, cache, side, k)
            return True
        if pairs == _PAIRS:
            break
        _note_pair(dist, cache, side, pairs, edge[0], edge[1])
        pairs += 1
    inside = trees[LEAVE, x] - trees[ENTER, x]
    cut = inside * (cache.nodes[START, k + 1] - cache.nodes[START, k] - inside)
    trees[STUCK, x], trees[SKIP, x] = 1, _SKIPPED + cut // _EDGES_A_TURN
    return False


@lean
def replace_alternative(
    dist: Array, labels: Array, cache: Cache, side: int, k: int, x: int, b: int, twice: float, edge: Array
) -> bool:
    """Replace the alternative edge of ``x``, which is too cheap against ``(u, b)``, ``u`` its parent, by one that no pair of ``u`` is."""
    trees, inv, slack = cache.trees[side], cache.arms[side, SPREAD], cache.levels[SLACK]
    u = trees[LINK, x]
    _note_pair(dist, cache, side, 0, u, b)
    pairs = 1
    while _best_edge(dist, cache, side, k, x, u, pairs, edge) > twice:
        z, w = edge[0], edge[1]
        p, spread = dist[z, w] + slack, inv[z] + inv[w]
        fails = -1
        for y in range(labels.shape[0]):
            if labels[y] != k and crosses(dist[u, y], inv[u] + inv[y], p, spread, twice):
                fails = y
                break
        if fails < 0:
            set_alternative(cache, side, x, z, w)
            return True
        if pairs == _PAIRS:
            break
        _note_pair(dist, cache, side, pairs, u, fails)
        pairs += 1
    return False
