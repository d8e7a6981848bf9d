"""MaxGap: the largest gap between neighbours, for two clusters on a line."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms.families import ArmFamilies
from linkarms.sampling._base import SamplingRule, View
from linkarms.sampling._gap_bounds import check_line, view_bounds

if TYPE_CHECKING:
    from linkarms.stopping import StoppingRule

__all__ = ["MaxGapElim", "MaxGapTop2UCB", "MaxGapUCB"]


class _MaxGap(SamplingRule):
    """Rounds: bounds on the gaps beside each arm, a set of arms, and one sample of each of them."""

    uses_delta = True
    baseline = True
    needs_fixed_clusters = True

    def __init__(self) -> None:
        self._queue: list[int] = []

    @abstractmethod
    def wanted(self, upper: NDArray[np.float64], certain: float) -> NDArray[np.bool_]:
        """Return the arms of the next round, from the upper bounds, shape (M,), and the lower bound on the largest gap."""

    def check(self, families: ArmFamilies, n_clusters: int) -> None:
        """Refuse all but two clusters and one feature with Gaussian tails."""
        check_line(families, n_clusters)

    def choose(self, view: View) -> int:
        """Return the next arm of the round."""
        if not self._queue:
            arms = np.flatnonzero(self.wanted(*view_bounds(view, view.delta)))
            self._queue = [int(m) for m in arms] or list(range(view.n_arms))
        return self._queue.pop(0)

    def own_stopping(self) -> StoppingRule:
        """Return `linkarms.stopping.MaxGap`."""
        from linkarms.stopping import MaxGap

        return MaxGap()

    def fresh(self) -> _MaxGap:
        """Return a copy."""
        return copy.deepcopy(self)

    def memory(self) -> dict[str, Any]:
        """Return the rest of the round."""
        return {"queue": list(self._queue)}

    def remember(self, memory: dict[str, Any]) -> None:
        """Continue with it."""
        self._queue = [int(m) for m in memory["queue"]]


class MaxGapElim(_MaxGap):
    """MaxGapElim (Katariya, Tripathy, Nowak, NeurIPS 2019): sample all arms that may still be beside the largest gap.

    For K = 2 and one feature. An arm is in the round when the upper bound on the gaps beside it exceeds the lower bound on the largest gap.
    Recalled, not printed in *Efficient Clustering in Stochastic Bandits*; the radius is that of the proof, with the variance proxy of
    the family. Its own stop is `linkarms.stopping.MaxGap`.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.Problem([0.0, 0.3, 3.0, 3.2], n_clusters=2)
    >>> la.cluster(p, sampling="maxgap-elim", stopping=None, max_samples=300, seed=1).labels.tolist()
    [0, 0, 1, 1]
    """

    name = "maxgap-elim"
    takes_costs = False

    def wanted(self, upper: NDArray[np.float64], certain: float) -> NDArray[np.bool_]:
        """Return the arms with ``U_a > L``."""
        return upper > certain


class MaxGapUCB(_MaxGap):
    """MaxGapUCB: sample the arms with the largest upper bound on a gap beside them. See `MaxGapElim`.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.Problem([0.0, 0.3, 3.0, 3.2], n_clusters=2)
    >>> la.cluster(p, sampling="maxgap-ucb", stopping=None, max_samples=300, seed=1).labels.tolist()
    [0, 0, 1, 1]
    """

    name = "maxgap-ucb"
    takes_costs = False

    def wanted(self, upper: NDArray[np.float64], certain: float) -> NDArray[np.bool_]:
        """Return the arms with the largest ``U_a``."""
        return np.asarray(upper == upper.max())


class MaxGapTop2UCB(_MaxGap):
    """MaxGapTop2UCB: sample the arms with the two largest values of the upper bound. See `MaxGapElim`.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.Problem([0.0, 0.3, 3.0, 3.2], n_clusters=2)
    >>> la.cluster(p, sampling="maxgap-top2ucb", stopping=None, max_samples=300, seed=1).labels.tolist()
    [0, 0, 1, 1]
    """

    name = "maxgap-top2ucb"
    takes_costs = False

    def wanted(self, upper: NDArray[np.float64], certain: float) -> NDArray[np.bool_]:
        """Return the arms whose ``U_a`` is one of the two largest values."""
        return np.asarray(upper >= np.unique(upper)[-2:][0])
