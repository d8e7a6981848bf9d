"""psi for clusters of any size: between a proved lower bound and the cost of a true alternative."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms import _core
from linkarms._goal import Goal, check_goal, require_goal
from linkarms._validate import check_parameters, check_weights
from linkarms.alternatives._closure import Closure
from linkarms.alternatives._psi import Psi, is_alternative, solve_psi
from linkarms.alternatives._splits import Found, GaussianSearch
from linkarms.families import ArmFamilies, FamilyLike, resolve

__all__ = ["psi", "solve_psi_exact"]

Array = NDArray[np.float64]

#: Lower and upper bound that agree so well, relatively, are one value.
_AGREE = 1e-7


def solve_psi_exact(
    weights: Array,
    theta: Array,
    goal: int | Goal,
    families: ArmFamilies,
) -> Psi:
    """psi, exact where that can be proved; arrays of shapes (M,), (M, d), a goal (a number is K) and a resolved list of families.

    The bottleneck comes first, and is the answer where its alternative is one. Otherwise all splits are searched: for arms with one
    parameter by ``_line.py``, for Gaussian arms by ``_splits.py``. Other families keep the bottleneck. The value is never below it.
    """
    asked = goal if isinstance(goal, Goal) else Goal(goal)
    base = solve_psi(weights, theta, asked, families)
    bottleneck_only = asked.distance_threshold is not None or asked.tolerance > 0.0
    if base.exact or base.ambiguous or families.model.kind == "vector" or bottleneck_only:
        return base
    labels, _ = asked.partition(theta)
    closure = Closure(theta, labels, families)
    if np.any(weights <= 0.0):
        return _free_move(base, closure, labels, weights)
    if theta.shape[1] == 1:
        found = _search_line(base, closure, labels, weights)
    else:
        found = GaussianSearch(closure, labels, weights).run()
    kl = closure.divergences(found.point)
    cost = float(weights @ kl)
    value = min(max(base.value, found.lower), cost)
    exact = cost <= value * (1.0 + _AGREE) and is_alternative(found.point, labels)
    bound = "exact" if exact else "duality" if value > base.value else base.bound
    return Psi(value, found.point, kl, exact, bound, closure.witness(found.point), False)


def _free_move(base: Psi, closure: Closure, labels: NDArray[np.int64], weights: Array) -> Psi:
    """An arm of no weight goes to an arm of another cluster, for nothing: psi is 0."""
    for m in np.flatnonzero(weights <= 0.0):
        away = np.linalg.norm(closure.theta - closure.theta[m], axis=1)
        for other in np.argsort(away, kind="stable"):
            point = closure.theta.copy()
            point[m] = point[other]
            kl = closure.divergences(point)
            if labels[other] != labels[m] and np.all(np.isfinite(kl)):
                return Psi(0.0, point, kl, True, "exact", closure.witness(point), False)
    return base


def _search_line(base: Psi, closure: Closure, labels: NDArray[np.int64], weights: Array) -> Found:
    """Search psi of arms with one parameter each. Clusters of three arms and more have to be of one family, not a user's."""
    theta, model, n_clusters = (
        np.ascontiguousarray(closure.theta[:, 0]),
        closure.families.model,
        int(labels.max()) + 1,
    )
    lam, lower, upper = theta, 0.0, np.inf
    # How far a divergence has to be convex depends on what is known: once more where that was not enough.
    for _ in range(2):
        lower, upper, lam = _core.line_psi(model, theta, weights, labels, n_clusters, base.value, upper, lam)
        if upper <= lower * (1.0 + _AGREE):
            break
    found = Found(lower, upper, closure.corrected(lam[:, None]))
    if upper > lower * (1.0 + _AGREE):
        other = closure.nearby(base, weights)
        if other is not None and float(weights @ closure.divergences(other)) < upper:
            found.point = other
    return found


def psi(
    weights: ArrayLike,
    parameters: ArrayLike,
    n_clusters: int | None = None,
    family: FamilyLike = "gaussian",
    *,
    refine: bool = True,
    distance_threshold: float | None = None,
    tolerance: float = 0.0,
) -> Psi:
    """Compute how hard it is to tell the clusters from the nearest other ones: ``inf over alternatives of sum_m w_m KL_m``.

    Parameters
    ----------
    weights : array of shape (M,)
        Non-negative weights of the arms: proportions of pulls, or numbers of pulls.
    parameters : array of shape (M, d) or (M,)
        Parameters of the arms.
    n_clusters : int, optional
        K, from 1 to M; or else a distance threshold.
    family : str, Family or a sequence with one per arm, default "gaussian"
        The distributions of the samples.
    refine : bool, default True
        Where a cluster has three arms or more and the bottleneck is only a lower bound, search all splits for the exact value.
        False: the bottleneck, which is what a run computes after every sample.
    distance_threshold : float, optional
        Clusters are the components of "closer than this", in place of a number of them.
    tolerance : float, default 0
        Differences of distances below this do not matter.

    Returns
    -------
    Psi
        With the value, the alternative, the KL of each arm, and what kind of bound the value is.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.psi([0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 5.0, 6.0], n_clusters=2)
    >>> round(p.value, 4), p.exact, p.witness
    (0.1875, True, (0, 1, 1, 2))

    A cluster of three arms, exactly and by the bottleneck:

    >>> arms = [0.0, 0.1, 2.0, 6.0, 7.0]
    >>> p, quick = la.psi([1] * 5, arms, 2), la.psi([1] * 5, arms, 2, refine=False)
    >>> round(p.value, 4), p.bound, round(quick.value, 4), quick.bound
    (0.3845, 'exact', 0.3675, 'bottleneck')
    """
    theta = check_parameters(parameters)
    require_goal(n_clusters, distance_threshold)
    goal = check_goal(n_clusters, distance_threshold, tolerance, n_arms=len(theta))
    w = check_weights(weights, len(theta))
    families = resolve(family, len(theta), theta.shape[1])
    families.require_known("psi")
    families.check_parameters(theta)
    solve = solve_psi_exact if refine else solve_psi
    return solve(w, theta, goal, families)
