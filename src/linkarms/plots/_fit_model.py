"""The distribution that a family says samples have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from linkarms.families import Family

__all__ = ["Distribution", "distribution", "family_of"]

Array = NDArray[np.float64]
#: Draws that stand for the distribution of a user's own family.
_DRAWS = 20_000


class Distribution(Protocol):
    """What is needed of a distribution; those of SciPy have it."""

    def mean(self) -> Any:
        """Return the mean."""

    def std(self) -> Any:
        """Return the standard deviation."""

    def ppf(self, levels: Array) -> Array:
        """Return the quantiles at these levels."""


class _Drawn:
    """The distribution of many draws."""

    def __init__(self, draws: Array) -> None:
        self.mean, self.std = draws.mean, draws.std
        self._draws = draws

    def ppf(self, levels: Array) -> Array:
        return np.asarray(np.quantile(self._draws, levels))


def family_of(family: Family, coordinate: int) -> Any:
    """Return the family of one coordinate: its own in a product."""
    parts = getattr(family, "families", None)
    return family if parts is None else parts[coordinate]


def distribution(family: Family, samples: Array, coordinate: int) -> Distribution:
    """Return what a family says one coordinate of the samples, shape (n, d), is distributed like, at their own mean.

    Examples
    --------
    >>> import numpy as np
    >>> import linkarms as la
    >>> from linkarms.plots._fit_model import distribution
    >>> float(distribution(la.families.Poisson(), np.array([[3.0], [5.0]]), 0).mean())
    4.0
    """
    from scipy import stats

    part = family_of(family, coordinate)
    numbers = samples[:, coordinate]
    mean = float(numbers.mean())
    found: Distribution
    if part.name == "gaussian":
        alone = part is not family
        variances = np.diag(part.matrix(1 if alone else samples.shape[1]))
        found = stats.norm(mean, np.sqrt(variances[0 if alone else coordinate]))
    elif part.name.startswith("gaussian-unknown"):
        found = stats.norm(mean, numbers.std(ddof=1))
    elif part.name == "poisson":
        found = stats.poisson(mean)
    elif part.name in ("exponential", "gamma"):
        found = stats.gamma(part.shape, scale=mean / part.shape)
    elif part.name == "bernoulli":
        found = stats.bernoulli(mean)
    else:
        theta = part.mle(part.statistics(numbers[:, None]).mean(axis=0))
        found = _Drawn(part.draw(np.random.default_rng(0), theta, _DRAWS).ravel())
    return found
