"""Arms that are measured by calling a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._samples import as_numbers
from linkarms._validate import check_integer
from linkarms.arms._base import ArmSource, unique_names
from linkarms.errors import InvalidInput, InvalidSample, UnknownArm

__all__ = ["CallableArms"]


class CallableArms(ArmSource):
    """One function per arm; each call, without arguments, returns one sample.

    Exceptions raised by a function reach the caller unchanged.

    Parameters
    ----------
    functions : list or dict of callables
        A list names the arms 0, 1, ...; a dict names them by its keys. A sample is a number, or a sequence of
        ``n_features`` numbers.
    n_features : int, optional
        Numbers in one sample. If left out, the first sample decides: it is drawn when `n_features` is first
        needed, and returned as the first sample of its arm.

    Examples
    --------
    >>> from linkarms.arms import CallableArms
    >>> arms = CallableArms({"left": lambda: 1.5, "right": lambda: 4.0})
    >>> arms.names, arms.n_features
    (('left', 'right'), 1)
    >>> arms.pull(0)
    array([1.5])
    """

    def __init__(
        self,
        functions: Sequence[Callable[[], Any]] | Mapping[Any, Callable[[], Any]],
        n_features: int | None = None,
    ) -> None:
        pairs = functions.items() if isinstance(functions, Mapping) else enumerate(functions)
        named = list(pairs)
        self.names = unique_names(name for name, _ in named)
        for name, function in named:
            if not callable(function):
                raise InvalidInput(
                    f"arm {name!r} is a {type(function).__name__}, not a function; give functions that "
                    "return one sample"
                )
        if n_features is not None:
            check_integer("n_features", n_features, 1)
        self._functions = [function for _, function in named]
        self._n_features = n_features
        self._kept: NDArray[np.float64] | None = None

    @property
    def n_features(self) -> int:
        """Numbers in one sample; measures the first arm once if nothing is known yet."""
        if self._n_features is None:
            self._kept = self._call(0)
            self._n_features = len(self._kept)
        return self._n_features

    def pull(self, index: int) -> NDArray[np.float64]:
        """Call the function of an arm; see `ArmSource.pull`."""
        if not 0 <= index < len(self.names):
            raise UnknownArm(f"there is no arm at place {index}; there are {len(self.names)}")
        if index == 0 and self._kept is not None:
            kept, self._kept = self._kept, None
            return kept
        sample = self._call(index)
        if self._n_features is None:
            self._n_features = len(sample)
        if len(sample) != self._n_features:
            raise InvalidSample(
                f"arm {self.names[index]!r} returned {len(sample)} numbers where {self._n_features} were "
                "expected; every sample needs the same"
            )
        return sample

    def _call(self, index: int) -> NDArray[np.float64]:
        value = self._functions[index]()
        sample = None if value is None else as_numbers(value)
        if sample is None or sample.ndim > 1 or sample.size == 0:
            raise InvalidSample(
                f"arm {self.names[index]!r} returned {_short(value)}; one sample is a number or a flat list "
                "of numbers"
            )
        return sample.reshape(-1)


def _short(value: object) -> str:
    """Return the value in one line of at most 60 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
