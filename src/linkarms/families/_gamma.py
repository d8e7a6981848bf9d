"""Exponential arms, and gamma arms with known shape: by the rate or by the mean."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms._validate import check_number
from linkarms.errors import InvalidInput
from linkarms.families._base import Array, Family

__all__ = ["Exponential", "Gamma"]

Parameter = Literal["rate", "mean"]


class Gamma(Family):
    """Gamma samples of known shape.

    Parameters
    ----------
    shape : float
        The shape ``k``; the sample has mean ``k / rate``.
    parameter : {"rate", "mean"}, default "rate"
        What the arms are clustered by.

    Notes
    -----
    In the rate the log-likelihood is concave and the pair problem convex. In the mean it is not (beyond twice the
    estimate): the pair problem is solved by a search that reports a certified lower bound.

    Examples
    --------
    >>> import linkarms as la
    >>> round(la.families.Gamma(shape=2.0).kl(1.0, 2.0), 6)
    0.613706
    """

    name = "gamma"
    support = "a number >= 0"
    domain = (0.0, math.inf)
    open_domain = True

    def __init__(self, shape: float, parameter: Parameter = "rate") -> None:
        self.shape = check_number("shape", shape, 0.0)
        if parameter not in ("rate", "mean"):
            raise InvalidInput(f"parameter={parameter!r} is unknown; choose 'rate' or 'mean'")
        self.parameter: Parameter = parameter

    @property
    def n_features(self) -> int:
        """One number per sample."""
        return 1

    def scalar(self) -> _core.Scalar:
        """Return gamma samples by their rate or their mean."""
        return (_core.gamma_rate if self.parameter == "rate" else _core.gamma_mean)(self.shape)

    def contains(self, values: Array) -> NDArray[np.bool_]:
        """Return which samples are not negative."""
        return np.asarray(np.all(values >= 0.0, axis=1))

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw gamma samples."""
        scale = 1.0 / theta if self.parameter == "rate" else theta / self.shape
        return rng.standard_gamma(self.shape, (size, 1)) * scale

    def to_dict(self) -> dict[str, Any]:
        """Return name, shape and parameter."""
        return {"name": self.name, "shape": self.shape, "parameter": self.parameter}


class Exponential(Gamma):
    """Exponential samples: waiting times, gaps, lifetimes.

    Parameters
    ----------
    parameter : {"rate", "mean"}, default "rate"
        What the arms are clustered by. The paper's assumptions hold for the rate; see `Gamma` for what changes in the
        mean.

    Examples
    --------
    >>> import linkarms as la
    >>> la.families.Exponential(parameter="mean").mle(4.0).tolist()
    [4.0]
    """

    name = "exponential"

    def __init__(self, parameter: Parameter = "rate") -> None:
        super().__init__(1.0, parameter)

    def draw(self, rng: np.random.Generator, theta: Array, size: int) -> Array:
        """Draw exponential samples."""
        scale = 1.0 / theta if self.parameter == "rate" else theta
        return rng.standard_exponential((size, 1)) * scale

    def to_dict(self) -> dict[str, Any]:
        """Return name and parameter."""
        return {"name": self.name, "parameter": self.parameter}
