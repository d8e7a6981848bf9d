"""psi by the bottleneck, as a `Psi`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkarms.alternatives._search import psi_addresses, psi_kernel
from linkarms.families import ArmFamilies
from linkarms.families._model import VectorModel
from linkarms.families._vector import chart_dimension
from linkarms.linkage import fill_distances, single_linkage_kernel

__all__ = ["Psi", "is_alternative", "solve_psi"]


@dataclass(frozen=True)
class Psi:
    """The cheapest alternative to a partition.

    Attributes
    ----------
    value : float
        The infimum of ``sum_m w_m KL_m`` over all alternatives, or a lower bound of it; never above it. Infinite where there is
        no alternative (K = 1 or K = M).
    alternative : ndarray, shape (M, d)
        ``lambda*``: the parameters nearest to those given at which the clusters are about to change.
    kl : ndarray, shape (M,)
        ``KL(theta_m, lambda*_m)``: the gradient of psi in the weights.
    exact : bool
        The value is the true infimum: the alternative really is one, and costs no more.
    bound : {"exact", "duality", "bottleneck", "dominating", "none"}
        What the value is: the infimum; a lower bound by duality, where the search for the infimum left a gap; a lower bound because a
        cluster has three arms or more; a lower bound because the pair problem of the family was not solved exactly (products in
        d >= 3, say); or infinite. With ``"duality"`` the alternative is a true one and costs more than ``value``.
    witness : tuple of int or None
        ``(u, v, a, b)``: the alternative puts ``u, v`` of one cluster as far apart as ``a, b`` of two clusters.
    ambiguous : bool
        The parameters have equal edges at the cut; psi is then 0.
    """

    value: float
    alternative: NDArray[np.float64]
    kl: NDArray[np.float64]
    exact: bool
    bound: str
    witness: tuple[int, int, int, int] | None
    ambiguous: bool


def is_alternative(lam: NDArray[np.float64], labels: NDArray[np.int64], tolerance: float = 1e-9) -> bool:
    """Whether ``lam`` lies in the closure of the alternatives to the partition ``labels``.

    It does iff some cluster's longest minimum-spanning-tree edge is at least as long as the shortest distance between two
    clusters, up to ``tolerance``.
    """
    n = len(lam)
    dist = np.zeros((n, n))
    for m in range(n):
        fill_distances(lam, m, dist)
    different = labels[:, None] != labels[None, :]
    if not different.any():
        return False
    shortest = float(dist[different].min())
    return any(
        _longest_edge(dist[np.ix_(inside, inside)]) >= (1.0 - tolerance) * shortest
        for inside in (np.flatnonzero(labels == k) for k in range(int(labels.max()) + 1))
        if len(inside) > 1
    )


def _longest_edge(dist: NDArray[np.float64]) -> float:
    from linkarms.linkage import minimum_spanning_tree

    n = len(dist)
    order, parent, length = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    minimum_spanning_tree(np.ascontiguousarray(dist), order, parent, length)
    return float(length.max())


def solve_psi(
    weights: NDArray[np.float64],
    theta: NDArray[np.float64],
    n_clusters: int,
    families: ArmFamilies,
) -> Psi:
    """psi by the bottleneck: arrays of shapes (M,), (M, d) and a resolved list of families.

    What a run computes after every sample. For clusters of three arms and more see `solve_psi_exact`.
    """
    n = len(theta)
    dist = np.zeros((n, n))
    for m in range(n):
        fill_distances(theta, m, dist)
    labels = np.empty(n, dtype=np.int64)
    ambiguous = bool(single_linkage_kernel(dist, n_clusters, labels))
    lam, kl, found = np.empty_like(theta), np.empty(n), np.empty(4, dtype=np.int64)
    value = float(
        psi_kernel(
            families.model,
            theta,
            dist,
            weights,
            labels,
            n_clusters,
            lam,
            kl,
            found,
            psi_addresses(families.model),
        )
    )
    families.raise_pending()
    if found[0] < 0:  # K = 1 or K = M
        return Psi(math.inf, lam, kl, True, "none", None, ambiguous)
    cost = float(weights @ np.where(weights > 0.0, kl, 0.0))
    solved = cost <= value * (1.0 + 1e-7) + 1e-20 * float(
        weights.sum()
    )  # the pair problem; elsewhere the value is only a lower bound of it
    exact = solved and is_alternative(lam, labels)
    # in d >= 3 the alternative of a vector family need not obey its own constraint
    tight = solved and not (isinstance(families.model, VectorModel) and chart_dimension(families.model) > 2)
    bound = "exact" if exact else "bottleneck" if tight else "dominating"
    u, v, a, b = (int(x) for x in found)
    return Psi(0.0 if ambiguous else value, lam, kl, exact, bound, (u, v, a, b), ambiguous)
