"""The statistic of the anytime rule: the bottleneck of docs/how-it-works.md on the evidence of each pair of pairs.

``min over clusters k and inter pairs (a,b) of the smallest edge of a maximum spanning tree of D_k with edge weights E(u,v; a,b)``. A
run seldom needs it: one candidate below the threshold forbids a stop, and the same one goes on forbidding it for many samples
(``_blocker.py``). It is computed when no candidate is below the threshold, or when somebody asks.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH
from linkarms.families._model import Model
from linkarms.state import BLOCKER, SCALE, STATISTIC, TPEN, WITNESS, State
from linkarms.stopping._pair_evidence import fill_evidence_reach, pair_evidence
from linkarms.stopping._tables import freshen

__all__ = ["fill_members", "fill_overlap", "fill_statistic", "likeliest_scale"]


@kernel
def _edge_evidence(
    model: Model,
    state: State,
    grid: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    level: float,
    box: Array,
    which: Array,
) -> float:
    """`pair_evidence` with a shared arm, if there is one, put first in both pairs."""
    if v in (a, b):
        u, v = v, u
    if u == b:
        a, b = b, a
    return pair_evidence(model, state, grid, u, v, a, b, level, box, which)


@kernel
def _smallest_edge(
    model: Model,
    state: State,
    grid: Array,
    arms: Array,
    n: int,
    a: int,
    b: int,
    level: float,
    found: Array,
    box: Array,
    which: Array,
) -> float:
    """Smallest edge of a maximum spanning tree of ``arms[:n]`` under the evidence against ``(., .; a, b)``.

    If it is at least ``level`` any such value may be returned; otherwise ``found`` becomes ``(u, v, a, b)``.
    """
    found[2], found[3] = a, b
    if n == 2:
        found[0], found[1] = arms[0], arms[1]
        return _edge_evidence(model, state, grid, arms[0], arms[1], a, b, level, box, which)
    # Prim's algorithm; values from `level` on are all the same to it, so that arms are joined at once along such an edge
    joined = np.zeros(n, dtype=np.bool_)
    weight = np.full(n, -math.inf)
    parent = np.zeros(n, dtype=np.int64)
    joined[0] = True
    last = 0
    smallest = math.inf
    for _ in range(n - 1):
        best = -1
        for j in range(n):
            if joined[j]:
                continue
            if weight[j] < level:
                value = _edge_evidence(model, state, grid, arms[last], arms[j], a, b, level, box, which)
                if value > weight[j]:
                    weight[j], parent[j] = value, last
            if best < 0 or weight[j] > weight[best]:
                best = j
        joined[best] = True
        last = best
        if weight[best] < smallest:
            smallest = weight[best]
            found[0], found[1] = arms[parent[best]], arms[best]
    return smallest


@kernel
def fill_members(labels: Array, k: int, arms: Array) -> int:
    """The arms of cluster ``k``, into the beginning of ``arms``; how many there are."""
    n = 0
    for m in range(labels.shape[0]):
        if labels[m] == k:
            arms[n] = m
            n += 1
    return n


@kernel
def likeliest_scale(model: Model, state: State, grid: Array) -> int:
    """The ``c`` that gives the most evidence against psi's witness."""
    u, v, a, b = (
        state.info[WITNESS],
        state.info[WITNESS + 1],
        state.info[WITNESS + 2],
        state.info[WITNESS + 3],
    )
    if u < 0 or grid.shape[0] < 2:
        return int(state.blocker[SCALE])
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    scale, best, most = state.blocker[SCALE], state.blocker[SCALE], -math.inf
    for j in range(grid.shape[0]):
        state.blocker[SCALE] = j  # the search for a value above -inf ends with the first c
        value = _edge_evidence(model, state, grid, u, v, a, b, -math.inf, box, which)
        if value > most:
            best, most = j, value
    state.blocker[SCALE] = scale
    return int(best)


@kernel
def _longest_edge(longer: Array, arms: Array, n: int) -> float:
    """The longest edge of a minimum spanning tree of ``arms[:n]`` under ``longer``; -inf for a single arm."""
    near = np.empty(n)
    joined = np.zeros(n, dtype=np.bool_)
    for j in range(n):
        near[j] = longer[arms[0], arms[j]]
    joined[0] = True
    longest = -math.inf
    for _ in range(n - 1):
        best = -1
        for j in range(n):
            if not joined[j] and (best < 0 or near[j] < near[best]):
                best = j
        joined[best] = True
        longest = max(longest, near[best])
        for j in range(n):
            near[j] = min(near[j], longer[arms[best], arms[j]])
    return longest


@kernel
def fill_overlap(
    model: Model,
    state: State,
    grid: Array,
    members: Array,
    size: Array,
    level: float,
    reach: Array,
    longest: Array,
) -> None:
    """How far an arm can be from its estimate in a candidate below ``level``, and how long the longest edge of a cluster can become.

    An arm's share of such a candidate is bounded: by the level and the dearest prices.
    """
    dist, scale = state.dist, state.blocker[SCALE]
    n_arms = dist.shape[0]
    dearest = np.zeros(4)
    for m in range(n_arms):
        freshen(model, state, grid, scale, m)
        x = state.tables[TPEN, scale, m]
        for i in range(4):
            if x > dearest[i]:
                dearest[i], x = x, dearest[i]
    share = max(level + dearest.sum(), 0.0)
    fill_evidence_reach(model, state, grid, share, reach)
    reach *= 1.0 + 1e-9
    longer = np.empty_like(dist)
    for m in range(n_arms):
        for j in range(n_arms):
            longer[m, j] = dist[m, j] + reach[m] + reach[j]
    for k in range(size.shape[0]):
        longest[k] = _longest_edge(longer, members[k], size[k])


@kernel
def fill_statistic(model: Model, state: State, grid: Array, n_clusters: int) -> None:
    """The statistic into ``values[STATISTIC]``, and where it was found into the blocker, of which nothing else is known then."""
    labels, dist = state.labels, state.dist
    n_arms = labels.shape[0]
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    found = np.empty(4, dtype=np.int64)
    members = np.empty((n_clusters, n_arms), dtype=np.int64)
    size = np.empty(n_clusters, dtype=np.int64)
    for k in range(n_clusters):
        size[k] = fill_members(labels, k, members[k])
    # the blocker and psi's witness come first: the nearer the level is to the answer, the fewer candidates are left
    best = math.inf
    for first in range(2):
        start = state.blocker[BLOCKER:] if first == 0 else state.info[WITNESS : WITNESS + 4]
        u, v, a, b = start[0], start[1], start[2], start[3]
        if u < 0 or labels[u] != labels[v] or labels[a] == labels[b]:
            continue
        k = labels[u]
        value = _smallest_edge(model, state, grid, members[k], size[k], a, b, best, found, box, which)
        if value < best:
            best = value
            state.blocker[BLOCKER:] = found
    reach = np.empty(n_arms)
    longest = np.empty(n_clusters)
    fill_overlap(model, state, grid, members, size, best, reach, longest)
    # equal values are decided by the order of the search, not by where it began
    taken = False
    for a in range(n_arms):
        for b in range(a + 1, n_arms):
            if labels[a] == labels[b]:
                continue
            shorter = dist[a, b] - reach[a] - reach[b]
            for k in range(n_clusters):
                if longest[k] < shorter or size[k] < 2:
                    continue
                above = best + 1e-15 * abs(best) + 1e-300
                value = _smallest_edge(
                    model, state, grid, members[k], size[k], a, b, above, found, box, which
                )
                if value < best or (value == best and not taken):
                    best, taken = value, True
                    state.blocker[BLOCKER:] = found
    state.values[STATISTIC] = best
    state.seen[:, :] = -1
