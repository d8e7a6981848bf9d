"""The candidate that forbids a stop, and what is remembered of it.

A candidate is a cluster and an inter pair ``(a, b)``. It forbids a stop at ``level`` where the edges of the cluster whose evidence is
at least ``level`` leave it in pieces. The verdict stands until one of its arms is sampled or the cluster changes. All that is kept
here is a cache: without it the answers are the same.

A call with the model and the state costs as much as most of what is done here; so there are few of them.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, inlined, kernel
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH
from linkarms.families._model import Model
from linkarms.state import AT, BLOCKER, COUNT, HELD, INSIDE, WITNESS, State
from linkarms.stopping._edge_below import edge_below, set_point
from linkarms.stopping._statistic import fill_members, fill_overlap

__all__ = ["find_blocker", "forget", "still_blocked"]

OTHERS, SAMPLED, SAME = range(3)


@inlined
def forget(state: State) -> None:
    """Whatever is remembered of the blocker."""
    state.seen[:, :] = -1


@kernel
def _standing(labels: Array, counts: Array, seen: Array, k: int) -> int:
    """What has become of the arms since: `OTHERS` make up the cluster now, some that matter were `SAMPLED`, or all is the `SAME`."""
    standing = SAME
    for m in range(labels.shape[0]):
        if (labels[m] == k) != (seen[INSIDE, m] == 1):
            return OTHERS
        if seen[COUNT, m] >= 0 and seen[COUNT, m] != counts[m]:
            standing = SAMPLED
    return standing


@kernel
def _is_candidate(labels: Array, pairs: Array) -> bool:
    u, v, a, b = pairs[0], pairs[1], pairs[2], pairs[3]
    return bool(u >= 0 and labels[u] == labels[v] and labels[a] != labels[b])


@inlined
def still_blocked(state: State, level: float) -> bool:
    """Whether the last verdict stands, and forbids a stop at ``level``. It is looked for anew where this says no."""
    pairs = state.blocker[BLOCKER:]
    return (
        state.values[HELD] <= level
        and _is_candidate(state.labels, pairs)
        and _standing(state.labels, state.counts, state.seen, state.labels[pairs[0]]) == SAME
    )


@kernel
def _remember(labels: Array, counts: Array, seen: Array, k: int, a: int, b: int) -> None:
    """The verdict on the candidate ``(k; a, b)`` rests on the present."""
    for m in range(labels.shape[0]):
        inside = labels[m] == k
        seen[INSIDE, m] = 1 if inside else 0
        seen[COUNT, m] = counts[m] if inside or m in (a, b) else -1


@kernel
def _slot(i: int, j: int, n: int) -> int:
    """Where the point of the edge between the ``i``-th and the ``j``-th of ``n`` arms is kept; -1 in large clusters."""
    low, high = min(i, j), max(i, j)
    return high * (high - 1) // 2 + low if n <= 4 else -1


@inlined
def _ordered(u: int, v: int, a: int, b: int) -> tuple[int, int, int, int]:
    """A shared arm, if there is one, first in both pairs; the same whichever of ``u`` and ``v`` comes first."""
    u, v = min(u, v), max(u, v)
    if v in (a, b):
        u, v = v, u
    return (u, v, b, a) if u == b else (u, v, a, b)


@inlined
def _set_witness_point(state: State, k: int, n: int) -> None:
    """Where psi's alternative puts the arms of its witness is a point that the constraint allows; ``n`` arms are in its cluster."""
    labels, lam = state.labels, state.lam
    x, y = state.info[WITNESS], state.info[WITNESS + 1]
    i, j, seen = 0, 0, 0
    for m in range(labels.shape[0]):
        if labels[m] == k:
            i = seen if m == x else i
            j = seen if m == y else j
            seen += 1
    slot = _slot(i, j, n)
    if slot >= 0:
        u, v, a, b = _ordered(x, y, state.info[WITNESS + 2], state.info[WITNESS + 3])
        set_point(state.points[slot], u == a, lam[u, 0], lam[v, 0], lam[b, 0], lam[a, 0])


#: Which candidates `_search` looks at: the blocker that is there, psi's witness, or all that may be below the level.
LAST, LIKELY, ALL = range(3)


@kernel
def _search(
    model: Model,
    state: State,
    grid: Array,
    which_ones: int,
    members: Array,
    size: Array,
    reach: Array,
    longest: Array,
    level: float,
) -> bool:
    """Whether one of the candidates forbids a stop; the first that does becomes the blocker."""
    labels, dist = state.labels, state.dist
    n_arms = labels.shape[0]
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    reached = np.empty(n_arms, dtype=np.bool_)
    queue = np.empty(n_arms, dtype=np.int64)
    pairs = state.info[WITNESS : WITNESS + 4] if which_ones == LIKELY else state.blocker[BLOCKER:]
    first, last = 0, n_arms
    if which_ones != ALL:
        if not _is_candidate(labels, pairs):
            return False
        first, last = pairs[2], pairs[2] + 1
    for a in range(first, last):
        for b in range(a + 1, n_arms):
            if labels[a] == labels[b] or (which_ones != ALL and b != pairs[3]):
                continue
            for k in range(size.shape[0]):
                n = size[k]
                if which_ones != ALL:
                    if k != labels[pairs[0]]:
                        continue
                elif n < 2 or longest[k] < dist[a, b] - reach[a] - reach[b]:
                    continue
                if which_ones != LAST or _standing(labels, state.counts, state.seen, k) == OTHERS:
                    state.points[:, :, AT] = math.nan
                if which_ones == LIKELY:
                    _set_witness_point(state, k, n)
                reached[:n] = False
                reached[0], queue[0] = True, 0
                head, tail = 0, 1
                while head < tail and tail < n:
                    i = queue[head]
                    head += 1
                    for j in range(n):
                        if reached[j]:
                            continue
                        u, v, x, y = _ordered(members[k, i], members[k, j], a, b)
                        slot = _slot(i, j, n)
                        if not edge_below(model, state, grid, u, v, x, y, level, slot, box, which):
                            reached[j] = True
                            queue[tail] = j
                            tail += 1
                if tail < n:
                    blocker = state.blocker[BLOCKER:]
                    blocker[0], blocker[1], blocker[2], blocker[3] = members[k, 0], members[k, 1], a, b
                    _remember(labels, state.counts, state.seen, k, a, b)
                    state.values[HELD] = level
                    return True
    return False


@kernel
def find_blocker(model: Model, state: State, grid: Array, n_clusters: int, level: float) -> bool:
    """Whether any candidate forbids a stop at ``level``: the last that did, psi's witness, or another."""
    n_arms = state.labels.shape[0]
    members = np.empty((n_clusters, n_arms), dtype=np.int64)
    size = np.empty(n_clusters, dtype=np.int64)
    for k in range(n_clusters):
        size[k] = fill_members(state.labels, k, members[k])
    reach = np.empty(n_arms)
    longest = np.empty(n_clusters)
    for which_ones in range(3):
        if which_ones == ALL:
            fill_overlap(model, state, grid, members, size, level, reach, longest)
        if _search(model, state, grid, which_ones, members, size, reach, longest, level):
            return True
    forget(state)
    return False
