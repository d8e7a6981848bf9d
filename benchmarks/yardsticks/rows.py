"""Yardstick (c): one row of distances, the least that any step has to do; many rows in one call of the core."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import nanoseconds
from linkarms._core import testing

__all__ = ["Rows"]


class Rows:
    """Rows of distances of given estimates, for random arms."""

    def __init__(self, theta: NDArray[np.float64], seed: int) -> None:
        self.n_arms = len(theta)
        self.distances = testing.DistanceRows(np.ascontiguousarray(theta))
        self.rng = np.random.default_rng(seed)

    def advance(self, rows: int) -> float:
        """Fill so many rows; return nanoseconds per row."""
        arms = self.rng.integers(self.n_arms, size=rows)
        start = nanoseconds()
        self.distances.fill(arms)
        return (nanoseconds() - start) / rows
