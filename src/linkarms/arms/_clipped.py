"""Clipped samples: rare ones far out cannot decide a mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_number
from linkarms.arms._base import ArmSource
from linkarms.arms._recorded import RecordedArms
from linkarms.errors import InvalidInput

__all__ = ["check_clip", "clipped"]


def check_clip(clip: Any) -> tuple[float, float]:
    """Return the two ends of an interval, or say what is wrong with them."""
    try:
        low, high = clip
    except (TypeError, ValueError):
        raise InvalidInput(f"clip={clip!r} is not a pair of numbers; give (LOW, HIGH)") from None
    low, high = check_number("clip[0]", low), check_number("clip[1]", high)
    if low >= high:
        raise InvalidInput(f"clip=({low:g}, {high:g}) is empty; give a lower and a higher number")
    return low, high


def clipped(source: ArmSource, clip: tuple[float, float]) -> ArmSource:
    """Return a source of the same samples, each number moved to the nearest one of the interval.

    Examples
    --------
    >>> from linkarms.arms import RecordedArms
    >>> from linkarms.arms._clipped import clipped
    >>> clipped(RecordedArms({"late": [5.0, 900.0]}), (0.0, 60.0)).records[0].ravel().tolist()
    [5.0, 60.0]
    """
    low, high = check_clip(clip)
    if isinstance(source, RecordedArms):
        return source.changed(lambda records: np.clip(records, low, high))
    return _Clipped(source, low, high)


class _Clipped(ArmSource):
    """Another source with clipped samples."""

    def __init__(self, source: ArmSource, low: float, high: float) -> None:
        self._source, self._low, self._high = source, low, high
        self.names, self.features = source.names, source.features

    @property
    def n_features(self) -> int:
        return self._source.n_features

    def pull(self, index: int) -> NDArray[np.float64]:
        return np.clip(self._source.pull(index), self._low, self._high)
