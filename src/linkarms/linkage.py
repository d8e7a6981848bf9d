"""Single linkage by minimum spanning tree.

The partition into K clusters is what remains of a minimum spanning tree without its K - 1 longest edges. Ties inside the
tree do not matter; a tie *at the cut* (the longest edge kept is as long as the shortest one removed) leaves the partition
undefined. It is then *ambiguous*: a partition is still given (ties break by index), and no rule stops on it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._jit import Array, kernel
from linkarms._validate import check_n_clusters, check_parameters

__all__ = ["fill_distances", "minimum_spanning_tree", "single_linkage", "single_linkage_kernel"]

#: Edges at the cut whose lengths differ by less than this, relatively, are equal but for rounding.
TIE = 1e-12


@kernel
def fill_distances(theta: Array, m: int, dist: Array) -> None:
    """Write the Euclidean distances of arm ``m`` to all others into row and column ``m`` of ``dist``, shape (M, M)."""
    for j in range(theta.shape[0]):
        s = 0.0
        for i in range(theta.shape[1]):
            s += (theta[m, i] - theta[j, i]) * (theta[m, i] - theta[j, i])
        dist[m, j] = math.sqrt(s)
        dist[j, m] = dist[m, j]


@kernel
def minimum_spanning_tree(dist: Array, order: Array, parent: Array, length: Array) -> None:
    """Prim's algorithm from arm 0; ties go to the smaller index.

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
        order[m] = -1
    joined = np.zeros(n, dtype=np.bool_)
    joined[0] = True
    order[0], parent[0], length[0] = 0, -1, 0.0
    for step in range(1, n):
        nearest, best = -1, math.inf
        for m in range(n):
            if not joined[m] and (nearest < 0 or length[m] < best):
                nearest, best = m, length[m]
        joined[nearest] = True
        order[step] = nearest
        for m in range(n):
            if not joined[m] and dist[nearest, m] < length[m]:
                length[m] = dist[nearest, m]
                parent[m] = nearest


@kernel
def single_linkage_kernel(dist: Array, n_clusters: int, labels: Array) -> bool:
    """Write the labels (0..K-1 in order of first appearance) and tell whether the cut is ambiguous."""
    n = dist.shape[0]
    order = np.empty(n, dtype=np.int64)
    parent = np.empty(n, dtype=np.int64)
    length = np.empty(n)
    minimum_spanning_tree(dist, order, parent, length)
    cut = np.zeros(n, dtype=np.bool_)
    shortest_cut = math.inf
    for _ in range(n_clusters - 1):
        longest = -1
        for m in range(n):
            if parent[m] >= 0 and not cut[m] and (longest < 0 or length[m] > length[longest]):
                longest = m
        cut[longest] = True
        shortest_cut = length[longest]
    longest_kept = -1.0
    for m in range(n):
        if parent[m] >= 0 and not cut[m]:
            longest_kept = max(longest_kept, length[m])
    # label along the tree: a parent joins before its children
    raw = np.empty(n, dtype=np.int64)
    count = 0
    for step in range(n):
        m = order[step]
        if parent[m] < 0 or cut[m]:
            raw[m] = count
            count += 1
        else:
            raw[m] = raw[parent[m]]
    rename = np.full(n_clusters, -1, dtype=np.int64)
    used = 0
    for m in range(n):
        if rename[raw[m]] < 0:
            rename[raw[m]] = used
            used += 1
        labels[m] = rename[raw[m]]
    return n_clusters > 1 and longest_kept >= 0.0 and shortest_cut <= longest_kept * (1.0 + TIE)


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
