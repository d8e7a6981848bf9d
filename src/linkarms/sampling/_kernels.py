"""The sampling rules that ship with the package, compiled: which arm next, and EBC's step."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, flat, inlined, kernel
from linkarms.alternatives._cache import FREE_SIDE, GRADIENT, Cache
from linkarms.alternatives._search import free_psi, psi_at
from linkarms.families._model import Model
from linkarms.sampling._atboc_kernel import atboc_choice
from linkarms.sampling._boc_kernels import lucb_choice
from linkarms.sampling._simplex import project_simplex
from linkarms.state import COSTS, KL, PRECISION, READY, W_SUM, WITNESS, State, T, W

#: Integer codes of the sampling rules; `USER` rules are asked in Python.
USER, EBC, EBC_H, ROUND_ROBIN, LUCBBOC, ATBOC = range(6)


@inlined
def evidence_weight(n: int, c: float) -> float:
    """``n^2 / (n + c)``: what ``n`` samples weigh in evidence whose prior weighs as much as ``c``; ``n`` itself where ``c = 0``."""
    return n / (n + c) * n


@kernel
def _choose_by_rule(
    model: Model, state: State, cache: Cache, rule: int, n_clusters: int, number: float, memory: Array
) -> int:
    """LUCBBOC and ATBOC, which have their own ways of exploring."""
    n = state.counts + state.pending
    if rule == LUCBBOC:
        return lucb_choice(state.dist, state.labels, n, state.theta.shape[1], number)
    return atboc_choice(model, state, cache, n, n_clusters, number, memory)


@kernel
def _choose_pending(model: Model, state: State, cache: Cache, n_clusters: int, c: float) -> int:
    """EBC-H's arm where pulls are pending: psi is taken as if they had been made, without moving the estimates."""
    n_arms = state.counts.shape[0]
    kl, lam = np.empty(n_arms), np.empty_like(state.theta)
    witness = np.empty(4, dtype=np.int64)
    weights = np.empty(n_arms)
    for m in range(n_arms):
        weights[m] = evidence_weight(state.counts[m] + state.pending[m], c) * state.vectors[PRECISION, m]
    free_psi(model, state.theta, state.dist, weights, state.labels, n_clusters, cache, lam, kl, witness)
    return _most_moved(state, kl, witness)


@flat
def _most_moved(state: State, kl: Array, witness: Array) -> int:
    """The arm with the largest KL; where every KL is zero the least sampled arm of the witness. Ties break by index."""
    best = 0
    for m in range(1, kl.shape[0]):
        if kl[m] > kl[best]:
            best = m
    if kl[best] > 0.0 or witness[0] < 0:
        return best
    best = witness[0]
    for i in range(1, 4):
        m = witness[i]
        n, least = state.counts[m] + state.pending[m], state.counts[best] + state.pending[best]
        if n < least or (n == least and m < best):
            best = m
    return best


@inlined
def choose_kernel(
    model: Model,
    state: State,
    cache: Cache,
    rule: int,
    n_clusters: int,
    number: float,
    memory: Array,
    c: float,
) -> int:
    """The next arm: forced exploration first, then the rule. Ties break by index.

    ``number`` and ``memory`` are those of the `SamplingRule`; psi is taken at `evidence_weight` with ``c``. Pending pulls count as
    pulls here. Where every KL is zero (the estimates are on the edge to another partition), EBC-H pulls the least sampled arm of the
    witness.
    """
    n_arms = state.counts.shape[0]
    fewest, least, total = 0, state.counts[0] + state.pending[0], 0
    for m in range(n_arms):
        n = state.counts[m] + state.pending[m]
        total += n
        if n < least:
            fewest, least = m, n
    if rule in (LUCBBOC, ATBOC) and least > 0 and state.info[READY] == 1:
        return _choose_by_rule(model, state, cache, rule, n_clusters, number, memory)
    if least == 0 or least < math.sqrt(total / n_arms) or rule == ROUND_ROBIN or n_clusters == n_arms:
        return fewest
    if rule == EBC:
        t = max(state.info[T], 1)
        best, lowest = 0, math.inf
        for m in range(n_arms):
            x = (state.counts[m] + state.pending[m]) / total - state.vectors[W_SUM, m] / t
            if x < lowest:
                best, lowest = m, x
        return best
    if state.info[READY] == 0:
        return fewest
    if total > state.info[T]:
        return _choose_pending(model, state, cache, n_clusters, c)
    return _most_moved(state, state.vectors[KL], state.info[WITNESS:COSTS])


@inlined
def ebc_step(model: Model, state: State, cache: Cache, step: float, n_clusters: int) -> None:
    """EBC's ascent: ``w(t) = projection of w(t-1) + eta g``, ``eta = step / sqrt(t)``, ``g`` the gradient of psi at ``w(t-1)``."""
    w = state.vectors[W]
    if state.info[READY] == 1:
        found, gradient = cache.answer, cache.arms[FREE_SIDE, GRADIENT]
        for m in range(w.shape[0]):
            for i in range(state.theta.shape[1]):
                cache.moved[m, i] = state.theta[m, i]
        psi_at(
            model,
            state.theta,
            state.dist,
            state.labels,
            n_clusters,
            cache,
            FREE_SIDE,
            w,
            -1,
            cache.moved,
            gradient,
        )
        if found[0] >= 0:
            eta = step / math.sqrt(state.info[T])
            for i in range(4):
                m = found[i]
                w[m] += eta * gradient[m]
                gradient[m] = 0.0  # a shared arm comes twice
        project_simplex(w)
    for m in range(w.shape[0]):
        state.vectors[W_SUM, m] += w[m]
