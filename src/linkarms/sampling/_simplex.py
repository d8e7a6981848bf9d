"""Euclidean projection onto the probability simplex."""

from __future__ import annotations

import math

from linkarms._jit import Array, kernel


@kernel
def project_simplex(x: Array) -> None:
    """Replace ``x``, shape (M,), by the nearest point with non-negative entries that add up to one.

    The projection is ``max(x - tau, 0)``. Michelot's algorithm: take the ``tau`` that makes the entries above it sum to one, drop
    those that fall below, repeat; ``tau`` only grows, so at most M rounds are needed (few in practice), and nothing is sorted.
    """
    n = x.shape[0]
    # a shift of all entries changes nothing; with the largest at zero, tau is negative and the largest always stays
    largest = x[0]
    for m in range(1, n):
        largest = max(largest, x[m])
    for m in range(n):
        x[m] -= largest
    tau = -math.inf
    active = n
    while True:
        total = 0.0
        count = 0
        for m in range(n):
            if x[m] > tau:
                total += x[m]
                count += 1
        tau = (total - 1.0) / count
        if count == active and tau > -math.inf:
            left = 0
            for m in range(n):
                if x[m] > tau:
                    left += 1
            if left == count:
                break
        active = count
    for m in range(n):
        x[m] = max(x[m] - tau, 0.0)
