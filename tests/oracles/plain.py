"""psi and the partition by their definitions: every cluster, every inter pair, every edge; nothing is pruned or kept.

Only the cost of one pair against another is the library's (`tests/test_psi_brute_force.py` compares that with brute force).
"""

import hashlib
import math
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from linkarms._jit import kernel
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH, pair_cost, pair_solution
from linkarms.alternatives._spreads import FLOOR
from linkarms.families._model import VectorModel
from linkarms.families._vector import arm_kl, arm_variance, chart_dimension
from linkarms.linkage import fill_distances


def _pair_costs(model, theta, weights, pairs, costs, solve, kl):
    """The cost of each row ``u, v, a, b`` of ``pairs``; with ``solve`` also the KL of all arms at the last row's minimiser."""
    n = theta.shape[0]
    dist = np.zeros((n, n))
    inv = np.empty(n)
    for m in range(n):
        fill_distances(theta, m, dist)
        inv[m] = arm_variance(model, m, theta[m]) / weights[m]
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    u, v, a, b = 0, 0, 0, 0
    for i in range(pairs.shape[0]):
        u, v, a, b = pairs[i, 0], pairs[i, 1], pairs[i, 2], pairs[i, 3]
        if v in (a, b):  # a shared arm comes first in both pairs
            u, v = v, u
        if u == b:
            a, b = b, a
        costs[i] = pair_cost(model, theta, dist, weights, inv, u, v, a, b, math.inf, box, which)
    if solve:
        lam = theta.copy()
        pair_solution(model, theta, dist, weights, inv, u, v, a, b, lam, box, which)
        for m in range(n):
            kl[m] = arm_kl(model, m, theta[m], lam[m])


# the cache of kernels is stamped with the package's sources; this file's own go into the name
_pair_costs.__qualname__ += "_" + hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
_pair_costs = kernel(_pair_costs)


class Plain(NamedTuple):
    """psi, and every ``(u, v, a, b)``, ``u < v`` and ``a < b``, at which it is attained up to `tolerance`."""

    value: float
    witnesses: set[tuple[int, int, int, int]]


def tolerance(families):
    """Relative: vector families are searched with a certificate of 3e-8, the others solved."""
    return 1e-6 if isinstance(families.model, VectorModel) else 1e-9


def pair_costs(families, theta, weights, pairs):
    """``cost(u,v; a,b)`` of each row ``u, v, a, b``, and the KL of all arms at the minimiser of the last."""
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 4)
    w = np.asarray(weights, dtype=np.float64)
    costs, kl = np.empty(len(rows)), np.zeros(len(w))
    _pair_costs(
        families.model, np.array(theta), np.maximum(w, FLOOR * w.max()), rows, costs, len(rows) == 1, kl
    )
    families.raise_pending()
    return costs, kl


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


def bottleneck(edges, costs):
    """The smallest edge of a maximum spanning tree, by Kruskal's algorithm."""
    order = sorted(range(len(edges)), key=lambda i: -costs[i])
    root = {m: m for edge in edges for m in edge}
    smallest = math.inf
    for i in order:
        u, v = edges[i]
        while root[u] != u:
            u = root[u]
        while root[v] != v:
            v = root[v]
        if u != v:
            root[u] = v
            smallest = costs[i]
    return smallest


def all_cases(labels):
    """Edges of a cluster, inter pair: for every cluster of two arms and more and every two arms of different ones."""
    inter = [(a, b) for a, b in combinations(range(len(labels)), 2) if labels[a] != labels[b]]
    groups = [[m for m, label in enumerate(labels) if label == k] for k in sorted(set(labels))]
    return [(list(combinations(group, 2)), ab) for group in groups if len(group) > 1 for ab in inter]


def plain_psi(families, theta, weights, labels):
    """psi of the partition ``labels``, a list of M, at ``theta`` (M, d) and ``weights`` (M,).

    The minimum over `all_cases` of the smallest edge of a maximum spanning tree of the cluster, where the edge ``(u, v)`` weighs
    ``cost(u, v; a, b)``. Weights of zero are floored as in the library.
    """
    cases = all_cases(labels)
    if not cases:
        return Plain(math.inf, set())
    pairs = [(*edge, *ab) for edges, ab in cases for edge in edges]
    left = iter(pair_costs(families, theta, weights, pairs)[0].tolist())
    costs = [[next(left) for _ in edges] for edges, _ in cases]
    values = [bottleneck(edges, found) for (edges, _), found in zip(cases, costs, strict=True)]
    best = min(values)
    room = tolerance(families) * best
    witnesses = set()
    for (edges, ab), found, value in zip(cases, costs, values, strict=True):
        if value <= best + room:
            part = components(edges, found, best + room)
            witnesses |= {
                (*edge, *ab)
                for edge, cost in zip(edges, found, strict=True)
                if part[edge[0]] != part[edge[1]] and cost >= best - room
            }
    return Plain(best, witnesses)


def searched(families, theta, weights, labels):
    """Whether every pair problem was solved: where a search over directions gives up, its bound depends on how it was asked for.

    The level, and which arm of a pair comes first, change it; the cost of its point is then above the bound. Without such a search
    the bound is a formula, loose or not.
    """
    if not isinstance(families.model, VectorModel) or chart_dimension(families.model) != 2:
        return True
    w = np.maximum(weights, FLOOR * np.max(weights))
    for edges, ab in all_cases(labels):
        for edge in edges + [(v, u) for u, v in edges]:
            (cost,), kl = pair_costs(families, theta, weights, [(*edge, *ab)])
            if not w @ kl <= cost * (1.0 + tolerance(families)):
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
