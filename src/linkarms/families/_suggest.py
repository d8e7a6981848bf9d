"""What to say of whole numbers that were given without a family."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._family_syntax import DEFAULT
from linkarms.families._base import Array

__all__ = ["FamilyHint", "are_whole", "suggestion"]

#: Whole numbers that are all larger are more often rounded measurements than counts.
_LARGE_COUNT = 50


def are_whole(samples: Array) -> bool:
    """Return whether all numbers are 0, 1, 2, ...

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.families import are_whole
    >>> are_whole(np.array([0.0, 3.0])), are_whole(np.array([0.5]))
    (True, False)
    """
    return bool(np.all((samples >= 0.0) & (samples == np.floor(samples))))


def suggestion(samples: ArrayLike) -> str | None:
    """Return the family to consider for samples that came without one; None if they are not all whole numbers >= 0, or all are large.

    Parameters
    ----------
    samples : array_like, shape (n,) or (n, d)
        Samples of any arms.

    Examples
    --------
    >>> from linkarms.families import suggestion
    >>> suggestion([0.5, 1.0]) is None
    True
    >>> suggestion([0, 1, 1, 0])
    "no family is given, so the samples are taken as gaussian-unknown, and all are 0 or 1; for yes or no, give the family 'bernoulli'"
    """
    x = np.asarray(samples, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    if x.size == 0 or not are_whole(x) or x.min() > _LARGE_COUNT:
        return None
    d = x.shape[1]
    binary = np.all(x <= 1.0, axis=0)
    if d > 1 and binary.all() and np.all(x.sum(axis=1) == 1.0):
        seen, use, family = f"all have one 1 among {d - 1} zeros", "one of several kinds", f"categorical:{d}"
    elif binary.all():
        seen, use, family = "all are 0 or 1", "yes or no", "bernoulli"
    elif not binary.any():
        seen, use, family = "all are whole numbers >= 0", "counts", "poisson"
    else:
        words = ["bernoulli" if column else "poisson" for column in binary]
        seen, use, family = "all are whole numbers >= 0", "yes or no and counts", ",".join(words)
    return f"no family is given, so the samples are taken as {DEFAULT}, and {seen}; for {use}, give the family {family!r}"


class FamilyHint:
    """Looks at the first samples of a run that came without a family, and suggests one, once.

    Parameters
    ----------
    wanted : bool
        No family was given.
    """

    def __init__(self, wanted: bool) -> None:
        self._seen: list[Array] | None = [] if wanted else None

    def look(self, samples: Array, counts: NDArray[np.int64]) -> str | None:
        """Return a suggestion if all samples so far are whole numbers and every arm had two before; otherwise None."""
        if self._seen is None:
            return None
        self._seen.append(samples)
        whole = are_whole(samples)
        if whole and counts.min() < 2:
            return None
        text = suggestion(np.concatenate(self._seen)) if whole else None
        self._seen = None
        return text
