"""Many seeded trials, and what they say about the promise."""

from linkarms.montecarlo._audit import Audit, AuditRow, audit
from linkarms.montecarlo._binomial import error_interval, error_lower_limit, promise_is_broken
from linkarms.montecarlo._fixed import fixed_size_errors
from linkarms.montecarlo._limit import known_parameters
from linkarms.montecarlo._result import BackendError, RuleResult, Simulation
from linkarms.montecarlo._simulate import simulate

__all__ = [
    "Audit",
    "AuditRow",
    "BackendError",
    "RuleResult",
    "Simulation",
    "audit",
    "error_interval",
    "error_lower_limit",
    "fixed_size_errors",
    "known_parameters",
    "promise_is_broken",
    "simulate",
]
