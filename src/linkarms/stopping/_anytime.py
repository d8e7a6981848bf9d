"""The anytime rule: no Theta, no epsilon, and a promise that holds whatever chose the arms and the moment to stop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms._goal import Goal
from linkarms._validate import check_integer
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies
from linkarms.sampling import View
from linkarms.stopping._base import StoppingRule

__all__ = ["Anytime"]

#: The weights of the prior, in samples: the best is about ``5 (sigma/gap)^2``, so these serve gaps from a fiftieth of sigma to five of it.
GRID = tuple(0.2 * 5.0**j for j in range(8))
#: The same for aligned evidence: steps may be smaller where the grid is averaged over.
ALIGNED_GRID = tuple(0.5 * 3.0**j for j in range(9))
#: The newest version of the rule.
VERSION = 2


class Anytime(StoppingRule):
    """Stop when the evidence against every other partition reaches ``log(n / delta)``, with ``n`` the number of mistakes to rule out.

    The default rule. It needs neither a parameter space nor an epsilon. It allows for the unknown parameters of the three or four arms that
    a mistake would involve, not for those of all arms. docs/anytime-theorem.md has the proof. A mistake is an edge inside a cluster that is
    at least as long as a distance between two clusters. For K fixed beforehand ``n`` depends on the number of arms, on K, and on whether
    the named clusters have more than two arms.

    Parameters
    ----------
    c : float, sequence of float or None
        How many samples the priors of the evidence weigh. By default a grid of eight or nine, so that nobody has to know the scale of
        the gaps.
    version : int, optional
        By default the newest, 2. A run ends under the version that it began with, since a change on the way could spend delta twice:
        dumps and campaigns hold it. Version 1 counts all sets of three or four arms, has isotropic priors for Gaussian arms of known
        variance, and uses universal inference for arms of unknown variance. It needs more samples.

    Examples
    --------
    >>> import linkarms as la
    >>> la.cluster(la.problems.synthetic1(), 3, delta=0.05, seed=1).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    name = "anytime"
    #: What the arms' prices are divided by: 1, but for a rule that `weaken` has made.
    discount: float = 1.0

    def __init__(
        self, c: float | tuple[float, ...] | list[float] | None = None, *, version: int | None = None
    ) -> None:
        self._c = c
        self.version = VERSION if version is None else check_integer("version", version, 1)
        if self.version > VERSION:
            raise InvalidInput(
                f"version={version} of the anytime rule is unknown, the newest here is {VERSION}; install a newer linkarms"
            )
        try:
            self._grid = np.atleast_1d(np.array(GRID if c is None else c, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise InvalidInput(
                f"c={c!r} is not made of numbers ({error}); give one, or several, above 0"
            ) from error
        if (
            self._grid.ndim != 1
            or self._grid.size == 0
            or not np.all((self._grid > 0.0) & np.isfinite(self._grid))
        ):
            raise InvalidInput(f"c={c!r} is out of range; give one number, or several, above 0")

    def grid(self, families: ArmFamilies) -> NDArray[np.float64]:
        """Return the values of ``c``; a single one where no arm's evidence has a ``c``."""
        if self._c is None and _core.evidence_is_aligned(families.model, self.version):
            return np.array(ALIGNED_GRID)
        return self._grid if _core.evidence_has_scale(families.model, self.version) else self._grid[:1]

    def check(self, families: ArmFamilies) -> None:
        """Raise `InvalidInput` where version 1 has no evidence for the families."""
        if self.version == 1 and families.model.variances in ("coordinate", "full"):
            raise InvalidInput(
                "version 1 of the anytime rule has no evidence for a variance per coordinate or a covariance; use version 2, "
                "or the family 'gaussian-unknown:isotropic'"
            )

    def native(self, families: ArmFamilies) -> _core.AnytimeStop:
        """Return the rule as the core runs it."""
        return _core.AnytimeStop(
            grid=self.grid(families).tolist(), discount=self.discount, version=self.version
        )

    def base(self, families: ArmFamilies, goal: int | Goal, largest_cluster: int) -> float:
        """Return the threshold without ``log(1/delta)`` for a goal (a number is K), by the size of the largest cluster named."""
        task = goal.task() if isinstance(goal, Goal) else goal
        return self.native(families).base(families.model, task, largest_cluster)

    def threshold(self, view: View, delta: float) -> float:
        """Return ``log(n / delta)`` for the partition of the estimates, plus what the grid costs."""
        largest = int(np.bincount(view.labels).max())
        return self.base(view.families, view.goal, largest) + self.level(delta)

    def to_dict(self) -> dict[str, Any]:
        """Return the name, the version, and the grid where it was given."""
        spec = {"name": self.name, "version": self.version}
        return spec if self._c is None else {**spec, "c": self._grid.tolist()}

    def __repr__(self) -> str:
        return "Anytime()" if self._c is None else f"Anytime(c={self._grid.tolist()})"
