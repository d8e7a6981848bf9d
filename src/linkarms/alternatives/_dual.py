"""Gaussian arms: the largest value of the dual of one split, see ``_lagrangian.py``."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._lagrangian import (
    add_edge,
    edge_block,
    evaluate,
    invert,
    log_det,
    newton_step,
    solve_factored,
    square,
)

#: How `ascend` ends: at the maximum; where the level was reached; where the positive definite multipliers end.
SOLVED, REACHED, EDGE = 0, 1, 2
#: A pair is long enough where its square lacks less than this share of that of the inter pair; looser on the way along ``tau``.
_SLACK, _LOOSE = 1e-13, 1e-6
#: Most steps of one climb, most halvings of one step, how often ``tau`` is divided by ten.
_TURNS, _HALVINGS, _PHASES = 200, 60, 9


@kernel
def _slopes(
    u: Array, v: Array, a: int, b: int, e: int, tau: float, lack: Array, inverse: Array, slope: Array
) -> None:
    """Gradient of ``D + tau log det A``: ``lack_i - tau tr(A^-1 Q_i)``."""
    slope[:] = lack
    if tau > 0.0:
        inter = edge_block(inverse, e, a, b, a, b, False)
        for i in range(u.shape[0]):
            slope[i] -= tau * (edge_block(inverse, e, u[i], v[i], u[i], v[i], False) - inter)


@kernel
def _curvature(
    u: Array,
    v: Array,
    a: int,
    b: int,
    free: Array,
    count: int,
    tau: float,
    lam: Array,
    low: Array,
    inverse: Array,
    hessian: Array,
) -> None:
    """Minus the Hessian in the free multipliers: ``(Q_i lambda)' A^-1 (Q_j lambda) + tau tr(A^-1 Q_i A^-1 Q_j)``."""
    n, e, r = lam.shape
    moved, solved = np.zeros((count, n, e, r)), np.empty((count, n, e, r))
    for i in range(count):
        add_edge(moved[i], u[free[i]], v[free[i]], 1.0, lam)
        add_edge(moved[i], a, b, -1.0, lam)
        solved[i] = moved[i]
        solve_factored(low, solved[i])
    inter = edge_block(inverse, e, a, b, a, b, True) if tau > 0.0 else 0.0
    for i in range(count):
        for j in range(i + 1):
            total = (moved[i] * solved[j]).sum()
            if tau > 0.0:
                f, g = free[i], free[j]
                cross = inter + edge_block(inverse, e, u[f], v[f], u[g], v[g], True)
                cross -= edge_block(inverse, e, u[f], v[f], a, b, True)
                cross -= edge_block(inverse, e, a, b, u[g], v[g], True)
                total += tau * cross
            hessian[i, j] = total
            hessian[j, i] = total


@kernel
def _choose_free(mu: Array, slope: Array, tolerance: float, free: Array) -> tuple[int, bool, bool]:
    """The multipliers to move: those that are not zero, then the most wanted of the others.

    Returns how many, whether the last one is new, and whether nothing is left to do.
    """
    count = 0
    worst = -1
    done = True
    for i in range(mu.shape[0]):
        if mu[i] > 0.0:
            free[count] = i
            count += 1
            done = done and abs(slope[i]) <= tolerance
        elif slope[i] > tolerance:
            done = False
            if worst < 0 or slope[i] > slope[worst]:
                worst = i
    if worst >= 0:
        free[count] = worst
        count += 1
    return count, worst >= 0, done


@kernel
def _climb(
    theta: Array,
    precision: Array,
    u: Array,
    v: Array,
    a: int,
    b: int,
    level: float,
    tau: float,
    slack: float,
    mu: Array,
    lam: Array,
) -> tuple[float, int]:
    """Maximise ``D(mu) + tau log det A(mu)`` over ``mu >= 0`` by Newton's method on the multipliers that are not zero.

    Returns ``D(mu)``, not the sum, and how it ended.
    """
    e, p = theta.shape[1], mu.shape[0]
    size = theta.shape[0] * e
    low, low_new, inverse = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    shift, lam_new = np.empty_like(theta), np.empty_like(theta)
    lack, lack_new, slope, trial = np.empty(p), np.empty(p), np.empty(p), np.empty(p)
    free = np.empty(p, dtype=np.int64)
    value = evaluate(theta, precision, u, v, a, b, mu, low, shift, lam, lack)
    for _ in range(_HALVINGS):
        if value > -math.inf:
            break
        mu *= 0.5
        value = evaluate(theta, precision, u, v, a, b, mu, low, shift, lam, lack)
    if not value > -math.inf:  # not even the covariances are definite but for rounding
        mu[:], lam[:] = 0.0, theta
        return 0.0, EDGE
    crawl = 0
    for _ in range(_TURNS):
        if value >= level:
            return value, REACHED
        height = value
        if tau > 0.0:
            height += tau * log_det(low)
            invert(low, inverse)
        _slopes(u, v, a, b, e, tau, lack, inverse, slope)
        count, new_one, done = _choose_free(mu, slope, slack * square(lam, a, b) + 1e-300, free)
        if done:
            return value, SOLVED
        hessian = np.empty((count, count))
        _curvature(u, v, a, b, free, count, tau, lam, low, inverse, hessian)
        step = slope[free[:count]]
        newton_step(hessian, step)
        if new_one and count > 1 and step[count - 1] <= 0.0:
            count -= 1  # it waits until the others have settled
            step = slope[free[:count]]
            newton_step(hessian[:count, :count], step)
        # as far as the first multiplier that becomes zero
        most, stop = 1.0, -1
        for i in range(count):
            if step[i] < 0.0 and -mu[free[i]] / step[i] < most:
                most, stop = -mu[free[i]] / step[i], i
        t = most
        top = -math.inf
        for _ in range(_HALVINGS):
            gain = 0.0
            trial[:] = mu
            for i in range(count):
                trial[free[i]] = max(mu[free[i]] + t * step[i], 0.0)
                gain += t * step[i] * slope[free[i]]
            if stop >= 0 and t == most:
                trial[free[stop]] = 0.0
            new = evaluate(theta, precision, u, v, a, b, trial, low_new, shift, lam_new, lack_new)
            top = new
            if tau > 0.0 and new > -math.inf:
                top += tau * log_det(low_new)
            if top >= height + 1e-4 * gain - 1e-15 * abs(height):
                break
            top = -math.inf
            t *= 0.5
        if top == -math.inf:
            return value, EDGE
        crawl = crawl + 1 if top - height <= 1e-14 * abs(height) and t < most else 0
        value = new
        mu[:], low[:], lam[:], lack[:] = trial, low_new, lam_new, lack_new
        if crawl > 3:
            return value, EDGE
    return value, EDGE


@kernel
def ascend(
    theta: Array,
    precision: Array,
    u: Array,
    v: Array,
    a: int,
    b: int,
    level: float,
    mu: Array,
    lam: Array,
) -> tuple[float, int]:
    """Maximise ``D`` over ``mu >= 0``.

    Newton's method; where it runs into the edge of the positive definite ``mu``, it goes back inside and follows the maxima of
    ``D + tau log det A`` as ``tau`` goes to zero.

    Parameters
    ----------
    theta : ndarray, shape (n, e, r)
        The arms that take part.
    precision : ndarray, shape (n, e, e)
        Weight over covariance of each.
    u, v : ndarray of int, shape (p,)
        The pairs that are to become as long as ``(a, b)``.
    a, b : int
        The inter pair.
    level : float
        It ends where ``D`` reaches this.
    mu : ndarray, shape (p,)
        Where to begin; becomes the multipliers reached.
    lam : ndarray, shape (n, e, r)
        Becomes ``lambda(mu)``.

    Returns
    -------
    value : float
        The largest ``D`` that was met: a lower bound of the cost, whatever the status.
    status : int
        `SOLVED`, `REACHED` or `EDGE`.
    """
    best, status = _climb(theta, precision, u, v, a, b, level, 0.0, _SLACK, mu, lam)
    if status != EDGE or mu.shape[0] == 1:  # one pair: its maximum lies at the edge
        return best, status
    tau = best / theta.shape[0]
    slack = _LOOSE
    for phase in range(_PHASES + 1):
        if phase == _PHASES:
            tau, slack = 0.0, _SLACK
        else:
            tau *= 0.1
            mu *= 0.999
        value, status = _climb(theta, precision, u, v, a, b, level, tau, slack, mu, lam)
        best = max(best, value)
        if status == REACHED:
            break
    return best, status
