"""Confidence bounds on the gaps between neighbours on a line, for MaxGap."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies, Bernoulli, Family, Gaussian
from linkarms.sampling._base import View

__all__ = ["check_line", "view_bounds"]

Array: TypeAlias = NDArray[np.float64]


def _proxy(family: Family) -> float | None:
    """The variance of the Gaussian whose tails bound those of a sample; None where there is none."""
    if isinstance(family, Gaussian):
        return 1.0 if family.covariance is None else float(family.covariance.ravel()[0])
    return 0.25 if isinstance(family, Bernoulli) else None


def check_line(families: ArmFamilies, n_clusters: int) -> None:
    """Refuse all but two clusters of means on a line, with Gaussian tails."""
    if n_clusters != 2 or families.n_features != 1:
        raise InvalidInput(
            f"maxgap is for two clusters and one feature, not {n_clusters} and {families.n_features}; take another sampling rule"
        )
    for m, family in enumerate(families.families):
        if _proxy(family) is None:
            raise InvalidInput(
                f"maxgap needs samples with Gaussian tails (gaussian, bounded, bernoulli), and arm {m} is {family.name}; "
                "take another sampling rule"
            )


def view_bounds(view: View, delta: float) -> tuple[Array, float]:
    """Return the bounds at the samples so far: an upper bound for each arm, shape (M,), and the lower bound.

    The radius after ``s`` samples is ``sqrt(2 v log(4 M s^2 / delta) / s)``, ``v`` the variance proxy: each interval misses its mean with
    probability at most ``2 delta / (4 M s^2)``, and these add up to less than delta over all arms and all ``s``.
    """
    s = view.counts.astype(np.float64)
    proxies = np.array([_proxy(family) for family in view.families.families], dtype=np.float64)
    radius = np.sqrt(2.0 * proxies * np.log(4.0 * view.n_arms * s**2 / delta) / s)
    mean = view.estimates[:, 0]
    return _core.gap_bounds(mean - radius, mean + radius)
