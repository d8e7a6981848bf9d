"""Yardstick (c): one row of distances, the least that any step has to do; many rows in one compiled loop."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from linkarms._jit import Array, kernel
from linkarms.linkage import fill_distances

__all__ = ["Rows"]


@kernel
def fill_rows(theta: Array, dist: Array, arms: Array) -> None:
    """Distances of each of ``arms`` to all others, one after the other."""
    for i in range(arms.shape[0]):
        fill_distances(theta, arms[i], dist)


class Rows:
    """Rows of distances of given estimates, for random arms."""

    def __init__(self, theta: NDArray[np.float64], seed: int) -> None:
        self.theta = theta.copy()
        self.dist = np.zeros((len(theta), len(theta)))
        self.rng = np.random.default_rng(seed)
        self.advance(len(theta))  # every page of memory has been touched

    def advance(self, rows: int) -> float:
        """Fill so many rows; nanoseconds for each."""
        arms = self.rng.integers(len(self.theta), size=rows)
        start = time.perf_counter_ns()
        fill_rows(self.theta, self.dist, arms)
        return (time.perf_counter_ns() - start) / rows
