"""Do the samples contradict their family? Tests that are valid at any time where the promise depends on it, diagnostics elsewhere.

`check_model` looks at any samples. Runs look at their own: `linkarms.Result.checks` and `linkarms.Result.warnings`. See
docs/check-the-model.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkarms.checks._findings import Finding
from linkarms.checks._told import KEPT, ModelFit, SampleLog, Told

if TYPE_CHECKING:
    from linkarms.checks._check import LEVEL, check_model, find_contradictions

__all__ = ["KEPT", "LEVEL", "Finding", "ModelFit", "SampleLog", "Told", "check_model", "find_contradictions"]


def __getattr__(name: str) -> Any:
    # SciPy is loaded when a check is made, not when a run begins
    if name in ("LEVEL", "check_model", "find_contradictions"):
        from linkarms.checks import _check

        return getattr(_check, name)
    raise AttributeError(f"module 'linkarms.checks' has no attribute {name!r}")
