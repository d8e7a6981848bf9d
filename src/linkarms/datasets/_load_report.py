"""What a loader read, and what it left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["LoadReport"]


@dataclass(frozen=True)
class LoadReport:
    """Rows of a file by what became of them: ``rows`` is ``kept`` plus everything in ``dropped``.

    Attributes
    ----------
    source : str
        The file or files.
    rows, kept : int
        Rows read, and rows that are used.
    dropped : dict of str to int
        Rows left out, by reason in words; reasons that did not occur are not listed.

    Examples
    --------
    >>> from linkarms.datasets import LoadReport
    >>> print(LoadReport("trips.csv", 10, 7, {"no pickup time": 1, "other boroughs": 2}))
    trips.csv: 7 of 10 rows kept; dropped: 1 no pickup time, 2 other boroughs
    """

    source: str
    rows: int
    kept: int
    dropped: Mapping[str, int]

    def __post_init__(self) -> None:
        # a row that is neither kept nor counted would be lost without a word
        assert self.rows == self.kept + sum(self.dropped.values()), (self.rows, self.kept, self.dropped)

    def __str__(self) -> str:
        lost = ", ".join(f"{n:,} {reason}" for reason, n in self.dropped.items())
        return f"{self.source}: {self.kept:,} of {self.rows:,} rows kept" + (
            f"; dropped: {lost}" if lost else ""
        )
