"""The minimum spanning tree after the distances of a few arms have changed, without looking at all distances again.

The arms that changed are taken out of the tree. What remains are edges of the minimum spanning tree of the other arms, whose distances
are as before; what fell apart is joined again, and the arms come back one by one. Edges are ordered by length and then by the
indices of their ends, as in `linkarms.linkage`, so that the tree is the one that Prim's algorithm finds, though its root may be another.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.linkage import precedes

__all__ = ["respan"]

#: order, parent and length, as in `respan`.
Tree: TypeAlias = tuple[Array, Array, Array]

#: Distances that are compared with the shortest so far in one go: a loop of fixed length and no branches becomes vector instructions.
BLOCK = 16
#: If no more arms than this are outside the largest component, looking at all their distances is cheaper than bounds that spare some.
FEW = 12


@kernel
def respan(dist: Array, dirty: Array, n_dirty: int, order: Array, parent: Array, length: Array) -> None:
    """Update a minimum spanning tree after the rows of some arms have changed.

    Parameters
    ----------
    dist : ndarray, shape (M, M)
        The distances as they are now; symmetric.
    dirty : ndarray of int, shape (>= n_dirty,)
        The arms whose distances have changed. All distances between other arms must be as they were.
    n_dirty : int
        How many there are.
    order, parent, length : ndarray, shape (>= M,)
        The minimum spanning tree as it was, as `linkarms.linkage.minimum_spanning_tree` writes it; replaced by the one of ``dist``.
        A parent comes before its children in ``order``; the root has parent -1 and length 0.
    """
    n = dist.shape[0]
    comp = np.zeros(n, dtype=np.int64)
    for i in range(n_dirty):
        comp[dirty[i]] = -1
    spare = np.empty((2, n), dtype=np.int64)
    best = np.full(n, math.inf)
    tree = (order, parent, length)
    size, count = _take_out(n, comp, spare[0], best, tree)
    if count > 1 and size - spare[0, :count].max() > FEW:
        _exits(size, best, tree)
    else:
        best[:] = 0.0
    for _ in range(count - 1):
        _reconnect(dist, size, count, comp, spare[0], best, tree, spare[1])
    gone = np.empty(2 * n, dtype=np.bool_)
    for i in range(n_dirty):
        z = dirty[i]
        if comp[z] < 0:  # an arm may be listed twice
            comp[z] = 0
            _insert(dist, z, size, tree, best, spare[0], spare[1], gone)
            size += 1


@kernel
def _take_out(n: int, comp: Array, sizes: Array, exits: Array, tree: Tree) -> tuple[int, int]:
    """Take the arms of ``comp`` -1 out of the tree; return how many arms remain, and in how many components.

    ``exits`` becomes the length of the shortest edge that each arm has lost.
    """
    order, parent, length = tree
    size, count = 0, 0
    for i in range(n):
        m = order[i]
        p = parent[m]
        if comp[m] < 0:
            if p >= 0:
                exits[p] = min(exits[p], length[m])
            continue
        order[size] = m
        size += 1
        if p >= 0 and comp[p] >= 0:
            comp[m] = comp[p]
        else:
            if p >= 0:
                exits[m] = min(exits[m], length[m])
            parent[m], length[m] = -1, 0.0
            comp[m] = count
            sizes[count] = 0
            count += 1
        sizes[comp[m]] += 1
    return size, count


@kernel
def _exits(size: int, exits: Array, tree: Tree) -> None:
    """Lower bounds of the distance of each arm from the arms of other components.

    The old tree joined the two by a path that leaves the component, and no edge of that path was longer than their distance. So the bound
    of an arm is the longest edge of its path to an arm that was taken out, at the best such arm.
    """
    order, parent, length = tree
    for i in range(size - 1, -1, -1):
        m = order[i]
        p = parent[m]
        if p >= 0:
            exits[p] = min(exits[p], max(exits[m], length[m]))
    for i in range(size):
        m = order[i]
        p = parent[m]
        if p >= 0:
            exits[m] = min(exits[m], max(exits[p], length[m]))


@kernel
def _reconnect(
    dist: Array, size: int, count: int, comp: Array, sizes: Array, exits: Array, tree: Tree, members: Array
) -> None:
    """Join the smallest component to another by the shortest edge that leaves it."""
    order, parent, length = tree
    own = -1
    for c in range(count):
        if sizes[c] > 0 and (own < 0 or sizes[c] < sizes[own]):
            own = c
    # its members leave the order, and return behind all others, to one of which they will be joined
    left, n_members, least = 0, 0, math.inf
    for i in range(size):
        m = order[i]
        if comp[m] == own:
            members[n_members] = m
            n_members += 1
            least = min(least, exits[m])
        else:
            order[left] = m
            left += 1
    # the arms with the best exits first: most others need not be looked at then
    inner, outer, shortest = -1, -1, math.inf
    for i in range(n_members):
        if exits[members[i]] == least:
            inner, outer, shortest = _shortest(dist, members[i], comp, own, inner, outer, shortest)
    for i in range(n_members):
        if least < exits[members[i]] <= shortest:
            inner, outer, shortest = _shortest(dist, members[i], comp, own, inner, outer, shortest)
    # turn the path from the old root of the component to `inner` round; the label -2 marks what is placed
    above, span, m = outer, shortest, inner
    while m >= 0:
        up, old = parent[m], length[m]
        parent[m], length[m] = above, span
        order[left], comp[m] = m, -2
        left += 1
        above, span, m = m, old, up
    for i in range(n_members):
        m = members[i]
        if comp[m] != -2:
            order[left] = m
            left += 1
        comp[m] = comp[outer]
    sizes[comp[outer]] += n_members
    sizes[own] = 0


@kernel
def _shortest(
    dist: Array, m: int, comp: Array, own: int, inner: int, outer: int, shortest: float
) -> tuple[int, int, float]:
    """The first of the edge ``(inner, outer)`` and all edges from arm ``m`` to arms of other components than ``own``."""
    n = dist.shape[0]
    row = dist[m]
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        if stop - start == BLOCK:
            hits = 0
            for i in range(BLOCK):
                hits += row[start + i] <= shortest
            if hits == 0:
                continue
        for j in range(start, stop):
            d = row[j]
            if d > shortest or comp[j] < 0 or comp[j] == own:
                continue
            if inner < 0 or d < shortest or precedes(m, j, inner, outer):
                inner, outer, shortest = m, j, d
    return inner, outer, shortest


@kernel
def _insert(
    dist: Array, z: int, size: int, tree: Tree, best: Array, edge: Array, spare: Array, gone: Array
) -> None:
    """Add arm ``z`` to the tree of the ``size`` arms in ``order`` and make it the root, after Chin and Houck (1978).

    ``edge[m]``, of length ``best[m]``, is the longest edge of the path from ``m`` to ``z`` in the tree of ``z`` and the arms below ``m``,
    with ``m``. Edge ``m`` is the one from ``m`` to its parent, edge ``M + m`` the one from ``m`` to ``z``; ``gone`` are those dropped.
    """
    order, parent, length = tree
    n = dist.shape[0]
    row = dist[z]
    for m in range(n):
        best[m], edge[m] = row[m], n + m
        gone[m] = gone[n + m] = False
    for i in range(size - 1, 0, -1):
        m = order[i]
        p = parent[m]
        # m and p are joined to z and to each other: the longest edge of that cycle goes
        d, e = best[m], edge[m]
        if d < length[m] or (d == length[m] and _first(e, m, n, z, parent)):
            d, e = length[m], m
        if d < best[p] or (d == best[p] and _first(e, edge[p], n, z, parent)):
            gone[edge[p]] = True
            best[p], edge[p] = d, e
        else:
            gone[e] = True
    # what is left of the old tree hangs from z by one edge per part; its path from the old top is turned round
    spare[0] = z
    left = 1
    for i in range(size):
        m = order[i]
        if gone[n + m]:
            continue
        above, span = z, row[m]
        while m >= 0:
            up, old = -1 if gone[m] else parent[m], length[m]
            parent[m], length[m] = above, span
            spare[left], edge[m] = m, -1  # placed
            left += 1
            above, span, m = m, old, up
    # all others keep their parents, and so their order
    for i in range(size):
        m = order[i]
        if edge[m] >= 0:
            spare[left] = m
            left += 1
    for i in range(left):
        order[i] = spare[i]
    parent[z], length[z] = -1, 0.0


@kernel
def _first(edge: int, other: int, n: int, z: int, parent: Array) -> bool:
    """Whether ``edge`` comes before ``other`` of the same length; for their numbers see `_insert`."""
    i, j = (edge, parent[edge]) if edge < n else (edge - n, z)
    k, m = (other, parent[other]) if other < n else (other - n, z)
    return precedes(i, j, k, m)
