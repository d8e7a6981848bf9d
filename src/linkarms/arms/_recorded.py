"""Arms whose samples have been recorded before."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._samples import as_numbers
from linkarms._validate import LARGEST
from linkarms.arms._base import ArmSource, SeedLike, arm_streams, unique_names
from linkarms.errors import ArmExhausted, InvalidInput, InvalidSample, UnknownArm

__all__ = ["RecordedArms"]

#: Random indices drawn at a time when sampling with replacement.
_BLOCK = 256


class RecordedArms(ArmSource):
    """Recorded samples, drawn with or without replacement.

    Parameters
    ----------
    data : dict
        Samples by the name of the arm, each an array of shape ``(n,)`` or ``(n, d)``; ``n`` may differ from
        arm to arm.
    replace : bool, default True
        Draw with replacement: every pull is one of the arm's records, each as likely as any other, so
        the clusters are those of the recorded samples. Otherwise each record is used once, in random order,
        until the arm is exhausted.
    seed : int, numpy.random.Generator or None, default 0
        Each arm has its own random stream, made from this number.
    drop_missing : bool, default False
        Leave out samples with a number that is missing or not finite; otherwise they are refused.
    features : sequence of str, optional
        Names of the numbers in a sample.

    Examples
    --------
    >>> from linkarms.arms import RecordedArms
    >>> arms = RecordedArms({"north": [1.0, 2.0], "south": [5.0]}, replace=False)
    >>> arms.names, arms.n_features
    (('north', 'south'), 1)
    >>> arms.pull(1)
    array([5.])
    """

    def __init__(
        self,
        data: Mapping[Any, Any],
        replace: bool = True,
        seed: SeedLike = 0,
        *,
        drop_missing: bool = False,
        features: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(data, Mapping):
            raise InvalidInput(f"recorded samples are a dict of arrays by arm, not {type(data).__name__}")
        self.names = unique_names(data)
        self._records = [
            _check_records(name, values, drop_missing)
            for name, values in zip(self.names, data.values(), strict=True)
        ]
        self.features = None if features is None else tuple(map(str, features))
        _check_features(self.names, self._records)
        self.replace = replace
        self._streams = arm_streams(seed, len(self.names))
        self._order: list[NDArray[np.int64]] = [np.empty(0, np.int64) for _ in self.names]
        self._next = [0] * len(self.names)
        if not replace:
            self._order = [
                rng.permutation(len(records))
                for rng, records in zip(self._streams, self._records, strict=True)
            ]

    @property
    def n_features(self) -> int:
        """Numbers in one sample."""
        return int(self._records[0].shape[1])

    @property
    def records(self) -> tuple[NDArray[np.float64], ...]:
        """The records of each arm, shape (n, d); not to be written to."""
        return tuple(self._records)

    @property
    def n_records(self) -> tuple[int, ...]:
        """The number of records of each arm."""
        return tuple(len(records) for records in self._records)

    @property
    def variances(self) -> NDArray[np.float64]:
        """The sample variance of each arm and coordinate, shape (M, d); 0 where there is one record."""
        return np.array(
            [x.var(axis=0, ddof=1) if len(x) > 1 else np.zeros(x.shape[1]) for x in self._records]
        )

    def changed(self, change: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> RecordedArms:
        """Return the same arms with each array of records replaced; draws continue with the same random streams."""
        other = copy.copy(self)
        other._records = [np.ascontiguousarray(change(records)) for records in self._records]
        return other

    def pull(self, index: int) -> NDArray[np.float64]:
        """Draw one record of an arm; see `ArmSource.pull`."""
        if not 0 <= index < len(self.names):
            raise UnknownArm(f"there is no arm at place {index}; there are {len(self.names)}")
        if self._next[index] == len(self._order[index]):
            self.refill(index)
        sample: NDArray[np.float64] = self._records[index][self._order[index][self._next[index]]].copy()
        self._next[index] += 1
        return sample

    def upcoming(self, index: int) -> NDArray[np.int64]:
        """Return the places of the records of an arm that are drawn next, as far as that is decided."""
        return self._order[index][self._next[index] :]

    def skip(self, index: int, n: int) -> None:
        """Count the next ``n`` draws of an arm, at most those of `upcoming`, as pulled."""
        self._next[index] += n

    def refill(self, index: int) -> None:
        """Decide on the next draws of an arm, when those of `upcoming` are used; raise `ArmExhausted` if there are none."""
        n = len(self._records[index])
        if not self.replace:
            raise ArmExhausted(
                f"arm {self.names[index]!r} is exhausted: all of its {n} recorded samples are "
                "used; record more of them, or draw with replacement"
            )
        self._order[index] = self._streams[index].integers(n, size=_BLOCK)
        self._next[index] = 0


def _check_records(name: Hashable, values: Any, drop_missing: bool) -> NDArray[np.float64]:
    """The records of one arm as an ``(n, d)`` array of finite numbers."""
    array = as_numbers(values)
    if array is None:
        raise InvalidInput(
            f"the samples of arm {name!r} are not all numbers, or not all of the same length; give an array "
            "of shape (n,) or (n, d)"
        )
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidInput(
            f"the samples of arm {name!r} have shape {np.shape(values)}; give an array of shape (n,) or (n, "
            "d)"
        )
    if len(array) == 0:
        raise InvalidInput(f"arm {name!r} has no samples; leave it out, or record some")
    if (np.abs(array) <= LARGEST).all():  # which no NaN is
        return np.ascontiguousarray(array)
    bad: NDArray[np.bool_] = np.logical_not(np.isfinite(array).all(axis=1))
    if bad.any() and not drop_missing:
        raise InvalidInput(
            f"arm {name!r}: {int(bad.sum())} of {len(array)} samples are missing or not finite, the first in "
            f"row {int(bad.argmax())} (counted from 0); remove them or fill them in, or leave them out with drop_missing"
        )
    array = array[~bad]
    if len(array) == 0:
        raise InvalidInput(
            f"arm {name!r}: all {len(bad)} samples are missing or not finite; leave the arm out"
        )
    large = (np.abs(array) > LARGEST).any(axis=1)
    if large.any():
        raise InvalidSample(
            f"arm {name!r}: the sample {array[large.argmax()].tolist()} in row {int(large.argmax())} (counted from 0) is too large "
            f"for the arithmetic; give numbers from -{LARGEST:g} to {LARGEST:g}, in another unit if need be"
        )
    return np.ascontiguousarray(array)


def _check_features(names: tuple[Hashable, ...], records: list[NDArray[np.float64]]) -> None:
    n_features = records[0].shape[1]
    for name, array in zip(names, records, strict=True):
        if array.shape[1] != n_features:
            raise InvalidInput(
                f"a sample of arm {name!r} has {array.shape[1]} numbers and one of arm {names[0]!r} has "
                f"{n_features}; all arms need the same"
            )
