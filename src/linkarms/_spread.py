"""Records that do not show how noisy their arm is, found before a run with an unknown variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkarms._silent import columns_in_words, columns_that_follow, follows_in_words
from linkarms.arms import RecordedArms
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies

__all__ = ["refuse_without_spread"]

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
        _lack(f"arm {name!r}", x, family.statistics(x), kind, features)
        if len(x) >= needed
        else _few(f"arm {name!r}", len(x))
        if source.replace
        else None
        for name, x, family in zip(names, source.records, families.families, strict=True)
    ]
    found = [lack for lack in lacks if lack is not None]
    if found and (kind != "shared" or len(found) == len(lacks)):
        raise InvalidInput(found[0])


def _few(arm: str, n: int) -> str:
    return f"there {'is only one record' if n == 1 else f'are only {n} records'} of {arm}, {_ADVICE}"


def _lack(
    arm: str,
    records: NDArray[np.float64],
    counted: NDArray[np.float64],
    kind: str,
    features: tuple[str, ...] | None,
) -> str | None:
    """What is wrong with the records of one arm, None if nothing is; ``counted`` are the numbers as which they count."""
    each = kind in ("coordinate", "full")  # a coordinate without spread counts alone
    differs = (records != records[0]).any(axis=0)  # the variance of equal records need not be 0: rounding
    if not differs.any():
        return f"the records of {arm} are all equal, {_ADVICE}"
    if each and not differs.all():
        where = columns_in_words(np.flatnonzero(~differs).tolist(), features)
        return f"the records of {arm} are all equal in {where}, {_ADVICE}"
    varies = (counted != counted[0]).any(axis=0)
    if not (varies.all() if each else varies.any()):
        return f"the records of {arm} are too close together for the arithmetic; give all samples in a smaller unit"
    follows = (
        columns_that_follow(np.cov(counted, rowvar=False).reshape(len(varies), -1)) if kind == "full" else ()
    )
    if follows:
        return (
            f"the covariance of the records of {arm} is singular: {follows_in_words(follows, features)}; leave it out, or give the "
            "family 'gaussian-unknown:coordinate' if they are independent"
        )
    return None
