"""psi: the smallest bottleneck over all clusters and inter pairs.

``psi = min over clusters k and inter pairs (a,b) of V_k(a,b)``; ties go to the smallest ``(a, b, k)``. A search begins with an upper
bound (``_begin.py``), and rules out all other candidates (``_scan_attachments.py``, ``_scan_trees.py``). For that the Gaussian
formulas at the arms' spreads do, which need one look at a pair of distances. What they do not rule out is evaluated (``_parts.py``).
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from linkarms._jit import Array, address_of, call_for_float, flat, inlined, kernel, lean
from linkarms.alternatives._answer import first_finite, remember
from linkarms.alternatives._attach import fill_attachments, move_attachments
from linkarms.alternatives._begin import begin
from linkarms.alternatives._cache import (
    ABOUT,
    FILLED,
    FREE_SIDE,
    LISTED,
    MANY,
    NEAR,
    SEARCH,
    SPREAD,
    VALID,
    WEIGHT,
    Cache,
    new_cache,
)
from linkarms.alternatives._near import fill_near, fill_nearest, fit_classes, lower_near
from linkarms.alternatives._pair import (
    call_solution,
    pair_addresses,
)
from linkarms.alternatives._scan_attachments import scan_attachments
from linkarms.alternatives._scan_trees import scan_alternatives, scan_trees
from linkarms.alternatives._shortlist import fill_list, least_of_list, move_list, reaches
from linkarms.alternatives._spreads import fit_spreads, set_weight, set_weights
from linkarms.alternatives._trees import (
    fit_trees,
    forget_alternatives,
    list_members,
    measure_edges,
    mend_trees,
    move_edges,
)
from linkarms.families._model import Model
from linkarms.families._vector import arm_kl

__all__ = ["free_psi", "psi_addresses", "psi_at", "psi_kernel"]


@lean
def search(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    found: Array,
) -> float:
    """psi at the weights of a side of the cache.

    Parameters
    ----------
    model, theta (M, d), dist (M, M), labels (M,), n_clusters
        The problem; ``labels`` are 0..K-1.
    cache : Cache
        With the members of the clusters and the weights as they are now.
    side : int
        Which weights.
    found : ndarray of int, shape (7,)
        Filled with the witness ``u, v, a, b`` and the cluster ``k``, -1 where there is no alternative; the rest is scratch.

    Returns
    -------
    float
        psi; infinite where there is no alternative (K = 1 or K = M).
    """
    for i in range(7):
        found[i] = -1
    best = begin(model, theta, dist, labels, n_clusters, cache, side, found)
    if found[4] < 0:
        return math.inf
    if best == math.inf:
        best = first_finite(model, theta, dist, labels, n_clusters, cache, side, found)
        if best == math.inf:
            return best
    changed = fit_spreads(model, theta, cache, side, best)
    if cache.flags[side, MANY] == 0:
        best = fill_list(model, theta, dist, labels, n_clusters, cache, side, best, found)
        if cache.flags[side, LISTED] >= 0:
            cache.flags[side, FILLED] = 0
            remember(cache, side, found)
            return best
    if cache.flags[side, FILLED] == 0:
        fill_near(dist, labels, cache, side)
        fill_attachments(model, dist, labels, cache, side)
        forget_alternatives(cache, side, -1)
        cache.flags[side, FILLED] = 1
    elif changed:
        fill_near(dist, labels, cache, side)
    fit_classes(dist, labels, cache, side)
    many = cache.flags[side, MANY] == 1
    best = scan_attachments(model, theta, dist, labels, cache, side, best, found)
    if many:
        mend_trees(dist, labels, n_clusters, cache, side)
    best = scan_trees(model, theta, dist, labels, n_clusters, cache, side, best, found)
    if many:
        best = scan_alternatives(model, theta, dist, labels, n_clusters, cache, side, best, found)
    cache.levels[ABOUT + side] = 1.05 * best
    remember(cache, side, found)
    return best


@inlined
def _solve(
    model: Model, theta: Array, dist: Array, cache: Cache, side: int, found: Array, lam: Array, kl: Array
) -> None:
    """Move the rows of the witness in ``lam`` (elsewhere a copy of ``theta``) to the minimiser, and fill their divergences."""
    u, v, a, b = found[0], found[1], found[2], found[3]
    if v in (a, b):
        u, v = v, u
    if u == b:
        a, b = b, a
    w, inv = cache.arms[side, WEIGHT], cache.arms[side, SPREAD]
    call_solution(model, theta, dist, w, inv, u, v, a, b, lam, cache.box, cache.which, cache.calls)
    for m in (u, v, b):
        kl[m] = arm_kl(model, m, theta[m], lam[m])
    if u != a:
        kl[a] = arm_kl(model, a, theta[a], lam[a])


@lean
def _psi_at(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    weights: Array,
    m: int,
    lam: Array,
    kl: Array,
) -> float:
    """psi at ``weights``, of which some may be zero, with the minimiser; see `search`.

    Parameters
    ----------
    model, theta, dist, labels, n_clusters, cache, side
        As for `search`. The answer is left in ``cache.answer``.
    weights : ndarray, shape (M,)
        The weights.
    m : int
        The arm whose weight and estimate have changed since the last time; -1 if those of others may have.
    lam, kl : ndarray, shape (M, d) and (M,)
        The rows of the witness become ``lambda*`` and its divergences; in ``lam`` they must be the estimates before.
    """
    cache.flags[side, LISTED] = -1
    if cache.flags[side, VALID] == 0:
        fit_trees(dist, labels, n_clusters, cache, side)
    elif m >= 0 and cache.flags[side, FILLED] == 1:
        move_edges(dist, labels, cache, side, m)
    else:
        for k in range(n_clusters):
            measure_edges(dist, cache, side, k)
    if m >= 0:
        set_weight(model, theta, cache, side, m, weights[m])
        if cache.flags[side, FILLED] == 1:
            lower_near(dist, labels, cache, side, m)
            move_attachments(model, dist, labels, cache, side, m)
            forget_alternatives(cache, side, m)
    else:
        set_weights(model, theta, cache, side, weights)
        cache.flags[side, FILLED] = 0
    value = search(model, theta, dist, labels, n_clusters, cache, side, cache.answer)
    if cache.answer[4] < 0:
        return math.inf
    _solve(model, theta, dist, cache, side, cache.answer, lam, kl)
    for j in range(4):
        if weights[cache.answer[j]] <= 0.0:
            value = 0.0  # an arm of no weight moves for free
    return value


@flat
def psi_at(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    weights: Array,
    m: int,
    lam: Array,
    kl: Array,
) -> float:
    """psi after a sample of arm ``m``: from the list, if there is one; else `_psi_at`, by its address, so that it is compiled once."""
    if m >= 0 and cache.flags[side, VALID] == 1 and cache.flags[side, LISTED] >= 0:
        set_weight(model, theta, cache, side, m, weights[m])
        if move_list(dist, labels, cache, side, m):
            cache.answer[4] = -1
            value = least_of_list(model, theta, dist, labels, cache, side, 0, math.inf, cache.answer)
            if reaches(cache, side, value):
                remember(cache, side, cache.answer)
                _solve(model, theta, dist, cache, side, cache.answer, lam, kl)
                return value
    return float(
        call_for_float(
            cache.calls[SEARCH], (model, theta, dist, labels, n_clusters, cache, side, weights, m, lam, kl)
        )
    )


def psi_addresses(model: Any) -> Any:
    """Where the kernels of this type of model lie in this process: `pair_addresses`, and `psi_at`."""
    kind = numba.typeof(model)
    if kind not in _ADDRESSES:
        calls = np.append(pair_addresses(model), 0)
        matrix, row, labels = np.zeros((1, 1)), np.zeros(1), np.zeros(1, dtype=np.int64)
        cache = new_cache(1, 1, calls)
        calls[SEARCH] = address_of(_psi_at, model, matrix, matrix, labels, 1, cache, 0, row, 0, matrix, row)
        _ADDRESSES[kind] = calls
    return _ADDRESSES[kind]


_ADDRESSES: dict[Any, Any] = {}


@lean
def free_psi(
    model: Model,
    theta: Array,
    dist: Array,
    weights: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    lam: Array,
    kl: Array,
    found: Array,
) -> float:
    """psi at any ``weights``; see `psi_kernel`. The cache holds the partition."""
    for m in range(theta.shape[0]):
        kl[m] = 0.0
        for i in range(theta.shape[1]):
            lam[m, i] = theta[m, i]
    value = psi_at(model, theta, dist, labels, n_clusters, cache, FREE_SIDE, weights, -1, lam, kl)
    for j in range(4):
        found[j] = cache.answer[j]
    return value


@kernel
def psi_kernel(
    model: Model,
    theta: Array,
    dist: Array,
    weights: Array,
    labels: Array,
    n_clusters: int,
    lam: Array,
    kl: Array,
    found: Array,
    calls: Array,
) -> float:
    """psi for the partition ``labels`` with nothing known beforehand, with the minimiser and the KL of each arm.

    Parameters
    ----------
    model, theta (M, d), dist (M, M), weights (M,), labels (M,), n_clusters
        The problem; ``labels`` are 0..K-1.
    lam : ndarray, shape (M, d)
        Filled with the alternative ``lambda*``.
    kl : ndarray, shape (M,)
        Filled with ``KL_m(theta_m, lambda*_m)``.
    found : ndarray of int, shape (4,)
        Filled with the witness ``u, v, a, b``; -1 where there is no alternative (K = 1 or K = M).
    calls : ndarray of int, shape (3,)
        `psi_addresses` of the model.

    Returns
    -------
    float
        psi; infinite where there is no alternative.
    """
    cache = new_cache(theta.shape[0], theta.shape[1], calls)
    list_members(labels, n_clusters, cache.nodes)
    fill_nearest(dist, labels, cache.lengths[NEAR])
    return free_psi(model, theta, dist, weights, labels, n_clusters, cache, lam, kl, found)
