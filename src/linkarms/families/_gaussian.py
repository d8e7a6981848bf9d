"""Gaussian arms with known covariance, and bounded or sub-Gaussian arms by the same arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms import _core
from linkarms._validate import VARIANCES, check_bounds
from linkarms.errors import InvalidInput
from linkarms.families._base import ROUNDING, Array, Family

__all__ = ["Bounded", "Gaussian", "bounded"]


class Gaussian(Family):
    """Gaussian samples with unknown mean (the parameter) and known covariance.

    A covariance that only *dominates* the true one is enough: if the samples are sub-Gaussian with variance proxy
    ``covariance`` in every direction, everything that is promised for Gaussians holds for them. See `bounded`.

    Parameters
    ----------
    covariance : None, float, or ndarray of shape (d,), (d, d) or (M, d, d), default None
        Unit covariance; one variance for all coordinates; a diagonal; a full covariance shared by all arms; or one per
        arm. Clusters are those of the Euclidean distances between means, whatever the covariance.

    Examples
    --------
    >>> import linkarms as la
    >>> la.families.Gaussian(covariance=4.0).kl(0.0, 2.0)
    0.5
    """

    name = "gaussian"

    def __init__(self, covariance: ArrayLike | None = None) -> None:
        self.covariance = None if covariance is None else _check_covariance(covariance)

    @property
    def n_features(self) -> int | None:
        """The size of the covariance, if one was given."""
        return (
            None if self.covariance is None or self.covariance.ndim == 0 else int(self.covariance.shape[-1])
        )

    def native(self, n_features: int) -> _core.Arm:
        """Return independent coordinates where one variance serves all directions, else the full covariance."""
        c = self.covariance
        if c is None or c.ndim == 0:
            variance = 1.0 if c is None else float(c)
        else:
            matrix = self.matrix(n_features)
            if not np.array_equal(matrix, matrix[0, 0] * np.eye(n_features)):
                return _core.Arm.covariance(np.ascontiguousarray(matrix))
            variance = float(matrix[0, 0])
        return _core.Arm.coordinates([_core.gaussian(variance)] * n_features)

    def matrix(self, n_features: int) -> Array:
        """Return the covariance of one arm as a matrix, shape (d, d)."""
        c = np.array(1.0) if self.covariance is None else self.covariance
        return np.asarray(c if c.ndim == 2 else c * np.eye(n_features))

    def scalar(self) -> _core.Scalar:
        """Return one coordinate."""
        if self.covariance is not None and self.covariance.size > 1:
            return super().scalar()
        return _core.gaussian(1.0 if self.covariance is None else float(self.covariance.ravel()[0]))

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw Gaussian samples."""
        noise = rng.standard_normal((size, len(theta)))
        c = self.covariance
        if c is None:
            return theta + noise
        if c.ndim < 2:
            return theta + noise * np.sqrt(c)
        return theta + noise @ np.linalg.cholesky(c).T

    def for_arm(self, m: int) -> Family:
        """Return the family with the covariance of arm ``m``, if there is one per arm."""
        if self.covariance is None or self.covariance.ndim < 3:
            return self
        return Gaussian(self.covariance[m])

    @property
    def n_arms(self) -> int | None:
        """The number of arms, where there is a covariance for each."""
        return len(self.covariance) if self.covariance is not None and self.covariance.ndim == 3 else None

    def to_dict(self) -> dict[str, Any]:
        """Return name and covariance."""
        c = self.covariance
        return {"name": self.name, "covariance": None if c is None else c.tolist()}


def _check_covariance(covariance: ArrayLike) -> Array:
    try:
        c = np.array(covariance, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"covariance is not an array of numbers ({error}); give a number or a matrix"
        ) from error
    if c.ndim > 3 or c.size == 0 or (c.ndim >= 2 and c.shape[-1] != c.shape[-2]):
        raise InvalidInput(f"covariance has shape {c.shape}; give a number, (d,), (d, d), or (arms, d, d)")
    if not np.all(np.isfinite(c)):
        raise InvalidInput("covariance has entries that are not finite; give finite numbers")
    if c.ndim < 2:
        if np.any(c <= 0.0):
            raise InvalidInput(f"covariance has the variance {float(c.min()):g}; variances must be positive")
        _check_size(c)
        return c
    if not np.allclose(c, np.swapaxes(c, -1, -2), rtol=1e-10, atol=0.0):
        raise InvalidInput("covariance is not symmetric; give a symmetric matrix")
    c = 0.5 * (c + np.swapaxes(c, -1, -2))
    smallest = float(np.linalg.eigvalsh(c).min())
    if smallest <= 0.0:
        raise InvalidInput(f"covariance has the eigenvalue {smallest:g}; it must be positive definite")
    _check_size(np.asarray(np.linalg.eigvalsh(c), dtype=np.float64))
    return c


def _check_size(variances: Array) -> None:
    low, high = VARIANCES
    bad = variances[(variances < low) | (variances > high)]
    if bad.size:
        raise InvalidInput(f"covariance has the variance {bad[0]:g}; give variances from {low:g} to {high:g}")


class Bounded(Gaussian):
    """Samples between known bounds, with no model: see `bounded`.

    Examples
    --------
    >>> import linkarms as la
    >>> la.families.Bounded(0.0, 100.0)
    Bounded(low=0.0, high=100.0, independent=False)
    """

    name = "bounded"
    support = "numbers between the bounds"

    def __init__(self, low: ArrayLike, high: ArrayLike, independent: bool = False) -> None:
        try:
            self.low, self.high = (np.array(x, dtype=np.float64) for x in np.broadcast_arrays(low, high))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"bounds low={low!r}, high={high!r} are not numbers of one shape ({error}); give a number, or one per feature"
            ) from error
        if self.low.ndim > 1 or not np.all(
            np.isfinite(self.low) & np.isfinite(self.high) & (self.low < self.high)
        ):
            raise InvalidInput(f"bounds low={low!r}, high={high!r} are not finite with low < high; fix them")
        for a, b in zip(self.low.ravel().tolist(), self.high.ravel().tolist(), strict=True):
            check_bounds(a, b, f"{a:g} to {b:g}")
        self.independent = independent
        self.support = "numbers " + (
            f"from {self.low:g} to {self.high:g}"
            if self.low.ndim == 0
            else f"from {self.low.tolist()} to {self.high.tolist()}"
        )
        proxy = ((self.high - self.low) / 2.0) ** 2
        if self.low.ndim and not independent:
            proxy = np.asarray(proxy.sum())
        super().__init__(proxy)

    @property
    def n_features(self) -> int:
        """One number per bound."""
        return int(self.low.size)

    def native(self, n_features: int) -> _core.Arm:
        """Return an arm that may bet; of several numbers, the Gaussian with the variance proxy."""
        if n_features == 1:
            return _core.Arm.bounded(float(self.low.ravel()[0]), float(self.high.ravel()[0]))
        return super().native(n_features)

    def check_parameter(self, theta: Array, where: str) -> None:
        """Check that the mean lies between the bounds."""
        if np.any((theta < self.low) | (theta > self.high)):
            raise InvalidInput(
                f"{where}={theta} is not between the bounds {self.low} and {self.high}; fix it"
            )

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Return which samples lie between the bounds in every coordinate."""
        return np.asarray(np.all((values >= self.low) & (values <= self.high), axis=1))

    def can_average(self, means: Array) -> NDArray[np.bool_]:
        """Return which means lie between the bounds, up to rounding."""
        slack = ROUNDING * np.maximum(np.abs(self.low), np.abs(self.high))
        return np.asarray(np.all((means >= self.low - slack) & (means <= self.high + slack), axis=1))

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw coordinates that are either the lower or the upper bound: the largest variance that the bounds allow."""
        width = self.high - self.low
        return self.low + width * (rng.random((size, len(theta))) < (theta - self.low) / width)

    def to_dict(self) -> dict[str, Any]:
        """Return name and bounds."""
        return {
            "name": self.name,
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "independent": self.independent,
        }


def bounded(low: ArrayLike, high: ArrayLike, independent: bool = False) -> Bounded:
    """Return the family of samples between ``low`` and ``high``: arms are clustered by their means, with no model of the samples.

    One number per sample bets on the means under version 2 of the anytime rule; see docs/anytime.md. Elsewhere the Gaussian formulas hold
    with a variance proxy, since a bounded sample is sub-Gaussian (Hoeffding): for one coordinate
    ``((high - low) / 2)^2``; for several that may depend on each other, the sum of these in every direction; for several
    independent ones, their diagonal.

    Parameters
    ----------
    low, high : float or array of shape (d,)
        The bounds of each coordinate.
    independent : bool, default False
        The coordinates of a sample are independent.

    Examples
    --------
    >>> import linkarms as la
    >>> float(la.families.bounded(0.5, 5.0).covariance)
    5.0625
    """
    return Bounded(low, high, independent)
