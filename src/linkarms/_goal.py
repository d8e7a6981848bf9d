"""Which partition of the arms is asked for: K clusters, the largest gap, or a distance threshold, and a tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms._validate import check_n_clusters, check_number
from linkarms._words import plural
from linkarms.errors import InvalidInput

__all__ = ["Goal", "check_goal", "require_goal"]


@dataclass(frozen=True)
class Goal:
    """What a run is to find out.

    Attributes
    ----------
    n_clusters : int or None
        K: single linkage, cut into so many clusters.
    distance_threshold : float or None
        r: the components of the graph that joins arms closer than r. At most one of the two is given; without any, the goal is the
        cut with the largest gap.
    tolerance : float
        Differences of distances below this do not matter.
    """

    n_clusters: int | None = None
    distance_threshold: float | None = None
    tolerance: float = 0.0

    @property
    def largest_gap(self) -> bool:
        """Return whether K is that of the cut with the largest gap."""
        return self.n_clusters is None and self.distance_threshold is None

    @property
    def is_fixed(self) -> bool:
        """Return whether K was given, without a tolerance: what most rules and bounds are made for."""
        return self.n_clusters is not None and self.tolerance == 0.0

    def task(self) -> _core.Task:
        """Return the goal as the native core takes it."""
        return _core.Task(
            n_clusters=self.n_clusters or 0,
            distance=self.distance_threshold,
            tolerance=self.tolerance,
            largest_gap=self.largest_gap,
        )

    def is_trivial(self, n_arms: int) -> bool:
        """Return whether there is only one possible answer."""
        return self.n_clusters in (1, n_arms) or (self.distance_threshold is not None and n_arms == 1)

    def partition(self, theta: NDArray[np.float64]) -> tuple[NDArray[np.int64], bool]:
        """Return the labels of the arms at these parameters, shape (M, d), and whether they are ambiguous."""
        return _core.single_linkage(theta, self.task())

    def is_right(self, theta: NDArray[np.float64], labels: NDArray[np.int64]) -> bool:
        """Return whether labels are right at these parameters, up to the tolerance. Where K was left open, they are judged for their own K.

        A partition into K clusters is right if the longest edge that links a cluster is less than the tolerance longer than the
        shortest distance between two clusters; one by a threshold, if no such edge is as long as r plus the tolerance and no such
        distance as short as r minus it.
        """
        found = int(labels.max()) + 1
        if self.largest_gap and not 2 <= found < len(labels):
            return False
        asked = Goal(found, tolerance=self.tolerance) if self.largest_gap else self
        if self.tolerance == 0.0:
            right, ambiguous = asked.partition(theta)
            return bool(np.array_equal(labels, right)) and not (self.largest_gap and ambiguous)
        if self.n_clusters is not None and found != self.n_clusters:
            return False
        return not self.is_wrong(theta, labels)

    def is_wrong(self, theta: NDArray[np.float64], labels: NDArray[np.int64], margin: float = 0.0) -> bool:
        """Return whether a partition is wrong at these parameters, or about to be: ``margin`` is a share of the lengths compared."""
        longest, shortest = _edges(theta, labels)
        if self.distance_threshold is None:
            return longest >= (1.0 - margin) * (shortest + self.tolerance)
        r, eps = self.distance_threshold, self.tolerance
        return longest >= (r + eps) * (1.0 - margin) or shortest <= (r - eps) * (1.0 + margin)

    def settings(self) -> dict[str, Any]:
        """Return what differs from a fixed K without a tolerance, as plain data by the names of the arguments."""
        found = {"distance_threshold": self.distance_threshold, "tolerance": self.tolerance or None}
        return {name: value for name, value in found.items() if value is not None}

    def __str__(self) -> str:
        if self.largest_gap:
            what = "the cut with the largest gap"
        elif self.distance_threshold is None:
            what = plural(self.n_clusters or 0, "cluster")
        else:
            what = f"clusters by the distance threshold {self.distance_threshold:g}"
        return what if self.tolerance == 0.0 else f"{what}, tolerance {self.tolerance:g}"


def _edges(theta: NDArray[np.float64], labels: NDArray[np.int64]) -> tuple[float, float]:
    """Return the longest edge of the clusters' minimum spanning trees (0 if there is none) and the shortest distance between two."""
    dist = np.linalg.norm(theta[:, None, :] - theta[None, :, :], axis=2)
    apart = dist[labels[:, None] != labels[None, :]]
    longest = 0.0
    for k in range(int(labels.max()) + 1):
        inside = np.flatnonzero(labels == k)
        if len(inside) > 1:
            inner = np.ascontiguousarray(dist[np.ix_(inside, inside)])
            longest = max(longest, float(_core.minimum_spanning_tree(inner)[2].max()))
    return longest, float(apart.min()) if apart.size else np.inf


def check_goal(n_clusters: Any, distance_threshold: Any = None, tolerance: Any = 0.0, *, n_arms: int) -> Goal:
    """Return the goal that these arguments describe, or say what is wrong with them."""
    if distance_threshold is None and n_clusters is None:
        if n_arms < 3:
            raise InvalidInput(
                f"n_clusters is missing, and {n_arms} arm(s) have no cut with a gap: that takes at least 3; give n_clusters, or a "
                "distance_threshold"
            )
        return Goal(None, None, _check_tolerance(tolerance))
    if distance_threshold is None:
        k = check_n_clusters(n_clusters, n_arms)
        return Goal(k, None, _check_tolerance(tolerance))
    if n_clusters is not None:
        raise InvalidInput(
            f"n_clusters={n_clusters!r} and distance_threshold={distance_threshold!r} are both given; give one of them"
        )
    r = check_number("distance_threshold", distance_threshold, 0.0)
    eps = _check_tolerance(tolerance)
    if eps >= r:
        raise InvalidInput(f"tolerance={eps:g} is not below distance_threshold={r:g}; give a smaller one")
    return Goal(None, r, eps)


def require_goal(n_clusters: Any, distance_threshold: Any) -> None:
    """Refuse the largest gap where a formula is about one question: psi, lower bounds and plans."""
    if n_clusters is None and distance_threshold is None:
        raise InvalidInput(
            "n_clusters is missing; psi, a lower bound and a plan are about one number of clusters or one distance_threshold, so give it"
        )


def _check_tolerance(tolerance: Any) -> float:
    return 0.0 if tolerance is None else check_number("tolerance", tolerance, 0.0, closed=True)
