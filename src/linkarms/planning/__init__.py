"""Before the first sample: how many to expect from each rule, for a guess of the parameters."""

from linkarms.planning._plan import plan
from linkarms.planning._table import Plan, PlanRow

__all__ = ["Plan", "PlanRow", "plan"]
