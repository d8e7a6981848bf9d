"""The stop of MaxGap."""

from __future__ import annotations

import numpy as np

from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies
from linkarms.sampling import View
from linkarms.sampling._gap_bounds import check_line, view_bounds
from linkarms.stopping._base import StoppingRule

__all__ = ["MaxGap"]


class MaxGap(StoppingRule):
    """Stop when the largest gap is at least ``L`` and only two arms can be beside one as large (Katariya, Tripathy, Nowak 2019).

    That is, when the lower bound ``L`` on the largest gap reaches the third largest of the arms' upper bounds ``U_a``. If all means lie in
    their intervals, which holds with probability ``1 - delta`` at all times together, the largest gap of the estimates is then the
    true one. For K = 2, one feature, and samples with Gaussian tails. Recalled; the radii are those of the proof.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.Problem([0.0, 0.3, 3.0, 3.2], n_clusters=2)
    >>> la.cluster(p, sampling="round-robin", stopping=la.stopping.MaxGap(), max_samples=400, seed=1).labels.tolist()
    [0, 0, 1, 1]
    """

    name = "maxgap"
    baseline = True
    needs_fixed_clusters = True

    def statistic(self, view: View) -> float:
        """Return ``L``."""
        if view.n_clusters != 2:
            raise InvalidInput(f"the stop of MaxGap is for two clusters, not {view.n_clusters}; take another")
        return view_bounds(view, view.delta)[1]

    def threshold(self, view: View, delta: float) -> float:
        """Return the third largest ``U_a``."""
        return float(np.sort(view_bounds(view, delta)[0])[-3])

    def check(self, families: ArmFamilies) -> None:
        """Refuse more than one feature, and tails that are not Gaussian."""
        check_line(families, 2)

    def __repr__(self) -> str:
        return "MaxGap()"
