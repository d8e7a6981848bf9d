"""Euclidean projection onto the probability simplex."""

from __future__ import annotations

import math

from linkarms._jit import Array, lean


@lean
def project_simplex(x: Array) -> None:
    """Replace ``x``, shape (M,), by the nearest point with non-negative entries that add up to one.

    The projection is ``max(x - tau, 0)``. Michelot's algorithm: take the ``tau`` that makes the entries still in the race add up to one,
    drop those that are not above it, repeat until none is dropped: at most M rounds (few in practice), and nothing is sorted. What is
    dropped stays out, whatever rounding says later. Infinite entries share everything.
    """
    n = x.shape[0]
    largest = x[0]
    for m in range(1, n):
        largest = max(largest, x[m])
    # a shift of all entries changes nothing; with the largest at zero, tau is negative and the largest always stays
    for m in range(n):
        x[m] = 0.0 if x[m] == largest else x[m] - largest
    tau = -math.inf
    dropped = True
    while dropped:
        total = 0.0
        count = 0
        for m in range(n):
            if x[m] > -math.inf:
                total += x[m]
                count += 1
        tau = (total - 1.0) / count
        dropped = False
        for m in range(n):
            if -math.inf < x[m] <= tau:
                x[m] = -math.inf
                dropped = True
    for m in range(n):
        x[m] = max(x[m] - tau, 0.0)
