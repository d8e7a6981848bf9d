"""Confidence regions of the arms' parameters, valid at all times together.

The region of an arm holds the values against which the centred mixture of docs/anytime.md has too little evidence:
``l(lam) < log(M / delta)``.
Since ``exp(l)`` is a martingale of mean one at the truth, Ville's inequality and a union bound over the arms give: with probability at
least ``1 - delta`` every arm's parameter lies in its region at every moment, however arms were chosen.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms import _core
from linkarms._validate import check_delta
from linkarms.families import ArmFamilies
from linkarms.families._unknown import moments_from_rows

__all__ = ["Intervals", "confidence_radii"]


def confidence_radii(
    families: ArmFamilies,
    counts: ArrayLike,
    means: ArrayLike,
    directions: ArrayLike,
    delta: float,
    moments: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return how far the confidence region of each arm reaches from its estimate, along each direction.

    Parameters
    ----------
    families : ArmFamilies
        The families of the arms, those of the package; ``BanditClusterer.families``.
    counts : array of int, shape (M,)
        Samples of each arm.
    means : array of shape (M, d)
        Means of their sufficient statistics; ``BanditClusterer.means``.
    directions : array of shape (n, d)
        Vectors in parameter space; for categories their part along the simplex counts.
    delta : float
        The probability that any region ever misses its arm.
    moments : array, optional
        ``BanditClusterer.moments``: needed where the variance is unknown. Without them nothing bounds the regions.

    Returns
    -------
    ndarray, shape (M, n)
        Multiples of the directions; infinite where nothing bounds the region, NaN for an arm without a sample.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.regions import confidence_radii
    >>> c = la.BanditClusterer(2, ["ada", "ben", "cy"], family="gaussian", stopping=la.stopping.Paper(theta=(-9, 9)))
    >>> c.tell_many(["ada", "ada", "ben"], [0.1, 0.3, 5.0])
    >>> confidence_radii(c.families, c.result().pulls, c.means, [[1.0], [-1.0]], delta=0.05).round(2).tolist()
    [[3.86, 3.86], [7.09, 7.09], [nan, nan]]
    """
    return _core.confidence_radii(
        families.model,
        np.array(counts, dtype=np.int64),
        np.array(means, dtype=np.float64),
        np.atleast_2d(np.array(directions, dtype=np.float64)),
        check_delta(delta),
        None
        if moments is None
        else moments_from_rows(np.array(moments, dtype=np.float64), families.n_features),
    )


class Intervals:
    """The confidence interval of each coordinate of each arm, computed when first used.

    Parameters
    ----------
    families, counts, means, moments, delta
        As for `confidence_radii`.
    estimates : array of shape (M, d)
        The arms' parameters, the centres of the regions.

    Examples
    --------
    >>> import linkarms as la
    >>> result = la.cluster(la.problems.synthetic1())
    >>> result.regions.box.shape
    (6, 2, 2)
    """

    def __init__(
        self,
        families: ArmFamilies,
        counts: NDArray[np.int64],
        means: NDArray[np.float64],
        estimates: NDArray[np.float64],
        delta: float,
        moments: NDArray[np.float64] | None,
    ) -> None:
        self._of: Any = (families, counts, means, estimates, delta, moments)

    @cached_property
    def box(self) -> NDArray[np.float64]:
        """Lower and upper ends, shape (M, d, 2); infinite where nothing bounds the region, NaN for an arm without a sample."""
        families, counts, means, estimates, delta, moments = self._of
        d = estimates.shape[1]
        radii = confidence_radii(families, counts, means, np.vstack([-np.eye(d), np.eye(d)]), delta, moments)
        return np.stack([estimates - radii[:, :d], estimates + radii[:, d:]], axis=2)

    def __getstate__(self) -> dict[str, Any]:
        return {"box": self.box}  # no native objects
