"""How families are written, in one line; apart from `linkarms.families`, so that ``linkarms --help`` need not load it."""

from __future__ import annotations

__all__ = ["DEFAULT", "SYNTAX"]

#: The family of samples for which none was given.
DEFAULT = "gaussian-unknown"
#: Every family that can be written as text; `linkarms.families.parse` reads them.
SYNTAX = (
    "gaussian-unknown[:SHAPE], gaussian[:VARIANCE], bounded:LOW:HIGH, bernoulli, poisson, "
    "exponential[:mean], gamma:SHAPE[:mean] or categorical[:CATEGORIES]"
)
