"""Which cluster can be split against which inter pair at less than a given cost, for Gaussian arms."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._dual import ascend
from linkarms.alternatives._gaussian import isotropic_bound


@kernel
def split_bounds(
    dist: Array, inv: Array, labels: Array, n_clusters: int, level: float, bounds: Array
) -> None:
    """Lower bounds of the cost to split cluster ``k`` against ``a < b``, from distances alone; ``level`` where they reach that.

    The bottleneck of ``_search.py`` with `isotropic_bound` for the cost of a pair.

    Parameters
    ----------
    dist : ndarray, shape (M, M)
        Distances of the arms.
    inv : ndarray, shape (M,)
        Largest variance of each over its weight.
    labels : ndarray of int, shape (M,)
        The partition.
    bounds : ndarray, shape (K, M, M)
        Filled where ``a < b`` are in two clusters and ``k`` has two arms or more; infinite elsewhere.
    """
    n = labels.shape[0]
    bounds[:] = math.inf
    arms = np.empty(n, dtype=np.int64)
    weight = np.empty(n)
    for k in range(n_clusters):
        size = 0
        for m in range(n):
            if labels[m] == k:
                arms[size] = m
                size += 1
        if size < 2:
            continue
        for a in range(n):
            for b in range(a + 1, n):
                if labels[a] == labels[b]:
                    continue
                # Prim's algorithm for the maximum spanning tree, until an edge is cheap enough to tell
                smallest = level
                weight[:size] = -1.0
                last = 0
                weight[0] = math.inf
                for _ in range(size - 1):
                    best = -1
                    for j in range(size):
                        if weight[j] == math.inf:
                            continue
                        u, v, x, y = arms[last], arms[j], a, b
                        if v in (x, y):
                            u, v = v, u
                        if u == y:
                            x, y = y, x
                        weight[j] = max(weight[j], isotropic_bound(dist, inv, u, v, x, y))
                        if best < 0 or weight[j] > weight[best]:
                            best = j
                    smallest = min(smallest, weight[best])
                    weight[best] = math.inf
                    last = best
                bounds[k, a, b] = smallest


@kernel
def pair_values(
    theta: Array, precision: Array, arms: Array, a: int, b: int, level: float, values: Array
) -> None:
    """Lower bounds of ``cost(u, v; a, b)`` for all two arms of a cluster, or ``level`` where they reach it: the dual of a single pair.

    ``theta`` (M, e, r) and ``precision`` (M, e, e) as in ``_dual.py``; ``values`` has shape (n, n).
    """
    n = arms.shape[0]
    one, two = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    mu = np.empty(1)
    for i in range(n):
        values[i, i] = math.inf
        for j in range(i):
            u, v = arms[i], arms[j]
            if v in (a, b):
                u, v = v, u
            at, bt = 2, 3
            if u in (a, b):  # a shared arm comes first
                rows = np.array([u, v, a if u == b else b])
                at, bt = 0, 2
            else:
                rows = np.array([u, v, a, b])
            mu[0] = 0.0
            here = theta[rows]
            value, _ = ascend(here, precision[rows], one, two, at, bt, level, mu, np.empty_like(here))
            values[i, j] = values[j, i] = min(value, level)
