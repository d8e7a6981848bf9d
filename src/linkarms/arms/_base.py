"""What every source of samples has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_names, check_seed
from linkarms.errors import InvalidInput

__all__ = ["ArmSource", "SeedLike", "arm_streams", "unique_names"]

#: A seed, a generator that gives one, or None for a random seed.
SeedLike: TypeAlias = int | np.random.Generator | None


class ArmSource(ABC):
    """A source of samples: named arms, one sample per pull.

    Subclass it to draw samples from somewhere linkarms does not know. A source is used by one run at a time;
    it keeps its place, so a second run over the same source continues where the first one ended.

    Attributes
    ----------
    names : tuple
        The names of the arms, hashable and all different. Their order is the order of the labels.
    n_features : int
        Numbers in one sample.
    features : tuple of str or None
        Their names, where they have some.

    Examples
    --------
    >>> import numpy as np
    >>> import linkarms as la
    >>> class Dice(la.arms.ArmSource):
    ...     names = ("fair", "loaded")
    ...     n_features = 1
    ...
    ...     def __init__(self, seed=0):
    ...         self.rng = np.random.default_rng(seed)
    ...
    ...     def pull(self, index):
    ...         return np.array([6.0 if index == 1 else float(self.rng.integers(1, 7))])
    >>> Dice().pull(1)
    array([6.])
    """

    names: tuple[Hashable, ...]
    features: tuple[str, ...] | None = None

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Numbers in one sample."""

    @property
    def n_arms(self) -> int:
        """The number of arms."""
        return len(self.names)

    @abstractmethod
    def pull(self, index: int) -> NDArray[np.float64]:
        """Draw one sample.

        Parameters
        ----------
        index : int
            The place of the arm in `names`.

        Returns
        -------
        ndarray, shape (n_features,)
            The sample.

        Raises
        ------
        linkarms.errors.ArmExhausted
            A recorded arm, drawn without replacement, has no sample left.
        """


def arm_streams(seed: SeedLike, n_arms: int) -> list[np.random.Generator]:
    """Return one generator per arm: an arm's samples do not depend on how often the others are pulled."""
    sequence = np.random.SeedSequence(check_seed(seed))
    return [np.random.default_rng(child) for child in sequence.spawn(n_arms)]


def unique_names(names: Iterable[object]) -> tuple[Hashable, ...]:
    """Return the names as a tuple of plain Python values; at least one, hashable, no two the same."""
    plain: list[Hashable] = []
    for name in names:
        value = name.item() if isinstance(name, np.generic) else name
        if not isinstance(value, Hashable):
            raise InvalidInput(f"the arm name {value!r} is not hashable; use strings or numbers")
        plain.append(value)
    if not plain:
        raise InvalidInput("there are no arms; give at least one")
    if len(set(plain)) < len(plain):
        twice = next(name for i, name in enumerate(plain) if name in plain[:i])
        raise InvalidInput(f"two arms are called {twice!r}; names must be different")
    check_names(plain)
    return tuple(plain)
