"""Single linkage by minimum spanning tree.

The partition into K clusters is what remains of a minimum spanning tree without its K - 1 longest edges. Edges are ordered by length
and then by the indices of their ends, so that there is just one minimum spanning tree, however it is found. Ties inside the
tree do not matter; a tie *at the cut* (the longest edge kept is as long as the shortest one removed) leaves the partition
undefined. It is then *ambiguous*: a partition is still given (ties break by index), and no rule stops on it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._jit import Array, kernel, lean
from linkarms._validate import check_n_clusters, check_parameters

__all__ = ["cut_tree", "fill_distances", "minimum_spanning_tree", "single_linkage", "single_linkage_kernel"]

#: Edges at the cut whose lengths differ by less than this, relatively, are equal but for rounding.
TIE = 1e-12


@lean
def fill_distances(theta: Array, m: int, dist: Array) -> None:
    """Write the Euclidean distances of arm ``m`` to all others into row and column ``m`` of ``dist``, shape (M, M)."""
    for j in range(theta.shape[0]):
        s = 0.0
        for i in range(theta.shape[1]):
            s += (theta[m, i] - theta[j, i]) * (theta[m, i] - theta[j, i])
        dist[m, j] = math.sqrt(s)
        dist[j, m] = dist[m, j]


@lean
def precedes(i: int, j: int, k: int, m: int) -> bool:
    """Whether the edge ``(i, j)`` comes before the edge ``(k, m)`` of the same length."""
    first, other = min(i, j), min(k, m)
    return first < other or (first == other and max(i, j) < max(k, m))


@kernel
def minimum_spanning_tree(dist: Array, order: Array, parent: Array, length: Array) -> None:
    """Prim's algorithm from arm 0; of edges of the same length the one with the smaller indices.

    Parameters
    ----------
    dist : ndarray, shape (M, M)
    order : ndarray of int, shape (M,)
        Filled with the arms in the order in which they join the tree.
    parent : ndarray of int, shape (M,)
        Filled with the arm that each one joins; -1 for the first.
    length : ndarray, shape (M,)
        Filled with the length of the edge from each arm to its parent; 0 for the first.
    """
    n = dist.shape[0]
    for m in range(n):
        parent[m] = 0
        length[m] = dist[0, m]
    order[0], parent[0], length[0] = 0, -1, 0.0
    rest = np.arange(1, n)
    last = 0
    for step in range(1, n):
        left = n - step
        best = 0
        shortest = math.inf
        for i in range(left):
            m = rest[i]
            d = dist[last, m]
            if d < length[m] or (d == length[m] and precedes(last, m, parent[m], m)):
                length[m], parent[m] = d, last
            if length[m] < shortest or (
                length[m] == shortest and precedes(m, parent[m], rest[best], parent[rest[best]])
            ):
                best, shortest = i, length[m]
        last = rest[best]
        rest[best] = rest[left - 1]
        order[step] = last


@lean
def _is_longer(i: int, j: int, parent: Array, length: Array) -> bool:
    """Whether the edge of arm ``i`` to its parent is longer than that of ``j``, or as long and comes after it."""
    return bool(length[i] > length[j] or (length[i] == length[j] and precedes(j, parent[j], i, parent[i])))


@kernel
def cut_tree(
    n_clusters: int, order: Array, parent: Array, length: Array, up: Array, labels: Array
) -> tuple[bool, float, float]:
    """Cut the K - 1 longest edges of a minimum spanning tree and label the rest.

    Parameters
    ----------
    n_clusters : int
        K.
    order, parent, length : ndarray, shape (M,)
        The tree; a parent comes before its children in ``order``.
    up : ndarray of int, shape (M,)
        Filled with ``parent``, or -1 where the edge is cut.
    labels : ndarray of int, shape (M,)
        Filled with the clusters, 0..K-1 in order of first appearance.

    Returns
    -------
    ambiguous : bool
        The cut goes through equal edges.
    kept, cut : float
        The longest edge kept and the shortest one cut; -1 and infinity where there is none.
    """
    n, most, count = parent.shape[0], n_clusters - 1, 0
    longest = np.empty(n_clusters, dtype=np.int64)  # the longest edges so far come first
    for m in range(n):
        up[m] = parent[m]
        if parent[m] < 0 or most == 0:
            continue
        i = count
        while i > 0 and _is_longer(m, longest[i - 1], parent, length):
            longest[i] = longest[i - 1]
            i -= 1
        longest[i] = m
        count = min(count + 1, most)
    cut = math.inf
    for i in range(count):
        up[longest[i]] = -1
        cut = length[longest[i]]
    kept = -1.0
    for m in range(n):
        if up[m] >= 0:
            kept = max(kept, length[m])
    count = 0
    raw = np.empty(n, dtype=np.int64)
    for step in range(n):
        m = order[step]
        if up[m] < 0:
            raw[m] = count
            count += 1
        else:
            raw[m] = raw[up[m]]
    rename = np.full(n_clusters, -1, dtype=np.int64)
    used = 0
    for m in range(n):
        if rename[raw[m]] < 0:
            rename[raw[m]] = used
            used += 1
        labels[m] = rename[raw[m]]
    return n_clusters > 1 and kept >= 0.0 and cut <= kept * (1.0 + TIE), kept, cut


@kernel
def single_linkage_kernel(dist: Array, n_clusters: int, labels: Array) -> bool:
    """Write the labels (0..K-1 in order of first appearance) and tell whether the cut is ambiguous."""
    n = dist.shape[0]
    order = np.empty(n, dtype=np.int64)
    parent = np.empty(n, dtype=np.int64)
    up = np.empty(n, dtype=np.int64)
    length = np.empty(n)
    minimum_spanning_tree(dist, order, parent, length)
    return cut_tree(n_clusters, order, parent, length, up, labels)[0]


def single_linkage(parameters: ArrayLike, n_clusters: int) -> tuple[NDArray[np.int64], bool]:
    """Single-linkage clusters of points, by Euclidean distance.

    Parameters
    ----------
    parameters : array of shape (M, d) or (M,)
        The points.
    n_clusters : int
        K, from 1 to M.

    Returns
    -------
    labels : ndarray of int, shape (M,)
        0..K-1 in order of first appearance.
    ambiguous : bool
        The cut goes through equal edges, so that another partition is as good.

    Examples
    --------
    >>> from linkarms.linkage import single_linkage
    >>> labels, ambiguous = single_linkage([0.0, 5.0, 0.5, 5.7], n_clusters=2)
    >>> labels.tolist(), ambiguous
    ([0, 1, 0, 1], False)
    >>> single_linkage([0.0, 1.0, 2.0], n_clusters=2)[1]
    True
    """
    theta = check_parameters(parameters)
    k = check_n_clusters(n_clusters, len(theta))
    dist = np.zeros((len(theta), len(theta)))
    for m in range(len(theta)):
        fill_distances(theta, m, dist)
    labels = np.empty(len(theta), dtype=np.int64)
    ambiguous = single_linkage_kernel(dist, k, labels)
    return labels, bool(ambiguous)
