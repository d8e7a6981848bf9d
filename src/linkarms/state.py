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
W, W_SUM, KL, PENALTY, WEIGHTS, PRECISION, N_VECTORS = range(7)
# entries of State.info
T, READY, AMBIGUOUS, WITNESS, COSTS, N_INFO = 0, 1, 2, 3, 7, 8
# entries of State.values
EVIDENCE, BASE, STATISTIC, HELD, DISCOUNT, N_VALUES = range(6)
# rows of State.tables
TW, TINV, TPEN, TLOW, TCOUNT, N_TABLES = range(6)
# entries of State.blocker
SCALE, BLOCKER, N_BLOCKER = 0, 1, 5
# rows of State.seen
INSIDE, COUNT, N_SEEN = range(3)
# columns of State.points before the evidence of each c; edges that have a point (all those of four arms)
AT, TAKEN, TERMS = range(3)
N_POINTS = 6


class State(NamedTuple):
    """The arrays that kernels read and write.

    Attributes
    ----------
    counts, pending : ndarray of int64, shape (M,)
        Samples told, and pulls asked for that have not been told yet.
    means : ndarray, shape (M, d)
        Running means of the sufficient statistics.
    vectors : ndarray, shape (6, M)
        Rows: EBC's ``w(t)``; the sum of all ``w(s)``; ``KL_m`` at ``lambda*(N/t)``; the arm's part of the threshold; the weights
        at which psi was taken; one over the arm's variance as far as it is known, where it is unknown, else 1.
    theta, lam : ndarray, shape (M, d)
        Estimates and ``lambda*``.
    dist : ndarray, shape (M, M)
        Distances between the estimates.
    labels : ndarray of int64, shape (M,)
        The partition of the estimates.
    info : ndarray of int64, shape (8,)
        t; whether every arm has a sample; whether the cut is ambiguous; the witness ``u, v, a, b``; pair costs evaluated so far.
    values : ndarray, shape (5,)
        psi at the weights; the threshold without its ``log(1/delta)``; the anytime rule's statistic, NaN where it has not been computed;
        a level that its blocker is known to stay below, as long as `seen` holds; what arms' prices are divided by, 1 unless the rule was
        weakened.
    tables : ndarray, shape (5, J, M)
        For the anytime rule, for each ``c`` of its grid and each arm: the weight of the arm's evidence, its variance over that weight,
        minus the smallest value of the evidence, where that is (``d = 1``), and the arm's count when these were computed: they are brought
        up to date when they are read.
    blocker : ndarray of int64, shape (5,)
        For the anytime rule: the index of the ``c`` by which arms are chosen, and the pair of pairs that was last seen to forbid a stop.
    moments : ndarray, shape (M, 4 + d)
        For arms of unknown variance; see `linkarms.families._unknown`.
    seen : ndarray of int64, shape (2, M)
        What the verdict on the blocker rests on: whether the arm is of its cluster, and the count of each arm that matters. -1: nothing.
    points : ndarray, shape (6, 4, 2 + J)
        Where arms have one parameter each: for each edge of a small cluster of the blocker, and each of its arms, a value that the
        constraint allows (NaN: none is known), the arm's count when its evidence there was computed, and that evidence for each ``c``.
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
    tables: NDArray[np.float64]
    blocker: NDArray[np.int64]
    moments: NDArray[np.float64]
    seen: NDArray[np.int64]
    points: NDArray[np.float64]


def new_state(n_arms: int, n_features: int, n_scales: int = 0, points: bool = False) -> State:
    """A state in which nothing has been told; EBC's weights are left to the rule.

    ``n_scales`` is the length of the anytime rule's grid, and ``points`` says whether it keeps points.
    """
    info = np.zeros(N_INFO, dtype=np.int64)
    info[WITNESS:COSTS] = -1
    vectors = np.zeros((N_VECTORS, n_arms))
    vectors[PRECISION] = 1.0
    return State(
        counts=np.zeros(n_arms, dtype=np.int64),
        pending=np.zeros(n_arms, dtype=np.int64),
        means=np.zeros((n_arms, n_features)),
        vectors=vectors,
        theta=np.zeros((n_arms, n_features)),
        lam=np.zeros((n_arms, n_features)),
        dist=np.zeros((n_arms, n_arms)),
        labels=np.full(n_arms, -1, dtype=np.int64),
        info=info,
        values=np.array([0.0, 0.0, np.nan, np.inf, 1.0]),
        tables=np.zeros((N_TABLES, n_scales, n_arms)),
        blocker=np.array([0, -1, -1, -1, -1], dtype=np.int64),
        moments=np.zeros((n_arms, 4 + n_features)),
        seen=np.full((N_SEEN, n_arms), -1, dtype=np.int64),
        points=np.full((N_POINTS if points else 0, 4, TERMS + n_scales), np.nan),
    )


def copy_state(state: State) -> State:
    """An independent copy."""
    return State._make(a.copy() for a in state)
