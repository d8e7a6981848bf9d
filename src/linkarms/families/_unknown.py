"""Gaussian arms whose variance nobody knows: the family, and what it keeps of the samples.

The evidence is universal inference: samples are predicted from those before them, and the predictions are compared with the best that any
variance could have done on the *same* samples. A sample is predicted as soon as the ones before it allow (the third of an arm on, or,
with one variance for all arms, the second of an arm once any arm has repeated), by Student's t. Whether it is predicted is known
before it is drawn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkarms._jit import Array, kernel
from linkarms._validate import check_number
from linkarms.errors import InvalidInput
from linkarms.families._base import Array as FloatArray
from linkarms.families._base import Family, Row
from linkarms.families._scalar import GAUSSIAN

__all__ = ["UnknownVariance", "update_moments"]

#: Columns of ``State.moments``: predicted samples, their squares about their mean, the sum of log predictive densities, the squares of all
#: samples about their mean; then the mean of the predicted samples.
PREDICTED, SQUARES, LOG_PREDICTIVE, ALL_SQUARES, MEAN_FROM = range(5)
#: What ``address[m, 0]`` says of the variances, and how ``Plan.codes`` passes it on.
KNOWN, SEPARATE, SHARED = range(3)


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

    def __init__(self, shared: bool = False, draw_variance: float = 1.0) -> None:
        if not isinstance(shared, bool):
            raise InvalidInput(f"shared={shared!r} is neither True nor False; give one of them")
        self.shared = shared
        self.draw_variance = check_number("draw_variance", draw_variance, 0.0)

    def row(self, n_features: int) -> Row:
        """Unit Gaussians to psi; the arms' precision enters by the weights."""
        return Row([GAUSSIAN] * n_features, [1.0] * n_features, unknown=SHARED if self.shared else SEPARATE)

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


@kernel
def _log_student(distance2: float, degrees: float, squares: float, n: float, d: int) -> float:
    """Log density of the next sample at squared distance ``distance2`` from the mean of ``n``, when ``squares`` has ``degrees``
    degrees of freedom.

    Student's t in ``d`` dimensions with ``degrees`` degrees of freedom and scale ``(squares / degrees) (1 + 1/n)``: what a flat prior
    on the mean and on the logarithm of the variance predicts.
    """
    spread = squares * (1.0 + 1.0 / n)
    return (
        math.lgamma(0.5 * (degrees + d))
        - math.lgamma(0.5 * degrees)
        - 0.5 * d * math.log(math.pi * spread)
        - 0.5 * (degrees + d) * math.log1p(distance2 / spread)
    )


@kernel
def update_moments(unknown: int, counts: Array, means: Array, moments: Array, m: int, sample: Array) -> None:
    """Take ``sample`` of arm ``m`` into ``moments``, shape (M, 4 + d); ``counts`` and ``means`` are those before it."""
    d = sample.shape[0]
    n = counts[m]
    if unknown == SHARED:
        squares, degrees = 0.0, 0.0
        for j in range(counts.shape[0]):
            squares += moments[j, ALL_SQUARES]
            degrees += d * max(counts[j] - 1, 0)
    else:
        squares, degrees = moments[m, ALL_SQUARES], float(d * max(n - 1, 0))
    distance2 = 0.0
    for i in range(d):
        distance2 += (sample[i] - means[m, i]) ** 2
    if n >= 1 and degrees >= 1.0 and squares > 0.0:
        moments[m, LOG_PREDICTIVE] += _log_student(distance2, degrees, squares, n, d)
        moments[m, PREDICTED] += 1.0
        k = moments[m, PREDICTED]
        for i in range(d):
            step = sample[i] - moments[m, MEAN_FROM + i]
            moments[m, MEAN_FROM + i] += step / k
            moments[m, SQUARES] += step * (sample[i] - moments[m, MEAN_FROM + i])
    if n >= 1:
        moments[m, ALL_SQUARES] += distance2 * n / (n + 1.0)


@kernel
def precision(unknown: int, n: int, moments: Array, m: int) -> float:
    """One over arm ``m``'s variance as far as its ``n`` samples tell, for choosing arms only; 1 where the variance is known or shared.

    The variance is taken two standard deviations of its logarithm above its estimate: an arm whose first samples happen to agree must
    not pass for a certain one.
    """
    degrees = (moments.shape[1] - MEAN_FROM) * (n - 1)
    if unknown != SEPARATE or degrees < 1 or moments[m, ALL_SQUARES] <= 0.0:
        return 1.0
    return float(degrees / (moments[m, ALL_SQUARES] * math.exp(2.0 * math.sqrt(2.0 / degrees))))
