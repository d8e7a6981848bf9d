"""The threshold of ATBOC and LUCBBOC, and LUCBBOC's choice, compiled."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.linkage import minimum_spanning_tree

__all__ = ["boc_penalty", "lucb_choice"]


@kernel
def boc_penalty(n: int, n_features: int) -> float:
    """An arm's part of ``2 [log(1/delta) + (d/2) sum_m log(N_m + 1)]``: ``d log(N_m + 1)``."""
    return n_features * math.log(n + 1.0)


@kernel
def lucb_choice(dist: Array, labels: Array, n: Array, n_features: int, level: float) -> int:
    """The least sampled arm of the widest pair inside a cluster and the closest pair of two clusters, by their confidence bounds.

    ``r_m = sqrt(2 beta / n_m)`` with ``beta = 2 level + sum_m boc_penalty``. Upper bounds ``|theta_u - theta_v| + r_u + r_v`` inside
    clusters, of which the longest edge of a minimum spanning tree counts (for two arms: the only one); lower bounds ``|theta_a -
    theta_b| - r_a - r_b`` between them. Ties break by index.

    Parameters
    ----------
    dist : ndarray, shape (M, M)
        Distances between the estimates.
    labels, n : ndarray of int, shape (M,)
        Their partition, and the pulls, none of them zero.
    n_features : int
        d.
    level : float
        ``log(1/delta)``.
    """
    n_arms = n.shape[0]
    beta = 2.0 * level
    for m in range(n_arms):
        beta += boc_penalty(n[m], n_features)
    radius = np.empty(n_arms)
    for m in range(n_arms):
        radius[m] = math.sqrt(2.0 * beta / n[m])
    upper = np.full((n_arms, n_arms), math.inf)
    closest = math.inf
    a, b = -1, -1
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            reach = radius[i] + radius[j]
            if labels[i] == labels[j]:
                upper[i, j] = upper[j, i] = dist[i, j] + reach
            elif dist[i, j] - reach < closest:
                closest = dist[i, j] - reach
                a, b = i, j
    # with infinite lengths between clusters, a spanning tree of all arms contains one of each cluster
    order = np.empty(n_arms, dtype=np.int64)
    parent = np.empty(n_arms, dtype=np.int64)
    length = np.empty(n_arms)
    minimum_spanning_tree(upper, order, parent, length)
    widest = -math.inf
    u, v = -1, -1
    for m in range(n_arms):
        p = parent[m]
        if p >= 0 and labels[p] == labels[m] and length[m] > widest:
            widest = length[m]
            u, v = min(m, p), max(m, p)
    best = a
    for m in (b, u, v):
        if m >= 0 and (best < 0 or n[m] < n[best] or (n[m] == n[best] and m < best)):
            best = m
    return best
