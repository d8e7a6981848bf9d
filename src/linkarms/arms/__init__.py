"""Where samples come from: simulated, recorded, or measured by a function.

Everything here that has arms is an `ArmSource`: it has their names and returns one sample per pull. The loaders of public data are in
`linkarms.datasets`; their names here are aliases.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkarms.arms._base import ArmSource
from linkarms.arms._callables import CallableArms
from linkarms.arms._files import read_table
from linkarms.arms._frames import from_frame, make_frame
from linkarms.arms._make import make_source
from linkarms.arms._recorded import RecordedArms
from linkarms.arms._simulated import SimulatedArms

if TYPE_CHECKING:
    from linkarms.arms._resampled import Resampled, resampled_problem
    from linkarms.datasets import (
        DATASETS,
        Bookings,
        Dataset,
        LoadReport,
        Ratings,
        fetch,
        load_bookings,
        load_ratings,
    )

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

#: Modules that are loaded when one of their names is first used: they import from this package, or need more than it.
_LATER = {
    "Resampled": "linkarms.arms._resampled",
    "resampled_problem": "linkarms.arms._resampled",
    **dict.fromkeys(
        (
            "DATASETS",
            "Bookings",
            "Dataset",
            "LoadReport",
            "Ratings",
            "fetch",
            "load_bookings",
            "load_ratings",
        ),
        "linkarms.datasets",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'linkarms.arms' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
