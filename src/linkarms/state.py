"""The state of a run, as a few arrays.

What has been *told* (counts, means, EBC's weights) is the state proper, and all that a dump holds. Everything else is a pure
function of it, kept so that it need not be computed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["State", "copy_state", "new_state"]

# rows of State.vectors
W, W_SUM, KL, PENALTY, WEIGHTS, N_VECTORS = range(6)
# entries of State.info
T, READY, AMBIGUOUS, WITNESS, COSTS, N_INFO = 0, 1, 2, 3, 7, 8
# entries of State.values
EVIDENCE, BASE, N_VALUES = range(3)


class State(NamedTuple):
    """The arrays that kernels read and write.

    Attributes
    ----------
    counts, pending : ndarray of int64, shape (M,)
        Samples told, and pulls asked for that have not been told yet.
    means : ndarray, shape (M, d)
        Running means of the sufficient statistics.
    vectors : ndarray, shape (5, M)
        Rows: EBC's ``w(t)``; the sum of all ``w(s)``; ``KL_m`` at ``lambda*(N/t)``; the arm's part of the threshold; the weights
        at which psi was taken.
    theta, lam : ndarray, shape (M, d)
        Estimates and ``lambda*``.
    dist : ndarray, shape (M, M)
        Distances between the estimates.
    labels : ndarray of int64, shape (M,)
        The partition of the estimates.
    info : ndarray of int64, shape (8,)
        t; whether every arm has a sample; whether the cut is ambiguous; the witness ``u, v, a, b``; pair costs evaluated so far.
    values : ndarray, shape (2,)
        The evidence, and the threshold without its ``log(1/delta)``.
    """

    counts: NDArray[np.int64]
    pending: NDArray[np.int64]
    means: NDArray[np.float64]
    vectors: NDArray[np.float64]
    theta: NDArray[np.float64]
    lam: NDArray[np.float64]
    dist: NDArray[np.float64]
    labels: NDArray[np.int64]
    info: NDArray[np.int64]
    values: NDArray[np.float64]


def new_state(n_arms: int, n_features: int) -> State:
    """A state in which nothing has been told; EBC's weights are left to the rule."""
    info = np.zeros(N_INFO, dtype=np.int64)
    info[WITNESS:COSTS] = -1
    return State(
        counts=np.zeros(n_arms, dtype=np.int64),
        pending=np.zeros(n_arms, dtype=np.int64),
        means=np.zeros((n_arms, n_features)),
        vectors=np.zeros((N_VECTORS, n_arms)),
        theta=np.zeros((n_arms, n_features)),
        lam=np.zeros((n_arms, n_features)),
        dist=np.zeros((n_arms, n_arms)),
        labels=np.full(n_arms, -1, dtype=np.int64),
        info=info,
        values=np.zeros(N_VALUES),
    )


def copy_state(state: State) -> State:
    """An independent copy."""
    return State._make(a.copy() for a in state)
