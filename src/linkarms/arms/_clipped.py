"""Clipped samples: a few extreme ones cannot decide a mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkarms._clip import Clip, check_clip
from linkarms.arms._base import ArmSource
from linkarms.arms._recorded import RecordedArms

__all__ = ["clipped"]


def clipped(source: ArmSource, clip: tuple[float, float]) -> ArmSource:
    """Return a source of the same samples, each number moved to the nearest one of the interval.

    Examples
    --------
    >>> from linkarms.arms import RecordedArms
    >>> from linkarms.arms._clipped import clipped
    >>> clipped(RecordedArms({"late": [5.0, 900.0]}), (0.0, 60.0)).records[0].ravel().tolist()
    [5.0, 60.0]
    """
    limits = check_clip(clip)
    return source.changed(limits.apply) if isinstance(source, RecordedArms) else _Clipped(source, limits)


class _Clipped(ArmSource):
    """Another source with clipped samples."""

    def __init__(self, source: ArmSource, clip: Clip) -> None:
        self._source, self._clip = source, clip
        self.names, self.features = source.names, source.features

    @property
    def n_features(self) -> int:
        return self._source.n_features

    def pull(self, index: int) -> NDArray[np.float64]:
        return self._clip.apply(self._source.pull(index))
