"""LUCBBOC: confidence bounds on distances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from linkarms import _core
from linkarms.sampling._rules import Compiled

if TYPE_CHECKING:
    from linkarms.stopping import StoppingRule

__all__ = ["LUCBBOC"]


class LUCBBOC(Compiled):
    """LUCBBOC (Chandran, Kota, Bhashyam, arXiv 2501.11421): pull the least sampled arm of the two least certain pairs.

    With radii ``r_m = sqrt(2 beta / N_m)`` and ``beta`` the threshold of `linkarms.stopping.BOC`, these are the pair inside a cluster
    with the largest upper bound on its distance (of the spanning tree of the upper bounds, where a cluster has three arms or more) and
    the pair of two clusters with the smallest lower bound. The radii use delta, so that a simulation needs one run for each delta.

    Printed in *Efficient Clustering in Stochastic Bandits*: its curve and its run times. Inferred from these: the threshold, the radii,
    and that one arm is pulled at a time. There is no forced exploration. Its own stop is `linkarms.stopping.BOC`.

    Examples
    --------
    >>> import linkarms as la
    >>> s = la.simulate(la.problems.synthetic1(), "lucbboc", stopping=None, deltas=[0.1, 1e-4], trials=3, seed=1)
    >>> s["lucbboc"].stopping_times.shape, int(s["lucbboc"].errors.sum())
    ((3, 2), 0)
    """

    name = "lucbboc"
    takes_costs = False
    uses_delta = True
    baseline = True
    needs_fixed_clusters = True

    def native(self, delta: float) -> _core.SamplingRule:
        """Return the rule with the level ``log(1/delta)`` of its radii."""
        return _core.Lucbboc(level=-math.log(delta))

    def own_stopping(self) -> StoppingRule:
        """Return `linkarms.stopping.BOC`."""
        from linkarms.stopping import BOC

        return BOC()
