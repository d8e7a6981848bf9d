"""Gaussian arms in two dimensions: what remains of a split where the dual leaves a gap, by branching over directions.

If the pair ``p = lambda_u - lambda_v`` points within an angle ``alpha`` of the unit vector ``e`` and is as long as
``q = lambda_a - lambda_b``, then
``e.p >= cos(alpha) |q|``: a convex constraint, whose loss falls with ``alpha^2``. A node knows a sector of directions for some of the
pairs and nothing of the others; its bound is a least-distance problem, with ``|q|`` replaced by ``h.q`` for a few unit vectors ``h``. The
pair that its point violates most is given three sectors, or the two halves of the one it has. The smallest bound comes first.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sectors"]

Array = NDArray[np.float64]
#: The middle of a range of directions, and half of its width.
Sector: TypeAlias = tuple[float, float]

#: Bounds this near to the best point, relatively, are equal to it; a constraint holds where it lacks less than this share.
_EQUAL, _HOLDS = 2e-8, 1e-10
#: How often ``h`` is turned towards ``q``, and when it needs not be; how many nodes there may be.
_TURNS, _TURNED, _NODES = 8, 1e-10, 300
#: A descent ends after so many rounds, or with one that gains less than this share.
_ROUNDS, _GAIN = 60, 1e-11


class _Node(NamedTuple):
    """Sectors of some pairs, by their number; the cheapest point with them, shape (n, 2), and its cost."""

    bound: float
    sectors: dict[int, Sector]
    point: Array


def _angle(x: Array) -> float:
    return math.atan2(float(x[1]), float(x[0]))


def _parts(sector: Sector | None, towards: float) -> list[Sector]:
    """The two halves of a sector, or three that cover all directions."""
    if sector is None:
        return [(towards + turn * 2.0 * math.pi / 3.0, math.pi / 3.0) for turn in (0, 1, -1)]
    middle, half = sector
    return [(middle - half / 2.0, half / 2.0), (middle + half / 2.0, half / 2.0)]


class Sectors:
    """The problem of one split in two dimensions.

    Parameters
    ----------
    theta : ndarray, shape (n, 2)
        The arms that take part.
    precision : ndarray, shape (n, 2, 2)
        Weight over covariance of each.
    u, v : ndarray of int, shape (p,)
        The pairs that are to become as long as ``(a, b)``.
    a, b : int
        The inter pair; one of them is in no other pair.
    """

    def __init__(
        self, theta: Array, precision: Array, u: NDArray[np.int64], v: NDArray[np.int64], a: int, b: int
    ) -> None:
        self.theta, self.precision, self.u, self.v, self.a, self.b = theta, precision, u, v, a, b
        self.back = np.linalg.inv(np.linalg.cholesky(precision)).transpose(0, 2, 1)  # whitened moves to moves
        self.mover = b if a in u or a in v else a

    def search(self, upper: float) -> tuple[float, Array | None]:
        """A lower bound of the cost, or of ``upper`` where that is less; a point that costs less than ``upper``, if there is one."""
        best: Array | None = None
        root = self._solve({}, 0.0)
        heap = [(root.bound, 0, root)]
        closed = math.inf
        nodes = 0
        while heap and nodes < _NODES and heap[0][0] < upper * (1.0 - _EQUAL):
            bound, _, node = heapq.heappop(heap)
            cost, point = self._shorten_inter_pair(node.point)
            if cost < upper:
                upper, best = cost, point
            inter = node.point[self.a] - node.point[self.b]
            pairs = node.point[self.u] - node.point[self.v]
            length = float(np.linalg.norm(inter))
            lack = length - np.linalg.norm(pairs, axis=1)
            i = int(np.argmax(lack))
            if lack[i] <= _HOLDS * length:
                closed = min(closed, bound)
                continue
            for sector in _parts(node.sectors.get(i), _angle(pairs[i])):
                nodes += 1
                child = self._solve({**node.sectors, i: sector}, _angle(inter))
                heapq.heappush(heap, (max(child.bound, bound), nodes, child))
        return min(closed, heap[0][0] if heap else math.inf, upper * (1.0 - _EQUAL)), best

    def _solve(self, sectors: dict[int, Sector], turn: float) -> _Node:
        """The cheapest point for given sectors, and its cost: a relaxation however few ``h`` there are."""
        point, bound = self.theta, 0.0
        turns = [turn]
        for _ in range(_TURNS if sectors else 0):
            bound, point = self._least(self._rows(sectors, turns))
            turn = _angle(point[self.a] - point[self.b])
            if min(1.0 - math.cos(turn - other) for other in turns) <= _TURNED:
                break
            turns.append(turn)
        return _Node(bound, sectors, point)

    def _rows(self, sectors: dict[int, Sector], turns: list[float]) -> Array:
        """Constraints ``row . point >= 0``, shape (k, n, 2): the length of each pair, and the two sides of its sector."""
        rows = []
        for i, (middle, half) in sectors.items():
            e = np.array([math.cos(middle), math.sin(middle)])
            for turn in turns:
                row = np.zeros_like(self.theta)
                row[self.u[i]] += e
                row[self.v[i]] -= e
                h = math.cos(half) * np.array([math.cos(turn), math.sin(turn)])
                row[self.a] -= h
                row[self.b] += h
                rows.append(row)
            sides = (middle - half + math.pi / 2.0, middle + half - math.pi / 2.0)
            for angle in sides if half > 0.0 else ():
                row = np.zeros_like(self.theta)
                normal = np.array([math.cos(angle), math.sin(angle)])
                row[self.u[i]] += normal
                row[self.v[i]] -= normal
                rows.append(row)
        return np.array(rows)

    def _least(self, rows: Array) -> tuple[float, Array]:
        """The point nearest to ``theta`` with ``rows . point >= 0``, by one NNLS (Lawson and Hanson 1974, chapter 23)."""
        from scipy.optimize import nnls

        moves = np.einsum("kni,nij->knj", rows, self.back).reshape(len(rows), -1)
        lack = -np.einsum("kni,ni->k", rows, self.theta)
        unit = float(lack.max())
        if unit <= 0.0:
            return 0.0, self.theta
        matrix = np.vstack([moves.T, lack / unit])
        target = np.zeros(len(matrix))
        target[-1] = 1.0
        try:
            y, _ = nnls(matrix, target, maxiter=50 * matrix.shape[1])
        except RuntimeError:  # not solved: nothing is known
            return 0.0, self.theta
        residual = matrix @ y - target
        z = -unit * residual[:-1] / residual[-1]
        move = np.einsum("nij,nj->ni", self.back, z.reshape(self.theta.shape))
        return 0.5 * float(z @ z), self.theta + move

    def descend(self, point: Array) -> tuple[float, Array]:
        """A local solution and its cost: keep the direction of every pair, solve, and take the new directions."""
        best, corrected = self._shorten_inter_pair(point)
        for _ in range(_ROUNDS):
            pairs = point[self.u] - point[self.v]
            directions = {i: (_angle(pair), 0.0) for i, pair in enumerate(pairs)}
            point = self._solve(directions, _angle(point[self.a] - point[self.b])).point
            cost, moved = self._shorten_inter_pair(point)
            gain = best - cost
            if gain > 0.0:
                best, corrected = cost, moved
            if gain <= _GAIN * best:
                break
        return best, corrected

    def _shorten_inter_pair(self, point: Array) -> tuple[float, Array]:
        """Bring the inter pair as near as the others are long, and what the point then costs."""
        shortest = float(np.linalg.norm(point[self.u] - point[self.v], axis=1).min())
        length = float(np.linalg.norm(point[self.a] - point[self.b]))
        moved = point.copy()
        if length > shortest:
            other = self.a + self.b - self.mover
            moved[self.mover] = point[other] + shortest / length * (point[self.mover] - point[other])
        shift = moved - self.theta
        return 0.5 * float(np.einsum("ni,nij,nj->", shift, self.precision, shift)), moved
