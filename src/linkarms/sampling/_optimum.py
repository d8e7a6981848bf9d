"""The weights that maximise psi at the estimates, kept up to date from sample to sample, compiled.

Every alternative ``lambda`` is a cut: ``psi(w, theta) <= sum_m w_m KL(theta_m, lambda_m)`` for all ``w``. It stays one when the estimates
``theta`` move, with other divergences, as long as they are clustered in the same way. So the alternatives are kept, and priced again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkarms._jit import Array, kernel
from linkarms.alternatives._cache import Cache
from linkarms.alternatives._search import free_psi, psi_kernel
from linkarms.families._model import Model
from linkarms.families._scalar import GAUSSIAN
from linkarms.families._vector import arm_kl
from linkarms.linkage import fill_distances
from linkarms.sampling._game import solve_game

__all__ = ["Cuts", "all_distances", "cheapest", "keep_optimum"]

#: How near to the best point psi is asked in the first few turns. Most samples need one or two.
_STAY, _QUICK = 0.1, 10


class Cuts(NamedTuple):
    """Room for C alternatives, and their prices.

    Attributes
    ----------
    arms : ndarray, shape (C, 4)
        The arms that move, one of them perhaps twice.
    points : ndarray, shape (C, 4, d)
        Where to.
    mixture : ndarray, shape (C,)
        Multipliers, which prove the upper end.
    rows : ndarray, shape (C, M)
        Divergences from the estimates in ``priced``.
    priced : ndarray, shape (M, d)
        NaN where the rows have to be filled anew.
    """

    arms: NDArray[np.float64]
    points: NDArray[np.float64]
    mixture: NDArray[np.float64]
    rows: NDArray[np.float64]
    priced: NDArray[np.float64]


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
    calls: Array,
) -> float:
    """psi at ``w``, with the alternative, its divergences and the witness ``u, v, a, b``: the rules' one call of it.

    ``dist`` holds the distances between the rows of ``theta``; ``lam``, ``kl`` and ``found`` are filled. ``calls`` are `psi_addresses`.
    """
    return psi_kernel(model, theta, dist, w, labels, n_clusters, lam, kl, found, calls)


@kernel
def all_distances(theta: Array) -> Array:
    """Distances between the rows of ``theta``, shape (M, M)."""
    dist = np.zeros((theta.shape[0], theta.shape[0]))
    for m in range(theta.shape[0]):
        fill_distances(theta, m, dist)
    return dist


@kernel
def _price_arm(model: Model, theta: Array, cuts: Cuts, first: int, last: int, m: int) -> None:
    """The divergence of arm ``m`` for the cuts from ``first`` to before ``last``; no views, which cost more than what is in them."""
    arms, points, rows = cuts.arms, cuts.points, cuts.rows
    plain = model.codes[m, 0] == GAUSSIAN
    for j in range(first, last):
        rows[j, m] = 0.0
        for i in range(4):
            if arms[j, i] != m:
                continue
            if plain:
                total = 0.0
                for k in range(theta.shape[1]):
                    total += (points[j, i, k] - theta[m, k]) * (points[j, i, k] - theta[m, k])
                rows[j, m] = total / (2.0 * model.pars[m, 0])
            else:
                rows[j, m] = arm_kl(model, m, theta[m], points[j, i])
            break


@kernel
def _price(model: Model, theta: Array, cuts: Cuts, n_cuts: int) -> float:
    """Bring the divergences up to date, for the arms whose estimates have moved; the upper bound that the mixture proves."""
    priced, mixture, rows = cuts.priced, cuts.mixture, cuts.rows
    n_arms, d = theta.shape
    for m in range(n_arms):
        moved = False
        for i in range(d):
            if theta[m, i] != priced[m, i]:
                priced[m, i] = theta[m, i]
                moved = True
        if moved:
            _price_arm(model, theta, cuts, 0, n_cuts, m)
    if n_cuts == 0:
        return np.inf
    upper = 0.0
    for m in range(n_arms):
        value = 0.0
        for j in range(n_cuts):
            if mixture[j] > 0.0:
                value += mixture[j] * rows[j, m]
        upper = max(upper, value)
    return upper


@kernel
def _forget_one(cuts: Cuts, n_cuts: int) -> None:
    """Make room for a cut: the oldest that proves nothing goes, or the oldest of all."""
    arms, points, mixture, rows = cuts.arms, cuts.points, cuts.mixture, cuts.rows
    gone = 0
    for j in range(n_cuts):
        if mixture[j] == 0.0:
            gone = j
            break
    for j in range(gone, n_cuts - 1):
        for i in range(4):
            arms[j, i] = arms[j + 1, i]
            for k in range(points.shape[2]):
                points[j, i, k] = points[j + 1, i, k]
        for m in range(rows.shape[1]):
            rows[j, m] = rows[j + 1, m]
        mixture[j] = mixture[j + 1]
    mixture[n_cuts - 1] = 0.0


@kernel
def _add(model: Model, theta: Array, cuts: Cuts, n_cuts: int, found: Array, lam: Array) -> int:
    """Add the cut of an alternative, of which only the arms in ``found`` move; the number of cuts then."""
    arms, points, rows = cuts.arms, cuts.points, cuts.rows
    if n_cuts == arms.shape[0]:
        _forget_one(cuts, n_cuts)
        n_cuts -= 1
    for m in range(rows.shape[1]):
        rows[n_cuts, m] = 0.0
    for i in range(4):
        m = found[i]
        arms[n_cuts, i] = m
        for k in range(lam.shape[1]):
            points[n_cuts, i, k] = lam[m, k]
    for i in range(4):
        _price_arm(model, theta, cuts, n_cuts, n_cuts + 1, found[i])
    return n_cuts + 1


@kernel
def keep_optimum(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    gap: float,
    max_turns: int,
    w: Array,
    cuts: Cuts,
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
        The estimates of Gaussian arms, their distances and their partition.
    cache : Cache
        What is known of the partition, and of the last searches.
    gap : float
        The relative gap, 1e-3 say.
    max_turns : int
        How often psi may be evaluated.
    w : ndarray, shape (M,)
        Positive weights that add up to one, from the last call; filled with better ones.
    cuts : Cuts
        From the last call.
    counts : ndarray, shape (2,)
        The number of cuts, and how often psi was evaluated so far. No cuts at first and after the partition has changed.
    bracket : ndarray, shape (2,)
        Filled with psi at ``w`` and the upper bound on its maximum.
    """
    n_arms = theta.shape[0]
    n_cuts = int(counts[0])
    upper = _price(model, theta, cuts, n_cuts)
    found = np.full(4, -1, dtype=np.int64)
    lam, kl = np.empty_like(theta), np.empty(n_arms)
    asked, highest = np.empty(n_arms), np.empty(n_arms)
    for m in range(n_arms):
        asked[m] = w[m]
    best = 0.0
    for turn in range(max_turns):
        value = free_psi(model, theta, dist, asked, labels, n_clusters, cache, lam, kl, found)
        counts[1] += 1
        if turn == 0 or value > best:
            best = value
            for m in range(n_arms):
                w[m] = asked[m]
        if upper <= best * (1.0 + gap) or found[0] < 0 or not np.isfinite(value):
            break
        n_cuts = _add(model, theta, cuts, n_cuts, found, lam)
        upper = solve_game(cuts.rows, n_cuts, highest, cuts.mixture)
        if upper <= best * (1.0 + gap):
            break
        stay = _STAY if turn < _QUICK else 0.5
        for m in range(n_arms):
            asked[m] = stay * w[m] + (1.0 - stay) * highest[m]
    counts[0] = n_cuts
    bracket[0], bracket[1] = best, upper
