"""Samples as they come from outside, checked before anything is taken in."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms.errors import InvalidSample
from linkarms.families import ArmFamilies

__all__ = ["check_samples", "sufficient_statistics"]


def check_samples(
    families: ArmFamilies, arms: Sequence[int], names: Sequence[Hashable], values: Sequence[ArrayLike]
) -> NDArray[np.float64]:
    """The samples as an array of shape (n, d), or `InvalidSample` for the first that its arm cannot have given.

    Parameters
    ----------
    families : ArmFamilies
        The families of the arms.
    arms, names : sequences of length n
        Index and name of the arm of each sample.
    values : sequence of length n
        A number, or d numbers, each.
    """
    d = families.n_features
    checked = _all_at_once(families, arms, values, d) if len(arms) > 1 else None
    if checked is None:  # a single sample, or a bad one among many: look at each
        checked = np.empty((len(arms), d))
        for i, (m, name, value) in enumerate(zip(arms, names, values, strict=True)):
            checked[i] = _check_one(families, m, name, value, d)
    return checked


def _all_at_once(
    families: ArmFamilies, arms: Sequence[int], values: Sequence[ArrayLike], d: int
) -> NDArray[np.float64] | None:
    """The samples if all are good, else None."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if array.shape == (len(arms),) and d == 1:
        array = array[:, None]
    if array.shape != (len(arms), d) or not np.isfinite(array).all():
        return None
    of_arm = np.asarray(arms)
    good = all(families.families[m].contains(array[of_arm == m]).all() for m in set(arms))
    return array if good else None


def _check_one(
    families: ArmFamilies, m: int, name: Hashable, value: ArrayLike, d: int
) -> NDArray[np.float64]:
    try:
        x = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidSample(
            f"the sample {value!r} of arm {name!r} is no number; give {d} number(s)"
        ) from None
    if x.ndim == 0:
        x = x[None]
    if x.shape != (d,):
        raise InvalidSample(
            f"the sample of arm {name!r} has shape {x.shape}; give {d} number(s), one for each feature"
        )
    shown = x.tolist() if d > 1 else float(x[0])
    if not np.all(np.isfinite(x)):
        raise InvalidSample(f"the sample {shown} of arm {name!r} is not finite; leave such samples out")
    family = families.families[m]
    if not family.contains(x[None])[0]:
        raise InvalidSample(
            f"the sample {shown} of arm {name!r} is outside the support of the {family.name} family; it takes {family.support}"
        )
    return x


def sufficient_statistics(
    families: ArmFamilies, arms: Sequence[int], samples: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sufficient statistic of each checked sample, shape (n, d)."""
    of_arm = np.asarray(arms, dtype=np.int64)
    out = np.empty_like(samples)
    for m in set(arms):
        rows = np.flatnonzero(of_arm == m)
        out[rows] = families.families[m].statistics(samples[rows])
    return out
