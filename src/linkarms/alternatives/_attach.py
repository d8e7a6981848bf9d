"""Attachments: why an arm alone, ``{u}``, is no cheap part of its cluster.

Against a pair ``(u, b)`` the part ``{u}`` costs ``max over v of cost(u,v; u,b)``, ``v`` the other arms of the cluster of ``u``. Where
clusters are well separated that is the bottleneck for nearly every arm, and hundreds of candidates are nearly tied. So one such
``v`` is kept for every pair, its attachment, with a lower bound of its cost. It stays one until ``u``, ``v`` or ``b`` is sampled.

Two or three arms do for all pairs of an arm, mostly, and some tens in clusters of hundreds: they are its slots, and an attachment is
the number of one. So a sample of ``v`` is a matter of the few arms that have it in a slot. The bounds have bounds themselves, one for
every block of arms ``b``, so that a search looks at few of them.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, flat, kernel, lean
from linkarms.alternatives._cache import (
    ABOUT,
    BLOCK,
    CLASS,
    FILLED,
    HOLDS,
    LEAST,
    LINK,
    MATE,
    MEMBERS,
    N_SLOTS,
    SLACK,
    SLOT_LENGTH,
    SLOTS,
    SPREAD,
    START,
    UP,
    Cache,
)
from linkarms.alternatives._gaussian import shared_cost
from linkarms.alternatives._near import ROOM, SHORT
from linkarms.alternatives._pair import has_closed_form
from linkarms.families._model import Model

__all__ = [
    "attachment",
    "fill_attachments",
    "move_attachments",
    "regroup",
    "set_attachment",
]


@flat
def attachment(cache: Cache, side: int, u: int, b: int) -> int:
    """The arm to which ``u`` is attached against ``b``."""
    return int(cache.trees[side, SLOTS + cache.attach[side, u, b], u])


@flat
def _set_slot(dist: Array, cache: Cache, side: int, u: int, slot: int, v: int) -> None:
    """Make ``v`` the arm of a slot of ``u``."""
    cache.trees[side, SLOTS + slot, u] = v
    cache.arms[side, SLOT_LENGTH + slot, u] = dist[u, v]


@lean
def _unused_slot(labels: Array, cache: Cache, side: int, u: int) -> int:
    """A slot to which ``u`` is attached against no arm of another cluster; -1 if there is none."""
    used = 0
    for b in range(labels.shape[0]):
        if labels[b] != labels[u]:
            used |= 1 << int(cache.attach[side, u, b])
    for slot in range(N_SLOTS):
        if used & (1 << slot) == 0:
            return slot
    return -1


@flat
def set_attachment(dist: Array, labels: Array, cache: Cache, side: int, u: int, b: int, v: int) -> bool:
    """Attach ``u`` to ``v`` against ``b``, unless there is no slot left."""
    slots, slot = cache.trees[side, SLOTS:], 0
    while slot < N_SLOTS and slots[slot, u] >= 0:
        if slots[slot, u] == v:
            cache.attach[side, u, b] = slot
            return True
        slot += 1
    if slot == N_SLOTS:
        slot = _unused_slot(labels, cache, side, u)
        if slot < 0:
            return False
    _set_slot(dist, cache, side, u, slot, v)
    cache.attach[side, u, b] = slot
    return True


@flat
def _weigh(model: Model, dist: Array, cache: Cache, side: int, u: int, b: int, of_b: bool) -> float:
    """Find what the attachment of ``u`` against ``b`` costs at least; where that is near psi and not hard, what it costs.

    ``cost(u,v; u,b)`` is at least ``(|q| - |p|)^2 / (2 (4 i_u + i_v + i_b))``, where the spreads say anything. Distances from ``b`` are
    taken from its row, if that is at hand (``of_b``), else from those of the others.
    """
    slot, inv = cache.attach[side, u, b], cache.arms[side, SPREAD]
    v, p, q = (
        cache.trees[side, SLOTS + slot, u],
        cache.arms[side, SLOT_LENGTH + slot, u],
        dist[b, u] if of_b else dist[u, b],
    )
    spread = 2.0 * (4.0 * inv[u] + inv[v] + inv[b])
    if has_closed_form(model):
        gap = max(q * SHORT - p, 0.0)
        bound = gap * gap / spread
        if bound <= cache.levels[ABOUT + side]:
            bound = shared_cost(p, q, dist[b, v] if of_b else dist[v, b], inv[u], inv[v], inv[b])
    else:
        level = cache.levels[side]
        gap = max(q * SHORT - p - cache.levels[SLACK], 0.0)
        bound = min(gap * gap / spread, level) if gap > 0.0 else 0.0  # (a spread may be zero)
        if cache.levels[HOLDS + side] > 0.0:
            bound = level if gap * gap > level * ROOM * spread else 0.0
    cache.shared[side, u, b] = bound
    return bound


@flat
def _lower(model: Model, dist: Array, cache: Cache, side: int, u: int, b: int, of_b: bool) -> None:
    """`_weigh`, and take it into account in the row."""
    least, floors = cache.arms[side, LEAST], cache.floors[side, u]
    value = _weigh(model, dist, cache, side, u, b, of_b)
    floors[b // BLOCK] = min(floors[b // BLOCK], value)
    least[u] = min(least[u], value)


@flat
def _weigh_row(model: Model, dist: Array, labels: Array, cache: Cache, side: int, u: int) -> None:
    """Weigh all attachments of ``u``."""
    n, own, floors, lowest = labels.shape[0], labels[u], cache.floors[side, u], math.inf
    for i in range(floors.shape[0]):
        floor = math.inf
        for b in range(i * BLOCK, min((i + 1) * BLOCK, n)):
            if labels[b] != own:
                floor = min(floor, _weigh(model, dist, cache, side, u, b, False))
        floors[i] = floor
        lowest = min(lowest, floor)
    cache.arms[side, LEAST, u] = lowest


@flat
def _lower_slot(model: Model, dist: Array, labels: Array, cache: Cache, side: int, u: int, slot: int) -> None:
    """Weigh the attachments of ``u`` by one of its slots, of which the arm is another now, or has moved."""
    start, members, attach = cache.nodes[START], cache.nodes[MEMBERS], cache.attach[side, u]
    first, end = start[labels[u]], start[labels[u] + 1]
    for j in range(labels.shape[0] - (end - first)):
        b = members[j if j < first else j + (end - first)]
        if attach[b] == slot:
            _lower(model, dist, cache, side, u, b, False)


@flat
def _fill_mates(cache: Cache, side: int, parent: Array) -> None:
    """For each arm another one of its cluster, a neighbour in the tree ``parent``; -1 for an arm alone."""
    mate = cache.trees[side, MATE]
    n = cache.arms.shape[2]
    for m in range(n):
        mate[m] = parent[m]
    for m in range(n):
        if parent[m] >= 0 and mate[parent[m]] < 0:
            mate[parent[m]] = m


@lean
def _attach_row(model: Model, dist: Array, labels: Array, cache: Cache, side: int, u: int) -> None:
    """Attach arm ``u`` against all foreign arms, to what it was attached to where that is still in its cluster."""
    mate = cache.trees[side, MATE, u]
    if mate < 0:
        cache.arms[side, LEAST, u] = math.inf
        return
    for slot in range(N_SLOTS):
        v = cache.trees[side, SLOTS + slot, u]
        if v < 0 and slot > 0:
            break
        _set_slot(dist, cache, side, u, slot, v if v >= 0 and labels[v] == labels[u] else mate)
    _weigh_row(model, dist, labels, cache, side, u)


@lean
def fill_attachments(model: Model, dist: Array, labels: Array, cache: Cache, side: int) -> None:
    """Attach all arms."""
    _fill_mates(cache, side, cache.trees[side, LINK])
    for u in range(labels.shape[0]):
        _attach_row(model, dist, labels, cache, side, u)


@lean
def move_attachments(model: Model, dist: Array, labels: Array, cache: Cache, side: int, m: int) -> None:
    """Weigh the attachments of, to and against arm ``m`` again, which has moved, and has another spread."""
    n, own, mate, slots = labels.shape[0], labels[m], cache.trees[side, MATE], cache.trees[side, SLOTS:]
    for a in range(n):
        if labels[a] != own and mate[a] >= 0:
            _lower(model, dist, cache, side, a, m, True)
    if mate[m] < 0:
        return
    for slot in range(N_SLOTS):
        if slots[slot, m] < 0:
            break
        _set_slot(dist, cache, side, m, slot, slots[slot, m])
    _weigh_row(model, dist, labels, cache, side, m)
    first, end = cache.nodes[START, own], cache.nodes[START, own + 1]
    for i in range(first, end):
        u = cache.nodes[MEMBERS, i]
        for slot in range(N_SLOTS):
            if slots[slot, u] < 0:
                break
            if slots[slot, u] == m:
                _set_slot(dist, cache, side, u, slot, m)
                if end - first > 2:
                    _lower_slot(model, dist, labels, cache, side, u, slot)
        if end - first == 2 and u != m:
            _weigh_row(model, dist, labels, cache, side, u)


@kernel
def regroup(
    model: Model,
    dist: Array,
    before: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    near: Array,
) -> None:
    """Bring attachments and nearest foreign arms up to date after the partition has changed from ``before``.

    Only arms that were together and are no longer are looked at, and those whose attachment has gone. ``near``, shape (M,), are other
    bounds of the nearest foreign distances, which are lowered too. Entries of arms that are together now stay until they are met.
    """
    n = labels.shape[0]
    filled = cache.flags[side, FILLED] == 1
    start, kind = cache.nodes[START], cache.trees[side, CLASS]
    if filled:
        _fill_mates(cache, side, cache.nodes[UP])
    bounds = cache.near[side]
    size, part = np.zeros(n_clusters, dtype=np.int64), np.empty(n, dtype=np.int64)
    left = np.empty(n, dtype=np.int64)
    # clusters that are as they were, or have only become part of another, are left alone
    first, touched = np.full(n_clusters, -1, dtype=np.int64), np.zeros(n_clusters, dtype=np.int64)
    for m in range(n):
        k = before[m]
        if first[k] < 0:
            first[k] = labels[m]
            touched[k] = 2
        elif first[k] != labels[m]:
            touched[k] = 1
        elif touched[k] == 2:
            touched[k] = 0
    for k in range(n_clusters):
        if touched[k] == 0:
            continue
        size[:] = 0
        arms = 0
        for m in range(n):
            if before[m] == k:
                part[arms] = m
                arms += 1
                size[labels[m]] += 1
        main = np.argmax(size)
        gone = 0
        for i in range(arms):
            y = part[i]
            if labels[y] == main:
                continue
            left[gone] = y
            gone += 1
            for j in range(arms):
                z = part[j]
                if labels[z] == labels[y]:
                    continue
                near[y], near[z] = min(near[y], dist[y, z]), min(near[z], dist[y, z])
                if filled:
                    bounds[kind[z], y] = min(bounds[kind[z], y], dist[y, z])
                    bounds[kind[y], z] = min(bounds[kind[y], z], dist[y, z])
        if not filled:
            continue
        for i in range(arms):
            u = part[i]
            if start[labels[u] + 1] - start[labels[u]] == 1:
                cache.arms[side, LEAST, u] = math.inf
            elif arms == 1:
                _attach_row(model, dist, labels, cache, side, u)
            elif size[main] < arms:
                _replace_strangers(model, dist, labels, cache, side, u)
                others, count = (left, gone) if labels[u] == main else (part, arms)
                for j in range(count):
                    if labels[others[j]] != labels[u]:
                        _lower(model, dist, cache, side, u, others[j], labels[u] == main)


@flat
def _replace_strangers(model: Model, dist: Array, labels: Array, cache: Cache, side: int, u: int) -> None:
    """Put an arm of its cluster into each slot of ``u`` whose arm is no longer with it."""
    for slot in range(N_SLOTS):
        v = cache.trees[side, SLOTS + slot, u]
        if v < 0:
            break
        if labels[v] != labels[u]:
            _set_slot(dist, cache, side, u, slot, cache.trees[side, MATE, u])
            _lower_slot(model, dist, labels, cache, side, u, slot)
