"""Which pairs there are: index and scratch arrays of the NumPy yardsticks.

Yardstick (a) builds them for every sample, (a') only when the partition changes.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

__all__ = ["Pairs", "partition"]

Ints = NDArray[np.intp]


@cache
def _upper(n: int) -> tuple[Ints, Ints]:
    """Return rows and columns above the diagonal; kept, because they depend on M alone and take 15 us."""
    first, second = np.triu_indices(n, 1)
    return first, second


def partition(squares: NDArray[np.float64], n_clusters: int) -> Ints:
    """Return labels of single linkage from squared distances, shape (M, M).

    SciPy's `linkage` (30 us at M = 20) and its first M - K merges; `fcluster` on top of it takes 120 us more, `minimum_spanning_tree`
    500 us, Prim's algorithm in NumPy 110 us.
    """
    n = len(squares)
    merges = linkage(squares[_upper(n)], "single")
    group: list[list[int]] = [[m] for m in range(n)]
    for x, y in merges[: n - n_clusters, :2].astype(int).tolist():
        group.append(group[x] + group[y])
        group[x] = group[y] = []
    labels = np.empty(n, dtype=np.intp)
    for k, members in enumerate(sorted(g for g in map(sorted, group) if g)):
        labels[members] = k
    return labels


class Pairs:
    """The intra pairs (rows) and inter pairs (columns) of a partition, and scratch arrays of their shapes.

    Attributes
    ----------
    n_intra, n_inter : int
        E and P.
    ends : ndarray, shape (2, E + P)
        The arms of each pair, intra pairs first.
    flat : ndarray, shape (E + P,)
        The same as positions in a flat (M, M) array.
    shared : ndarray, shape (S,)
        Positions in a flat (E, P) array at which the two pairs share an arm.
    shared_arms : ndarray, shape (3, S)
        The shared arm u, the other arm v of the intra pair, the other arm b of the inter pair.
    shared_flat : ndarray, shape (3, S)
        Positions of (u, v), (u, b), (v, b) in a flat (M, M) array.
    twos : ndarray
        Rows of the clusters of two.
    larger : list of ndarray, shape (n, n)
        For each cluster of three arms and more, the row of each of its pairs (0 on the diagonal, never read).
    """

    def __init__(self, labels: Ints) -> None:
        n = len(labels)
        first, second = _upper(n)
        same = labels[first] == labels[second]
        u, v, a, b = first[same], second[same], first[~same], second[~same]
        self.n_intra, self.n_inter = len(u), len(a)
        self.ends = np.array([np.concatenate([u, a]), np.concatenate([v, b])])
        self.flat = self.ends[0] * n + self.ends[1]
        self._find_shared(n, u, v, a, b)
        self._sort_rows(n, labels, u, v)
        e, p, s = self.n_intra, self.n_inter, len(self.shared)
        self.length = np.empty(e + p)
        self.ends_inv = np.empty((2, e + p))
        self.room = np.empty(e + p)
        self.cost, self.total = np.empty((e, p)), np.empty((e, p))
        self.sides, self.shared_inv, self.norms = np.empty((3, s)), np.empty((3, s)), np.empty((2, s))
        self.work = np.empty((4, s))
        # views, so that a step does not create them
        self.flat_cost = self.cost.reshape(-1)
        self.intra_length, self.inter_length = self.length[:e], self.length[e:]
        self.columns = tuple(x[e:][None, :] for x in (self.length, self.room))
        self.rows = tuple(x[:e][:, None] for x in (self.length, self.room))

    def _find_shared(self, n: int, u: Ints, v: Ints, a: Ints, b: Ints) -> None:
        """Compare each end of each intra pair with each end of each inter pair: two such pairs share at most one arm."""
        e, p = len(u), len(a)
        x, other_x, other_y = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([b, a])
        equal = x[:, None] == np.concatenate([a, b])
        # flatnonzero and divmod: a third of the time of nonzero()
        i, j = np.divmod(np.flatnonzero(equal), 2 * p)
        shared, intra, inter = x[i], other_x[i], other_y[j]
        self.shared = i % e * p + j % p
        self.shared_arms = np.array([shared, intra, inter])
        self.shared_flat = np.array([shared * n + intra, shared * n + inter, intra * n + inter])

    def _sort_rows(self, n: int, labels: Ints, u: Ints, v: Ints) -> None:
        row = np.zeros((n, n), dtype=np.intp)
        row[u, v] = row[v, u] = np.arange(len(u))
        order = np.argsort(labels, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        groups = [order[i:j] for i, j in pairwise(bounds.tolist())]
        self.twos = np.array([row[g[0], g[1]] for g in groups if len(g) == 2], dtype=np.intp)
        self.larger = [row[np.ix_(g, g)] for g in groups if len(g) > 2]
