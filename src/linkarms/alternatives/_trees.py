"""Spanning trees that rule candidates out: one of each cluster, and what makes it one of the cluster without any of its arms.

Where all edges of the tree of a cluster cost more than a level against a pair, so does the cluster. A pair with an arm ``u`` in the
cluster has other costs at the edges of ``u``; for it ``u`` is hung from its attachment alone, and what falls apart without ``u`` is
joined by alternative edges: for each child of ``u`` one from the arms below it to those that are not below ``u``. The root has one
child, so that it needs none.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, lean
from linkarms.alternatives._cache import (
    ALT_EDGE,
    ALT_U,
    ALT_V,
    CHILD,
    CHOSEN,
    COUNTS_SIDE,
    EDGE,
    ENTER,
    JOIN,
    JOIN_U,
    JOIN_V,
    LEAVE,
    LINK,
    LINKED,
    MANY,
    MEMBERS,
    NEAR,
    PART,
    REST,
    SIBLING,
    START,
    UP,
    VALID,
    Cache,
)
from linkarms.alternatives._parts import name_parts

__all__ = [
    "below",
    "fit_trees",
    "forget_alternatives",
    "hang",
    "list_members",
    "measure_edges",
    "mend_trees",
    "move_edges",
    "order_tree",
    "set_alternative",
]


@flat
def hang(dist: Array, cache: Cache, side: int, x: int, y: int) -> None:
    """Hang the tree of ``x`` from ``y``, by an edge between the two; -1: make ``x`` a root. Lengths go with their edges."""
    link, edge = cache.trees[side, LINK], cache.arms[side, EDGE]
    above, length, m = y, dist[x, y] if y >= 0 else 0.0, x
    while m >= 0:
        up, old = link[m], edge[m]
        link[m], edge[m] = above, length
        above, length, m = m, old, up


@flat
def below(trees: Array, x: int, y: int) -> bool:
    """Whether ``y``, of the same cluster, is ``x`` or below it."""
    return bool(trees[ENTER, x] <= trees[ENTER, y] < trees[LEAVE, x])


@flat
def _list_children(cache: Cache, trees: Array, k: int) -> int:
    """Fill `CHILD` and `SIBLING` of a cluster; its root."""
    members, first, end = cache.nodes[MEMBERS], cache.nodes[START, k], cache.nodes[START, k + 1]
    root = -1
    for i in range(first, end):
        trees[CHILD, members[i]] = -1
    for i in range(end - 1, first - 1, -1):
        x = members[i]
        up = trees[LINK, x]
        if up < 0:
            root = x
            trees[SIBLING, x] = -1
        else:
            trees[SIBLING, x] = trees[CHILD, up]
            trees[CHILD, up] = x
    return root


@flat
def measure_edges(dist: Array, cache: Cache, side: int, k: int) -> None:
    """Fill `EDGE` for the arms of a cluster."""
    edge, link = cache.arms[side, EDGE], cache.trees[side, LINK]
    for i in range(cache.nodes[START, k], cache.nodes[START, k + 1]):
        x = cache.nodes[MEMBERS, i]
        edge[x] = dist[x, link[x]] if link[x] >= 0 else 0.0


@flat
def move_edges(dist: Array, labels: Array, cache: Cache, side: int, m: int) -> None:
    """The lengths of the edges of arm ``m``, which has moved."""
    edge, link, members = cache.arms[side, EDGE], cache.trees[side, LINK], cache.nodes[MEMBERS]
    if link[m] >= 0:
        edge[m] = dist[m, link[m]]
    for i in range(cache.nodes[START, labels[m]], cache.nodes[START, labels[m] + 1]):
        if link[members[i]] == m:
            edge[members[i]] = dist[members[i], m]


@flat
def set_alternative(cache: Cache, side: int, x: int, z: int, w: int) -> None:
    """Make ``(z, w)`` the alternative edge of ``x``; it is measured when it is looked at."""
    cache.trees[side, ALT_U, x], cache.trees[side, ALT_V, x] = z, w
    cache.arms[side, ALT_EDGE, x] = -1.0


@flat
def forget_alternatives(cache: Cache, side: int, m: int) -> None:
    """Forget the lengths of the alternative edges of arm ``m``, which has moved; -1: of all."""
    trees, length = cache.trees[side], cache.arms[side, ALT_EDGE]
    for x in range(length.shape[0]):
        if m < 0 or trees[ALT_U, x] == m or trees[ALT_V, x] == m:
            length[x] = -1.0


@lean
def order_tree(dist: Array, labels: Array, cache: Cache, side: int, k: int) -> None:
    """After a change of the tree of ``k``, three arms and more: children, the order, alternatives where there are none now."""
    trees, members = cache.trees[side], cache.nodes[MEMBERS]
    root = _list_children(cache, trees, k)
    if trees[SIBLING, trees[CHILD, root]] >= 0:
        leaf = root
        while trees[CHILD, leaf] >= 0:
            leaf = trees[CHILD, leaf]
        hang(dist, cache, side, leaf, -1)
        root = _list_children(cache, trees, k)
    # numbers in which every subtree is an interval
    x, number = root, 0
    trees[ENTER, x] = number
    while True:
        number += 1
        if trees[CHILD, x] >= 0:
            x = trees[CHILD, x]
        else:
            trees[LEAVE, x] = number
            while x != root and trees[SIBLING, x] < 0:
                x = trees[LINK, x]
                trees[LEAVE, x] = number
            if x == root:
                break
            x = trees[SIBLING, x]
        trees[ENTER, x] = number
    for i in range(cache.nodes[START, k], cache.nodes[START, k + 1]):
        x = members[i]
        u = trees[LINK, x]
        if u < 0 or trees[LINK, u] < 0:
            continue
        z, w = trees[ALT_U, x], trees[ALT_V, x]
        if not (
            z >= 0 and labels[z] == k and labels[w] == k and below(trees, x, z) and not below(trees, u, w)
        ):
            set_alternative(cache, side, x, x, trees[LINK, u])


@flat
def _top(roots: Array, x: int) -> int:
    while roots[x] != x:
        roots[x] = roots[roots[x]]
        x = roots[x]
    return x


@lean
def _join_by_linkage(dist: Array, cache: Cache, side: int) -> None:
    """Join the parts of the forests by edges of the linkage tree."""
    trees, up = cache.trees[side], cache.nodes[UP]
    roots, n = trees[REST], cache.arms.shape[2]
    for m in range(n):
        roots[m] = m
    for m in range(n):
        if trees[LINK, m] >= 0:
            roots[_top(roots, m)] = _top(roots, trees[LINK, m])
    for m in range(n):
        if up[m] >= 0 and _top(roots, m) != _top(roots, up[m]):
            roots[_top(roots, m)] = _top(roots, up[m])
            hang(dist, cache, side, m, up[m])


@lean
def _connect(dist: Array, cache: Cache, side: int, k: int) -> None:
    """Make the forest of cluster ``k`` a tree, by its shortest edges."""
    trees, best = cache.trees[side], cache.arms[side, JOIN]
    first, end = cache.nodes[START, k], cache.nodes[START, k + 1]
    parts = 0
    for i in range(first, end):
        m = cache.nodes[MEMBERS, i]
        trees[PART, m] = -1
        if trees[LINK, m] < 0:
            trees[PART, m] = -2 - parts
            parts += 1
    if parts < 2:
        return
    name_parts(cache, side, k)
    for g in range(parts):
        trees[CHOSEN, g], best[g] = 0, math.inf
    last = trees[PART, cache.nodes[MEMBERS, first]]
    for _ in range(parts - 1):
        trees[CHOSEN, last] = 1
        for i in range(first, end):
            x = cache.nodes[MEMBERS, i]
            if trees[PART, x] != last:
                continue
            for j in range(first, end):
                y = cache.nodes[MEMBERS, j]
                g = trees[PART, y]
                if trees[CHOSEN, g] == 0 and dist[x, y] < best[g]:
                    best[g], trees[JOIN_U, g], trees[JOIN_V, g] = dist[x, y], x, y
        last = -1
        for g in range(parts):
            if trees[CHOSEN, g] == 0 and (last < 0 or best[g] < best[last]):
                last = g
        hang(dist, cache, side, trees[JOIN_V, last], trees[JOIN_U, last])


@lean
def fit_trees(dist: Array, labels: Array, n_clusters: int, cache: Cache, side: int) -> None:
    """Fit the trees to a new partition: take the edges between clusters out, and join what has fallen apart."""
    trees, start = cache.trees[side], cache.nodes[START]
    for m in range(labels.shape[0]):
        up = trees[LINK, m]
        if up >= 0 and labels[up] != labels[m]:
            trees[LINK, m] = -1
    if cache.flags[COUNTS_SIDE, LINKED] == 1:
        _join_by_linkage(dist, cache, side)
    cache.flags[side, MANY] = 0
    for k in range(n_clusters):
        _connect(dist, cache, side, k)
        if start[k + 1] - start[k] > 2:
            cache.flags[side, MANY] = 1
            order_tree(dist, labels, cache, side, k)
        measure_edges(dist, cache, side, k)
    cache.flags[side, VALID] = 1


@flat
def mend_trees(dist: Array, labels: Array, n_clusters: int, cache: Cache, side: int) -> None:
    """Give edges that are longer than the shortest foreign distance up for those of the linkage tree, which are not."""
    if cache.flags[COUNTS_SIDE, LINKED] == 0:
        return
    trees, up, near, length = cache.trees[side], cache.nodes[UP], cache.lengths[NEAR], cache.arms[side, EDGE]
    shortest, cut = math.inf, False
    for m in range(labels.shape[0]):
        shortest = min(shortest, near[m])
    for k in range(n_clusters):
        trees[CHOSEN, k] = 0
    for m in range(labels.shape[0]):
        above = trees[LINK, m]
        if above >= 0 and length[m] >= shortest and up[m] != above and up[above] != m:
            trees[LINK, m] = -1
            trees[CHOSEN, labels[m]] = 1
            cut = True
    if not cut:
        return
    _join_by_linkage(dist, cache, side)
    for k in range(n_clusters):
        if trees[CHOSEN, k] == 1:  # a cluster of two has no other edge
            order_tree(dist, labels, cache, side, k)


@lean
def list_members(labels: Array, n_clusters: int, nodes: Array) -> None:
    """List the arms of each cluster: `MEMBERS` from `START` on."""
    n = labels.shape[0]
    for k in range(n_clusters + 1):
        nodes[START, k] = 0
    for m in range(n):
        nodes[START, labels[m] + 1] += 1
    for k in range(n_clusters):
        nodes[START, k + 1] += nodes[START, k]
    # fill from the end of each cluster: afterwards START[k + 1] has moved to the cluster's beginning
    for m in range(n - 1, -1, -1):
        nodes[START, labels[m] + 1] -= 1
        nodes[MEMBERS, nodes[START, labels[m] + 1]] = m
    for k in range(n_clusters):
        nodes[START, k] = nodes[START, k + 1]
    nodes[START, n_clusters] = n
