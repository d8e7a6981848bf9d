"""A test of a user's own family, for the user's own test suite."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from linkarms.errors import InvalidInput
from linkarms.families._base import Family
from linkarms.families._resolve import one_arm
from linkarms.families._scalar import (
    scalar_fisher,
    scalar_inflection,
    scalar_kl,
    scalar_slope_limit,
    scalar_step,
)

__all__ = ["check_family"]


def check_family(family: Family, parameters: Iterable[float], *, samples: int = 4000, seed: int = 0) -> None:
    """Check that the functions of a one-parameter family agree with each other.

    At each of the parameters: the divergence is zero there and positive elsewhere, the Fisher information is its
    curvature, `step` solves the problem it should, draws lie in the support, and the estimate from many draws is close to
    the parameter (six standard errors).

    Parameters
    ----------
    family : Family
        The family to check, with one number a sample.
    parameters : iterable of float
        Typical parameters, at least three.
    samples, seed : int
        How many draws, from which seed.

    Raises
    ------
    InvalidInput
        With the name of the function, the place and the two numbers that should agree.
    """
    points = [float(x) for x in parameters]
    if len(points) < 3:
        raise InvalidInput("check_family needs at least three parameters; give typical ones")

    def agree(what: str, theta: float, found: float, wanted: float, tolerance: float) -> None:
        if not abs(found - wanted) <= tolerance:
            raise InvalidInput(
                f"{family.name}.{what} at {theta:g} gives {found:.8g} where {wanted:.8g} was expected"
            )

    model, _, done = one_arm(family, points[0])
    row = model.codes[0, 0], model.pars[0, 0], model.address[0, 0]
    for theta in points:
        fisher = scalar_fisher(*row, theta)
        h = 1e-3 / math.sqrt(fisher)
        agree("kl (at its own parameter)", theta, scalar_kl(*row, theta, theta), 0.0, 1e-12)
        curvature = (scalar_kl(*row, theta, theta + h) + scalar_kl(*row, theta, theta - h)) / (h * h)
        agree("fisher (against the curvature of kl)", theta, fisher, curvature, 1e-3 * fisher)
        agree("step (at slope 0)", theta, scalar_step(*row, theta, 0.0), theta, 1e-9 * (1 + abs(theta)))
        limit = min(scalar_slope_limit(*row, theta), math.sqrt(fisher))
        for slope in (-0.5 * math.sqrt(fisher), 0.02 * limit, 0.1 * limit):
            lam = scalar_step(*row, theta, slope)
            if lam >= scalar_inflection(*row, theta):
                continue
            here = scalar_kl(*row, theta, lam) - slope * lam
            for other in (lam + h, lam - h):
                if scalar_kl(*row, theta, other) - slope * other < here - 1e-9 * (1 + abs(here)):
                    raise InvalidInput(
                        f"{family.name}.step at {theta:g}, slope {slope:g}, gives {lam:.8g}, no minimum"
                    )
        values = family.draw(np.random.default_rng(seed), np.array([theta]), samples)
        if values.shape != (samples, 1) or not np.all(family.contains(values)):
            raise InvalidInput(
                f"{family.name}.draw at {theta:g} does not give ({samples}, 1) samples in the support"
            )
        estimate = float(family.mle(family.statistics(values).mean(axis=0))[0])
        agree("estimate (from many draws)", theta, estimate, theta, 6.0 / math.sqrt(samples * fisher) + 1e-9)
        done()
