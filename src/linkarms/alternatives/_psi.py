"""psi by the bottleneck, as a `Psi`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms._goal import Goal
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies
from linkarms.linkage import minimum_spanning_tree

__all__ = ["Psi", "WitnessArms", "is_alternative", "named_pair", "solve_psi"]

WitnessArms = tuple[int | None, int | None, int | None, int | None]


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
    witness : tuple or None
        ``(u, v, a, b)``: the alternative puts ``u, v`` of one cluster as far apart as ``a, b`` of two clusters. Under a distance
        threshold ``(u, v, None, None)``: it puts them at least so far apart; or ``(None, None, a, b)``: it puts them as close.
    ambiguous : bool
        The parameters have equal edges at the cut; psi is then 0.

    Examples
    --------
    >>> import linkarms as la
    >>> found = la.psi([0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 5.0, 6.0], n_clusters=2)
    >>> found.exact, found.alternative.shape, found.value > 0
    (True, (4, 1), True)
    """

    value: float
    alternative: NDArray[np.float64]
    kl: NDArray[np.float64]
    exact: bool
    bound: str
    witness: WitnessArms | None
    ambiguous: bool


def is_alternative(
    lam: NDArray[np.float64],
    labels: NDArray[np.int64],
    tolerance: float = 1e-9,
    goal: Goal = Goal(0),  # noqa: B008
) -> bool:
    """Whether ``lam`` lies in the closure of the alternatives to the partition ``labels``, up to the relative ``tolerance``.

    It does iff some cluster's longest minimum-spanning-tree edge is at least as long as the shortest distance between two
    clusters (and the goal's tolerance); under a distance threshold, as long as that, or that distance as short.
    """
    if not goal.is_fixed:
        return goal.is_wrong(lam, labels, margin=tolerance)
    dist = np.linalg.norm(lam[:, None, :] - lam[None, :, :], axis=2)
    different = labels[:, None] != labels[None, :]
    if not different.any():
        return False
    shortest = float(dist[different].min())
    return any(
        float(minimum_spanning_tree(lam[inside])[1].max()) >= (1.0 - tolerance) * shortest
        for inside in (np.flatnonzero(labels == k) for k in range(int(labels.max()) + 1))
        if len(inside) > 1
    )


def solve_psi(
    weights: NDArray[np.float64],
    theta: NDArray[np.float64],
    goal: int | Goal,
    families: ArmFamilies,
) -> Psi:
    """Return psi by the bottleneck: arrays of shapes (M,), (M, d), a goal (a number is K) and a resolved list of families.

    What a run computes after every sample. For clusters of three arms and more see `solve_psi_exact`.
    """
    asked = goal if isinstance(goal, Goal) else Goal(goal)
    labels, ambiguous = asked.partition(theta)
    try:
        found = _core.psi(families.model, weights, theta, labels, asked.task())
    except ValueError as error:  # no certified solver for these families and this goal
        raise InvalidInput(str(error)) from error
    lam, kl, value = found.alternative, found.kl, found.value
    if found.witness is None:  # K = 1 or K = M
        return Psi(math.inf, lam, kl, True, "none", None, ambiguous)
    cost = float(weights @ np.where(weights > 0.0, kl, 0.0))
    # whether the pair problem was solved; elsewhere the value is only a lower bound of it
    solved = cost <= value * (1.0 + 1e-7) + 1e-20 * float(weights.sum())
    exact = solved and is_alternative(lam, labels, goal=asked)
    # in d >= 3, and for other goals than K, the alternative of a vector family need not obey its own constraint
    plain = asked.distance_threshold is None and asked.tolerance == 0.0
    tight = solved and not (
        families.model.kind == "vector" and (families.model.chart_dimension > 2 or not plain)
    )
    bound = "exact" if exact else "bottleneck" if tight else "dominating"
    unclear = ambiguous and asked.tolerance == 0.0
    return Psi(0.0 if unclear else value, lam, kl, exact, bound, named_pair(found.witness), ambiguous)


def named_pair(witness: tuple[int, int, int, int]) -> WitnessArms:
    """Return a witness of the core with None for the arms of a pair that is missing."""
    u, v, a, b = (m if m >= 0 else None for m in witness)
    return u, v, a, b
