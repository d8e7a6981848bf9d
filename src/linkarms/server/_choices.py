"""The rules that a new campaign can have, read from the library: a rule that is added there appears on the page."""

from __future__ import annotations

import inspect
from typing import Any

import linkarms.sampling
import linkarms.stopping
from linkarms.clusterer import BanditClusterer
from linkarms.planning._rules import shipped
from linkarms.sampling import SamplingRule
from linkarms.stopping import StoppingRule

__all__ = ["choices"]


def choices() -> dict[str, Any]:
    """Return sampling and stopping rules with their options, baselines separately, and the defaults of the library."""
    packages: tuple[tuple[str, Any, Any], ...] = (
        ("sampling", linkarms.sampling, SamplingRule),
        ("stopping", linkarms.stopping, StoppingRule),
    )
    found = {what: [_described(rule) for rule in shipped(package, base)] for what, package, base in packages}
    return {**found, "defaults": {what: _default(what) for what, _, _ in packages}}


def _described(rule: Any) -> dict[str, Any]:
    settable = [
        part
        for part in inspect.signature(rule).parameters.values()
        if part.kind is part.POSITIONAL_OR_KEYWORD
    ]
    return {
        "name": rule.name,
        "about": inspect.cleandoc(rule.__doc__ or "").partition("\n")[0],
        "parameters": [part.name for part in settable],
        "required": [part.name for part in settable if part.default is part.empty],
    }


def _default(what: str) -> str | None:
    default = inspect.signature(BanditClusterer).parameters[what].default
    name = getattr(default, "name", default)
    return name if isinstance(name, str) else None
