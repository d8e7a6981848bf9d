"""ATBOC: track the maximisers of psi at the estimates."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from linkarms._validate import check_number
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies, Gaussian
from linkarms.sampling._base import SamplingRule, View
from linkarms.sampling._optimum import keep_optimum

if TYPE_CHECKING:
    from linkarms.stopping import StoppingRule

__all__ = ["ATBOC"]

#: How often psi may be evaluated for one sample.
_TURNS = 200


class ATBOC(SamplingRule):
    """ATBOC (Chandran, Kota, Bhashyam, arXiv 2501.11421): samples in proportion to the average of the weights that maximise psi.

    Every arm is pulled once; then, unless an arm has fewer than ``sqrt(t/M)`` pulls, ``argmin_m N_m - sum_{s <= t} w_m(s)``, with ``w(s)``
    a maximiser of ``psi(., estimates at s)``. It is kept within ``gap`` of the maximum after every sample: alternatives found before are
    cuts, priced again at the new estimates, and something is solved only where they no longer prove that the old weights are good enough.

    Printed in *Efficient Clustering in Stochastic Bandits*: that the optimum is solved for every sample, its curve and its run times.
    Inferred from these: its stop, `linkarms.stopping.BOC`. Recalled: that the average is tracked, and forced exploration. Where an
    estimated cluster has three arms or more, psi is a lower bound that is not concave, and the weights are the best that were found.

    Parameters
    ----------
    gap : float, default 1e-3
        How far from the maximum of psi the weights may stay, relatively.

    Examples
    --------
    >>> import linkarms as la
    >>> la.cluster(la.problems.synthetic1(), sampling="atboc", stopping=None, delta=0.1, seed=1).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """

    name = "atboc"
    baseline = True

    def __init__(self, gap: float = 1e-3) -> None:
        self.gap = check_number("gap", gap, 1e-7, 1.0, closed=True)
        self._t = 0  # samples told when the weights were last brought up to date
        #: psi at the weights, and the upper bound on its maximum.
        self.bracket = np.zeros(2)

    @property
    def evaluations(self) -> int:
        """How often psi was evaluated in this run."""
        return int(self._counts[1]) if self._t else 0

    def check(self, families: ArmFamilies, n_clusters: int) -> None:
        """Gaussian arms only, as in the paper."""
        for m, family in enumerate(families.families):
            if not isinstance(family, Gaussian):
                raise InvalidInput(
                    f"atboc is for Gaussian arms, and arm {m} is {family.name}; take another sampling rule"
                )

    def choose(self, view: View) -> int:
        """The arm that is furthest behind the sum of the weights so far."""
        if view.t > self._t:
            self._track(view)
        n = view.counts + view.pending
        if n.min() < math.sqrt(n.sum() / view.n_arms):
            return int(n.argmin())
        return int(np.argmin(n - self._sum))

    def _track(self, view: View) -> None:
        """Bring the weights up to date, and add them for every sample since the last time."""
        n_arms, d = view.estimates.shape
        if self._t == 0:
            room = 2 * n_arms + 8  # M cuts are enough for a proof
            self._w, self._sum = np.full(n_arms, 1.0 / n_arms), np.zeros(n_arms)
            self._labels = np.full(n_arms, -1)
            self._arms, self._points = np.zeros((room, 4), dtype=np.int64), np.zeros((room, 4, d))
            self._mixture, self._counts = np.zeros(room), np.zeros(2, dtype=np.int64)
            self._sum += (view.t - 1) / n_arms
            self._t = view.t - 1
        if not np.array_equal(view.labels, self._labels):
            self._labels = np.array(view.labels)
            self._counts[0] = 0
        keep_optimum(
            view.families.model,
            np.array(view.estimates),
            self._labels,
            view.n_clusters,
            self.gap,
            _TURNS,
            self._w,
            self._arms,
            self._points,
            self._mixture,
            self._counts,
            self.bracket,
        )
        self._sum += (view.t - self._t) * self._w
        self._t = view.t

    def own_stopping(self) -> StoppingRule:
        """`linkarms.stopping.BOC`."""
        from linkarms.stopping import BOC

        return BOC()

    def fresh(self) -> ATBOC:
        """A copy."""
        return copy.deepcopy(self)

    _KEPT = ("_w", "_sum", "_labels", "_arms", "_points", "_mixture", "_counts", "bracket")

    def memory(self) -> dict[str, Any] | None:
        """Weights, their sum, and the cuts."""
        if self._t == 0:
            return None
        return {"t": self._t, **{key.strip("_"): getattr(self, key).tolist() for key in self._KEPT}}

    def remember(self, memory: dict[str, Any]) -> None:
        """Go on with them."""
        self._t = int(memory["t"])
        for key in self._KEPT:
            kind = np.int64 if key in ("_labels", "_arms", "_counts") else np.float64
            setattr(self, key, np.array(memory[key.strip("_")], dtype=kind))

    def to_dict(self) -> dict[str, Any]:
        """Name and gap."""
        return {"name": self.name, "gap": self.gap}
