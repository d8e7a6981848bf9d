"""linkarms: group noisy sources into clusters with as few samples as possible and a promised error probability.

Everything is loaded when it is first used, so that ``import linkarms`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkarms._version import __version__

if TYPE_CHECKING:
    from linkarms import arms, campaign, checks, datasets, errors, families, plots, sampling, stopping
    from linkarms.alternatives import Psi, psi
    from linkarms.bound import Bound, lower_bound
    from linkarms.closed_loop import cluster
    from linkarms.clusterer import BanditClusterer
    from linkarms.errors import LinkarmsError
    from linkarms.montecarlo import Audit, audit, simulate
    from linkarms.planning import Plan, plan
    from linkarms.problem import Problem, problems
    from linkarms.result import Cut, Result, Tie, Witness

_MODULES = {
    "Audit": "montecarlo",
    "BanditClusterer": "clusterer",
    "Bound": "bound",
    "Cut": "result",
    "LinkarmsError": "errors",
    "Plan": "planning",
    "Problem": "problem",
    "Psi": "alternatives",
    "Result": "result",
    "Tie": "result",
    "Witness": "result",
    "audit": "montecarlo",
    "cluster": "closed_loop",
    "lower_bound": "bound",
    "plan": "planning",
    "problems": "problem",
    "psi": "alternatives",
    "simulate": "montecarlo",
}
_PACKAGES = ("arms", "campaign", "checks", "datasets", "errors", "families", "plots", "sampling", "stopping")

__all__ = [
    "Audit",
    "BanditClusterer",
    "Bound",
    "Cut",
    "LinkarmsError",
    "Plan",
    "Problem",
    "Psi",
    "Result",
    "Tie",
    "Witness",
    "__version__",
    "arms",
    "audit",
    "campaign",
    "checks",
    "cluster",
    "datasets",
    "errors",
    "families",
    "lower_bound",
    "plan",
    "plots",
    "problems",
    "psi",
    "sampling",
    "simulate",
    "stopping",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(import_module(f"linkarms.{_MODULES[name]}"), name)
    elif name in _PACKAGES:
        value = import_module(f"linkarms.{name}")
    else:
        raise AttributeError(f"module 'linkarms' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
