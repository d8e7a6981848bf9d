"""A test of a user's own family, for the user's own test suite."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from linkarms.errors import InvalidInput
from linkarms.families._base import Family

__all__ = ["check_family"]


def check_family(family: Family, parameters: Iterable[float], *, samples: int = 4000, seed: int = 0) -> None:
    """Check that the functions of a one-parameter family agree with each other.

    At each of the parameters: the divergence is zero there and positive elsewhere, the Fisher information is its
    curvature, `step` solves the problem it should, draws lie in the support, and the estimate from many draws is close to
    the parameter (six standard errors). The functions give numbers also at the estimates from the smallest and the largest of the draws,
    where they may not (``0 * log(0)``). And that it is an exponential family whose estimate is not clipped: the difference of the
    divergences of two parameters from the estimate is a straight line in the mean of the statistic. The promise of the anytime rule
    rests on that.

    Parameters
    ----------
    family : Family
        The family to check, with one number per sample.
    parameters : iterable of float
        Typical parameters, at least three.
    samples, seed : int
        How many draws, from which seed.

    Raises
    ------
    InvalidInput
        With the name of the function, the place and the two numbers that should agree.
    CallbackError
        Where a function raised an exception, or returned NaN, a negative divergence or an estimate outside the domain.

    Examples
    --------
    >>> import linkarms as la
    >>> la.families.check_family(la.families.Poisson(), [0.5, 3.0, 20.0])
    """
    points = [float(x) for x in parameters]
    if len(points) < 3:
        raise InvalidInput("check_family needs at least three parameters; give typical ones")

    def agree(what: str, theta: float, found: float, wanted: float, tolerance: float) -> None:
        if not abs(found - wanted) <= tolerance:
            raise InvalidInput(
                f"{family.name}.{what} at {theta:g} gives {found:.8g} where {wanted:.8g} was expected"
            )

    f = family.scalar()
    means: set[float] = set()
    for theta in points:
        fisher = f.fisher(theta)
        if not 0.0 < fisher < math.inf:
            raise InvalidInput(f"{family.name}.fisher at {theta:g} gives {fisher:g}; it must be positive")
        h = 1e-3 / math.sqrt(fisher)
        agree("kl (at its own parameter)", theta, f.kl(theta, theta), 0.0, 1e-12)
        curvature = (f.kl(theta, theta + h) + f.kl(theta, theta - h)) / (h * h)
        agree("fisher (against the curvature of kl)", theta, fisher, curvature, 1e-3 * fisher)
        agree("step (at slope 0)", theta, f.step(theta, 0.0), theta, 1e-9 * (1 + abs(theta)))
        limit = min(f.slope_limit(theta), math.sqrt(fisher))
        for slope in (-0.5 * math.sqrt(fisher), 0.02 * limit, 0.1 * limit):
            lam = f.step(theta, slope)
            if lam >= f.inflection(theta):
                continue
            here = f.kl(theta, lam) - slope * lam
            for other in (lam + h, lam - h):
                if not f.kl(theta, other) - slope * other >= here - 1e-9 * (1 + abs(here)):
                    raise InvalidInput(
                        f"{family.name}.step at {theta:g}, slope {slope:g}, gives {lam:.8g}, which is not a minimum; it must solve "
                        "d kl / d lam = slope"
                    )
        values = family.draw(np.random.default_rng(seed), np.array([theta]), samples)
        if values.shape != (samples, 1) or not np.all(family.contains(values)):
            raise InvalidInput(
                f"{family.name}.draw at {theta:g} must give an array of shape ({samples}, 1) with samples in the support"
            )
        statistics = family.statistics(values)[:, 0]
        means |= {float(statistics.mean()), *np.quantile(statistics, [0.0, 0.5, 1.0]).tolist()}
        estimate = float(family.mle(family.statistics(values).mean(axis=0))[0])
        agree("estimate (from many draws)", theta, estimate, theta, 6.0 / math.sqrt(samples * fisher) + 1e-9)
    for mean in (min(means), max(means)):
        _check_end(family, mean, points)
    _check_exponential(family, sorted(means), min(points), max(points))


def _check_end(family: Family, mean: float, points: list[float]) -> None:
    """Call every function at the estimate from ``mean``: what returns NaN there raises `CallbackError`."""
    f = family.scalar()
    estimate = float(family.mle(np.array([mean]))[0])
    for function in (f.fisher, f.slope_limit, f.inflection):
        function(estimate)
    for lam in points:
        f.kl(estimate, lam)
    for slope in (-1.0, 0.0, 0.5 * min(f.slope_limit(estimate), 1.0)):
        f.step(estimate, slope)


def _check_exponential(family: Family, means: list[float], low: float, high: float) -> None:
    """Raise where ``KL(est(m), low) - KL(est(m), high)`` is not affine in the mean ``m`` of the statistic."""
    f = family.scalar()

    def difference(mean: float) -> float:
        estimate = float(family.mle(np.array([mean]))[0])
        return f.kl(estimate, low) - f.kl(estimate, high)

    found = [(m, difference(m)) for m in means]
    line = [(m, x) for m, x in found if math.isfinite(x)]
    if len(line) < 3 or line[0][0] == line[-1][0]:
        raise InvalidInput(
            f"{family.name} has too few means with a finite kl to tell whether it is an exponential family; give other parameters"
        )
    (start, first), (end, last) = line[0], line[-1]
    for m, x in line:
        wanted = first + (last - first) * (m - start) / (end - start)
        if not abs(x - wanted) <= 1e-6 * (1.0 + abs(first) + abs(last)):
            raise InvalidInput(
                f"{family.name} is not an exponential family, or its estimate is clipped: kl(estimate, {low:g}) - kl(estimate, {high:g}) "
                f"must be a straight line in the mean of the statistic, but at {m:g} it is {x:.8g} where {wanted:.8g} was expected; the "
                "anytime rule would promise nothing"
            )
