"""Maximise a concave function over the simplex from its cuts: the level method.

The function psi is known by *cuts*: at weights ``w`` an oracle gives a vector ``g >= 0`` with ``psi(w') <= g . w'`` for all ``w'``, and a
number ``value <= psi(w)``. Two things are certain at any time, whatever happened before:

* ``max psi >= value`` at every point that was asked about;
* ``max psi <= max_m (p' G)_m`` for every mixture ``p`` of the cuts, the rows of ``G``: ``psi(w) <= p' G w``, and the largest
  coordinate bounds that on the simplex.

So the bracket does not depend on how well the steps in between are solved. A step projects the best point on the set where all cuts
reach a level half-way up the bracket (Lemarechal, Nemirovskii and Nesterov 1995); the multipliers of the projection are the mixture ``p``.
No linear programme is needed: where the level is out of reach, the multipliers prove it. The next point stays near the best one, which is
what plain cutting planes lack: with 20 arms in 18 clusters those had not closed a bracket of 1e-4 after 600 cuts, and the level method
has after 57.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cut", "Maximum", "maximise"]

Array = NDArray[np.float64]

#: How far up the bracket the level lies.
_SHARE = 0.5
#: The least weight of an arm, as a share of the gap asked for and of 1/M: it costs at most that share of the value, by concavity.
_FLOOR = 0.01
#: A projection whose residual is smaller than this has no solution.
_INFEASIBLE = 1e-9


@dataclass(frozen=True)
class Cut:
    """What the oracle says at a point.

    Attributes
    ----------
    value : float
        At most psi there.
    gradient : ndarray, shape (M,), or None
        ``g`` with ``psi(w) <= g . w`` everywhere; None where no such vector was found.
    alternative : ndarray, shape (M, d)
        The parameters whose divergences ``g`` holds.
    """

    value: float
    gradient: Array | None
    alternative: Array


@dataclass(frozen=True)
class Maximum:
    """``lower <= max psi <= upper``.

    Attributes
    ----------
    lower, upper : float
        The bracket.
    weights : ndarray, shape (M,)
        Where ``lower`` was found.
    cuts : list of Cut
        Those with a gradient, in the order in which they were found.
    mixture : ndarray, shape (len(cuts),)
        ``p``: the multipliers that prove ``upper``.
    evaluations : int
        How often the oracle was asked.
    """

    lower: float
    upper: float
    weights: Array
    cuts: list[Cut]
    mixture: Array
    evaluations: int


class _Bracket:
    """Cuts, points, and what follows from them."""

    def __init__(self, n_arms: int) -> None:
        self.cuts: list[Cut] = []
        self.rows = np.empty((0, n_arms))  # gradients
        self.points = np.empty((0, n_arms))  # weights that were asked about
        self.model = np.empty(0)  # the smallest cut at each of them
        self.lower, self.upper = 0.0, math.inf
        self.weights = np.full(n_arms, 1.0 / n_arms)
        self.mixture = np.empty(0)

    def add(self, w: Array, cut: Cut) -> None:
        if cut.value > self.lower or len(self.points) == 0:
            self.lower, self.weights = cut.value, w
        if cut.gradient is not None:
            self.cuts.append(cut)
            self.rows = np.vstack([self.rows, cut.gradient])
            self.model = np.minimum(self.model, self.points @ cut.gradient)
            self.certify(np.eye(len(self.cuts))[-1])
        self.points = np.vstack([self.points, w])
        self.model = np.append(self.model, (self.rows @ w).min() if len(self.rows) else math.inf)

    def certify(self, mixture: Array) -> bool:
        """Lower the upper end if this mixture of cuts proves that; tell whether it did."""
        total = mixture.sum()
        if not total > 0.0 or not math.isfinite(total):
            return False
        bound = float((mixture / total @ self.rows).max())
        if bound >= self.upper:
            return False
        self.upper, self.mixture = bound, mixture / total
        return True

    def centre(self) -> tuple[Array, float]:
        """The point at which the smallest cut is largest, and that value. For an exact psi it is psi there."""
        best = int(np.argmax(self.model))
        return self.points[best], float(self.model[best])


def maximise(
    oracle: Callable[[Array], Cut],
    n_arms: int,
    gap: float,
    max_cuts: int,
    watch: Callable[[float, float, int], None] | None = None,
) -> Maximum:
    """Bracket the maximum of ``psi`` over the simplex, to the relative gap ``gap`` where the oracle allows it.

    It ends when ``upper <= (1 + gap) lower``; when the cuts so far leave no more than half of that open, so that further ones cannot
    change ``upper`` much (the oracle's values then lie below its cuts: they are lower bounds of psi, not psi); where there is no cut; or
    after ``max_cuts``.

    Parameters
    ----------
    oracle : callable
        Weights of shape (M,), none zero, to a `Cut`.
    n_arms : int
        M.
    gap : float
        The relative gap asked for.
    max_cuts : int
        How often the oracle may be asked.
    watch : callable, optional
        Called with ``lower, upper`` and the number of cuts after each of them.
    """
    floor = _FLOOR * gap / n_arms
    bracket = _Bracket(n_arms)
    w = np.full(n_arms, 1.0 / n_arms)
    evaluations = 0
    while evaluations < max_cuts:
        cut = oracle(w)
        bracket.add(w, cut)
        evaluations += 1
        if watch is not None:
            watch(bracket.lower, bracket.upper, evaluations)
        if cut.gradient is None:
            break  # nothing was learned, and the next point would be the same
        following = _next_point(bracket, gap, floor)
        if following is None:
            break
        w = np.maximum(following, floor)
        w /= w.sum()
    return Maximum(bracket.lower, bracket.upper, bracket.weights, bracket.cuts, _padded(bracket), evaluations)


def _padded(bracket: _Bracket) -> Array:
    mixture = np.zeros(len(bracket.cuts))
    mixture[: len(bracket.mixture)] = bracket.mixture
    return mixture


def _next_point(bracket: _Bracket, gap: float, floor: float) -> Array | None:
    """Where to ask next; None when the bracket is closed, or cannot be closed further."""
    for _ in range(200):  # each time round, the bracket shrinks by a fixed share
        centre, reached = bracket.centre()
        if bracket.upper <= bracket.lower * (1.0 + gap) or bracket.upper <= reached * (1.0 + 0.5 * gap):
            return None
        level = reached + _SHARE * (bracket.upper - reached)
        point, multipliers = _project(centre, bracket.rows, level, floor)
        proved = bracket.certify(multipliers)
        if point is not None and np.all(np.isfinite(point)):
            return point
        if not proved:  # rounding, or too many pivots: one linear programme instead
            vertex, multipliers = _highest_point(bracket.rows)
            if not bracket.certify(multipliers):
                return 0.5 * (vertex + centre)
    return None


def _project(centre: Array, rows: Array, level: float, floor: float) -> tuple[Array | None, Array]:
    """The point of the simplex nearest to ``centre`` with all cuts at ``level`` or above, and the multipliers of the cuts.

    A least-distance problem, ``min |y|`` subject to ``A y >= h``, is one non-negative least-squares problem ``min |E u - f|`` with
    ``E = (A'; h')``, ``f = (0, 1)`` (Lawson and Hanson 1974, chapter 23): ``y = -r[:-1] / r[-1]`` with ``r`` the residual, and there is
    no solution iff ``r = 0``. The constraint that weights add up to one is built in by taking the mean from the rows of ``A``.
    """
    from scipy.optimize import nnls

    n = len(centre)
    length = rows.max(axis=1)  # not the norm, whose squares could overflow
    a = np.vstack([rows / length[:, None], np.eye(n)])
    h = np.concatenate([level / length, np.full(n, floor)]) - a @ centre
    unit = float(h.max())
    if unit <= 0.0:  # the centre is there already
        return centre, np.zeros(len(rows))
    matrix = np.vstack([(a - a.mean(axis=1, keepdims=True)).T, h / unit])
    target = np.zeros(n + 1)
    target[n] = 1.0
    try:
        u, size = nnls(matrix, target, maxiter=20 * matrix.shape[1])
    except RuntimeError:
        return None, np.zeros(len(rows))
    multipliers = u[: len(rows)] / length
    if size < _INFEASIBLE:
        return None, multipliers
    residual = matrix @ u - target
    return centre - unit * residual[:n] / residual[n], multipliers


def _highest_point(rows: Array) -> tuple[Array, Array]:
    """The point of the simplex at which the smallest cut is largest, and the multipliers that prove it."""
    from scipy.optimize import linprog

    n_cuts, n = rows.shape
    unit = float(rows.max())
    found = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-rows / unit, np.ones(n_cuts)]),
        b_ub=np.zeros(n_cuts),
        A_eq=np.append(np.ones(n), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n + [(None, None)],
        method="highs",
    )
    if found.x is None:
        return np.full(n, 1.0 / n), np.zeros(n_cuts)
    return np.asarray(found.x[:n]), np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
