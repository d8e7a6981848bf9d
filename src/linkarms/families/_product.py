"""Several independent coordinates, each with a one-dimensional family of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms.errors import InvalidInput
from linkarms.families._base import Array, Family, ScalarFamily
from linkarms.families._unknown import UnknownVariance

__all__ = ["Product"]


class Product(Family):
    """Vectors of independent coordinates.

    Parameters
    ----------
    families : sequence of Family
        A one-dimensional family for each coordinate.

    Notes
    -----
    The pair problem of two coordinates is solved by a certified search. With three or more, stopping uses a lower bound, which keeps the
    promise and costs samples (`linkarms.psi` says ``bound="dominating"``).

    Examples
    --------
    >>> import linkarms as la
    >>> clicks_and_counts = la.families.Product([la.families.Bernoulli(), la.families.Poisson()])
    >>> clicks_and_counts.mle([0.25, 3.0]).tolist()
    [0.25, 3.0]
    """

    name = "product"

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = list(families)
        if not self.families:
            raise InvalidInput("a product of no families; give one per coordinate")
        for i, family in enumerate(self.families):
            if not isinstance(family, Family) or family.n_features not in (1, None):
                raise InvalidInput(
                    f"coordinate {i} of a product is {family!r}; give a one-dimensional family"
                )
            if isinstance(family, ScalarFamily) and len(self.families) > 1:
                raise InvalidInput(
                    f"coordinate {i} of a product is the user's own family {family.name!r}; products take the families "
                    "that the package ships, your own works for arms with one number per sample"
                )
            if isinstance(family, UnknownVariance):
                raise InvalidInput(
                    f"coordinate {i} of a product is {family.name}; a product takes known variances only, so give gaussian:VARIANCE"
                )

    @property
    def n_features(self) -> int:
        """The number of coordinates."""
        return len(self.families)

    def native(self, n_features: int) -> _core.Arm:
        """Return the coordinates, side by side."""
        return _core.Arm.coordinates([f.scalar() for f in self.families])

    def _by_column(self, values: Array) -> list[tuple[Family, Array]]:
        return [(f, values[:, i : i + 1]) for i, f in enumerate(self.families)]

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Return which samples have every coordinate in its own support."""
        return np.asarray(np.all([f.contains(x) for f, x in self._by_column(values)], axis=0))

    def can_average(self, means: Array) -> NDArray[np.bool_]:
        """Return which means are possible, coordinate by coordinate."""
        return np.asarray(np.all([f.can_average(x) for f, x in self._by_column(means)], axis=0))

    def statistics(self, values: Array) -> Array:
        """Return the sufficient statistics, coordinate by coordinate."""
        return np.hstack([f.statistics(x) for f, x in self._by_column(values)])

    def check_parameter(self, theta: Array, where: str) -> None:
        """Check the parameter, coordinate by coordinate."""
        for i, family in enumerate(self.families):
            family.check_parameter(theta[i : i + 1], f"{where}[{i}]")

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw independent coordinates."""
        return np.hstack([f.draw(rng, theta[i : i + 1], size) for i, f in enumerate(self.families)])

    def to_dict(self) -> dict[str, Any]:
        """Return name and coordinates."""
        return {"name": self.name, "families": [f.to_dict() for f in self.families]}
