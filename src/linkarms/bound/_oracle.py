"""The oracle of the lower bound: a value that psi does reach, and an alternative that is one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkarms._goal import Goal
from linkarms.alternatives import Closure, Psi, is_alternative, separate, solve_psi_exact
from linkarms.bound._level import Cut
from linkarms.families import ArmFamilies

__all__ = ["Oracle", "priced"]

Array = NDArray[np.float64]


def priced(oracle: Callable[[Array], Cut], costs: Array) -> Callable[[Array], Cut]:
    """Return the oracle in shares ``x_m = k_m w_m`` of the cost: on the simplex where ``sum k w = 1`` (math.md 9).

    ``psi(x / k) <= sum_m x_m KL_m / k_m``, so the cuts are the divergences over the costs.
    """

    def ask(shares: Array) -> Cut:
        cut = oracle(shares / costs)
        return Cut(cut.value, None if cut.gradient is None else cut.gradient / costs, cut.alternative)

    return ask


class Oracle:
    """psi at given weights, from below and from above.

    Parameters
    ----------
    theta : ndarray, shape (M, d)
        The parameters.
    goal : Goal
        What is asked for.
    families : ArmFamilies
        The families of the arms.
    """

    def __init__(self, theta: Array, goal: Goal, families: ArmFamilies) -> None:
        self.theta, self.goal, self.families = theta, goal, families
        self.labels, self.ambiguous = goal.partition(theta)
        self.closure = Closure(theta, self.labels, families)
        #: What was wanting: the words of `Psi.bound`, other than "exact", that were met.
        self.loose: set[str] = set()

    def lowest(self, weights: Array) -> Psi:
        """The largest value known to be at most psi, and where it is nearly attained."""
        return solve_psi_exact(weights, self.theta, self.goal, self.families)

    def __call__(self, weights: Array) -> Cut:
        """A cut at ``weights``: divergences at a point of the closure of the alternatives, checked to be one."""
        psi = self.lowest(weights)
        if not psi.exact:
            self.loose.add(psi.bound)
        if self.goal.tolerance > 0.0:
            self.loose.add("tolerance")
            return Cut(psi.value, None, psi.alternative)
        if self.goal.distance_threshold is None:
            point = self.closure.nearby(psi, weights)
        else:
            point = self._apart(psi, weights)
        if point is None:
            return Cut(psi.value, None, psi.alternative)
        kl = self.closure.divergences(point)
        return Cut(psi.value, kl if np.all(np.isfinite(kl)) else None, point)

    def _apart(self, psi: Psi, weights: Array) -> Array | None:
        """An alternative under a distance threshold: that of psi where it is one, else the whole cluster of its pair comes apart."""
        if psi.exact or psi.witness is None:
            return psi.alternative
        if psi.witness[0] is None or psi.witness[1] is None:
            point = self._met(psi)
            return point if is_alternative(point, self.labels, goal=self.goal) else None
        u, v = psi.witness[:2]
        arms = np.flatnonzero(self.labels == self.labels[u])
        away = psi.alternative[u] - psi.alternative[v]
        best, found = np.inf, None
        for direction in self._directions(away, arms):
            cost, point = separate(self.theta, arms, direction, weights, self.families, self.goal)
            if cost < best and is_alternative(point, self.labels, goal=self.goal):
                best, found = cost, point
        return found

    def _met(self, psi: Psi) -> Array:
        """The alternative of psi with its two arms near enough: where psi is only bounded, they may end too far apart."""
        assert psi.witness is not None
        assert self.goal.distance_threshold is not None
        a, b = psi.witness[2:]
        point = psi.alternative.copy()
        centre, half = 0.5 * (point[a] + point[b]), 0.5 * (point[a] - point[b])
        length = 2.0 * float(np.linalg.norm(half))
        share = min(1.0, self.goal.distance_threshold * (1.0 - 1e-12) / length) if length > 0.0 else 1.0
        point[a], point[b] = centre + share * half, centre - share * half
        return point

    def _directions(self, away: Array, arms: NDArray[np.int64]) -> list[Array]:
        """Along which a cluster may come apart: that of the pair, and those in which it is longest."""
        if len(away) == 1:
            return [np.ones(1)]
        inside = self.theta[arms] - self.theta[arms].mean(axis=0)
        _, sizes, rows = np.linalg.svd(inside, full_matrices=False)
        # a cluster has no length in the others, and probabilities cannot move along them
        return [away / np.linalg.norm(away), *rows[sizes > 1e-9 * sizes[0]]]

    def unchecked(self, weights: Array) -> Cut:
        """The same with the gradient of the value itself, which need not be a cut: to look for weights with a larger value."""
        psi = self.lowest(weights)
        return Cut(psi.value, psi.kl if np.all(np.isfinite(psi.kl)) else None, psi.alternative)
