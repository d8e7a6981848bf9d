"""Bernoulli, Poisson and categorical arms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms import _core
from linkarms._validate import check_integer
from linkarms.errors import InvalidInput
from linkarms.families._base import ROUNDING, Array, Family

__all__ = ["Bernoulli", "Categorical", "Poisson"]


class Bernoulli(Family):
    """Samples 0 or 1; the parameter is the probability of a 1.

    Examples
    --------
    >>> import linkarms as la
    >>> round(la.families.Bernoulli().kl(0.5, 0.25), 6)
    0.143841
    """

    name = "bernoulli"
    support = "0 or 1"
    domain = (0.0, 1.0)

    @property
    def n_features(self) -> int:
        """One number per sample."""
        return 1

    def scalar(self) -> _core.Scalar:
        """Return samples 0 or 1."""
        return _core.bernoulli()

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Return which samples are 0 or 1."""
        return np.asarray(np.all((values == 0.0) | (values == 1.0), axis=1))

    def can_average(self, means: Array) -> NDArray[np.bool_]:
        """Return which means are from 0 to 1."""
        return np.asarray(np.all((means >= -ROUNDING) & (means <= 1.0 + ROUNDING), axis=1))

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw Bernoulli samples."""
        return (rng.random((size, 1)) < theta).astype(np.float64)


class Poisson(Family):
    """Counts; the parameter is their mean.

    Examples
    --------
    >>> import linkarms as la
    >>> la.families.Poisson().kl(0.0, 2.0)
    2.0
    """

    name = "poisson"
    support = "a whole number >= 0"
    domain = (0.0, math.inf)

    @property
    def n_features(self) -> int:
        """One number per sample."""
        return 1

    def scalar(self) -> _core.Scalar:
        """Return counts."""
        return _core.poisson()

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Return which samples are whole numbers from 0."""
        return np.asarray(np.all((values >= 0.0) & (values == np.floor(values)), axis=1))

    def can_average(self, means: Array) -> NDArray[np.bool_]:
        """Return which means are not negative."""
        return np.asarray(np.all((means >= 0.0) & (means <= self.limit), axis=1))

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw Poisson samples."""
        return rng.poisson(theta, (size, 1)).astype(np.float64)


class Categorical(Family):
    """One of C categories; the parameter is the vector of their C probabilities, the distance between two is Euclidean.

    A sample is the indicator of its category: C numbers, one 1 and the rest 0 (`encode` makes them from category numbers).
    For the paper's threshold, which needs free parameters, the first C - 1 probabilities are taken.

    Parameters
    ----------
    n_categories : int
        C, at least 2.

    Examples
    --------
    >>> import linkarms as la
    >>> la.families.Categorical(3).encode([2, 0]).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    name = "categorical"
    support = "the indicator of one category: one 1, the rest 0"
    domain = (0.0, 1.0)

    def __init__(self, n_categories: int) -> None:
        self.n_categories = check_integer("n_categories", n_categories, 2)

    @property
    def n_features(self) -> int:
        """One number per category."""
        return self.n_categories

    def encode(self, categories: ArrayLike) -> Array:
        """Return the indicators, shape (n, C), of category numbers 0..C-1."""
        c = np.atleast_1d(np.asarray(categories))
        if not np.issubdtype(c.dtype, np.integer) or np.any((c < 0) | (c >= self.n_categories)):
            raise InvalidInput(
                f"categories must be whole numbers from 0 to {self.n_categories - 1}; fix them"
            )
        return np.asarray(np.eye(self.n_categories)[c])

    def native(self, n_features: int) -> _core.Arm:
        """Return an arm of C probabilities."""
        return _core.Arm.categories(n_features)

    def check_parameter(self, theta: Array, where: str) -> None:
        """Check that probabilities are not negative and add up to one."""
        super().check_parameter(theta, where)
        if abs(float(theta.sum()) - 1.0) > 1e-9:
            raise InvalidInput(f"{where} adds up to {theta.sum():.12g}; probabilities must add up to 1")

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Return which samples are indicators."""
        return np.asarray(np.all((values == 0.0) | (values == 1.0), axis=1) & (values.sum(axis=1) == 1.0))

    def can_average(self, means: Array) -> NDArray[np.bool_]:
        """Return which means are probabilities that add up to 1."""
        return np.asarray(
            np.all(means >= -ROUNDING, axis=1) & (np.abs(means.sum(axis=1) - 1.0) <= len(means[0]) * ROUNDING)
        )

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw indicators of categories."""
        edges = np.cumsum(theta)[:-1]
        return np.eye(self.n_categories)[np.searchsorted(edges, rng.random(size), side="right")]

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the number of categories."""
        return {"name": self.name, "n_categories": self.n_categories}
