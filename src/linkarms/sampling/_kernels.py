"""The sampling rules that ship with the package, compiled: which arm next, and EBC's step."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, inlined, kernel
from linkarms.alternatives._bottleneck import psi_kernel
from linkarms.families._model import Model
from linkarms.sampling._atboc_kernel import atboc_choice
from linkarms.sampling._boc_kernels import lucb_choice
from linkarms.sampling._simplex import project_simplex
from linkarms.state import COSTS, KL, PRECISION, READY, W_SUM, WITNESS, State, T, W

#: Integer codes of the sampling rules; `USER` rules are asked in Python.
USER, EBC, EBC_H, ROUND_ROBIN, LUCBBOC, ATBOC = range(6)


@kernel
def _fewest(n: Array) -> int:
    best = 0
    for m in range(1, n.shape[0]):
        if n[m] < n[best]:
            best = m
    return best


@inlined
def evidence_weight(n: int, c: float) -> float:
    """``n^2 / (n + c)``: what ``n`` samples weigh in evidence whose prior weighs as much as ``c``; ``n`` itself where ``c = 0``."""
    return n / (n + c) * n


@inlined
def choose_kernel(
    model: Model, state: State, rule: int, n_clusters: int, number: float, memory: Array, c: float
) -> int:
    """The next arm: forced exploration first, then the rule. Ties break by index.

    ``number`` and ``memory`` are those of the `SamplingRule`; psi is taken at `evidence_weight` with ``c``. Pending pulls count as
    pulls here. Where every KL is zero (the estimates are on the edge to another partition), EBC-H pulls the least sampled arm of the
    witness.
    """
    n_arms = state.counts.shape[0]
    n = state.counts + state.pending
    total = n.sum()
    fewest = _fewest(n)
    if rule == LUCBBOC and n[fewest] > 0 and state.info[READY] == 1:
        return lucb_choice(state.dist, state.labels, n, state.theta.shape[1], number)
    if rule == ATBOC and n[fewest] > 0 and state.info[READY] == 1:
        return atboc_choice(model, state, n, n_clusters, number, memory)
    if n[fewest] == 0 or n[fewest] < math.sqrt(total / n_arms) or rule == ROUND_ROBIN or n_clusters == n_arms:
        return fewest
    if rule == EBC:
        t = max(state.info[T], 1)
        best, lowest = 0, math.inf
        for m in range(n_arms):
            x = n[m] / total - state.vectors[W_SUM, m] / t
            if x < lowest:
                best, lowest = m, x
        return best
    if state.info[READY] == 0:
        return fewest
    kl = state.vectors[KL]
    witness = state.info[WITNESS:COSTS]
    if total > state.info[T]:
        kl = np.empty(n_arms)
        witness = np.empty(4, dtype=np.int64)
        lam = np.empty_like(state.theta)
        weights = np.empty(n_arms)
        for m in range(n_arms):
            weights[m] = evidence_weight(n[m], c) * state.vectors[PRECISION, m]
        psi_kernel(
            model,
            state.theta,
            state.dist,
            weights,
            state.labels,
            n_clusters,
            lam,
            kl,
            witness,
            state.info[COSTS:],
        )
    best = 0
    for m in range(1, n_arms):
        if kl[m] > kl[best]:
            best = m
    if kl[best] > 0.0 or witness[0] < 0:
        return best
    best = witness[0]
    for i in range(1, 4):
        m = witness[i]
        if n[m] < n[best] or (n[m] == n[best] and m < best):
            best = m
    return best


@inlined
def ebc_step(model: Model, state: State, step: float, n_clusters: int) -> None:
    """EBC's ascent: ``w(t) = projection of w(t-1) + eta g``, ``eta = step / sqrt(t)``, ``g`` the gradient of psi at ``w(t-1)``."""
    w = state.vectors[W]
    if state.info[READY] == 1:
        kl = np.empty(w.shape[0])
        witness = np.empty(4, dtype=np.int64)
        lam = np.empty_like(state.theta)
        psi_kernel(
            model, state.theta, state.dist, w, state.labels, n_clusters, lam, kl, witness, state.info[COSTS:]
        )
        eta = step / math.sqrt(state.info[T])
        for m in range(w.shape[0]):
            w[m] += eta * kl[m]
        project_simplex(w)
    for m in range(w.shape[0]):
        state.vectors[W_SUM, m] += w[m]
