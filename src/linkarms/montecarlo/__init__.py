"""Many seeded trials."""

from linkarms.montecarlo._result import RuleResult, Simulation
from linkarms.montecarlo._simulate import simulate

__all__ = ["RuleResult", "Simulation", "simulate"]
