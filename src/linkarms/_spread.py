"""Records that do not show how noisy their arm is, found before a run with an unknown variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkarms.arms import RecordedArms
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies

__all__ = ["refuse_without_spread"]

#: A covariance whose eigenvalues are farther apart gives no evidence (``most_condition`` in cpp/family/variance_shape.cpp).
_MOST_CONDITION = 1e12
_FAMILIES = "a family that needs no estimate: 'gaussian:VARIANCE', 'bounded:LOW:HIGH', 'bernoulli', 'poisson'"
_ADVICE = f"so its variance cannot be estimated; leave the arm out, or give {_FAMILIES}"


def refuse_without_spread(source: RecordedArms, families: ArmFamilies) -> None:
    """Raise `InvalidInput` for an arm whose records say nothing about its unknown variance.

    What an estimate needs depends on what the variance may be. One variance for all coordinates, as that of numbers: records that differ
    in some coordinate, and if all arms share it, those of some arm. One per coordinate: records that differ in each. A covariance: one
    that is not singular, or no run stops. Without replacement, arms with too few records are not refused: such a run uses them up and ends.
    """
    kind, names, features = families.model.variances, source.names, source.features
    needed = source.n_features + 1 if kind == "full" else 2
    lacks = [
        _lack(f"arm {name!r}", x, kind, features)
        if len(x) >= needed
        else _few(f"arm {name!r}", len(x))
        if source.replace
        else None
        for name, x in zip(names, source.records, strict=True)
    ]
    found = [lack for lack in lacks if lack is not None]
    if found and (kind != "shared" or len(found) == len(lacks)):
        raise InvalidInput(found[0])


def _few(arm: str, n: int) -> str:
    return f"there {'is only one record' if n == 1 else f'are only {n} records'} of {arm}, {_ADVICE}"


def _lack(arm: str, records: NDArray[np.float64], kind: str, features: tuple[str, ...] | None) -> str | None:
    """What is wrong with the records of one arm, None if nothing is."""
    each = kind in ("coordinate", "full")  # a coordinate without spread counts alone
    differs = (records != records[0]).any(axis=0)  # the variance of equal records need not be 0: rounding
    if not differs.any():
        return f"the records of {arm} are all equal, {_ADVICE}"
    if each and not differs.all():
        place = int(differs.argmin())
        where = f"coordinate {place}" if features is None else f"column {features[place]!r}"
        return f"the records of {arm} are all equal in {where}, {_ADVICE}"
    spread = records.var(axis=0)
    if (spread.min() if each else spread.max()) < np.finfo(np.float64).tiny:
        return f"the records of {arm} are too close together for the arithmetic; give all samples in a smaller unit"
    if kind == "full":
        values = np.linalg.eigvalsh(np.cov(records, rowvar=False).reshape(len(spread), -1))
        if not values[0] * _MOST_CONDITION > values[-1]:
            return (
                f"the covariance of the records of {arm} is singular, or nearly so: a column follows from others, or units differ by a "
                "factor of a million; leave that column out, or scale the columns, or give the family 'gaussian-unknown:coordinate' if "
                "they are independent"
            )
    return None
