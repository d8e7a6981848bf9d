"""Gaussian arms in two dimensions and more: psi over all splits, by branch and bound.

A node is a part ``S`` and a part ``T`` of a cluster, and arms not yet assigned. Its bound is the dual of ``_dual.py`` with the pairs
``S x T`` alone: more arms can only add to it. Arms whose pair alone costs as much as the best alternative known, ``upper``, stay
together, so that only unions of such groups are split. A node ends where its bound reaches ``upper``, or where the point of its
bound is an alternative already. What remains open lowers ``lower``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms.alternatives._closure import Closure, Split
from linkarms.alternatives._local import SplitProblem
from linkarms.alternatives._sectors import Sectors
from linkarms.linkage import single_linkage

__all__ = ["Found", "GaussianSearch"]

Array = NDArray[np.float64]
Pairs: TypeAlias = dict[tuple[int, int], float]

#: Bounds this near to the best alternative count as equal to it.
_EQUAL = 1e-12
#: How far the arms are shaken, as a share of the distance of the inter pair, where a minimum is not unique (equal arms).
_SHAKE = 1e-8
#: A point that costs no more than its bound and this share is the minimum; where a search would be long, this is enough.
_CLOSE, _ENOUGH = 1e-9, 9e-8
#: At most so many nodes, and so many splits with a gap that are looked at more closely.
_NODES, _GAPS = 4000, 20


@dataclass
class Found:
    """What a search knows: ``lower <= psi <= upper``, the latter the cost of ``point``, shape (M, d)."""

    lower: float
    upper: float
    point: Array


class _Node(NamedTuple):
    """A cluster of which ``left`` and ``right`` are apart and the groups ``rest`` not yet assigned; multipliers to begin with."""

    bound: float
    left: tuple[int, ...]
    right: tuple[int, ...]
    rest: tuple[tuple[int, ...], ...]
    mu: Pairs


class GaussianSearch:
    """psi of Gaussian arms between two bounds.

    Parameters
    ----------
    closure : Closure
        The parameters, families and partition.
    labels : ndarray of int, shape (M,)
        The partition.
    weights : ndarray, shape (M,)
        None of them zero.
    """

    def __init__(self, closure: Closure, labels: NDArray[np.int64], weights: Array) -> None:
        self.closure, self.labels, self.weights = closure, labels, weights
        self.theta = theta = closure.theta
        n, d = theta.shape
        model = closure.families.model
        variances = np.array([model.variance(m, theta[m]) for m in range(n)])
        if model.kind == "isotropic":
            self.cells = np.ascontiguousarray(theta.reshape(n, 1, d))
            self.precision = np.ascontiguousarray((weights / variances)[:, None, None])
        else:
            self.cells = np.ascontiguousarray(theta.reshape(n, d, 1))
            precision = np.stack([np.linalg.inv(closure.families.covariance(m)) for m in range(n)])
            self.precision = np.ascontiguousarray(precision * weights[:, None, None])
        self.spread = variances / weights
        self.found = Found(math.inf, math.inf, theta)
        self.nodes = self.gaps = 0

    def run(self) -> Found:
        """Search all clusters and inter pairs, those that look cheapest first."""
        found = self.found
        self._meetings()
        n_clusters = int(self.labels.max()) + 1
        bounds = _core.split_bounds(self.theta, self.spread, self.labels, n_clusters, found.upper)
        order = np.argsort(bounds, axis=None, kind="stable")
        for place in order:
            k, a, b = (int(i) for i in np.unravel_index(place, bounds.shape))
            if not bounds[k, a, b] < found.upper * (1.0 - _EQUAL):
                break
            if self.nodes >= _NODES:
                found.lower = min(found.lower, float(bounds[k, a, b]))
                break
            self._split(np.flatnonzero(self.labels == k), a, b)
        found.lower = min(found.lower, found.upper * (1.0 - _EQUAL))
        return found

    def _meetings(self) -> None:
        """Start from the inter pair that is cheapest to bring together: an alternative, whatever else moves."""
        a, b = np.triu_indices(len(self.theta), 1)
        apart = self.labels[a] != self.labels[b]
        a, b = a[apart], b[apart]
        spread = np.linalg.inv(self.precision)
        q = self.cells[a] - self.cells[b]
        force = np.linalg.solve(spread[a] + spread[b], q)
        costs = 0.5 * np.sum(q * force, axis=(1, 2))
        i = int(np.argmin(costs))
        point = self.theta.copy()
        point[a[i]] -= (spread[a[i]] @ force[i]).ravel()
        point[b[i]] = point[a[i]]
        self.found.upper, self.found.point = float(costs[i]), point

    def _split(self, cluster: NDArray[np.int64], a: int, b: int) -> None:
        """All splits of one cluster against one inter pair."""
        level = self.found.upper * (1.0 - _EQUAL)
        values = _core.pair_values(self.cells, self.precision, cluster, a, b, level)
        self.nodes += 1
        groups = _groups(cluster, values >= level)
        stack: list[_Node] = []
        # the first group is on the left; each node begins with the first one that is on the right
        for j in range(1, len(groups)):
            left = tuple(m for group in groups[:j] for m in group)
            self._visit(_Node(0.0, left, groups[j], tuple(groups[j + 1 :]), {}), a, b, stack)
        stack.sort(key=_bound_of, reverse=True)
        while stack:
            node = stack.pop()
            if node.bound >= self.found.upper * (1.0 - _EQUAL):
                continue
            if self.nodes >= _NODES:
                self.found.lower = min(self.found.lower, node.bound)
                continue
            group, rest = node.rest[0], node.rest[1:]
            children: list[_Node] = []
            self._visit(node._replace(left=node.left + group, rest=rest), a, b, children)
            self._visit(node._replace(right=node.right + group, rest=rest), a, b, children)
            stack.extend(sorted(children, key=_bound_of, reverse=True))

    def _visit(self, node: _Node, a: int, b: int, still_open: list[_Node]) -> None:
        """Bound a node. It is done, or with a new bound among those that are still open."""
        self.nodes += 1
        found = self.found
        level = found.upper * (1.0 - _EQUAL)
        arms = np.array(sorted({*node.left, *node.right, a, b}))
        place = {int(m): i for i, m in enumerate(arms)}
        pairs = [(u, v) for u in node.left for v in node.right]
        u = np.array([place[x] for x, _ in pairs])
        v = np.array([place[y] for _, y in pairs])
        mu = np.array([node.mu.get(pair, 0.0) for pair in pairs])
        here, precision = self.cells[arms], self.precision[arms]
        dual = _core.ascend(here, precision, u, v, place[a], place[b], mu, level)
        bound = max(node.bound, dual.value)
        if bound >= level:
            return
        weights = {pair: float(x) for pair, x in zip(pairs, dual.multipliers, strict=True) if x > 0.0}
        if dual.end == "edge":
            # equal arms can part in any direction, and the minimum is not unique: shaken, they choose one
            shaken = here + self._shake(a, b, here.shape)
            dual = _core.ascend(shaken, precision, u, v, place[a], place[b], dual.multipliers, math.inf)
        lam, solved = dual.point, dual.end == "solved"
        if solved and self._keep(lam, arms, node, a, b) and found.upper <= bound * (1.0 + _CLOSE):
            found.lower = min(found.lower, bound)
        elif node.rest:
            still_open.append(node._replace(bound=bound, mu=weights))
        else:
            if not solved and self.gaps < _GAPS:
                self.gaps += 1
                bound = self._close_gap(node, bound, arms, lam, a, b)
            found.lower = min(found.lower, bound)

    def _shake(self, a: int, b: int, shape: tuple[int, ...]) -> Array:
        """A small move of every arm, the same at every call."""
        length = float(np.linalg.norm(self.theta[a] - self.theta[b]))
        return _SHAKE * length * np.random.default_rng(0).standard_normal(shape)

    def _keep(self, lam: Array, arms: NDArray[np.int64], node: _Node, a: int, b: int) -> bool:
        """Whether ``lam`` is an alternative; if it is the cheapest so far it is kept."""
        point = self.theta.copy()
        point[arms] = lam.reshape(len(arms), -1)
        cluster = np.array([*node.left, *node.right, *(m for group in node.rest for m in group)])
        if node.rest:
            side = single_linkage(point[cluster], 2)[0]
            split = tuple(map(int, cluster[side == 0])), tuple(map(int, cluster[side == 1]))
        else:
            split = node.left, node.right
        gap = np.linalg.norm(point[list(split[0])][:, None] - point[list(split[1])][None, :], axis=2).min()
        if gap < (1.0 - 1e-9) * np.linalg.norm(point[a] - point[b]):
            return False
        return self._offer(point, split, (a, b))

    def _offer(self, point: Array | None, split: Split, pair: tuple[int, int]) -> bool:
        """Make ``point`` obey its constraints to the last digit, and keep it if it is the cheapest so far."""
        corrected = None if point is None else self.closure.meet_pair(point, *split, *pair)
        if corrected is None:
            return False
        cost = float(self.weights @ self.closure.divergences(corrected))
        if cost < self.found.upper:
            self.found.upper, self.found.point = cost, corrected
        return True

    def _close_gap(
        self, node: _Node, bound: float, arms: NDArray[np.int64], lam: Array, a: int, b: int
    ) -> float:
        """The dual leaves a gap: descend, and in two dimensions search over directions if that was not enough. Returns the new bound."""
        split, pair = (node.left, node.right), (a, b)
        points = [self.theta.copy(), self.theta.copy()]
        if self.theta.shape[1] == 2:
            place = {int(m): i for i, m in enumerate(arms)}
            u = np.array([place[x] for x in node.left for _ in node.right])
            v = np.array([place[y] for _ in node.left for y in node.right])
            precision = self.precision[arms] * (np.eye(2) if self.precision.shape[1] == 1 else 1.0)
            search = Sectors(self.theta[arms], precision, u, v, place[a], place[b])
            points[0][arms] = search.descend(lam.reshape(len(arms), 2))[1]
            self._offer(points[0], split, pair)
            if self.found.upper <= bound * (1.0 + _ENOUGH):
                return bound
            lower, rows = search.search(self.found.upper)
            if rows is not None:
                points[1][arms] = rows
                self._offer(points[1], split, pair)
            return max(bound, lower)
        weight = self.weights[[a, b]]
        points[0][[a, b]] = weight @ self.theta[[a, b]] / weight.sum()
        points[1][arms] = lam.reshape(len(arms), -1)
        problem = SplitProblem(self.theta, self.closure.families, self.weights, *split, *pair)
        for start in points:
            self._offer(problem.solve(start), split, pair)
        return bound


def _bound_of(node: _Node) -> float:
    return node.bound


def _groups(cluster: NDArray[np.int64], together: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """The connected components of ``together``, shape (n, n)."""
    left = set(range(len(cluster)))
    groups = []
    while left:
        reached = {min(left)}
        edge = set(reached)
        while edge:
            i = edge.pop()
            new = {j for j in left - reached if together[i, j]}
            reached |= new
            edge |= new
        left -= reached
        groups.append(tuple(int(cluster[i]) for i in sorted(reached)))
    return groups
