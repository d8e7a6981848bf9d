"""Matrix games, compiled: the largest minimum of a few linear functions on the simplex."""

from __future__ import annotations

import numpy as np

from linkarms._jit import Array, kernel

__all__ = ["solve_game"]

#: Reduced costs above this, for rows scaled to at most one, are taken for zero.
_ZERO = 1e-12


@kernel
def solve_game(rows: Array, n_rows: int, weights: Array, mixture: Array) -> float:
    """Maximise ``min_j (rows w)_j`` over the simplex.

    For non-negative rows with a positive value ``v``, ``x = w / v`` minimises ``sum x`` under ``rows x >= 1``, and the multipliers
    maximise ``sum y`` under ``rows' y <= 1, y >= 0``. The latter is solved by the simplex method, which can start from ``y = 0``; the
    reduced costs of its slack variables are ``x``. The right-hand sides are spread by a millionth against cycling, and what is returned
    does not rest on the pivots: for any mixture ``p`` of the rows, ``max_m (p' rows)_m`` bounds the value from above.

    Parameters
    ----------
    rows : ndarray, shape (C, M)
        Non-negative; the first ``n_rows`` count.
    n_rows : int
        At least 1.
    weights : ndarray, shape (M,)
        Filled with a maximiser.
    mixture : ndarray, shape (C,)
        Filled with the multipliers, which add up to one.

    Returns
    -------
    float
        ``max_m (mixture' rows)_m``.
    """
    n = rows.shape[1]
    mixture[:] = 0.0
    scale = 0.0
    for j in range(n_rows):
        largest = 0.0
        for m in range(n):
            largest = max(largest, rows[j, m])
        if largest <= 0.0:  # this function is zero everywhere
            weights[:] = 1.0 / n
            mixture[j] = 1.0
            return 0.0
        scale = max(scale, largest)
    # columns: y, slack variables, right-hand side; the last row holds the reduced costs
    width = n_rows + n
    table = np.zeros((n + 1, width + 1))
    basis = np.empty(n, dtype=np.int64)
    for m in range(n):
        for j in range(n_rows):
            table[m, j] = rows[j, m] / scale
        table[m, n_rows + m] = 1.0
        table[m, width] = 1.0 + 1e-6 * (m + 1) / n
        basis[m] = n_rows + m
    for j in range(n_rows):
        table[n, j] = -1.0
    for turn in range(50 * width):
        enter = -1
        least = -_ZERO
        for j in range(width):
            if table[n, j] < least:
                enter = j
                if turn > 10 * width:  # Bland's rule: the first one
                    break
                least = table[n, j]
        if enter < 0:
            break
        leave = -1
        for m in range(n):
            if table[m, enter] > _ZERO and (
                leave < 0 or table[m, width] * table[leave, enter] < table[leave, width] * table[m, enter]
            ):
                leave = m
        if leave < 0:
            break  # rounding: every row has a positive entry
        pivot = table[leave, enter]
        for j in range(width + 1):
            table[leave, j] /= pivot
        for m in range(n + 1):
            factor = table[m, enter]
            if m != leave and factor != 0.0:
                for j in range(width + 1):
                    table[m, j] -= factor * table[leave, j]
        basis[leave] = enter
    total = 0.0
    for m in range(n):
        if basis[m] < n_rows:
            mixture[basis[m]] = max(table[m, width], 0.0)
            total += mixture[basis[m]]
    share = 0.0
    for m in range(n):
        weights[m] = max(table[n, n_rows + m], 0.0)
        share += weights[m]
    for m in range(n):
        weights[m] /= share
    bound = 0.0
    for j in range(n_rows):
        mixture[j] /= total
    for m in range(n):
        value = 0.0
        for j in range(n_rows):
            value += mixture[j] * rows[j, m]
        bound = max(bound, value)
    return bound
