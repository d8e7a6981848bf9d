"""The families of all arms as arrays: what the kernels see."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CATEGORICAL",
    "COVARIANCE",
    "CovarianceModel",
    "IsotropicModel",
    "Model",
    "ScalarModel",
    "UnknownModel",
    "VectorModel",
]

#: In ``codes[m, 0]``: arm ``m`` is a Gaussian with a full covariance, or a vector of probabilities.
COVARIANCE, CATEGORICAL = -1, -2


class IsotropicModel(NamedTuple):
    """Gaussian arms in any dimension, each with one variance for all directions: closed forms.

    The models have the same fields and differ in how the pair problem is solved: kernels choose by their type, so
    that a Gaussian run compiles nothing of the others.

    Attributes
    ----------
    codes : ndarray of int64, shape (M, d)
        One-dimensional family of each coordinate, or `COVARIANCE` / `CATEGORICAL` in the first place.
    pars : ndarray, shape (M, d)
        Known parameter of each coordinate (variance, shape). With a covariance: the largest eigenvalue of its inverse,
        and where ``d >= 2`` in the second place its own largest eigenvalue.
    covariance, precision : ndarray, shape (M, d, d) or (0, 0, 0)
        Known covariances and their inverses, where any arm has one.
    address : ndarray of int64, shape (M, d)
        Address of the table of a user's own functions, 0 elsewhere.
    """

    codes: NDArray[np.int64]
    pars: NDArray[np.float64]
    covariance: NDArray[np.float64]
    precision: NDArray[np.float64]
    address: NDArray[np.int64]


class CovarianceModel(NamedTuple):
    """Gaussian arms of which at least one has a covariance that is no multiple of the identity: eigenvalue problems."""

    codes: NDArray[np.int64]
    pars: NDArray[np.float64]
    covariance: NDArray[np.float64]
    precision: NDArray[np.float64]
    address: NDArray[np.int64]


class ScalarModel(NamedTuple):
    """Arms with one parameter each, of any family: the concave dual in one multiplier."""

    codes: NDArray[np.int64]
    pars: NDArray[np.float64]
    covariance: NDArray[np.float64]
    precision: NDArray[np.float64]
    address: NDArray[np.int64]


class VectorModel(NamedTuple):
    """Anything else in d >= 2 (products, categories, mixtures of kinds): a safe lower bound."""

    codes: NDArray[np.int64]
    pars: NDArray[np.float64]
    covariance: NDArray[np.float64]
    precision: NDArray[np.float64]
    address: NDArray[np.int64]


class UnknownModel(NamedTuple):
    """Gaussian arms of unknown variance: unit ones to psi, Student's t to the evidence. ``address[m, 0]`` says whether they share it."""

    codes: NDArray[np.int64]
    pars: NDArray[np.float64]
    covariance: NDArray[np.float64]
    precision: NDArray[np.float64]
    address: NDArray[np.int64]


Model: TypeAlias = IsotropicModel | CovarianceModel | ScalarModel | VectorModel | UnknownModel
