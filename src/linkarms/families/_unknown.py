"""Gaussian arms whose variance nobody knows: the family, and what it keeps of the samples.

The evidence is universal inference: samples are predicted from those before them, and the predictions are compared with the best that any
variance could have done on the *same* samples. A sample is predicted as soon as the ones before it allow (the third of an arm on, or,
with one variance for all arms, the second of an arm once any arm has repeated), by Student's t. Whether it is predicted is known
before it is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkarms import _core
from linkarms._validate import check_number
from linkarms.errors import InvalidInput
from linkarms.families._base import Array as FloatArray
from linkarms.families._base import Family

__all__ = ["UnknownVariance", "moments_from_rows", "moments_to_rows"]


class UnknownVariance(Family):
    """Gaussian samples with unknown mean (the parameter) and unknown variance, the same in every coordinate.

    Only for the anytime rule. Nothing is assumed of the variances, except with ``shared=True`` that all arms have the same one, which needs
    fewer samples.

    Parameters
    ----------
    shared : bool, default False
        All arms have one variance.
    draw_variance : float, default 1.0
        The variance of the samples that simulations draw. The rules never see it.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.Problem([0.0, 0.4, 3.0], n_clusters=2, family=la.families.UnknownVariance())
    >>> la.cluster(p, delta=0.05, seed=1).labels.tolist()
    [0, 0, 1]
    """

    name = "gaussian-unknown"
    limit = 1e30  # the evidence has products of squares of samples

    def __init__(self, shared: bool = False, draw_variance: float = 1.0) -> None:
        if not isinstance(shared, bool):
            raise InvalidInput(f"shared={shared!r} is neither True nor False; give one of them")
        self.shared = shared
        self.draw_variance = check_number("draw_variance", draw_variance, 0.0)

    def native(self, n_features: int) -> _core.Arm:
        """Return an arm of unit variance: the arms' precision enters by the weights, the evidence has its own formulas."""
        return _core.Arm.coordinates([_core.gaussian(1.0)] * n_features)

    @property
    def variances(self) -> Literal["known", "separate", "shared"]:
        """Return whether all arms have one variance."""
        return "shared" if self.shared else "separate"

    def kl(self, theta: ArrayLike, lam: ArrayLike) -> float:
        """Refused: it depends on the variance."""
        raise InvalidInput(
            "the divergence needs the variance, which is unknown; use linkarms.families.Gaussian(covariance)"
        )

    def information(self, theta: ArrayLike) -> float:
        """Refused: it depends on the variance."""
        return self.kl(theta, theta)

    def log_evidence(self, n: int, mean: ArrayLike, lam: ArrayLike, c: float = 5.0) -> float:
        """Refused: the evidence depends on the order of the samples, not on their number and mean alone."""
        return self.kl(mean, lam)

    def draw(self, rng: np.random.Generator, theta: FloatArray, size: int) -> FloatArray:
        """Gaussian samples with `draw_variance`."""
        return theta + math.sqrt(self.draw_variance) * rng.standard_normal((size, len(theta)))

    def to_dict(self) -> dict[str, Any]:
        """Name, whether the variance is shared, and the variance of simulations."""
        return {"name": self.name, "shared": self.shared, "draw_variance": self.draw_variance}


def moments_to_rows(moments: Sequence[_core.Moments]) -> FloatArray:
    """Return what is kept of each arm as the rows of an array, shape (M, 4 + d), as dumps hold it.

    Columns: samples predicted, their squares about their mean, the sum of their log predictive densities, the squares of all samples about
    their mean; then the mean of the predicted samples.
    """
    return np.array(
        [[x.predicted, x.squares, x.log_predictive, x.all_squares, *x.mean] for x in moments],
        dtype=np.float64,
    )


def moments_from_rows(rows: FloatArray) -> list[_core.Moments]:
    """Return what `moments_to_rows` wrote, as the native core takes it."""
    found = []
    for row in rows.tolist():
        x = _core.Moments()
        x.predicted, x.squares, x.log_predictive, x.all_squares = row[:4]
        x.mean = row[4:]
        found.append(x)
    return found
