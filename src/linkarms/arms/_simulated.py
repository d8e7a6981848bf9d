"""Arms with known parameters, sampled by a random generator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms.arms._base import ArmSource, SeedLike, arm_streams, unique_names
from linkarms.errors import InvalidInput, UnknownArm

__all__ = ["SimulatedArms"]

#: Samples drawn at a time. Another number gives other samples for the same seed.
_BLOCK = 256


class SimulatedArms(ArmSource):
    """The arms of a `Problem`.

    Parameters
    ----------
    problem : Problem
        True parameters and families.
    seed : int, numpy.random.Generator or None, default 0
        Each arm has its own random stream, made from this number.

    Examples
    --------
    >>> import linkarms as la
    >>> arms = la.arms.SimulatedArms(la.problems.synthetic1(), seed=1)
    >>> arms.n_arms, arms.pull(0).shape
    (6, (2,))
    >>> la.cluster(arms, n_clusters=3, family="gaussian").labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    def __init__(self, problem: Any, seed: SeedLike = 0) -> None:
        parameters = np.asarray(problem.parameters, dtype=np.float64)
        if parameters.ndim == 1:
            parameters = parameters[:, None]
        self._parameters = parameters
        self._families = list(problem.families)
        if len(self._families) != len(parameters):
            raise InvalidInput(f"the problem has {len(parameters)} arms and {len(self._families)} families")
        names = getattr(problem, "arms", None)
        self.names = unique_names(range(len(parameters)) if names is None else names)
        self._streams = arm_streams(seed, len(parameters))
        self._blocks: list[NDArray[np.float64]] = [np.empty((0, self.n_features)) for _ in self._families]
        self._next = [0] * len(self._families)

    @property
    def n_features(self) -> int:
        """Numbers in one sample."""
        return int(self._parameters.shape[1])

    def pull(self, index: int) -> NDArray[np.float64]:
        """Draw one sample of an arm; see `ArmSource.pull`."""
        if not 0 <= index < len(self.names):
            raise UnknownArm(f"there is no arm at place {index}; there are {len(self.names)}")
        if self._next[index] == len(self._blocks[index]):
            drawn = self._families[index].draw(self._streams[index], self._parameters[index], _BLOCK)
            self._blocks[index] = np.asarray(drawn, dtype=np.float64).reshape(_BLOCK, self.n_features)
            self._next[index] = 0
        sample: NDArray[np.float64] = self._blocks[index][self._next[index]].copy()
        self._next[index] += 1
        return sample
