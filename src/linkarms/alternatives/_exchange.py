"""One candidate far from its bound: the bottleneck of a cluster by exchanging edges of its tree."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, lean
from linkarms.alternatives._cache import LINK, MEMBERS, PART, SAVED, START, Cache
from linkarms.alternatives._near import TIES
from linkarms.alternatives._pair import has_closed_form
from linkarms.alternatives._parts import bottleneck, is_dear, join_parts, oriented_cost, precedes
from linkarms.alternatives._trees import below, hang, measure_edges, order_tree
from linkarms.families._model import Model

__all__ = ["exchange"]

#: How many edges are exchanged at most.
_SWAPS = 20


@flat
def _comes_later(u: int, v: int, x: int, y: int) -> bool:
    return precedes(min(x, y), max(x, y), min(u, v), max(u, v))


@lean
def exchange(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    cache: Cache,
    side: int,
    k: int,
    a: int,
    b: int,
    best: float,
    keep: bool,
    edge: Array,
) -> float:
    """`bottleneck` up to ``best``, which may be far above it.

    The cheapest edge of the tree is exchanged for the dearest across the same cut, until it is that itself. The tree stays as it has
    become if it is to be kept (``keep``), but for edges with an arm of the pair, and those that follow.
    """
    first, end, trees = cache.nodes[START, k], cache.nodes[START, k + 1], cache.trees[side]
    level, value, saved = best, math.inf, False
    if end - first == 2:
        return bottleneck(model, theta, dist, cache, side, k, a, b, best, end - first, edge)
    for _ in range(_SWAPS):
        x, least, second = -1, math.inf, math.inf
        for i in range(first, end):
            m = cache.nodes[MEMBERS, i]
            up = trees[LINK, m]
            if up < 0 or (x >= 0 and is_dear(dist, cache, side, m, up, a, b, min(second, best))):
                continue
            cost = oriented_cost(model, theta, dist, cache, side, m, up, a, b, best)
            # of equal ones the last by index counts as the cheapest, as in `join_parts`
            if x < 0 or cost < least or (cost == least and _comes_later(m, up, x, trees[LINK, x])):
                x, least, second = m, cost, least
            else:
                second = min(second, cost)
        if not least <= best:
            value = math.inf
            break
        up = trees[LINK, x]
        for i in range(first, end):
            m = cache.nodes[MEMBERS, i]
            trees[PART, m] = 1 if below(trees, x, m) else 0
        value = join_parts(model, theta, dist, cache, side, k, 2, a, b, best, edge)
        # where all other edges of the tree cost more, the dearest of the cut is the cheapest of the next tree, and the answer
        done = second > min(value, best) * TIES
        if not value <= best and not has_closed_form(model):  # and no edge is named
            if not done:
                value = bottleneck(model, theta, dist, cache, side, k, a, b, level, end - first, edge)
            break
        z, w = edge[0], edge[1]
        shares = z in (a, b) or w in (a, b) or x in (a, b) or up in (a, b)
        if (z == min(x, up) and w == max(x, up)) or (done and (saved or shares or not keep)):
            break
        level = min(level, value * TIES)
        if not saved and (shares or not keep):
            # edges with an arm of the pair are good for it alone
            saved = True
            for i in range(first, end):
                m = cache.nodes[MEMBERS, i]
                trees[SAVED, m] = trees[LINK, m]
        trees[LINK, x] = -1
        hang(dist, cache, side, w if trees[PART, w] == 1 else z, z if trees[PART, w] == 1 else w)
        order_tree(dist, labels, cache, side, k)
        if done:
            break
    else:
        value = bottleneck(model, theta, dist, cache, side, k, a, b, level, end - first, edge)
    if saved:
        for i in range(first, end):
            m = cache.nodes[MEMBERS, i]
            trees[LINK, m] = trees[SAVED, m]
        measure_edges(dist, cache, side, k)
        order_tree(dist, labels, cache, side, k)
    return value
