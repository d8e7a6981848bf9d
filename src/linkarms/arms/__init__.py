"""Where samples come from: simulated, recorded, or measured by a function.

Everything here that has arms is an `ArmSource`: it has their names and hands out one sample a pull. Loaders read public data sets into
plain arrays, with a report of what they left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkarms.arms._base import ArmSource
from linkarms.arms._callables import CallableArms
from linkarms.arms._download import DATASETS, Dataset, fetch
from linkarms.arms._files import read_table
from linkarms.arms._frames import from_frame, make_frame
from linkarms.arms._load_report import LoadReport
from linkarms.arms._make import make_source
from linkarms.arms._movielens import Ratings, load_ratings
from linkarms.arms._recorded import RecordedArms
from linkarms.arms._simulated import SimulatedArms
from linkarms.arms._tlc import Bookings, load_bookings

if TYPE_CHECKING:
    from linkarms.arms._resampled import Resampled, resampled_problem

__all__ = [
    "DATASETS",
    "ArmSource",
    "Bookings",
    "CallableArms",
    "Dataset",
    "LoadReport",
    "Ratings",
    "RecordedArms",
    "Resampled",
    "SimulatedArms",
    "fetch",
    "from_frame",
    "load_bookings",
    "load_ratings",
    "make_frame",
    "make_source",
    "read_table",
    "resampled_problem",
]


def __getattr__(name: str) -> Any:
    # problems bring numba, which recorded and measured arms do without
    if name in ("Resampled", "resampled_problem"):
        from linkarms.arms import _resampled

        return getattr(_resampled, name)
    raise AttributeError(f"module 'linkarms.arms' has no attribute {name!r}")
