"""Ruling out candidates with an arm ``u`` in the cluster: the part ``{u}`` alone, by attachments (``_attach.py``)."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined
from linkarms.alternatives._answer import TIES, take_smaller
from linkarms.alternatives._attach import attachment, set_attachment
from linkarms.alternatives._cache import COSTS, LEAST, MATE, MEMBERS, SPREAD, START, STUCK, WEIGHT, Cache
from linkarms.alternatives._exchange import exchange
from linkarms.alternatives._near import BLOCK, ROOM
from linkarms.alternatives._pair import call_cost, has_closed_form
from linkarms.families._model import Model

__all__ = ["attachment_cost", "scan_attachments"]

#: Costs are found up to this times the level, and attachments that cost so much are good enough: psi mostly grows.
_AHEAD = 1.01
#: How many of the arms with the cheapest attachments a search begins with.
_TURNS = 8


@flat
def attachment_cost(
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
    most = attachment_cost(model, theta, dist, cache, side, u, v, b, level)
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
            value = attachment_cost(model, theta, dist, cache, side, u, x, b, level)
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
        x, y, two = min(u, b), max(u, b), cache.nodes[START, k + 1] - cache.nodes[START, k] == 2
        same = found[2] == x and found[3] == y and found[4] == k
        if same and two and row[b] == best:
            continue
        value = _find_attachment(model, theta, dist, labels, cache, side, u, b, best)
        if same or not value <= best * ROOM:
            continue
        if two:  # it is the only edge
            v = attachment(cache, side, u, b)
            found[5], found[6] = min(u, v), max(u, v)
        else:
            level = min(value, best) * TIES
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
