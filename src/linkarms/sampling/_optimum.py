"""The weights that maximise psi at the estimates, kept up to date from sample to sample, compiled.

Every alternative ``lambda`` is a cut: ``psi(w, theta) <= sum_m w_m KL(theta_m, lambda_m)`` for all ``w``. It stays one when the estimates
``theta`` move, with other divergences, as long as they are clustered in the same way. So the alternatives are kept, and priced again.
"""

from __future__ import annotations

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._bottleneck import psi_kernel
from linkarms.families._model import Model
from linkarms.families._vector import arm_kl
from linkarms.linkage import fill_distances
from linkarms.sampling._game import solve_game

__all__ = ["all_distances", "cheapest", "keep_optimum"]

#: How near to the best point psi is asked in the first few turns. Most samples need one or two.
_STAY, _QUICK = 0.1, 10


@kernel
def cheapest(
    model: Model,
    theta: Array,
    labels: Array,
    n_clusters: int,
    w: Array,
    dist: Array,
    lam: Array,
    kl: Array,
    found: Array,
) -> float:
    """psi at ``w``, with the alternative, its divergences and the witness ``u, v, a, b``: the rules' one call of it.

    ``dist`` holds the distances between the rows of ``theta``; ``lam``, ``kl`` and ``found`` are filled.
    """
    costs = np.zeros(1, dtype=np.int64)
    return psi_kernel(model, theta, dist, w, labels, n_clusters, lam, kl, found, costs)


@kernel
def all_distances(theta: Array) -> Array:
    """Distances between the rows of ``theta``, shape (M, M)."""
    dist = np.zeros((theta.shape[0], theta.shape[0]))
    for m in range(theta.shape[0]):
        fill_distances(theta, m, dist)
    return dist


@kernel
def _price(model: Model, theta: Array, arms: Array, points: Array, j: int, rows: Array) -> None:
    """Row ``j``: divergences of cut ``j``, whose four ``arms`` (one of them perhaps twice) move to ``points``, from the estimates."""
    rows[j] = 0.0
    for i in range(4):
        m = int(arms[j, i])
        rows[j, m] = arm_kl(model, m, theta[m], points[j, i])


@kernel
def _forget_one(arms: Array, points: Array, mixture: Array, rows: Array, n_cuts: int) -> None:
    """Make room for a cut: the oldest that proves nothing goes, or the oldest of all."""
    gone = 0
    for j in range(n_cuts):
        if mixture[j] == 0.0:
            gone = j
            break
    for j in range(gone, n_cuts - 1):
        arms[j] = arms[j + 1]
        points[j] = points[j + 1]
        rows[j] = rows[j + 1]
        mixture[j] = mixture[j + 1]
    mixture[n_cuts - 1] = 0.0


@kernel
def keep_optimum(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    gap: float,
    max_turns: int,
    w: Array,
    arms: Array,
    points: Array,
    mixture: Array,
    counts: Array,
    bracket: Array,
) -> None:
    """Bring ``w`` to within the relative ``gap`` of the maximum of psi; nothing is solved where it is that near already.

    First the cuts are priced at the estimates, and psi is taken at ``w``: a bracket. While it is wider than ``gap``, the cut at the last
    point is added, a matrix game gives the highest point of all cuts, and psi is asked between this and the best point so far (Ben-Ameur
    and Neto 2007): near the former at first, half-way if that does not do, because the highest point alone jumps about. Where
    clusters have three arms or more psi is a bound that is not concave; the cuts are then not proved, and the search ends after
    ``max_turns``.

    Parameters
    ----------
    model, theta (M, d), dist (M, M), labels (M,), n_clusters
        The estimates, their distances and their partition.
    gap : float
        The relative gap, 1e-3 say.
    max_turns : int
        How often psi may be evaluated.
    w : ndarray, shape (M,)
        Positive weights that add up to one, from the last call; filled with better ones.
    arms : ndarray, shape (C, 4); points : ndarray, shape (C, 4, d)
        The cuts: the arms that move, and where to.
    mixture : ndarray, shape (C,)
        Their multipliers, which prove the upper end.
    counts : ndarray, shape (2,)
        The number of cuts, and how often psi was evaluated so far. No cuts at first and after the partition has changed.
    bracket : ndarray, shape (2,)
        Filled with psi at ``w`` and the upper bound on its maximum.
    """
    n_arms = theta.shape[0]
    room = arms.shape[0]
    rows = np.empty((room, n_arms))
    n_cuts = int(counts[0])
    upper = np.inf
    if n_cuts > 0:
        for j in range(n_cuts):  # the others only where something has to be solved
            if mixture[j] > 0.0:
                _price(model, theta, arms, points, j, rows)
        upper = 0.0
        for m in range(n_arms):
            value = 0.0
            for j in range(n_cuts):
                if mixture[j] > 0.0:
                    value += mixture[j] * rows[j, m]
            upper = max(upper, value)
    lam, kl = np.empty_like(theta), np.empty(n_arms)
    found = np.empty(4, dtype=np.int64)
    asked, highest = w.copy(), np.empty(n_arms)
    best = 0.0
    for turn in range(max_turns):
        value = cheapest(model, theta, labels, n_clusters, asked, dist, lam, kl, found)
        counts[1] += 1
        if turn == 0 or value > best:
            best = value
            w[:] = asked
        if upper <= best * (1.0 + gap) or found[0] < 0 or not np.isfinite(value):
            break
        if turn == 0:
            for j in range(n_cuts):
                if mixture[j] == 0.0:
                    _price(model, theta, arms, points, j, rows)
        if n_cuts == room:
            _forget_one(arms, points, mixture, rows, n_cuts)
            n_cuts -= 1
        for i in range(4):
            arms[n_cuts, i] = found[i]
            points[n_cuts, i] = lam[found[i]]
        rows[n_cuts] = kl
        n_cuts += 1
        upper = solve_game(rows, n_cuts, highest, mixture)
        if upper <= best * (1.0 + gap):
            break
        stay = _STAY if turn < _QUICK else 0.5
        for m in range(n_arms):
            asked[m] = stay * w[m] + (1.0 - stay) * highest[m]
    counts[0] = n_cuts
    bracket[0], bracket[1] = best, upper
