"""Yardstick (b): the plain loop over all pairs of pairs, in C++, for EBC-H and Gaussian arms of unit variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.settings import Setting
from benchmarks.yardsticks.record import Start
from linkarms._core import testing

__all__ = ["LoopStep"]


class LoopStep:
    """A run of ``linkarms._core.testing.PlainLoop``; see `benchmarks.yardsticks.record.Yardstick`."""

    rules = ("ebc-h",)

    def __init__(self, setting: Setting, rule: str, start: Start) -> None:
        if rule not in self.rules:
            raise ValueError(f"the plain loop has no {rule!r}; choose one of {', '.join(self.rules)}")
        problem, stop = setting.problem, setting.stopping
        self.loop = testing.PlainLoop(
            problem.arm_families.model,
            problem.n_clusters,
            stop=stop.native(problem.arm_families),
            box=stop.box(problem.n_features),
            counts=start.counts.astype(float).tolist(),
            means=start.means,
        )

    @property
    def kl(self) -> NDArray[np.float64]:
        """Return the KL of each arm after the last step."""
        return self.loop.kl

    @property
    def base(self) -> float:
        """Return the threshold without ``log(1/delta)`` after the last step."""
        return self.loop.threshold_base

    def run(
        self, arms: NDArray[np.int64], statistics: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Take in the samples one by one; return psi and the next arm after each."""
        return self.loop.run(arms, statistics)
