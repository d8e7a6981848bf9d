"""A declared range: samples outside it count as its nearer end, and the clusters are those of the clipped means."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._validate import check_bounds, check_number
from linkarms.errors import InvalidInput
from linkarms.families import Bounded, bounded

__all__ = ["Clip", "check_clip"]


class Clip(NamedTuple):
    """The ends of the range, ``low < high``; `check_clip` makes one."""

    low: float
    high: float

    def apply(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the numbers moved into the range; what is not finite stays, for the caller to refuse."""
        x = np.asarray(values, dtype=np.float64)
        return np.where(np.isfinite(x), np.clip(x, self.low, self.high), x)

    def family(self, n_features: int) -> Bounded:
        """Return the family of clipped samples for which none was given: it assumes nothing but the range."""
        if n_features == 1:
            return bounded(self.low, self.high)
        return bounded([self.low] * n_features, [self.high] * n_features)

    @property
    def remark(self) -> str:
        """What the clusters are then, in words."""
        return f"these are clusters of the means of samples clipped to {self.low:g} .. {self.high:g}"


def check_clip(clip: Any) -> Clip:
    """Return the range that a user gave as a pair, or say what is wrong with it.

    Examples
    --------
    >>> from linkarms._clip import check_clip
    >>> check_clip([-30, 120]).apply([5.0, 900.0]).tolist()
    [5.0, 120.0]
    """
    try:
        low, high = clip
    except (TypeError, ValueError):
        raise InvalidInput(f"clip={clip!r} is not a pair of numbers; give (LOW, HIGH)") from None
    low, high = check_number("clip[0]", low), check_number("clip[1]", high)
    if low >= high:
        raise InvalidInput(f"clip=({low:g}, {high:g}) is empty; give a lower and a higher number")
    check_bounds(low, high, f"clip=({low:g}, {high:g})")
    return Clip(low, high)
