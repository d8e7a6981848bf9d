"""From the point that psi names to a true alternative near it.

``lambda`` lies in the closure of the alternatives iff a cluster falls into two parts ``S, T`` that are as far apart as two arms ``a, b`` of
different clusters: ``|lambda_u - lambda_v| >= |lambda_a - lambda_b|`` for all ``u in S, v in T``. For clusters of three arms and more the
bottleneck looks at one pair ``(u, v)`` of these, and for some families at a bound of that; its point is then not an alternative. Here it is
moved until it is one. What is returned was checked, so a poor search only makes the bound less tight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkarms.alternatives._local import SplitProblem, domain_box
from linkarms.alternatives._psi import Psi
from linkarms.families import ArmFamilies
from linkarms.linkage import single_linkage

__all__ = ["Closure", "Split"]

Array = NDArray[np.float64]

#: How far along the way from theta to the point of psi, and beyond it, a true alternative is looked for.
_REACH = (1.1, 1.3, 1.7, 2.5, 4.0)
_HALVINGS = 12
#: In clusters of at most so many arms every arm is tried alone; in larger ones that takes longer than it is worth.
_SMALL = 6
#: How much nearer than need be two arms are brought: rounding depends on how far from the origin they are.
_SPARE = (1e-15, 1e-13, 1e-11, 1e-9, 1e-7)

#: The two parts of a cluster.
Split: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


class _Nearest(NamedTuple):
    """How near a point is to being an alternative, and which one."""

    margin: (
        float  # longest gap inside a cluster over shortest distance between two; 1 or more: an alternative
    )
    split: Split
    pair: tuple[int, int]


class Closure:
    """The closure of the alternatives to the partition of ``theta``.

    Parameters
    ----------
    theta : ndarray, shape (M, d)
        The parameters.
    labels : ndarray of int, shape (M,)
        Their partition.
    families : ArmFamilies
        The families of the arms.
    """

    def __init__(self, theta: Array, labels: NDArray[np.int64], families: ArmFamilies) -> None:
        self.theta, self.families = theta, families
        groups = [np.flatnonzero(labels == k) for k in range(int(labels.max()) + 1)]
        self.groups = [group for group in groups if len(group) > 1]
        self.size = np.bincount(labels)[labels]
        first, second = np.triu_indices(len(theta), 1)
        apart = labels[first] != labels[second]
        self._first, self._second = first[apart], second[apart]
        self._box = domain_box(families)

    def divergences(self, point: Array) -> Array:
        """``KL(theta_m, point_m)``, shape (M,)."""
        kl = np.zeros(len(point))
        for m in np.flatnonzero(np.any(point != self.theta, axis=1)):
            kl[m] = self.families.model.kl(int(m), self.theta[m], np.ascontiguousarray(point[m]))
        return kl

    def nearest(self, point: Array) -> _Nearest:
        """The widest split of a cluster, and the closest arms of two clusters, at ``point``."""
        inter = np.linalg.norm(point[self._first] - point[self._second], axis=1)
        closest = int(np.argmin(inter))
        widest = -1.0
        split: Split = ((), ())
        for group in self.groups:
            side = single_linkage(point[group], 2)[0] if len(group) > 2 else np.array([0, 1])
            s, t = group[side == 0], group[side == 1]
            edge = float(np.linalg.norm(point[s][:, None] - point[t][None, :], axis=2).min())
            if edge > widest:
                widest, split = edge, (tuple(map(int, s)), tuple(map(int, t)))
        margin = widest / inter[closest] if inter[closest] > 0.0 else math.inf
        return _Nearest(margin, split, (int(self._first[closest]), int(self._second[closest])))

    def witness(self, point: Array) -> tuple[int, int, int, int]:
        """``(u, v, a, b)`` of the alternative ``point``: arms on the two sides of the widest split, and of two clusters."""
        (s, t), (a, b) = self.nearest(point)[1:]
        gaps = np.linalg.norm(point[list(s)][:, None] - point[list(t)][None, :], axis=2)
        i, j = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
        return s[int(i)], t[int(j)], a, b

    def nearby(self, psi: Psi, weights: Array) -> Array | None:
        """An alternative near that of ``psi``, of low cost at ``weights``; None if none of finite cost was found."""
        if psi.witness is None:
            return None
        u, v, a, b = psi.witness
        if u is None or v is None or a is None or b is None:
            return None  # that of a distance threshold
        if self.size[u] == 2 and psi.exact:
            point = self.meet_pair(psi.alternative, (u,), (v,), a, b)  # rounding is all that may be missing
            if point is not None:
                return point
        if psi.bound in ("exact", "duality"):
            point = self.corrected(psi.alternative)
            if self.nearest(point).margin >= 1.0:
                return point
        return self._search(psi.alternative, a, b, weights)

    def _cost(self, point: Array, weights: Array) -> float:
        return float(weights @ self.divergences(point))

    def corrected(self, point: Array) -> Array:
        """``point``, an alternative but for rounding, made one."""
        near = self.nearest(point)
        if near.margin >= 1.0:
            return point
        moved = self.meet_pair(point, *near.split, *near.pair)
        return point if moved is None else moved

    def meet_pair(self, point: Array, s: tuple[int, ...], t: tuple[int, ...], a: int, b: int) -> Array | None:
        """Bring ``a`` and ``b`` as near to each other as ``S`` is to ``T``, by moving one of them that is in neither."""
        reach = np.linalg.norm(point[list(s)][:, None] - point[list(t)][None, :], axis=2).min()
        gap = np.linalg.norm(point[a] - point[b])
        if gap <= reach:
            return point
        for mover, other in ((a, b), (b, a)):
            if mover in s or mover in t:
                continue
            for spare in _SPARE:
                moved = point.copy()
                moved[mover] = point[other] + (reach / gap) * (1.0 - spare) * (point[mover] - point[other])
                if np.linalg.norm(moved[a] - moved[b]) <= reach:
                    break
            else:
                continue
            if np.all(np.isfinite(self.divergences(moved))):
                return moved
        return None

    def _search(self, point: Array, a: int, b: int, weights: Array) -> Array | None:
        """The cheapest alternative that is found from where ways to one begin, each followed downhill for several splits."""
        starts = [
            self._halve(point, end)
            for end in (self._beyond(point), self._merged(point, a, b, weights))
            if end is not None
        ]
        found = list(starts)
        tried = set()
        for start in starts:
            for split, pair in self._splits(start, (a, b)):
                key = (frozenset(split), pair)
                if key in tried:
                    continue
                tried.add(key)
                lowered = SplitProblem(self.theta, self.families, weights, *split, *pair).solve(start)
                corrected = None if lowered is None else self.meet_pair(lowered, *split, *pair)
                if corrected is not None:
                    found.append(corrected)
        priced = [(self._cost(end, weights), i) for i, end in enumerate(found)]
        for _, i in sorted(item for item in priced if math.isfinite(item[0])):
            if self.nearest(found[i]).margin >= 1.0:
                return found[i]
        return None

    def _splits(self, start: Array, pair: tuple[int, int]) -> Iterator[tuple[Split, tuple[int, int]]]:
        """Splits to try from ``start``, with pairs: its own, and in small clusters each arm alone, which is often the cheapest."""
        near = self.nearest(start)
        yield near.split, near.pair
        cluster = sorted((*near.split[0], *near.split[1]))
        for m in cluster if len(cluster) <= _SMALL else ():
            rest = tuple(x for x in cluster if x != m)
            yield ((m,), rest), near.pair
            yield ((m,), rest), pair

    def _beyond(self, point: Array) -> Array | None:
        for reach in _REACH:
            end = self.theta + reach * (point - self.theta)
            if np.all(np.isfinite(self.divergences(end))) and self.nearest(end).margin >= 1.0:
                return end
        return None

    def _merged(self, point: Array, a: int, b: int, weights: Array) -> Array | None:
        """``point`` with ``a`` and ``b`` in one place, which is an alternative whatever the others do."""
        low = np.maximum(self._box[a, :, 0], self._box[b, :, 0])
        high = np.minimum(self._box[a, :, 1], self._box[b, :, 1])
        mean = (weights[a] * point[a] + weights[b] * point[b]) / (weights[a] + weights[b])
        for place in (np.clip(mean, low, high), point[a], point[b]):
            end = point.copy()
            end[a] = end[b] = place
            if np.all(np.isfinite(self.divergences(end))):
                return end
        return None

    def _halve(self, start: Array, end: Array) -> Array:
        """An alternative between ``start`` and the alternative ``end``, near the first on the way."""
        if self.nearest(start).margin >= 1.0:
            return start
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if self.nearest(start + middle * (end - start)).margin >= 1.0:
                high = middle
            else:
                low = middle
        return start + high * (end - start) if high < 1.0 else end
