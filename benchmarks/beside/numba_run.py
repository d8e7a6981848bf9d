"""A run of linkarms 0.1, whose engine was compiled by numba; only where that version is installed."""

from __future__ import annotations

import numpy as np
from linkarms.engine._kernels import NEED_SAMPLES, Trials
from numpy.typing import NDArray

from benchmarks.ours import Ours

__all__ = ["NumbaRun"]


class NumbaRun(Ours):
    """The same run by the engine of that version."""

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the samples taken in so far, arm by arm."""
        return self.engine.state.counts

    def go_on(self, goal: int) -> bool:
        """Run until there are ``goal`` samples or an arm has none left; return whether it has to be called again."""
        samples = self.samples
        trials = Trials(samples.values, samples.used, self.levels, self.stopped_at, self.labels_then)
        return bool(self.engine.run(trials, goal) == NEED_SAMPLES)
