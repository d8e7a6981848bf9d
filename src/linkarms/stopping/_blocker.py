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
from linkarms.state import AT, BLOCKER, COUNT, HELD, INSIDE, SCALE, TINV, TPEN, WITNESS, State
from linkarms.stopping._edge_below import edge_below, is_isotropic
from linkarms.stopping._pair_evidence import isotropic_evidence, shared_first
from linkarms.stopping._points import SURE, point_below, set_point
from linkarms.stopping._statistic import fill_clusters, fill_overlap
from linkarms.stopping._tables import freshen

__all__ = ["find_blocker", "forget", "still_blocked"]

OTHERS, SAMPLED, SAME = range(3)


@kernel
def forget(seen: Array) -> None:
    """Whatever is remembered of the blocker."""
    seen[:, :] = -1


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


@inlined
def _is_candidate(labels: Array, u: int, v: int, a: int, b: int) -> bool:
    return bool(u >= 0 and labels[u] == labels[v] and labels[a] != labels[b])


@kernel
def still_blocked(
    labels: Array, counts: Array, seen: Array, blocker: Array, held: float, level: float
) -> bool:
    """Whether the last verdict stands, and forbids a stop at ``level``; ``held`` is ``values[HELD]``. It is looked for anew where this
    says no.
    """
    u = blocker[BLOCKER]
    return bool(
        held <= level
        and _is_candidate(labels, u, blocker[BLOCKER + 1], blocker[BLOCKER + 2], blocker[BLOCKER + 3])
        and _standing(labels, counts, seen, labels[u]) == SAME
    )


@kernel
def _remember(labels: Array, counts: Array, seen: Array, k: int, a: int, b: int) -> None:
    """The verdict on the candidate ``(k; a, b)`` rests on the present."""
    for m in range(labels.shape[0]):
        inside = labels[m] == k
        seen[INSIDE, m] = 1 if inside else 0
        seen[COUNT, m] = counts[m] if inside or m in (a, b) else -1


@kernel
def _slot(i: int, j: int, n_points: int) -> int:
    """Where the point of the edge between the ``i``-th and the ``j``-th arm of a cluster is kept; -1 where there is no room."""
    low, high = min(i, j), max(i, j)
    slot = high * (high - 1) // 2 + low
    return slot if slot < n_points else -1


@inlined
def _ordered(u: int, v: int, a: int, b: int) -> tuple[int, int, int, int]:
    """`shared_first`, the same whichever of ``u`` and ``v`` comes first."""
    return shared_first(min(u, v), max(u, v), a, b)


@kernel
def _set_witness_point(labels: Array, info: Array, lam: Array, points: Array, k: int) -> None:
    """Where psi's alternative puts the arms of its witness, of cluster ``k``, is a point that the constraint allows."""
    x, y = info[WITNESS], info[WITNESS + 1]
    i, j, seen = 0, 0, 0
    for m in range(labels.shape[0]):
        if labels[m] == k:
            i = seen if m == x else i
            j = seen if m == y else j
            seen += 1
    slot = _slot(i, j, points.shape[0])
    if slot >= 0:
        u, v, a, b = _ordered(x, y, info[WITNESS + 2], info[WITNESS + 3])
        set_point(points[slot], u == a, lam[u, 0], lam[v, 0], lam[b, 0], lam[a, 0])


@kernel
def _isotropic_below(
    tables: Array, dist: Array, first: int, u: int, v: int, a: int, b: int, level: float
) -> bool:
    """Whether the evidence against ``(u, v; a, b)`` is below ``level``; ``first`` is the ``c`` to begin with."""
    # the cost is at least gap^2 / (2 spread); of most candidates that is enough
    gap = dist[a, b] - dist[u, v]
    spread = tables[TINV, first, u] + tables[TINV, first, v] + tables[TINV, first, b]
    needed = level + tables[TPEN, first, u] + tables[TPEN, first, v] + tables[TPEN, first, b]
    if u == a:
        spread += 3.0 * tables[TINV, first, u]
    else:
        spread += tables[TINV, first, a]
        needed += tables[TPEN, first, a]
    if gap > 0.0 and gap * gap >= 2.0 * needed * spread * (1.0 + SURE):
        return False
    return bool(isotropic_evidence(tables, dist, first, u, v, a, b, level) < level)


#: The candidates, in the order in which they are tried: the blocker that is there, psi's witness, and all that may be below the level.
LAST, LIKELY, ALL = range(3)


@kernel
def find_blocker(model: Model, state: State, grid: Array, n_clusters: int, level: float) -> bool:
    """Whether any candidate forbids a stop at ``level``; the first that does becomes the blocker."""
    labels, counts, seen, dist = state.labels, state.counts, state.seen, state.dist
    tables, points, blocker, info = state.tables, state.points, state.blocker, state.info
    n_arms, scale = labels.shape[0], blocker[SCALE]
    isotropic = is_isotropic(model)
    if isotropic:
        for m in range(n_arms):
            freshen(model, state, grid, scale, m)
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    # one block of memory: the arms of each cluster and where they begin, a queue of arms, and whether an arm was put there
    work = np.zeros(3 * n_arms + n_clusters + 1, dtype=np.int64)
    members, queue, reached = work[:n_arms], work[n_arms : 2 * n_arms], work[2 * n_arms : 3 * n_arms]
    start = work[3 * n_arms :]
    fill_clusters(labels, members, start)
    reach, longest = np.empty(0), np.empty(0)
    for ones in range(3):
        a_from, a_to, only_b, only_k = 0, n_arms, -1, -1
        if ones == ALL:
            reach, longest = np.empty(n_arms), np.empty(n_clusters)
            fill_overlap(model, state, grid, members, start, level, reach, longest)
        else:
            u, v, a, b = (
                (blocker[BLOCKER], blocker[BLOCKER + 1], blocker[BLOCKER + 2], blocker[BLOCKER + 3])
                if ones == LAST
                else (info[WITNESS], info[WITNESS + 1], info[WITNESS + 2], info[WITNESS + 3])
            )
            if not _is_candidate(labels, u, v, a, b):
                continue
            a_from, a_to, only_b, only_k = a, a + 1, b, labels[u]
            if ones == LIKELY or _standing(labels, counts, seen, only_k) == OTHERS:
                points[:, :, AT] = math.nan
            if ones == LIKELY:
                _set_witness_point(labels, info, state.lam, points, only_k)
        for a in range(a_from, a_to):
            for b in range(only_b if only_b >= 0 else a + 1, only_b + 1 if only_b >= 0 else n_arms):
                if labels[a] == labels[b]:
                    continue
                for k in range(only_k if only_k >= 0 else 0, only_k + 1 if only_k >= 0 else n_clusters):
                    n = start[k + 1] - start[k]
                    if ones == ALL:
                        if n < 2 or longest[k] < dist[a, b] - reach[a] - reach[b]:
                            continue
                        points[:, :, AT] = math.nan
                    for i in range(n):
                        reached[i] = 0
                    reached[0], queue[0] = 1, 0
                    head, tail = 0, 1
                    while head < tail and tail < n:
                        i = queue[head]
                        head += 1
                        for j in range(n):
                            if reached[j] == 1:
                                continue
                            u, v, x, y = _ordered(members[start[k] + i], members[start[k] + j], a, b)
                            slot = _slot(i, j, points.shape[0])
                            if isotropic:
                                below = _isotropic_below(tables, dist, scale, u, v, x, y, level)
                            else:
                                below = slot >= 0 and point_below(
                                    points[slot],
                                    model.codes,
                                    model.pars,
                                    counts,
                                    state.means,
                                    grid,
                                    u,
                                    v,
                                    x,
                                    y,
                                    level,
                                )
                                below = below or edge_below(
                                    model, state, grid, u, v, x, y, level, slot, box, which
                                )
                            if not below:
                                reached[j] = 1
                                queue[tail] = j
                                tail += 1
                    if tail < n:
                        blocker[BLOCKER], blocker[BLOCKER + 1] = members[start[k]], members[start[k] + 1]
                        blocker[BLOCKER + 2], blocker[BLOCKER + 3] = a, b
                        _remember(labels, counts, seen, k, a, b)
                        state.values[HELD] = level
                        return True
    forget(seen)
    return False
