"""The stop of ATBOC and LUCBBOC."""

from __future__ import annotations

import math

from linkarms import _core
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies, Gaussian
from linkarms.sampling import View
from linkarms.stopping._base import StoppingRule

__all__ = ["BOC"]


class BOC(StoppingRule):
    """Stop when ``Z(t) >= 2 [log(1/delta) + (d/2) sum_m log(N_m + 1)]``: the stop of ATBOC and LUCBBOC, for Gaussian arms.

    Chandran, Kota, Bhashyam (arXiv 2501.11421) promise an error of at most delta for their algorithms. Their threshold is not printed in
    *Efficient Clustering in Stochastic Bandits*. This one is inferred from its Figure 2, and reproduces the curves there; the factor 2 is
    why they rise twice as fast as the lower bound. No proof of the promise is offered here.

    Examples
    --------
    >>> import linkarms as la
    >>> la.cluster(la.problems.synthetic1(), stopping=la.stopping.BOC(), seed=1).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    name = "boc"
    baseline = True
    needs_fixed_clusters = True

    def native(self, families: ArmFamilies) -> _core.StoppingRule:
        """Return the rule."""
        return _core.BocStop()

    def level(self, delta: float) -> float:
        """Return ``2 log(1/delta)``."""
        return -2.0 * math.log(delta)

    def delta_at(self, level: float) -> float:
        """Return ``exp(-level/2)``, at most 1."""
        return super().delta_at(level / 2.0)

    def threshold(self, view: View, delta: float) -> float:
        """Return ``2 [log(1/delta) + (d/2) sum_m log(N_m + 1)]``."""
        d = view.estimates.shape[1]
        return math.fsum(d * math.log(n + 1.0) for n in view.counts.tolist()) + self.level(delta)

    def check(self, families: ArmFamilies) -> None:
        """Refuse arms that are not Gaussian. Any known covariance is allowed: whitening does not change Z."""
        for m, family in enumerate(families.families):
            if not isinstance(family, Gaussian):
                raise InvalidInput(
                    f"the stop of ATBOC and LUCBBOC is for Gaussian arms, and arm {m} is {family.name}; "
                    "give another stopping rule, for example stopping='anytime'"
                )

    def __repr__(self) -> str:
        return "BOC()"
