"""A stop after a fixed number of samples."""

from __future__ import annotations

from typing import Any

from linkarms._validate import check_count
from linkarms.sampling import View
from linkarms.stopping._base import StoppingRule

__all__ = ["SampleSize"]


class SampleSize(StoppingRule):
    """Stop when every arm has ``size`` samples, whatever they say: no promise.

    Parameters
    ----------
    size : int
        Samples of each arm.

    Examples
    --------
    >>> import linkarms as la
    >>> la.cluster(la.problems.synthetic1(), sampling="round-robin", stopping=la.stopping.SampleSize(20)).samples
    120
    """

    name = "sample-size"
    baseline = True
    takes_ties = True

    def __init__(self, size: int) -> None:
        self.size = check_count("size", size)

    def statistic(self, view: View) -> float:
        """Return the samples of the arm that has fewest."""
        return float(view.counts.min())

    def threshold(self, view: View, delta: float) -> float:
        """Return ``size``."""
        return float(self.size)

    def promise(self, delta: float) -> str:
        """Return None: there is no promise."""
        return f"{self.size} samples of each arm were asked for; nothing is promised"

    def to_dict(self) -> dict[str, Any]:
        """Return name and size."""
        return {"name": self.name, "size": self.size}

    def __repr__(self) -> str:
        return f"SampleSize({self.size})"
