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
from linkarms.stopping._evidence_reach import fill_evidence_reach
from linkarms.stopping._pair_evidence import pair_evidence, shared_first
from linkarms.stopping._tables import freshen

__all__ = ["fill_clusters", "fill_overlap", "fill_statistic"]


@kernel
def _smallest_edge(
    model: Model,
    state: State,
    grid: Array,
    arms: Array,
    a: int,
    b: int,
    level: float,
    found: Array,
    box: Array,
    which: Array,
) -> float:
    """Smallest edge of a maximum spanning tree of ``arms`` under the evidence against ``(., .; a, b)``.

    If it is at least ``level`` any such value may be returned; otherwise ``found`` becomes ``(u, v, a, b)``.
    """
    found[2], found[3] = a, b
    n = arms.shape[0]
    if n == 2:
        found[0], found[1] = arms[0], arms[1]
        u, v, x, y = shared_first(arms[0], arms[1], a, b)
        return pair_evidence(model, state, grid, u, v, x, y, level, box, which)
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
                u, v, x, y = shared_first(arms[last], arms[j], a, b)
                value = pair_evidence(model, state, grid, u, v, x, y, level, box, which)
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
def fill_clusters(labels: Array, members: Array, start: Array) -> None:
    """The arms of cluster ``k``, in order, into ``members[start[k]:start[k + 1]]``; ``start``, shape (K + 1,), comes as zeros."""
    n_clusters = start.shape[0] - 1
    for m in range(labels.shape[0]):
        start[labels[m] + 1] += 1
    for k in range(n_clusters):
        start[k + 1] += start[k]
    # filled from behind, each end moves to where its cluster begins
    for m in range(labels.shape[0] - 1, -1, -1):
        start[labels[m] + 1] -= 1
        members[start[labels[m] + 1]] = m
    for k in range(n_clusters):
        start[k] = start[k + 1]
    start[n_clusters] = labels.shape[0]


@kernel
def _longest_edge(longer: Array, arms: Array) -> float:
    """The longest edge of a minimum spanning tree of ``arms`` under ``longer``; -inf for a single arm."""
    n = arms.shape[0]
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
    start: Array,
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
    for k in range(longest.shape[0]):
        longest[k] = _longest_edge(longer, members[start[k] : start[k + 1]])


@kernel
def fill_statistic(model: Model, state: State, grid: Array, n_clusters: int) -> None:
    """The statistic into ``values[STATISTIC]``, and where it was found into the blocker, of which nothing else is known then."""
    labels, dist = state.labels, state.dist
    n_arms = labels.shape[0]
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    found = np.empty(4, dtype=np.int64)
    members = np.empty(n_arms, dtype=np.int64)
    bounds = np.zeros(n_clusters + 1, dtype=np.int64)
    fill_clusters(labels, members, bounds)
    # the blocker and psi's witness come first: the nearer the level is to the answer, the fewer candidates are left
    best = math.inf
    for first in range(2):
        start = state.blocker[BLOCKER:] if first == 0 else state.info[WITNESS : WITNESS + 4]
        u, v, a, b = start[0], start[1], start[2], start[3]
        if u < 0 or labels[u] != labels[v] or labels[a] == labels[b]:
            continue
        arms = members[bounds[labels[u]] : bounds[labels[u] + 1]]
        value = _smallest_edge(model, state, grid, arms, a, b, best, found, box, which)
        if value < best:
            best = value
            state.blocker[BLOCKER:] = found
    reach = np.empty(n_arms)
    longest = np.empty(n_clusters)
    fill_overlap(model, state, grid, members, bounds, best, reach, longest)
    # equal values are decided by the order of the search, not by where it began
    taken = False
    for a in range(n_arms):
        for b in range(a + 1, n_arms):
            if labels[a] == labels[b]:
                continue
            shorter = dist[a, b] - reach[a] - reach[b]
            for k in range(n_clusters):
                arms = members[bounds[k] : bounds[k + 1]]
                if longest[k] < shorter or arms.shape[0] < 2:
                    continue
                above = best + 1e-15 * abs(best) + 1e-300
                value = _smallest_edge(model, state, grid, arms, a, b, above, found, box, which)
                if value < best or (value == best and not taken):
                    best, taken = value, True
                    state.blocker[BLOCKER:] = found
    state.values[STATISTIC] = best
    state.seen[:, :] = -1
