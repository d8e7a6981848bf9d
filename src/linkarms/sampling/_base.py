"""What a sampling rule is, and what it may look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms import _core
from linkarms._goal import Goal
from linkarms.alternatives import Psi, solve_psi
from linkarms.families import ArmFamilies

if TYPE_CHECKING:
    from linkarms.stopping import StoppingRule

__all__ = ["SamplingRule", "View"]


class View:
    """What a rule may use; arrays are read-only.

    Attributes
    ----------
    counts, pending : ndarray of int, shape (M,)
        Samples told, and pulls that are under way.
    estimates : ndarray, shape (M, d)
        Estimates of the parameters.
    labels : ndarray of int, shape (M,)
        The partition of the estimates.
    n_clusters, n_arms, t : int
        K (under a distance threshold: of the estimates), M, and the number of samples told.
    goal : Goal
        What is asked for: ``n_clusters`` or ``distance_threshold``, and ``tolerance``.
    delta : float
        The promised error probability.
    rng : numpy.random.Generator
        The run's own random numbers; after a dump and load they continue where they were.
    families : ArmFamilies
        The families of the arms.

    Examples
    --------
    >>> import linkarms as la
    >>> class FewestSamples(la.sampling.SamplingRule):
    ...     name = "fewest"
    ...
    ...     def choose(self, view):
    ...         return int((view.counts + view.pending).argmin())
    >>> la.cluster(la.problems.synthetic1(), sampling=FewestSamples(), max_samples=60).pulls.tolist()
    [10, 10, 10, 10, 10, 10]
    """

    def __init__(
        self,
        core: _core.Engine,
        families: ArmFamilies,
        goal: Goal,
        delta: float,
        rng: np.random.Generator,
        costs: NDArray[np.float64] | None = None,
    ) -> None:
        self.costs = costs
        self.counts, self.pending = core.counts, core.pending
        self.estimates, self.labels = core.estimates, core.labels
        self.goal, self.n_arms = goal, len(self.counts)
        self.n_clusters = goal.n_clusters or int(self.labels.max()) + 1
        self.t = int(self.counts.sum())
        self.delta = delta
        self.rng = rng
        self.families = families

    def psi(self, weights: ArrayLike | None = None) -> Psi:
        """Return psi of the estimates at ``weights``; by default at the numbers of samples told."""
        w = self.counts if weights is None else weights
        return solve_psi(np.asarray(w, dtype=np.float64), np.array(self.estimates), self.goal, self.families)


class SamplingRule(ABC):
    """Chooses the next arm. Subclass it, give `name`, and write `choose`.

    Every arm is pulled once before a rule is asked. A rule that looks at ``view.delta`` must set ``uses_delta = True``: a simulation
    of several deltas then runs it once per delta.

    Examples
    --------
    >>> import numpy as np
    >>> import linkarms as la
    >>> class Widest(la.sampling.SamplingRule):
    ...     "Pull the arm of the nearest alternative that has the fewest samples."
    ...     name = "widest"
    ...
    ...     def choose(self, view):
    ...         involved = np.flatnonzero(view.psi().kl > 0)
    ...         n = view.counts + view.pending
    ...         return int(involved[np.argmin(n[involved])]) if len(involved) else int(np.argmin(n))
    >>> stop = la.stopping.Paper(theta=(-10, 10), epsilon=0.05)
    >>> la.cluster(la.problems.synthetic1(), 3, sampling=Widest(), stopping=stop, seed=1).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    name: ClassVar[str]
    uses_delta: ClassVar[bool] = False
    #: There to be compared with: `plan` leaves it out unless it is asked for.
    baseline: ClassVar[bool] = False
    #: Made for a fixed number of clusters: neither a distance threshold nor a tolerance.
    needs_fixed_clusters: ClassVar[bool] = False
    #: It may be used where arms have costs (``view.costs``).
    takes_costs: ClassVar[bool] = True

    @abstractmethod
    def choose(self, view: View) -> int:
        """Return the index of the next arm."""

    def native(self, delta: float) -> _core.SamplingRule | None:
        """Return the rule as the native core runs it; None for a rule that is asked in Python."""
        return None

    def attach(self, core: _core.Engine) -> None:  # noqa: B027
        """Take note of the core's run that this rule is part of; for rules whose memory is there."""

    def check(self, families: ArmFamilies, n_clusters: int) -> None:  # noqa: B027
        """Raise `InvalidInput` where the rule is not made for such arms; nothing by default."""

    def own_stopping(self) -> StoppingRule | None:
        """Return the stopping rule that belongs to the rule, used if ``stopping=None``; None if it has none."""
        return None

    def fresh(self) -> SamplingRule:
        """Return the rule for a new run: itself, or a copy if it keeps state that runs must not share."""
        return self

    @property
    def has_memory(self) -> bool:
        """Whether the rule keeps something in itself from one choice to the next."""
        return type(self).memory is not SamplingRule.memory

    def memory(self) -> dict[str, Any] | None:
        """Return the state of the rule as plain data, so that a dumped run can continue."""
        return None

    def remember(self, memory: dict[str, Any]) -> None:  # noqa: B027
        """Take back what `memory` returned."""

    def initial_weights(self, n_arms: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return ``w(0)``, for rules that keep weights."""
        return np.zeros(n_arms)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a dump."""
        return {"name": self.name}
