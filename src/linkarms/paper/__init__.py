"""The paper's experiments and its published numbers, side by side with ours.

`published` holds the paper's numbers. `run_taxi` and `run_movielens` are its experiments on real data; the other names
are the parts that they are made of. `reproduce` runs all of the paper's figures and tables (`linkarms.paper.reproduction`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkarms.paper import published

if TYPE_CHECKING:
    from linkarms.paper._choice import Choice, choose_regions, choose_users, linkage_edges
    from linkarms.paper._curve import (
        AtError,
        Point,
        compare_at_error,
        curve_points,
        paper_at_error,
        samples_at_error,
    )
    from linkarms.paper._experiment import Experiment
    from linkarms.paper._fit import Fit, check_fit
    from linkarms.paper._level import EvidenceLevel
    from linkarms.paper._real_data import run_movielens, run_taxi
    from linkarms.paper._sweep import Sweep, run_sweep
    from linkarms.paper._uniform import UniformStartEBC
    from linkarms.paper.reproduction import Deviation, Piece, Reproduction, reproduce

# the numbers are wanted without the simulator, so the rest loads when it is first used
_MODULES = {
    "reproduce": "reproduction",
    "Reproduction": "reproduction",
    "Piece": "reproduction",
    "Deviation": "reproduction",
    "AtError": "_curve",
    "Choice": "_choice",
    "EvidenceLevel": "_level",
    "Experiment": "_experiment",
    "Fit": "_fit",
    "Point": "_curve",
    "Sweep": "_sweep",
    "UniformStartEBC": "_uniform",
    "check_fit": "_fit",
    "choose_regions": "_choice",
    "choose_users": "_choice",
    "compare_at_error": "_curve",
    "curve_points": "_curve",
    "linkage_edges": "_choice",
    "paper_at_error": "_curve",
    "run_movielens": "_real_data",
    "run_sweep": "_sweep",
    "run_taxi": "_real_data",
    "samples_at_error": "_curve",
}

__all__ = [
    "AtError",
    "Choice",
    "Deviation",
    "EvidenceLevel",
    "Experiment",
    "Fit",
    "Piece",
    "Point",
    "Reproduction",
    "Sweep",
    "UniformStartEBC",
    "check_fit",
    "choose_regions",
    "choose_users",
    "compare_at_error",
    "curve_points",
    "linkage_edges",
    "paper_at_error",
    "published",
    "reproduce",
    "run_movielens",
    "run_sweep",
    "run_taxi",
    "samples_at_error",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'linkarms.paper' has no attribute {name!r}")
    value = getattr(import_module(f"linkarms.paper.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
