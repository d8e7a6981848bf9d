"""Yardstick (a'): the step of (a) with partition, index and scratch arrays kept while the partition stays the same."""

from __future__ import annotations

import numpy as np

from benchmarks.settings import Setting
from benchmarks.yardsticks.numpy_step import PlainNumpyStep
from benchmarks.yardsticks.pairs import Pairs, partition
from benchmarks.yardsticks.record import Start

__all__ = ["NumpyStep"]


class NumpyStep(PlainNumpyStep):
    """A `PlainNumpyStep` that checks whether the partition is still valid before it finds another."""

    def __init__(self, setting: Setting, rule: str, start: Start) -> None:
        super().__init__(setting, rule, start)
        self.labels = partition(self.squares, self.k)
        self.pairs = Pairs(self.labels)

    def _find_partition(self) -> None:
        """Keep it while every intra pair is shorter than every inter pair; otherwise single linkage decides."""
        self._lengths()
        intra, inter = self.pairs.intra_length, self.pairs.inter_length
        # argmax and a look-up: a third of the time of max()
        self.ordered = bool(intra[intra.argmax()] < inter[inter.argmin()])
        if self.ordered:
            return
        labels = partition(self.squares, self.k)
        if not np.array_equal(labels, self.labels):
            self.labels, self.pairs = labels, Pairs(labels)
            self._lengths()
