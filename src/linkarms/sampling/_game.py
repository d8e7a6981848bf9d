"""Matrix games, compiled: the largest minimum of a few linear functions on the simplex."""

from __future__ import annotations

import numpy as np

from linkarms._jit import Array, kernel

__all__ = ["solve_game"]

#: Reduced costs above this, for rows scaled to at most one, are taken for zero.
_ZERO = 1e-12


@kernel
def _entering(costs: Array, outside: Array, mixture: Array, careful: bool) -> int:
    """The column to enter, or -1: of least reduced cost, those with a multiplier first; by Bland's rule where ``careful``."""
    n_rows = outside.shape[0]
    best, least, known = -1, -_ZERO, False
    for j in range(n_rows):
        if costs[j] >= -_ZERO:
            continue
        if careful:
            if best < 0 or outside[j] < outside[best]:
                best = j
            continue
        old = outside[j] < n_rows and mixture[outside[j]] > 0.0
        if (old and not known) or (old == known and costs[j] < least):
            best, least, known = j, costs[j], old
    return best


@kernel
def _exchange(table: Array, leave: int, enter: int) -> None:
    """A variable of the basis against one outside."""
    height, width = table.shape
    pivot = 1.0 / table[leave, enter]
    for j in range(width):
        table[leave, j] *= pivot
    table[leave, enter] = pivot
    for m in range(height):
        factor = table[m, enter]
        if m != leave and factor != 0.0:
            table[m, enter] = 0.0
            for j in range(width):
                table[m, j] -= factor * table[leave, j]


@kernel
def solve_game(rows: Array, n_rows: int, weights: Array, mixture: Array) -> float:
    """Maximise ``min_j (rows w)_j`` over the simplex.

    For non-negative rows with a positive value ``v``, ``x = w / v`` minimises ``sum x`` under ``rows x >= 1``, and the multipliers
    maximise ``sum y`` under ``rows' y <= 1, y >= 0``. The latter is solved by the simplex method, which can start from ``y = 0``; the
    reduced costs of its slack variables are ``x``. Rows with a multiplier from an earlier, similar game enter first. The right-hand
    sides are spread by a millionth against cycling, and what is returned does not rest on the pivots: for any mixture ``p`` of the
    rows, ``max_m (p' rows)_m`` bounds the value from above.

    Parameters
    ----------
    rows : ndarray, shape (C, M)
        Non-negative; the first ``n_rows`` count.
    n_rows : int
        At least 1.
    weights : ndarray, shape (M,)
        Filled with a maximiser.
    mixture : ndarray, shape (C,)
        Filled with the multipliers, which add up to one. Which are positive before decides only how many pivots there are.

    Returns
    -------
    float
        ``max_m (mixture' rows)_m``.
    """
    n = rows.shape[1]
    scale = 0.0
    for j in range(n_rows):
        largest = 0.0
        for m in range(n):
            largest = max(largest, rows[j, m])
        if largest <= 0.0:  # this function is zero everywhere
            weights[:] = 1.0 / n
            mixture[:] = 0.0
            mixture[j] = 1.0
            return 0.0
        scale = max(scale, largest)
    # rows: the variables in the basis, and the reduced costs; columns: the others, and the right-hand side. Slack m is n_rows + m.
    table = np.empty((n + 1, n_rows + 1))
    basis, outside = np.empty(n, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    for m in range(n):
        for j in range(n_rows):
            table[m, j] = rows[j, m] / scale
        table[m, n_rows] = 1.0 + 1e-6 * (m + 1) / n
        basis[m] = n_rows + m
    for j in range(n_rows):
        table[n, j] = -1.0
        outside[j] = j
    table[n, n_rows] = 0.0
    for turn in range(50 * (n_rows + n)):
        enter = _entering(table[n], outside, mixture, turn > 10 * (n_rows + n))
        if enter < 0:
            break
        leave = -1
        for m in range(n):
            if table[m, enter] > _ZERO and (
                leave < 0 or table[m, n_rows] * table[leave, enter] < table[leave, n_rows] * table[m, enter]
            ):
                leave = m
        if leave < 0:
            break  # rounding: every row has a positive entry
        _exchange(table, leave, enter)
        basis[leave], outside[enter] = outside[enter], basis[leave]
    mixture[:] = 0.0
    total = 0.0
    for m in range(n):
        weights[m] = 0.0
        if basis[m] < n_rows:
            mixture[basis[m]] = max(table[m, n_rows], 0.0)
            total += mixture[basis[m]]
    share = 0.0
    for j in range(n_rows):
        if outside[j] >= n_rows:
            weights[outside[j] - n_rows] = max(table[n, j], 0.0)
            share += weights[outside[j] - n_rows]
    for m in range(n):
        weights[m] /= share
    for j in range(n_rows):
        mixture[j] /= total
    bound = 0.0
    for m in range(n):
        value = 0.0
        for j in range(n_rows):
            value += mixture[j] * rows[j, m]
        bound = max(bound, value)
    return bound
