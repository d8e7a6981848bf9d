"""Ruling candidates out, and evaluating those that are not.

A candidate ``(k, a, b)`` with neither arm in the cluster is ruled out by the tree of the cluster; one with an arm ``u`` in it by the
edges of the tree that are not at ``u``, the attachment of ``u``, and the alternative edges of its children (``_trees.py``). Of the
trees' edges only those that are neither shorter nor narrower than another one need be looked at: the front.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined, lean
from linkarms.alternatives._attach import attachment, set_attachment
from linkarms.alternatives._cache import (
    ALT_U,
    ALT_V,
    COSTS,
    EDGE,
    FRONT,
    FRONT_SPREAD,
    LEAST,
    LINK,
    MATE,
    MEMBERS,
    N_LAST,
    NEAR,
    SLACK,
    SPREAD,
    START,
    STUCK,
    WEIGHT,
    Cache,
)
from linkarms.alternatives._exchange import exchange
from linkarms.alternatives._near import (
    BLOCK,
    ROOM,
    SHORT,
    block_crosses,
    crosses,
    fill_near_row,
    row_crosses,
    twice_level,
)
from linkarms.alternatives._pair import call_cost, has_closed_form
from linkarms.alternatives._parts import bottleneck
from linkarms.alternatives._trees import below, replace_alternative, replace_edge
from linkarms.families._model import Model

__all__ = [
    "first_finite",
    "remember",
    "scan_alternatives",
    "scan_attachments",
    "scan_trees",
    "take_smaller",
]

#: Costs are found up to this times the level, and attachments that cost so much are good enough: psi mostly grows.
_AHEAD = 1.05
#: How many of the arms with the cheapest attachments a search begins with.
_TURNS = 8


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
    level: float,
    best: float,
    found: Array,
) -> float:
    """The smaller of ``best`` and ``V_k(a,b)``, which is known to be at most ``level`` where that is below ``best``."""
    a, b = min(a, b), max(a, b)
    if found[2] == a and found[3] == b and found[4] == k:
        return best
    level = min(level, best)
    value = bottleneck(model, theta, dist, cache, side, k, a, b, level, found[5:])
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
                    best = consider(model, theta, dist, cache, side, k, a, b, math.inf, math.inf, found)
                    if best < math.inf:
                        return best
    return math.inf


@flat
def _attachment_cost(
    model: Model, theta: Array, dist: Array, cache: Cache, side: int, u: int, v: int, b: int, level: float
) -> float:
    """``cost(u,v; u,b)``, or a lower bound of it above ``level``."""
    cache.flags[side, COSTS] += 1
    arms = cache.arms[side]
    return call_cost(
        model, theta, dist, arms[WEIGHT], arms[SPREAD], u, v, u, b, level, cache.box, cache.which, cache.calls
    )


@flat
def _find_attachment(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    cache: Cache,
    side: int,
    u: int,
    b: int,
    best: float,
) -> float:
    """What the attachment of ``u`` against ``b`` costs; if that is no more than ``best``, it is attached to the arm that costs most.

    Or to any that costs a good deal more than ``best``.
    """
    members, own, inv = cache.nodes[MEMBERS], labels[u], cache.arms[side, SPREAD]
    first, end = cache.nodes[START, own], cache.nodes[START, own + 1]
    v = attachment(cache, side, u, b)
    level = best * _AHEAD
    most = _attachment_cost(model, theta, dist, cache, side, u, v, b, level)
    if most <= best * ROOM and end - first > 2:
        # first the one that was found last, and the one that looks dearest
        mates = cache.trees[side, MATE]
        guess, bound = v, -1.0
        for i in range(first - 2, end):
            if i == first - 2:
                x = mates[u]
            elif i == first - 1:
                for j in range(first, end):
                    y = members[j]
                    gap = dist[u, b] - dist[u, y]
                    value = gap * abs(gap) / (4.0 * inv[u] + inv[y] + inv[b])
                    if y != u and value > bound:
                        guess, bound = y, value
                x = guess
            else:
                x = members[i]
            if x in (u, v):
                continue
            if has_closed_form(model):  # if u stayed where it is, it would cost no less
                gap = dist[u, b] - dist[u, x]
                if gap * abs(gap) < 1.999999 * most * (inv[x] + inv[b]):
                    continue
            value = _attachment_cost(model, theta, dist, cache, side, u, x, b, level)
            if value > most:
                most, v = value, x
                if most > level:
                    break
        mates[u] = v
        set_attachment(cache, side, u, b, v)
    if math.isnan(most):  # no number, where a user's function failed
        most = math.inf
    cache.shared[side, u, b] = most
    return most


@flat
def _least_of_row(row: Array) -> float:
    n = row.shape[0]
    # four at a time, which do not wait for each other
    p = q = r = s = math.inf
    for b in range(0, n - 3, 4):
        p, q, r, s = min(p, row[b]), min(q, row[b + 1]), min(r, row[b + 2]), min(s, row[b + 3])
    for b in range(n - n % 4, n):
        p = min(p, row[b])
    return min(min(p, q), min(r, s))


@flat
def _scan_row(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    cache: Cache,
    side: int,
    u: int,
    best: float,
    found: Array,
) -> float:
    """Find better attachments of ``u`` where they cost no more than ``best``, and evaluate the candidates that have none."""
    row, k, n = cache.shared[side, u], labels[u], labels.shape[0]
    skip = 0
    for b in range(n):
        if b % BLOCK == 0 and b + BLOCK <= n:
            hits = 0
            for j in range(b, b + BLOCK):
                hits += row[j] <= best * ROOM
            skip = b + BLOCK if hits == 0 else b
        if b < skip or not row[b] <= best * ROOM:
            continue
        if labels[b] == k:
            row[b] = math.inf  # they are together now
            continue
        value = _find_attachment(model, theta, dist, labels, cache, side, u, b, best)
        x, y = min(u, b), max(u, b)
        if not value <= best * ROOM or (found[2] == x and found[3] == y and found[4] == k):
            continue
        if cache.nodes[START, k + 1] - cache.nodes[START, k] == 2:  # it is the only edge
            v = attachment(cache, side, u, b)
            found[5], found[6] = min(u, v), max(u, v)
        else:
            level = min(value * (1.0 + 1e-9), best)  # a cost just at the level may be taken for one above it
            value = exchange(model, theta, dist, labels, cache, side, k, x, y, level, found[5:])
        if take_smaller(value, k, x, y, best, found):
            best = value
    cache.arms[side, LEAST, u] = _least_of_row(row)
    return best


@inlined
def scan_attachments(
    model: Model, theta: Array, dist: Array, labels: Array, cache: Cache, side: int, best: float, found: Array
) -> float:
    """The pairs of all arms against their attachments; those with the cheapest first, so that fewer remain below the best value."""
    least, done, n = cache.arms[side, LEAST], cache.trees[side, STUCK], labels.shape[0]
    for m in range(n):
        done[m] = 0
    turn, u = 0, -1
    while True:
        if turn < _TURNS:
            turn, u = turn + 1, -1
            for m in range(n):
                if least[m] <= best * ROOM and done[m] == 0 and (u < 0 or least[m] < least[u]):
                    u = m
            if u < 0:
                break
            done[u] = 1
        else:  # the others in any order
            if turn == _TURNS:
                turn, u = turn + 1, -1
            u += 1
            while u < n and (done[u] == 1 or not least[u] <= best * ROOM):
                u += 1
            if u == n:
                break
        best = _scan_row(model, theta, dist, labels, cache, side, u, best, found)
    return best


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
        p, s = arms[EDGE, x] + cache.levels[SLACK], inv[x] + inv[up]
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
def _any_row_crosses(cache: Cache, side: int, a: int, size: int, twice: float) -> bool:
    length, spread = cache.arms[side, FRONT], cache.arms[side, FRONT_SPREAD]
    for i in range(size):  # noqa: SIM110
        if row_crosses(cache, side, a, length[i], spread[i], twice):
            return True
    return False


@flat
def _any_block_crosses(cache: Cache, side: int, first: int, size: int, twice: float) -> bool:
    length, spread = cache.arms[side, FRONT], cache.arms[side, FRONT_SPREAD]
    for i in range(size):  # noqa: SIM110
        if block_crosses(cache, side, first, length[i], spread[i], twice):
            return True
    return False


@flat
def _pairs_cross(
    dist: Array, labels: Array, cache: Cache, side: int, a: int, size: int, twice: float
) -> bool:
    """Whether a pair ``(a, b)``, ``b > a``, may cost as little as the level against an edge of the front."""
    length, spread, inv = cache.arms[side, FRONT], cache.arms[side, FRONT_SPREAD], cache.arms[side, SPREAD]
    row, own = dist[a], labels[a]
    for i in range(size):
        p, room = length[i], twice * (spread[i] + inv[a])
        hits = 0
        for b in range(a + 1, row.shape[0]):
            gap = row[b] * SHORT - p
            hits += (gap * abs(gap) <= room + twice * inv[b]) & (labels[b] != own)
        if hits > 0:
            return True
    return False


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
            best = consider(model, theta, dist, cache, side, k, a, b, best, best, found)
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
    length, spread = cache.arms[side, FRONT], cache.arms[side, FRONT_SPREAD]
    for m in range(n + 1):  # the last says that the trees were changed
        cache.trees[side, STUCK, m] = 0
    size = _fill_front(dist, cache, side)
    for a in range(n - 1):
        twice = twice_level(best, cache, side)
        if a % BLOCK == 0 and a + BLOCK <= n and not _any_block_crosses(cache, side, a, size, twice):
            skip = a + BLOCK
        elif a % BLOCK == 0:
            skip = a
        if a < skip or not _any_row_crosses(cache, side, a, size, twice):
            continue
        fill_near_row(dist, labels, cache, side, a)
        if not _any_row_crosses(cache, side, a, size, twice) or not _pairs_cross(
            dist, labels, cache, side, a, size, twice
        ):
            continue
        for b in range(a + 1, n):
            if labels[b] == labels[a]:
                continue
            for i in range(size):
                if crosses(dist[a, b], inv[a] + inv[b], length[i], spread[i], twice):
                    best = _scan_pair(model, theta, dist, labels, n_clusters, cache, side, a, b, best, found)
                    twice = twice_level(best, cache, side)
                    if cache.trees[side, STUCK, n] == 1:
                        size = _fill_front(dist, cache, side)
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
    if not _attachment_cost(model, theta, dist, cache, side, u, x, b, best) > best * ROOM:
        return False
    v = attachment(cache, side, u, b)
    if cache.shared[side, u, b] > best * ROOM and not below(trees, u, v):
        return True
    return _attachment_cost(model, theta, dist, cache, side, u, trees[LINK, u], b, best) > best * ROOM


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
    widest = cache.near[side, classes, classes]
    for x in range(n):
        u = trees[LINK, x]
        if u < 0 or trees[LINK, u] < 0:
            continue
        k = labels[x]
        twice = twice_level(best, cache, side)
        z, w = trees[ALT_U, x], trees[ALT_V, x]
        p, spread = dist[z, w] + slack, inv[z] + inv[w]
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
            best = consider(model, theta, dist, cache, side, k, u, b, best, best, found)
            twice = twice_level(best, cache, side)
    return best
