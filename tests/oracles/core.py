"""The one place where the oracles' plain dicts become models of the native core."""

import numpy as np
from tests.oracles.divergence import covariance

from linkarms import _core


def scalar_of(spec):
    """The core's family of one number."""
    name = spec["name"]
    if name == "gaussian":
        return _core.gaussian(float(covariance(spec, 1)[0, 0]))
    if name in ("exponential", "gamma"):
        make = _core.gamma_rate if spec["parameter"] == "rate" else _core.gamma_mean
        return make(spec.get("shape", 1.0))
    return {"bernoulli": _core.bernoulli, "poisson": _core.poisson}[name]()


def arm_of(spec, d):
    """The core's arm of d numbers."""
    if spec["name"] == "categorical":
        return _core.Arm.categories(d)
    if spec["name"] == "product":
        return _core.Arm.coordinates([scalar_of(part) for part in spec["of"]])
    if spec["name"] == "gaussian" and d > 1:
        return _core.Arm.covariance(np.ascontiguousarray(covariance(spec, d)))
    return _core.Arm.coordinates([scalar_of(spec)])


def model_of(families, n_arms, d):
    """The core's model for a dict, or a list with one per arm."""
    specs = [families] * n_arms if isinstance(families, dict) else families
    return _core.Model([arm_of(spec, d) for spec in specs], d)
