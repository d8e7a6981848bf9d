"""Ruling out candidates with an arm ``u`` in the cluster: the part ``{u}`` alone, by attachments (``_attach.py``)."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined
from linkarms.alternatives._answer import take_smaller
from linkarms.alternatives._attach import attachment, set_attachment
from linkarms.alternatives._cache import (
    BLOCK,
    COSTS,
    LEAST,
    MATE,
    MEMBERS,
    SCANNED,
    SPREAD,
    START,
    WEIGHT,
    Cache,
)
from linkarms.alternatives._exchange import exchange
from linkarms.alternatives._near import ROOM, TIES
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

    Or to any that costs a good deal more than ``best``. Where it cannot be attached to that arm, the cost is still the answer, but it
    is not kept.
    """
    members, own, inv = cache.nodes[MEMBERS], labels[u], cache.arms[side, SPREAD]
    first, end = cache.nodes[START, own], cache.nodes[START, own + 1]
    v = attachment(cache, side, u, b)
    level = best * _AHEAD
    most = kept = attachment_cost(model, theta, dist, cache, side, u, v, b, level)
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
        if set_attachment(dist, labels, cache, side, u, b, v):
            kept = most
    if math.isnan(most):  # no number, where a user's function failed
        most = kept = math.inf
    cache.shared[side, u, b] = kept
    return most


@flat
def _scan_entry(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    cache: Cache,
    side: int,
    u: int,
    b: int,
    best: float,
    found: Array,
) -> float:
    """Find a better attachment of ``u`` against ``b``; where there is none, evaluate the candidate."""
    k = labels[u]
    x, y, two = min(u, b), max(u, b), cache.nodes[START, k + 1] - cache.nodes[START, k] == 2
    same = found[2] == x and found[3] == y and found[4] == k
    value = _find_attachment(model, theta, dist, labels, cache, side, u, b, best)
    if same or not value <= best * ROOM:
        return best
    if two:  # it is the only edge
        v = attachment(cache, side, u, b)
        found[5], found[6] = min(u, v), max(u, v)
    else:
        level = min(value, best) * TIES
        value = exchange(model, theta, dist, labels, cache, side, k, x, y, level, True, found[5:])
    return value if take_smaller(value, k, x, y, best, found) else best


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
    """The attachments of ``u`` that cost no more than ``best``, in the blocks that may have any."""
    row, floors, n, least = cache.shared[side, u], cache.floors[side, u], labels.shape[0], math.inf
    for i in range(floors.shape[0]):
        if floors[i] <= best * ROOM:
            floor = math.inf
            for b in range(i * BLOCK, min((i + 1) * BLOCK, n)):
                if row[b] <= best * ROOM:
                    if labels[b] == labels[u]:
                        row[b] = math.inf  # they are together now
                    else:
                        best = _scan_entry(model, theta, dist, labels, cache, side, u, b, best, found)
                floor = min(floor, row[b])
            floors[i] = floor
        least = min(least, floors[i])
    cache.arms[side, LEAST, u] = least
    return best


@inlined
def scan_attachments(
    model: Model, theta: Array, dist: Array, labels: Array, cache: Cache, side: int, best: float, found: Array
) -> float:
    """The pairs of all arms against their attachments; those with the cheapest first, so that fewer remain below the best value."""
    least, todo = cache.arms[side, LEAST], cache.trees[side, SCANNED]
    left, turn = 0, 0
    for m in range(labels.shape[0]):
        if least[m] <= best * ROOM:
            todo[left] = m
            left += 1
    while left > 0:
        i, turn = left - 1, turn + 1
        if turn <= _TURNS:  # the others in any order
            for j in range(left):
                if least[todo[j]] < least[todo[i]]:
                    i = j
        u = todo[i]
        left -= 1
        todo[i] = todo[left]
        if least[u] <= best * ROOM:
            best = _scan_row(model, theta, dist, labels, cache, side, u, best, found)
    return best
