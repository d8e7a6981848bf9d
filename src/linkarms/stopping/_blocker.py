"""The candidate that forbids a stop, and what is remembered of it.

A candidate is a cluster and an inter pair ``(a, b)``. It forbids a stop at ``level`` where the edges of the cluster whose evidence is
at least ``level`` leave it in pieces. The verdict stands until one of its arms is sampled or the cluster changes. All that is kept
here is a cache: without it the answers are the same.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH
from linkarms.families._model import Model
from linkarms.state import AT, BLOCKER, COUNT, HELD, INSIDE, WITNESS, State
from linkarms.stopping._edge_below import edge_below, set_point
from linkarms.stopping._statistic import fill_members, fill_overlap

__all__ = ["blocked", "find_blocker", "forget"]

OTHERS, SAMPLED, SAME = range(3)


@kernel
def forget(state: State) -> None:
    """Whatever is remembered of the blocker."""
    state.seen[:, :] = -1


@kernel
def _standing(state: State, k: int) -> int:
    """What has become of the arms since: `OTHERS` make up the cluster now, some that matter were `SAMPLED`, or all is the `SAME`."""
    standing = SAME
    for m in range(state.labels.shape[0]):
        if (state.labels[m] == k) != (state.seen[INSIDE, m] == 1):
            return OTHERS
        if state.seen[COUNT, m] >= 0 and state.seen[COUNT, m] != state.counts[m]:
            standing = SAMPLED
    return standing


@kernel
def _remember(state: State, k: int, a: int, b: int, level: float) -> None:
    """The candidate ``(k; a, b)`` forbids a stop at ``level``; infinite where no such level is known."""
    for m in range(state.labels.shape[0]):
        inside = state.labels[m] == k
        state.seen[INSIDE, m] = 1 if inside else 0
        state.seen[COUNT, m] = state.counts[m] if inside or m in (a, b) else -1
    state.values[HELD] = level


@kernel
def _slot(i: int, j: int, n: int) -> int:
    """Where the point of the edge between the ``i``-th and the ``j``-th of ``n`` arms is kept, ``i < j``; -1 in large clusters."""
    return j * (j - 1) // 2 + i if n <= 4 else -1


@kernel
def _below(
    model: Model,
    state: State,
    grid: Array,
    arms: Array,
    n: int,
    i: int,
    j: int,
    a: int,
    b: int,
    level: float,
    box: Array,
    which: Array,
) -> bool:
    """`edge_below` for two arms of the cluster, ``i < j``, with a shared arm, if there is one, put first in both pairs."""
    u, v = arms[i], arms[j]
    if v in (a, b):
        u, v = v, u
    if u == b:
        a, b = b, a
    return edge_below(model, state, grid, u, v, a, b, level, _slot(i, j, n), box, which)


@kernel
def _in_pieces(
    model: Model, state: State, grid: Array, arms: Array, n: int, a: int, b: int, level: float
) -> bool:
    """Whether the edges of ``arms[:n]`` with evidence of at least ``level`` against ``(., .; a, b)`` do not connect them."""
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    if n == 2:
        return _below(model, state, grid, arms, n, 0, 1, a, b, level, box, which)
    reached = np.zeros(n, dtype=np.bool_)
    queue = np.zeros(n, dtype=np.int64)
    reached[0] = True
    head, tail = 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        for j in range(n):
            if reached[j] or _below(
                model, state, grid, arms, n, min(i, j), max(i, j), a, b, level, box, which
            ):
                continue
            reached[j] = True
            queue[tail] = j
            tail += 1
            if tail == n:
                return False
    return True


@kernel
def blocked(model: Model, state: State, grid: Array, level: float) -> bool:
    """Whether the candidate that forbade the last stop still forbids one at ``level``; False where it is no candidate any more."""
    labels, blocker = state.labels, state.blocker
    u, v, a, b = blocker[BLOCKER], blocker[BLOCKER + 1], blocker[BLOCKER + 2], blocker[BLOCKER + 3]
    if u < 0 or labels[u] != labels[v] or labels[a] == labels[b]:
        return False
    k = labels[u]
    standing = _standing(state, k)
    if standing == SAME and state.values[HELD] <= level:
        return True
    if standing == OTHERS:
        state.points[:, :, AT] = math.nan
    arms = np.empty(labels.shape[0], dtype=np.int64)
    n = fill_members(labels, k, arms)
    below = _in_pieces(model, state, grid, arms, n, a, b, level)
    _remember(state, k, a, b, level if below else math.inf)
    return below


@kernel
def _try_witness(model: Model, state: State, grid: Array, level: float) -> bool:
    """Whether psi's witness forbids a stop. Where psi's alternative puts its arms is a point that its constraint allows."""
    labels, lam = state.labels, state.lam
    u, v, a, b = (
        state.info[WITNESS],
        state.info[WITNESS + 1],
        state.info[WITNESS + 2],
        state.info[WITNESS + 3],
    )
    if u < 0 or labels[u] != labels[v] or labels[a] == labels[b]:
        return False
    state.blocker[BLOCKER:] = state.info[WITNESS : WITNESS + 4]
    k = labels[u]
    _remember(state, k, a, b, math.inf)
    state.points[:, :, AT] = math.nan
    i, j, n = 0, 0, 0
    for m in range(labels.shape[0]):
        i = n if m == min(u, v) else i
        j = n if m == max(u, v) else j
        n += 1 if labels[m] == k else 0
    slot = _slot(i, j, n)
    if slot >= 0:
        # in the order in which `_below` will have them
        u, v = min(u, v), max(u, v)
        if v in (a, b):
            u, v = v, u
        if u == b:
            a, b = b, a
        set_point(state.points[slot], u == a, lam[u, 0], lam[v, 0], lam[b, 0], lam[a, 0])
    return blocked(model, state, grid, level)


@kernel
def find_blocker(model: Model, state: State, grid: Array, n_clusters: int, level: float) -> bool:
    """Whether any candidate forbids a stop at ``level``; the first that is found becomes the blocker."""
    labels, dist = state.labels, state.dist
    n_arms = labels.shape[0]
    before = state.blocker[BLOCKER:].copy()
    if _try_witness(model, state, grid, level):
        return True
    members = np.empty((n_clusters, n_arms), dtype=np.int64)
    size = np.empty(n_clusters, dtype=np.int64)
    for k in range(n_clusters):
        size[k] = fill_members(labels, k, members[k])
    reach = np.empty(n_arms)
    longest = np.empty(n_clusters)
    fill_overlap(model, state, grid, members, size, level, reach, longest)
    for a in range(n_arms):
        for b in range(a + 1, n_arms):
            if labels[a] == labels[b]:
                continue
            shorter = dist[a, b] - reach[a] - reach[b]
            for k in range(n_clusters):
                if longest[k] < shorter or size[k] < 2:
                    continue
                forget(state)
                state.blocker[BLOCKER] = members[k, 0]
                state.blocker[BLOCKER + 1] = members[k, 1]
                state.blocker[BLOCKER + 2], state.blocker[BLOCKER + 3] = a, b
                if blocked(model, state, grid, level):
                    return True
    forget(state)
    state.blocker[BLOCKER:] = before
    return False
