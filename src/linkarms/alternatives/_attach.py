"""Attachments: why an arm alone, ``{u}``, is no cheap part of its cluster.

Against a pair ``(u, b)`` the part ``{u}`` costs ``max over v of cost(u,v; u,b)``, ``v`` the other arms of the cluster of ``u``. Where
clusters are well separated that is the bottleneck for nearly every arm, and hundreds of candidates are nearly tied. So one such
``v`` is kept for every pair, its attachment, with a lower bound of its cost. It stays one until ``u``, ``v`` or ``b`` is sampled.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, flat, kernel, lean
from linkarms.alternatives._cache import (
    ABOUT,
    CLASS,
    FILLED,
    HOLDS,
    LEAST,
    LINK,
    MATE,
    MEMBERS,
    REFERRED,
    SLACK,
    SPREAD,
    START,
    UP,
    Cache,
)
from linkarms.alternatives._gaussian import isotropic_cost
from linkarms.alternatives._near import ROOM, SHORT
from linkarms.alternatives._pair import has_closed_form
from linkarms.families._model import Model

__all__ = [
    "attach_row",
    "attachment",
    "fill_attachments",
    "move_attachments",
    "note_answer",
    "regroup",
    "set_attachment",
]


@flat
def attachment(cache: Cache, side: int, u: int, b: int) -> int:
    """The arm to which ``u`` is attached against ``b``, -1 for none."""
    return int(cache.attach[side, u, b]) - 1


@flat
def set_attachment(cache: Cache, side: int, u: int, b: int, v: int) -> None:
    """Attach ``u`` to ``v`` against ``b``."""
    referred, old = cache.trees[side, REFERRED], cache.attach[side, u, b]
    if old > 0:
        referred[old - 1] -= 1
    cache.attach[side, u, b] = v + 1
    referred[v] += 1


@flat
def _weigh(model: Model, dist: Array, cache: Cache, side: int, u: int, b: int, q: float) -> float:
    """Find what the attachment of ``u`` against ``b`` costs at least; where that is near psi and not hard, what it costs.

    ``cost(u,v; u,b)`` is at least ``(|q| - |p|)^2 / (2 (4 i_u + i_v + i_b))``, where the spreads say anything; ``q`` is the distance
    of ``u`` and ``b``, from whichever row is at hand.
    """
    v, inv = attachment(cache, side, u, b), cache.arms[side, SPREAD]
    spread = 2.0 * (4.0 * inv[u] + inv[v] + inv[b])
    if has_closed_form(model):
        gap = max(q * SHORT - dist[u, v], 0.0)
        bound = gap * gap / spread
        if bound <= cache.levels[ABOUT + side]:
            bound = isotropic_cost(dist, inv, u, v, u, b)
    else:
        level = cache.levels[side]
        gap = max(q * SHORT - dist[u, v] - cache.levels[SLACK], 0.0)
        bound = min(gap * gap / spread, level) if gap > 0.0 else 0.0  # (a spread may be zero)
        if cache.levels[HOLDS + side] > 0.0:
            bound = level if gap * gap > level * ROOM * spread else 0.0
    cache.shared[side, u, b] = bound
    return bound


@flat
def _lower(model: Model, dist: Array, cache: Cache, side: int, u: int, b: int, q: float) -> None:
    """`_weigh`, and take it into account in the row."""
    least = cache.arms[side, LEAST]
    least[u] = min(least[u], _weigh(model, dist, cache, side, u, b, q))


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


@flat
def note_answer(labels: Array, cache: Cache, side: int, value: float, found: Array) -> None:
    """Take in the value of a candidate of a cluster of two, ``found[:5] = u, v, a, b, k``, if it is one of an attachment."""
    a, b = found[2], found[3]
    if labels[a] == found[4]:
        cache.shared[side, a, b] = value
    elif labels[b] == found[4]:
        cache.shared[side, b, a] = value


@lean
def attach_row(model: Model, dist: Array, labels: Array, cache: Cache, side: int, u: int) -> None:
    """Attach arm ``u`` against all foreign arms, to what it was attached to where that is still in its cluster."""
    shared, mate, least = cache.shared[side, u], cache.trees[side, MATE, u], cache.arms[side, LEAST]
    least[u] = math.inf
    if mate < 0:
        return
    own = labels[u]
    for b in range(labels.shape[0]):
        if labels[b] == own:
            shared[b] = math.inf
            continue
        v = attachment(cache, side, u, b)
        if v < 0 or v == u or labels[v] != own:
            set_attachment(cache, side, u, b, mate)
        _lower(model, dist, cache, side, u, b, dist[u, b])


@lean
def fill_attachments(model: Model, dist: Array, labels: Array, cache: Cache, side: int) -> None:
    """Attach all arms."""
    _fill_mates(cache, side, cache.trees[side, LINK])
    for u in range(labels.shape[0]):
        attach_row(model, dist, labels, cache, side, u)


@lean
def move_attachments(model: Model, dist: Array, labels: Array, cache: Cache, side: int, m: int) -> None:
    """Weigh the attachments of, to and against arm ``m`` again, which has moved, and has another spread."""
    n, own, least = labels.shape[0], labels[m], cache.arms[side, LEAST]
    start, members = cache.nodes[START], cache.nodes[MEMBERS]
    mate = cache.trees[side, MATE]
    for a in range(n):
        if labels[a] != own and mate[a] >= 0:
            _lower(model, dist, cache, side, a, m, dist[m, a])
    first, end = start[own], start[own + 1]
    if end - first < 2:
        return
    lowest = math.inf
    for b in range(n):
        if labels[b] != own:
            lowest = min(lowest, _weigh(model, dist, cache, side, m, b, dist[m, b]))
    least[m] = lowest
    if end - first == 2:
        u = members[first] + members[first + 1] - m
        lowest = math.inf
        for b in range(n):
            if labels[b] != own:
                lowest = min(lowest, _weigh(model, dist, cache, side, u, b, dist[u, b]))
        least[u] = lowest
        return
    left = cache.trees[side, REFERRED, m]
    name = np.int32(m + 1)
    for i in range(first, end):
        u = members[i]
        if left <= 0:
            return
        row = cache.attach[side, u]
        if u == m:
            continue
        if 2 * (end - first) < n:
            hits = 0
            for b in range(n):
                hits += row[b] == name
            if hits == 0:
                continue
        for j in range(n - (end - first)):
            b = members[j if j < first else j + (end - first)]
            if row[b] == name:
                left -= 1
                _lower(model, dist, cache, side, u, b, dist[u, b])


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
    start, kind, referred = cache.nodes[START], cache.trees[side, CLASS], cache.trees[side, REFERRED]
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
        leaving, gone = 0, 0
        for i in range(arms):
            y = part[i]
            if labels[y] == main:
                continue
            leaving += referred[y]
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
                attach_row(model, dist, labels, cache, side, u)
            elif size[main] < arms:
                others, count = (left, gone) if labels[u] == main else (part, arms)
                _attach_to_part(model, dist, labels, cache, side, u, others, count)
                if labels[u] != main or leaving > 0:
                    _attach_again(model, dist, labels, cache, side, u)


@flat
def _attach_to_part(
    model: Model, dist: Array, labels: Array, cache: Cache, side: int, u: int, part: Array, arms: int
) -> None:
    """Attach ``u`` against the arms of its old cluster that are no longer with it."""
    for j in range(arms):
        b = part[j]
        if labels[b] != labels[u]:
            set_attachment(cache, side, u, b, cache.trees[side, MATE, u])
            _lower(model, dist, cache, side, u, b, dist[u, b])


@flat
def _attach_again(model: Model, dist: Array, labels: Array, cache: Cache, side: int, u: int) -> None:
    """Attach ``u`` again where it is attached to an arm that is no longer in its cluster."""
    own = labels[u]
    start, members = cache.nodes[START], cache.nodes[MEMBERS]
    first, end = start[own], start[own + 1]
    for j in range(labels.shape[0] - (end - first)):
        b = members[j if j < first else j + (end - first)]
        if labels[attachment(cache, side, u, b)] != own:
            set_attachment(cache, side, u, b, cache.trees[side, MATE, u])
            _lower(model, dist, cache, side, u, b, dist[u, b])
