"""Gaussian arms of unknown variance: the family, and what it keeps of the samples.

Under version 2 of the anytime rule, the prior of the evidence depends on the tested mean and variance. Version 1 has universal inference:
samples are predicted from those before them, and the predictions are compared with the best that any variance could have done on the *same*
samples. A sample is predicted as soon as the ones before it allow (the third of an arm on, or, with one variance for all arms, the
second of an arm once any arm has repeated), by Student's t. Whether it is predicted is known before it is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from linkarms import _core
from linkarms.errors import InvalidInput
from linkarms.families._base import Array as FloatArray
from linkarms.families._base import Family
from linkarms.families._gaussian import Gaussian

__all__ = ["SMALLEST", "Shape", "UnknownVariance", "moments_from_rows", "moments_to_rows"]

Shape = Literal["isotropic", "coordinate", "full"]
#: Numbers closer to 0 count as 0: the evidence has products of squares of differences, which are then at least about 1e-304.
SMALLEST = 1e-60


class UnknownVariance(Family):
    """Gaussian samples with unknown mean (the parameter) and unknown variance or covariance.

    Only for the anytime rule. Clusters are those of the Euclidean distances between means, whatever the variances.

    Parameters
    ----------
    shared : bool, default False
        All arms have one variance, the same in every coordinate: needs fewer samples.
    draw_variance : float, or array of shape (d,) or (d, d), default 1.0
        The variance of the samples that simulations draw, or their covariance. The rules never see it.
    covariance : {"isotropic", "coordinate", "full"}, default "isotropic"
        What the variance of an arm may be: the same in every coordinate; one per coordinate, with independent coordinates; or any
        covariance. For numbers all are the same. ``family="gaussian-unknown"`` as text means "full" for vectors.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.Problem([0.0, 0.4, 3.0], n_clusters=2, family=la.families.UnknownVariance())
    >>> la.cluster(p, delta=0.05, seed=1).labels.tolist()
    [0, 0, 1]
    """

    name = "gaussian-unknown"
    limit = 1e30  # the evidence has products of squares of samples

    def __init__(
        self, shared: bool = False, draw_variance: ArrayLike = 1.0, covariance: Shape = "isotropic"
    ) -> None:
        if not isinstance(shared, bool):
            raise InvalidInput(f"shared={shared!r} is neither True nor False; give one of them")
        if covariance not in get_args(Shape):
            raise InvalidInput(
                f"covariance={covariance!r} is neither 'isotropic', 'coordinate' nor 'full'; give one of them"
            )
        if shared and covariance != "isotropic":
            raise InvalidInput(
                f"shared=True and covariance={covariance!r} do not go together; arms can only share one variance for all coordinates"
            )
        self.shared = shared
        self.covariance: Shape = covariance
        try:
            self._drawn = Gaussian(draw_variance)
        except InvalidInput as error:
            raise InvalidInput(str(error).replace("covariance", "draw_variance", 1)) from None

    @property
    def draw_variance(self) -> float | FloatArray:
        """The variance of simulations, or their covariance."""
        drawn = self._drawn.covariance
        assert drawn is not None
        return float(drawn) if drawn.ndim == 0 else drawn

    def native(self, n_features: int) -> _core.Arm:
        """Return an arm of unit variance: the arms' precision enters by the weights, the evidence has its own formulas."""
        return _core.Arm.coordinates([_core.gaussian(1.0)] * n_features)

    @property
    def variances(self) -> Literal["known", "separate", "shared", "coordinate", "full"]:
        """Return what an arm's variance may be, and whether all arms have the same."""
        if self.covariance != "isotropic":
            return self.covariance
        return "shared" if self.shared else "separate"

    def statistics(self, values: FloatArray) -> FloatArray:
        """Return the samples, with 0 for numbers below `SMALLEST` in size."""
        return np.where(np.abs(values) < SMALLEST, 0.0, values)

    def kl(self, theta: ArrayLike, lam: ArrayLike) -> float:
        """Refuse: the divergence depends on the variance."""
        raise InvalidInput(
            "the divergence needs the variance, which is unknown; use linkarms.families.Gaussian(covariance)"
        )

    def information(self, theta: ArrayLike) -> float:
        """Refuse: the information depends on the variance."""
        return self.kl(theta, theta)

    def log_evidence(self, n: int, mean: ArrayLike, lam: ArrayLike, c: float = 5.0) -> float:
        """Refuse: the evidence depends on more than the number and the mean of the samples."""
        return self.kl(mean, lam)

    def draw(self, rng: np.random.Generator, theta: FloatArray, size: int) -> FloatArray:
        """Draw Gaussian samples with `draw_variance`."""
        return self._drawn.draw(rng, theta, size)

    def to_dict(self) -> dict[str, Any]:
        """Return the name, what the variance may be, and the variance of simulations."""
        spec = {
            "name": self.name,
            "shared": self.shared,
            "draw_variance": self._drawn.to_dict()["covariance"],
        }
        return spec if self.covariance == "isotropic" else {**spec, "covariance": self.covariance}


def moments_to_rows(moments: Sequence[_core.Moments]) -> FloatArray:
    """Return what is kept of each arm as the rows of an array, as dumps hold it.

    Columns: samples predicted, their squares about their mean, the sum of their log predictive densities, the squares of all samples about
    their mean; then the mean of the predicted samples; then, where arms have more than one variance, the squares of all samples about their
    mean per coordinate, or the lower triangle of their products.
    """
    return np.array(
        [[x.predicted, x.squares, x.log_predictive, x.all_squares, *x.mean, *x.scatter] for x in moments],
        dtype=np.float64,
    )


def moments_from_rows(rows: FloatArray, n_features: int) -> list[_core.Moments]:
    """Return what `moments_to_rows` wrote, as the native core takes it."""
    found = []
    for row in rows.tolist():
        x = _core.Moments()
        x.predicted, x.squares, x.log_predictive, x.all_squares = row[:4]
        x.mean, x.scatter = row[4 : 4 + n_features], row[4 + n_features :]
        found.append(x)
    return found
