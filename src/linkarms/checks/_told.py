"""What the checks look at: the samples of each arm in the order told."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms.families import ArmFamilies

if TYPE_CHECKING:
    from linkarms.checks._findings import Finding

__all__ = ["KEPT", "ModelFit", "SampleLog", "Told"]

Array = NDArray[np.float64]

#: Samples of each arm that a run keeps for the checks: the first ones. A finite number, so that a run may go on for years.
KEPT = 2_000


class Told:
    """Samples of each arm, in their order; a view that later samples do not change.

    Parameters
    ----------
    samples : sequence of arrays of shape (n, d)
        One per arm.
    resampled : bool, default False
        They are the records of a table from which a run drew with replacement, in the order of the table.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.checks import Told
    >>> [x.shape for x in Told([np.zeros((5, 1)), np.ones((3, 1))]).arrays()]
    [(5, 1), (3, 1)]
    """

    def __init__(self, samples: Sequence[Array], resampled: bool = False) -> None:
        self._samples, self.resampled = samples, resampled

    def arrays(self) -> list[Array]:
        """Return the samples of each arm, shape (n, d)."""
        return [np.asarray(x, dtype=np.float64) for x in self._samples]


class _Prefixes(Told):
    """The first samples of growing rows of numbers."""

    def __init__(self, rows: Sequence[array[float]], n_features: int) -> None:
        super().__init__(())
        self._rows, self._lengths, self._d = rows, [len(x) for x in rows], n_features

    def arrays(self) -> list[Array]:
        return [
            np.array(x[:n], dtype=np.float64).reshape(-1, self._d)
            for x, n in zip(self._rows, self._lengths, strict=True)
        ]


class SampleLog:
    """The first `KEPT` samples of each arm that were told to a run.

    Parameters
    ----------
    n_arms, n_features : int
        The shape of the run.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.checks import SampleLog
    >>> log = SampleLog(n_arms=2, n_features=1)
    >>> log.add(0, np.array([1.5]))
    >>> log.lengths(), log.told().arrays()[0].tolist()
    ([1, 0], [[1.5]])
    """

    def __init__(self, n_arms: int, n_features: int) -> None:
        # plain numbers: a service keeps those of many campaigns
        self._rows = [array("d") for _ in range(n_arms)]
        self._d = n_features

    def add(self, arm: int, sample: Array) -> None:
        """Take in a sample."""
        kept = self._rows[arm]
        if len(kept) < KEPT * self._d:
            kept.extend(sample.tolist())

    def lengths(self) -> list[int]:
        """Return how many samples of each arm are kept."""
        return [len(x) // self._d for x in self._rows]

    def cut(self, lengths: Sequence[int]) -> None:
        """Forget all but the first samples of each arm."""
        for kept, n in zip(self._rows, lengths, strict=True):
            del kept[n * self._d :]

    def told(self) -> Told:
        """Return a view of what is kept now."""
        return _Prefixes(self._rows, self._d)


class ModelFit:
    """The samples of a run and the families that it assumes; compared when first asked for.

    Parameters
    ----------
    families : ArmFamilies
        The families of the arms.
    arms : sequence
        Their names.
    told : Told
        Their samples.

    Examples
    --------
    >>> import linkarms as la
    >>> result = la.cluster(la.problems.synthetic1())
    >>> len(result.fit.samples), result.fit.findings
    (6, ())
    """

    def __init__(self, families: ArmFamilies, arms: Sequence[Hashable], told: Told) -> None:
        self.families: ArmFamilies | None = families
        self.arms = tuple(arms)
        self._told = told

    @cached_property
    def samples(self) -> list[Array]:
        """The samples of each arm that are kept, shape (n, d), in the order told."""
        return self._told.arrays()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What in the samples contradicts the families."""
        from linkarms.checks._check import find_contradictions

        assert self.families is not None  # findings are computed before the families are left behind
        return find_contradictions(self.families, self.arms, Told(self.samples, self._told.resampled))

    def __getstate__(self) -> dict[str, Any]:
        # no native objects: what needs the families is computed before they are left behind
        return {"families": None, "arms": self.arms, "samples": self.samples, "findings": self.findings}
