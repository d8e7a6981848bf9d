"""The oracle of the lower bound: a value that psi does reach, and an alternative that is one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkarms.alternatives import Closure, Psi, solve_psi_exact
from linkarms.bound._level import Cut
from linkarms.families import ArmFamilies
from linkarms.linkage import single_linkage

__all__ = ["Oracle"]

Array = NDArray[np.float64]


class Oracle:
    """psi at given weights, from below and from above.

    Parameters
    ----------
    theta : ndarray, shape (M, d)
        The parameters.
    n_clusters : int
        K.
    families : ArmFamilies
        The families of the arms.
    """

    def __init__(self, theta: Array, n_clusters: int, families: ArmFamilies) -> None:
        self.theta, self.n_clusters, self.families = theta, n_clusters, families
        labels, self.ambiguous = single_linkage(theta, n_clusters)
        self.closure = Closure(theta, labels, families)
        #: What was wanting: the words of `Psi.bound`, other than "exact", that were met.
        self.loose: set[str] = set()

    def lowest(self, weights: Array) -> Psi:
        """The largest value known to be at most psi, and where it is nearly attained."""
        return solve_psi_exact(weights, self.theta, self.n_clusters, self.families)

    def __call__(self, weights: Array) -> Cut:
        """A cut at ``weights``: divergences at a point of the closure of the alternatives, checked to be one."""
        psi = self.lowest(weights)
        if not psi.exact:
            self.loose.add(psi.bound)
        point = self.closure.nearby(psi, weights)
        if point is None:
            return Cut(psi.value, None, psi.alternative)
        kl = self.closure.divergences(point)
        return Cut(psi.value, kl if np.all(np.isfinite(kl)) else None, point)

    def unchecked(self, weights: Array) -> Cut:
        """The same with the gradient of the value itself, which need not be a cut: to look for weights with a larger value."""
        psi = self.lowest(weights)
        return Cut(psi.value, psi.kl if np.all(np.isfinite(psi.kl)) else None, psi.alternative)
