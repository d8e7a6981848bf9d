"""Yardstick (b): the plain compiled loop over all pairs of pairs, for Gaussian arms of unit variance; nothing pruned, nothing kept.

The formula of a shared arm is the library's, which takes numbers. That of four arms is written out: `isotropic_bound` takes arrays, and
handing arrays from one compiled function to the next costs more than the formula, which would flatter whatever is compared with this
loop.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkarms._jit import Array, inlined, kernel
from linkarms.alternatives._gaussian import isotropic_solution, shared_cost
from linkarms.alternatives._spreads import FLOOR
from linkarms.bench._record import Start
from linkarms.bench._settings import Setting
from linkarms.families._model import Model
from linkarms.families._vector import arm_kl
from linkarms.linkage import fill_distances, single_linkage_kernel
from linkarms.sampling import resolve_sampling
from linkarms.sampling._simplex import project_simplex
from linkarms.stopping._kernels import paper_penalty

__all__ = ["LoopStep"]


class Loop(NamedTuple):
    """The arrays of a run: (M,), (M, d), (M, M), and w with its sum, shape (2, M)."""

    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    theta: NDArray[np.float64]
    lam: NDArray[np.float64]
    dist: NDArray[np.float64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]
    penalty: NDArray[np.float64]
    inv: NDArray[np.float64]
    kl: NDArray[np.float64]
    box: NDArray[np.float64]


@inlined
def _cost(dist: Array, inv: Array, u: int, v: int, a: int, b: int) -> float:
    """The closed forms; a shared arm is put first in both pairs."""
    if v in (a, b):
        u, v = v, u
    if u == b:
        a, b = b, a
    if u == a:
        return shared_cost(dist[u, v], dist[u, b], dist[v, b], inv[u], inv[v], inv[b])
    gap = max(dist[a, b] - dist[u, v], 0.0)
    return float(gap * gap / (2.0 * (inv[u] + inv[v] + inv[a] + inv[b])))


@inlined
def _smallest_edge(
    dist: Array,
    inv: Array,
    members: Array,
    first: int,
    n: int,
    a: int,
    b: int,
    near: Array,
    parent: Array,
    edge: Array,
) -> float:
    """Smallest edge of a maximum spanning tree of ``members[first : first + n]`` under ``cost(.; a,b)``, by Prim's algorithm."""
    for j in range(n):
        near[j] = -1.0
    smallest = math.inf
    last = 0
    near[0] = -2.0  # joined
    for _ in range(n - 1):
        best = -1
        for j in range(n):
            if near[j] == -2.0:
                continue
            value = _cost(dist, inv, members[first + last], members[first + j], a, b)
            if value > near[j]:
                near[j], parent[j] = value, last
            if best < 0 or near[j] > near[best]:
                best = j
        if near[best] < smallest:
            smallest = near[best]
            edge[0], edge[1] = members[first + parent[best]], members[first + best]
        near[best] = -2.0
        last = best
    return smallest


@kernel
def _plain_psi(model: Model, loop: Loop, n_clusters: int, inv: Array, kl: Array) -> float:
    """psi by looking at everything; ``lam`` and ``kl`` at the minimiser."""
    theta, dist, labels = loop.theta, loop.dist, loop.labels
    n = labels.shape[0]
    start = np.zeros(n_clusters + 1, dtype=np.int64)
    for m in range(n):
        start[labels[m] + 1] += 1
    for k in range(n_clusters):
        start[k + 1] += start[k]
    fill = start.copy()
    members, parent, near = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    for m in range(n):
        members[fill[labels[m]]] = m
        fill[labels[m]] += 1
    edge = np.empty(2, dtype=np.int64)
    best = math.inf
    u, v, x, y = -1, -1, -1, -1
    for a in range(n):
        for b in range(a + 1, n):
            if labels[a] == labels[b]:
                continue
            for k in range(n_clusters):
                first, size = start[k], start[k + 1] - start[k]
                if size < 2:
                    continue
                if size == 2:
                    edge[0], edge[1] = members[first], members[first + 1]
                    value = _cost(dist, inv, edge[0], edge[1], a, b)
                else:
                    value = _smallest_edge(dist, inv, members, first, size, a, b, near, parent, edge)
                if value < best:
                    best = value
                    u, v, x, y = edge[0], edge[1], a, b
    if v in (x, y):
        u, v = v, u
    if u == y:
        x, y = y, x
    for m in range(n):
        kl[m] = 0.0
        loop.lam[m] = theta[m]
    isotropic_solution(theta, dist, inv, u, v, x, y, loop.lam)
    for m in (u, v, x, y):
        kl[m] = arm_kl(model, m, theta[m], loop.lam[m])
    return best


@kernel
def _ascend(model: Model, loop: Loop, n_clusters: int, eta: float) -> None:
    """EBC's gradient step at w and the projection onto the simplex."""
    w, total = loop.weights[0], loop.weights[1]
    n = w.shape[0]
    largest = 0.0
    for m in range(n):
        largest = max(largest, w[m])
    inv, gradient = np.empty(n), np.empty(n)
    for m in range(n):
        inv[m] = 1.0 / max(w[m], FLOOR * largest)
    _plain_psi(model, loop, n_clusters, inv, gradient)
    for m in range(n):
        w[m] += eta * gradient[m]
    project_simplex(w)
    for m in range(n):
        total[m] += w[m]


@kernel
def _next_arm(loop: Loop, t: int, ebc: bool) -> int:
    """Forced exploration, then the rule."""
    counts, n = loop.counts, loop.counts.shape[0]
    fewest = 0
    for m in range(n):
        if counts[m] < counts[fewest]:
            fewest = m
    if counts[fewest] < math.sqrt(t / n):
        return fewest
    best, score = 0, -math.inf
    for m in range(n):
        x = loop.weights[1, m] / t - counts[m] / t if ebc else loop.kl[m]
        if x > score:
            best, score = m, x
    return best


@kernel
def loop_steps(
    model: Model,
    loop: Loop,
    n_clusters: int,
    ebc: bool,
    numbers: Array,
    arms: Array,
    statistics: Array,
    evidence: Array,
    chosen: Array,
) -> float:
    """Take in the samples one by one, psi and next arm into the last two; the threshold without ``log(1/delta)`` comes back.

    ``numbers``: EBC's step, epsilon, ``log |Theta|``.
    """
    t = loop.counts.sum()
    base = 0.0
    for step in range(arms.shape[0]):
        m = arms[step]
        t += 1
        loop.counts[m] += 1
        for i in range(loop.means.shape[1]):
            loop.means[m, i] += (statistics[step, i] - loop.means[m, i]) / loop.counts[m]
            loop.theta[m, i] = min(max(loop.means[m, i], loop.box[i, 0]), loop.box[i, 1])
        loop.inv[m] = 1.0 / loop.counts[m]
        fill_distances(loop.theta, m, loop.dist)
        loop.penalty[m] = paper_penalty(model, m, loop.theta[m], loop.counts[m], numbers[1], numbers[2])
        base = loop.penalty.sum()
        single_linkage_kernel(loop.dist, n_clusters, loop.labels)
        if ebc:
            _ascend(model, loop, n_clusters, numbers[0] / math.sqrt(t))
        evidence[step] = _plain_psi(model, loop, n_clusters, loop.inv, loop.kl)
        chosen[step] = _next_arm(loop, t, ebc)
    return base


class LoopStep:
    """The arrays of a run, and the loop over its steps; see `linkarms.bench._record.Yardstick`."""

    def __init__(self, setting: Setting, rule: str, start: Start) -> None:
        problem, stop = setting.problem, setting.stopping
        n, d = problem.parameters.shape
        self.model, self.k, self.ebc = problem.arm_families.model, problem.n_clusters, rule == "ebc"
        log_volume = stop.log_volume(problem.arm_families)
        self.numbers = np.array([resolve_sampling(rule).step, stop.epsilon, log_volume])
        box, counts = stop.box(d), start.counts.copy()
        theta = np.clip(start.means, box[:, 0], box[:, 1])
        dist, penalty = np.zeros((n, n)), np.empty(n)
        for m in range(n):
            fill_distances(theta, m, dist)
            penalty[m] = paper_penalty(self.model, m, theta[m], int(counts[m]), stop.epsilon, log_volume)
        self.kl, self.base = np.zeros(n), float(penalty.sum())
        self.loop = Loop(
            counts,
            start.means.copy(),
            theta,
            theta.copy(),
            dist,
            np.zeros(n, dtype=np.int64),
            start.weights.copy(),
            penalty,
            1.0 / counts,
            self.kl,
            box,
        )

    def run(
        self,
        arms: NDArray[np.int64],
        statistics: NDArray[np.float64],
        evidence: NDArray[np.float64],
        chosen: NDArray[np.int64],
    ) -> None:
        """Take in the samples one by one; write psi and the next arm after each."""
        self.base = loop_steps(
            self.model, self.loop, self.k, self.ebc, self.numbers, arms, statistics, evidence, chosen
        )
