"""The partition, kept up to date by a certificate.

The partition is that of single linkage as long as every cluster has a spanning tree whose edges are all shorter than the shortest distance
between two clusters. After a sample of one arm only its own edges and its row of distances can break that; only then is the minimum
spanning tree brought up to date.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, kernel, lean
from linkarms.alternatives._attach import regroup
from linkarms.alternatives._cache import (
    COUNTS_SIDE,
    DIRTY,
    LENGTH,
    NEAR,
    ORDER,
    PARENT,
    SPAN,
    UP,
    Cache,
)
from linkarms.alternatives._near import fill_nearest
from linkarms.alternatives._trees import list_members
from linkarms.engine._spanning import respan
from linkarms.families._model import Model
from linkarms.linkage import TIE, cut_tree, minimum_spanning_tree

#: What `update_tree` answers.
SAME, CHANGED, AMBIGUOUS_CUT = range(3)
#: If more than one of so many arms have been pulled since the minimum spanning tree was made, it is made from scratch.
SHARE = 16
#: The same for so few arms, however many were pulled.
FEW = 64


@lean
def _fill_tree(dist: Array, n_clusters: int, labels: Array, nodes: Array, lengths: Array) -> bool:
    """Minimum spanning tree, partition, and the arms of each cluster, from scratch; whether the cut is ambiguous."""
    minimum_spanning_tree(dist, nodes[ORDER], nodes[PARENT], lengths[SPAN])
    return _cut_into_clusters(n_clusters, labels, nodes, lengths)


@lean
def _cut_into_clusters(n_clusters: int, labels: Array, nodes: Array, lengths: Array) -> bool:
    """Cut the minimum spanning tree, and list the arms of each cluster; whether the cut is ambiguous."""
    n = labels.shape[0]
    ambiguous, _, _ = cut_tree(
        n_clusters, nodes[ORDER, :n], nodes[PARENT, :n], lengths[SPAN], nodes[UP, :n], labels
    )
    for m in range(n):
        lengths[LENGTH, m] = lengths[SPAN, m] if nodes[UP, m] >= 0 else 0.0
    list_members(labels, n_clusters, nodes)
    return ambiguous


@lean
def make_tree(dist: Array, labels: Array, n_clusters: int, nodes: Array, lengths: Array) -> int:
    """Tree, partition and nearest foreign distances from scratch."""
    nodes[DIRTY, labels.shape[0]] = 0
    ambiguous = _fill_tree(dist, n_clusters, labels, nodes, lengths)
    fill_nearest(dist, labels, lengths[NEAR])
    return AMBIGUOUS_CUT if ambiguous else CHANGED


@lean
def _mark_dirty(nodes: Array, n: int, m: int) -> None:
    """Remember that the distances of arm ``m`` have changed since the minimum spanning tree was made, unless too many have."""
    count, most = nodes[DIRTY, n], n // SHARE
    if count > most:
        return
    for i in range(count):
        if nodes[DIRTY, i] == m:
            return
    if count < most:
        nodes[DIRTY, count] = m
    nodes[DIRTY, n] = count + 1


@flat
def update_tree(model: Model, dist: Array, labels: Array, n_clusters: int, cache: Cache, m: int) -> int:
    """Bring tree and partition up to date after the distances of arm ``m`` have changed.

    Returns
    -------
    int
        `SAME` if tree and partition are what they were; else `CHANGED`, or `AMBIGUOUS_CUT` if the cut goes through equal edges.
    """
    n, nodes, lengths = labels.shape[0], cache.nodes, cache.lengths
    longest, shortest, own = 0.0, math.inf, math.inf
    for j in range(n):
        up = nodes[UP, j]
        if up >= 0 and (j == m or up == m):
            lengths[LENGTH, j] = dist[j, up]
        longest = max(longest, lengths[LENGTH, j])
        if labels[j] != labels[m]:
            d = dist[m, j]
            own = min(own, d)
            lengths[NEAR, j] = min(lengths[NEAR, j], d)
        if j != m:
            shortest = min(shortest, lengths[NEAR, j])
    lengths[NEAR, m] = own
    shortest = min(shortest, own)
    if n > FEW:
        _mark_dirty(nodes, n, m)
    limit = longest * (1.0 + 2.0 * TIE)
    if limit < shortest:
        return SAME
    # the bounds of the nearest foreign distances may have become too low
    shortest = math.inf
    for a in range(n):
        if lengths[NEAR, a] <= limit:
            near = math.inf
            for b in range(n):
                if labels[a] != labels[b] and dist[a, b] < near:
                    near = dist[a, b]
            lengths[NEAR, a] = near
            if near <= limit:
                break
        shortest = min(shortest, lengths[NEAR, a])
    else:
        return SAME
    return _link_again(model, dist, labels, n_clusters, cache)


@kernel
def _link_again(model: Model, dist: Array, labels: Array, n_clusters: int, cache: Cache) -> int:
    before, nodes, lengths = labels.copy(), cache.nodes, cache.lengths
    n = labels.shape[0]
    if n > FEW and nodes[DIRTY, n] <= n // SHARE:
        respan(dist, nodes[DIRTY], nodes[DIRTY, n], nodes[ORDER], nodes[PARENT], lengths[SPAN])
        ambiguous = _cut_into_clusters(n_clusters, labels, nodes, lengths)
    else:
        ambiguous = _fill_tree(dist, n_clusters, labels, nodes, lengths)
    nodes[DIRTY, n] = 0
    regroup(model, dist, before, labels, n_clusters, cache, COUNTS_SIDE, lengths[NEAR])
    return AMBIGUOUS_CUT if ambiguous else CHANGED
