"""Samples as they come from outside, checked before anything is taken in."""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms.errors import CallbackError, InvalidSample
from linkarms.families import ArmFamilies, Family

__all__ = ["as_numbers", "as_sample", "check_samples", "is_sample", "sufficient_statistics"]


def is_sample(family: Family, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of the finite rows of ``values``, shape (n, d), an arm of this family can have given; shape (n,)."""
    return np.asarray((np.abs(values) <= family.limit).all(axis=1) & family.contains(values))


def as_numbers(values: Any) -> NDArray[np.float64] | None:
    """Return ``values`` as floats, with NaN for what is missing or masked; None if they are not numbers: text, dates, ragged lists."""
    try:
        if _is_plain(values):
            return np.array(values, dtype=np.float64)
        array = np.ma.asanyarray(values)
    except (ValueError, TypeError, OverflowError):  # ragged lists; whole numbers beyond the largest float
        return None
    if array.dtype.kind == "O":
        if any(isinstance(x, (str, bytes, complex, np.datetime64, np.timedelta64)) for x in array.flat):
            return None
    elif array.dtype.kind not in "biuf":
        return None
    try:
        floats = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    filled: NDArray[np.float64] = np.ma.filled(floats, np.nan)
    return filled


def _is_plain(values: Any) -> bool:
    """Whether these are numbers without masks, whose conversion takes a fraction of the time."""
    if isinstance(values, (list, tuple)):
        return all(isinstance(x, (int, float)) for x in values)
    return isinstance(values, (int, float)) or (type(values) is np.ndarray and values.dtype == np.float64)


def as_sample(value: ArrayLike, of: str) -> NDArray[np.float64]:
    """Return a sample as an array of floats, or raise `InvalidSample` for what is not numbers; ``of`` says in words whose it is."""
    sample = as_numbers(value)
    if sample is None and _is_plain(value):
        raise InvalidSample(f"the sample{of} is too large for a floating-point number; rescale it")
    if sample is None:
        raise InvalidSample(
            f"the sample {reprlib.repr(value)}{of} is not a number; give a number, or one per feature"
        )
    return sample


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
    array = as_numbers(values)
    if array is None:
        return None
    if array.shape == (len(arms),) and d == 1:
        array = array[:, None]
    if array.shape != (len(arms), d) or not np.isfinite(array).all():
        return None
    of_arm = np.asarray(arms)
    good = all(is_sample(families.families[m], array[of_arm == m]).all() for m in set(arms))
    return array if good else None


def _check_one(
    families: ArmFamilies, m: int, name: Hashable, value: ArrayLike, d: int
) -> NDArray[np.float64]:
    x = as_sample(value, f" of arm {name!r}")
    if x.ndim == 0:
        x = x[None]
    if x.shape != (d,):
        raise InvalidSample(
            f"the sample of arm {name!r} has shape {x.shape}; give {d} number(s), one per feature"
        )
    shown = x.tolist() if d > 1 else float(x[0])
    if not np.all(np.isfinite(x)):
        raise InvalidSample(f"the sample {shown} of arm {name!r} is not finite; leave such samples out")
    family = families.families[m]
    if np.any(np.abs(x) > family.limit):
        raise InvalidSample(
            f"the sample {shown} of arm {name!r} is too large for the arithmetic of the {family.name} family; "
            f"give numbers from -{family.limit:g} to {family.limit:g}, in another unit if need be"
        )
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
        if np.isnan(out[rows]).any():
            raise CallbackError(
                f"{type(families.families[m]).__name__}.statistics returned nan for the samples "
                f"{reprlib.repr(samples[rows][:, 0].tolist())}; it must return numbers; correct the family's function"
            )
    return out
