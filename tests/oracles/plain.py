"""psi and the partition by their definitions: every cluster, every inter pair, every edge; nothing is pruned or kept.

Only the cost of one pair against another is the core's (`tests/test_core_pairs.py` compares that with brute force).
"""

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from linkarms._core import testing

#: Weights below this share of the largest are raised to it.
FLOOR = 1e-12


class Plain(NamedTuple):
    """psi, where it is attained, ``(u, v, a, b)``, and every such four where it is attained up to `tolerance`.

    ``u < v`` and ``a < b``; of equal candidates the first by ``(a, b, k)`` counts, and of equal edges of a spanning tree the last.
    """

    value: float
    witness: tuple[int, int, int, int] | None
    witnesses: set[tuple[int, int, int, int]]


def tolerance(model):
    """Relative: vector families are searched with a certificate of 3e-8, the others solved."""
    return 1e-6 if model.kind == "vector" else 1e-9


def floored(weights):
    w = np.asarray(weights, dtype=np.float64)
    return np.maximum(w, FLOOR * w.max())


def pair_costs(model, theta, weights, pairs):
    """``cost(u,v; a,b)`` of each row ``u, v, a, b``."""
    theta, w = np.array(theta), floored(weights)
    return [testing.pair_cost(model, theta, w, tuple(row)) for row in pairs]


def divergences(model, theta, weights, pairs):
    """The KL of all arms at the minimiser of one cost."""
    lam = testing.pair_solution(model, np.array(theta), floored(weights), tuple(pairs))
    return np.array([model.kl(m, theta[m].copy(), lam[m].copy()) for m in range(len(theta))])


def bottleneck(edges, costs):
    """The smallest edge of a maximum spanning tree, and its cost, by Kruskal's algorithm; edges are in order."""
    root = {m: m for edge in edges for m in edge}

    def find(m):
        while root[m] != m:
            m = root[m]
        return m

    last = None
    for i in sorted(range(len(edges)), key=lambda i: (-costs[i], edges[i])):
        u, v = (find(m) for m in edges[i])
        if u != v:
            root[u] = v
            last = i
    return costs[last], edges[last]


def components(edges, costs, above):
    """The root of each arm where edges that cost more than ``above`` join."""
    root = {m: m for edge in edges for m in edge}

    def find(m):
        while root[m] != m:
            m = root[m]
        return m

    for (u, v), cost in zip(edges, costs, strict=True):
        if cost > above:
            root[find(u)] = find(v)
    return {m: find(m) for m in root}


def all_cases(labels):
    """Edges of a cluster, inter pair: for every two arms of different clusters and every cluster of two arms and more."""
    groups = [[m for m, label in enumerate(labels) if label == k] for k in sorted(set(labels))]
    inter = [(a, b) for a, b in combinations(range(len(labels)), 2) if labels[a] != labels[b]]
    return [(list(combinations(group, 2)), ab) for ab in inter for group in groups if len(group) > 1]


def plain_psi(model, theta, weights, labels):
    """psi of the partition ``labels``, a list of M, at ``theta`` (M, d) and ``weights`` (M,), of which some may be zero.

    The minimum over `all_cases` of the smallest edge of a maximum spanning tree of the cluster, where the edge ``(u, v)`` weighs
    ``cost(u, v; a, b)``.
    """
    cases = all_cases(labels)
    if not cases:
        return Plain(math.inf, None, set())
    costs = [pair_costs(model, theta, weights, [(*edge, *ab) for edge in edges]) for edges, ab in cases]
    values = [bottleneck(edges, found) for (edges, _), found in zip(cases, costs, strict=True)]
    best = min(value for value, _ in values)
    first = next(i for i, (value, _) in enumerate(values) if value == best)
    witness = (*values[first][1], *cases[first][1])
    room = tolerance(model) * best
    witnesses = set()
    for (edges, ab), found, (value, _) in zip(cases, costs, values, strict=True):
        if value <= best + room:
            part = components(edges, found, best + room)
            witnesses |= {
                (*edge, *ab)
                for edge, cost in zip(edges, found, strict=True)
                if part[edge[0]] != part[edge[1]] and cost >= best - room
            }
    return Plain(best, witness, witnesses)


def searched(model, theta, weights, labels):
    """Whether every pair problem was solved: where a search over directions gives up, its bound depends on how it was asked for.

    The level, and which arm of a pair comes first, change it; the cost of its point is then above the bound. Without such a search
    the bound is a formula, loose or not.
    """
    if model.kind != "vector" or model.chart_dimension != 2:
        return True
    w = floored(weights)
    for edges, ab in all_cases(labels):
        for edge in edges + [(v, u) for u, v in edges]:
            (cost,) = pair_costs(model, theta, weights, [(*edge, *ab)])
            if not w @ divergences(model, theta, weights, (*edge, *ab)) <= cost * (1.0 + tolerance(model)):
                return False
    return True


def plain_partition(theta, n_clusters):
    """SciPy's single linkage, labels in order of first appearance; the only one where the cut is not ambiguous."""
    n = len(theta)
    merges = linkage(pdist(theta), method="single")[: n - n_clusters, :2].astype(int).tolist()
    label = list(range(2 * n))  # of the arms, and of the clusters in the order of their merges
    for i, (x, y) in reversed(list(enumerate(merges))):
        label[x] = label[y] = label[n + i]
    names = {}
    return [names.setdefault(x, len(names)) for x in label[:n]]


def simplex(x):
    """Euclidean projection onto the probability simplex, by sorting."""
    down = np.sort(x)[::-1]
    tau = (np.cumsum(down) - 1.0) / np.arange(1, len(x) + 1)
    return np.maximum(x - tau[np.flatnonzero(down > tau)[-1]], 0.0)
