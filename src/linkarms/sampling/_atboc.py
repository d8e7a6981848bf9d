"""ATBOC: track the maximisers of psi at the estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_number
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies, Gaussian
from linkarms.sampling import _kernels
from linkarms.sampling._atboc_kernel import COUNTS, HEAD, LOWER, kept_size, memory_size
from linkarms.sampling._rules import Compiled

if TYPE_CHECKING:
    from linkarms.stopping import StoppingRule

__all__ = ["ATBOC"]


class ATBOC(Compiled):
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
    code = _kernels.ATBOC
    baseline = True

    def __init__(self, gap: float = 1e-3) -> None:
        self.gap = check_number("gap", gap, 1e-7, 1.0, closed=True)
        self._n_arms = self._kept = 0
        self._memory: NDArray[np.float64] = np.zeros(HEAD)

    @property
    def evaluations(self) -> int:
        """How often psi was evaluated in this run."""
        return int(self._memory[COUNTS + 1])

    @property
    def bracket(self) -> tuple[float, float]:
        """psi at the weights, and the upper bound on its maximum."""
        return float(self._memory[LOWER]), float(self._memory[LOWER + 1])

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights, shape (M,)."""
        return self._memory[HEAD : HEAD + self._n_arms].copy()

    def number(self, delta: float) -> float:
        """The gap."""
        return self.gap

    def kernel_memory(self, n_arms: int, n_features: int) -> NDArray[np.float64]:
        """Weights and cuts of a new run."""
        self._n_arms, self._kept = n_arms, kept_size(n_arms, n_features)
        self._memory = np.zeros(memory_size(n_arms, n_features))
        self._memory[self._kept :] = np.nan  # no cut has a price yet
        return self._memory

    def check(self, families: ArmFamilies, n_clusters: int) -> None:
        """Gaussian arms only, as in the paper."""
        for m, family in enumerate(families.families):
            if not isinstance(family, Gaussian):
                raise InvalidInput(
                    f"atboc is for Gaussian arms, and arm {m} is {family.name}; take another sampling rule"
                )

    def own_stopping(self) -> StoppingRule:
        """`linkarms.stopping.BOC`."""
        from linkarms.stopping import BOC

        return BOC()

    def fresh(self) -> ATBOC:
        """A new one."""
        return type(self)(self.gap)

    def memory(self) -> dict[str, Any]:
        """Weights, their sum, and the cuts."""
        return {"numbers": self._memory[: self._kept].tolist()}

    def remember(self, memory: dict[str, Any]) -> None:
        """Go on with them, in the array that the kernel has."""
        self._memory[: self._kept] = np.array(memory["numbers"], dtype=np.float64)
        self._memory[self._kept :] = np.nan

    def to_dict(self) -> dict[str, Any]:
        """Name and gap."""
        return {"name": self.name, "gap": self.gap}
