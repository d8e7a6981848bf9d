"""Figures for reports: the result of the clusterer after a given log entry."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkarms._version import __version__
from linkarms.campaign._account import REPAIR
from linkarms.campaign._order import Held
from linkarms.campaign._run import Run
from linkarms.campaign._storage import FIGURES, Computed
from linkarms.errors import StorageError
from linkarms.result import Result

__all__ = ["Figures"]


@dataclass(frozen=True)
class Figures:
    """The result at some version of the log.

    Attributes
    ----------
    version, retractions : int
        The log entries up to ``version`` are counted, without the samples of the first ``retractions`` retractions.
    at : int
        The time of the last of them, in microseconds since 1970 (UTC); 0 before the first.
    told, late : int
        Samples in those entries, and how many of them came after the end.
    done : bool
        Nothing more to ask.
    result : Result
        The clusters, the evidence and the rest.
    means, moments : ndarray
        As `BanditClusterer.means` and `BanditClusterer.moments`.
    held : Held or None
        Samples that wait for an earlier ticket; None where samples count when they are told.
    """

    version: int
    retractions: int
    at: int
    told: int
    late: int
    done: bool
    result: Result
    means: NDArray[np.float64]
    moments: NDArray[np.float64]
    held: Held | None = None

    @property
    def counts(self) -> tuple[int, int, int]:
        """Retracted samples, told ones, and released tickets if they matter: while these stay the same, so do the figures."""
        return self.retractions, self.told, self.held.released if self.held else 0

    @classmethod
    def of(cls, run: Run) -> Figures:
        """Compute the figures of a run. This may take long, because of the evidence."""
        clusterer = run.clusterer
        return cls(
            run.version,
            run.retractions,
            run.at,
            run.order.told,
            run.late,
            clusterer.done,
            clusterer.result(),
            clusterer.means,
            clusterer.moments,
            run.held if run.order.in_order else None,
        )

    def newer_than(self, other: Figures | None) -> bool:
        """Whether these figures include more of the log."""
        return other is None or (self.retractions, self.version) > (other.retractions, other.version)

    def computed(self) -> Computed:
        """Return the figures as they are stored; floating-point numbers survive bit for bit."""
        data = {
            "linkarms": __version__,
            "told": self.told,
            "late": self.late,
            "done": self.done,
            "result": self.result.to_dict(cuts=self.result.has_quick_cuts),
            "means": self.means.tolist(),
        }
        data["moments"] = self.moments.tolist() if self.moments.any() else list(self.moments.shape)
        if self.held is not None:
            data["held"] = self.held._asdict()
        body = json.dumps(data, separators=(",", ":"))  # an estimate may be infinite
        return Computed(FIGURES, self.retractions, self.version, self.at, body)

    @classmethod
    def read(cls, stored: Computed) -> Figures:
        """Read what `computed` wrote."""
        try:
            data = json.loads(stored.body)
            moments, result = data["moments"], Result.from_dict(data["result"])
            return cls(
                stored.version,
                stored.retractions,
                stored.at,
                int(data["told"]),
                int(data["late"]),
                bool(data["done"]),
                result,
                np.array(data["means"], dtype=np.float64),
                np.array(moments, dtype=np.float64) if isinstance(moments[0], list) else np.zeros(moments),
                Held.read(data["held"], len(result.arms)) if "held" in data else None,
            )
        except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise StorageError(
                f"the stored figures of the campaign are damaged ({error}); {REPAIR}"
            ) from error
