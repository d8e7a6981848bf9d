"""A user's own family, written in Python: failures before the first success."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from linkarms.families import ScalarFamily

__all__ = ["Geometric"]


class Geometric(ScalarFamily):
    """The family of the docstring of `ScalarFamily`, not compiled."""

    name, domain, open_domain, support = "geometric", (0.0, 1.0), True, "0, 1, 2, ..."

    @staticmethod
    def kl(p: float, q: float) -> float:  # type: ignore[override]
        """Divergence."""
        if q <= 0.0 or q >= 1.0:
            return math.inf
        return math.log(p / q) + (1 - p) / p * math.log((1 - p) / (1 - q))

    @staticmethod
    def step(p: float, slope: float) -> float:
        """Where the divergence has this slope."""
        b = 1 / p - slope
        return 2 / (b + math.sqrt(b * b + 4 * slope))

    @staticmethod
    def fisher(p: float) -> float:
        """Fisher information."""
        return 1 / (p * p * (1 - p))

    @staticmethod
    def estimate(mean: float) -> float:
        """Maximum likelihood, away from one."""
        return 1 / (1 + max(mean, 1e-9))

    def contains(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whole and non-negative."""
        return np.asarray(((values >= 0) & (values == values.round())).all(axis=1))

    def draw(self, rng: np.random.Generator, theta: NDArray[np.float64], size: int) -> NDArray[np.float64]:
        """Failures."""
        return rng.geometric(theta[0], (size, 1)) - 1.0
