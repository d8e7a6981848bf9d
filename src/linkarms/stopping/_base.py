"""What a stopping rule is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms.families import ArmFamilies
from linkarms.sampling import View

__all__ = ["StoppingRule"]


class StoppingRule(ABC):
    """Says when the evidence is enough. Subclass it, give `name`, and write `threshold` (and `statistic`, if it is another one).

    The run stops at the first sample after which ``statistic >= threshold`` and the partition of the estimates is not ambiguous.

    Examples
    --------
    >>> import math
    >>> import linkarms as la
    >>> class Chernoff(la.stopping.StoppingRule):
    ...     "The threshold that is used in practice: no proof, good behaviour."
    ...     name = "chernoff"
    ...
    ...     def threshold(self, view, delta):
    ...         return math.log((1 + math.log(view.t)) / delta)
    >>> la.cluster(la.problems.synthetic1(), 3, stopping=Chernoff(), seed=1).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    name: ClassVar[str]
    #: There to be compared with: `plan` leaves it out unless it is asked for.
    baseline: ClassVar[bool] = False
    #: Made for a fixed number of clusters: neither a distance threshold nor a tolerance.
    needs_fixed_clusters: ClassVar[bool] = False
    #: Stop also where the estimates have equal edges at the cut.
    takes_ties: ClassVar[bool] = False

    def statistic(self, view: View) -> float:
        """Return the evidence; by default the generalised likelihood ratio ``Z(t) = t psi(N/t, estimates)``."""
        return view.psi().value

    @abstractmethod
    def threshold(self, view: View, delta: float) -> float:
        """Return the level that the statistic has to reach."""

    def native(self, families: ArmFamilies) -> _core.StoppingRule | None:
        """Return the rule as the native core runs it; None for a rule that is asked in Python."""
        return None

    def level(self, delta: float) -> float:
        """Return what delta adds to the threshold of a rule that the core runs."""
        return -math.log(delta)

    def delta_at(self, level: float) -> float:
        """Return the delta whose `level` this is, at most 1: the reverse of `level`."""
        return min(1.0, math.exp(-max(level, 0.0)))

    def promise(self, delta: float) -> str:
        """Return in words what is known once the rule has stopped."""
        return f"the clusters are wrong with probability at most {delta:g}"

    def box(self, n_features: int) -> NDArray[np.float64]:
        """Return bounds to which estimates are clipped, shape (d, 2); infinite by default."""
        return np.array([[-np.inf, np.inf]] * n_features)

    def check(self, families: ArmFamilies) -> None:  # noqa: B027
        """Raise `InvalidInput` where the rule cannot be used with these families; nothing by default."""

    def diagnose(self, view: View) -> str | None:
        """Return in words why the rule may never stop on these estimates; None if it will."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a dump."""
        return {"name": self.name}
