"""ATBOC: track the maximisers of psi at the estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms._schema import COUNT, Check, numbers, record, whole
from linkarms._validate import LARGEST, check_number
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies, Gaussian
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
    takes_costs = False
    baseline = True
    needs_fixed_clusters = True

    def __init__(self, gap: float = 1e-3) -> None:
        self.gap = check_number("gap", gap, 1e-7, 1.0, closed=True)
        self._core: _core.Engine | None = None

    def native(self, delta: float) -> _core.SamplingRule:
        """Return the rule with its gap."""
        return _core.Atboc(gap=self.gap)

    def attach(self, core: _core.Engine) -> None:
        """Keep the run: weights and cuts are there."""
        self._core = core

    def _kept(self) -> _core.AtbocMemory:
        kept = None if self._core is None else self._core.atboc
        if kept is None:
            raise InvalidInput("this ATBOC belongs to no run yet; give it to a BanditClusterer")
        return kept

    @property
    def evaluations(self) -> int:
        """Return how often psi was evaluated in this run."""
        return self._kept().evaluations

    @property
    def bracket(self) -> tuple[float, float]:
        """Return psi at the weights, and the upper bound on its maximum."""
        kept = self._kept()
        return kept.lower, kept.upper

    @property
    def weights(self) -> NDArray[np.float64]:
        """Return the weights, shape (M,)."""
        return np.array(self._kept().weights)

    def check(self, families: ArmFamilies, n_clusters: int) -> None:
        """Refuse arms that are not Gaussian, as in the paper."""
        for m, family in enumerate(families.families):
            if not isinstance(family, Gaussian):
                raise InvalidInput(
                    f"atboc is for Gaussian arms, and arm {m} is {family.name}; take another sampling rule"
                )

    def own_stopping(self) -> StoppingRule:
        """Return `linkarms.stopping.BOC`."""
        from linkarms.stopping import BOC

        return BOC()

    def fresh(self) -> ATBOC:
        """Return a new rule."""
        return type(self)(self.gap)

    def memory(self) -> dict[str, Any] | None:
        """Return weights, their sum, and the cuts; None before a run."""
        if self._core is None:
            return None
        kept = self._kept()
        return {
            "last": kept.last,
            "evaluations": kept.evaluations,
            "bracket": [kept.lower, kept.upper],
            "weights": kept.weights,
            "total": kept.total,
            "labels": kept.labels,
            "mixture": kept.mixture,
            "arms": kept.arms.tolist(),
            "points": kept.points.tolist(),
        }

    def remember(self, memory: dict[str, Any]) -> None:
        """Continue with them."""
        if self._core is None:
            raise InvalidInput("this ATBOC belongs to no run yet; give it to a BanditClusterer")
        n_arms, d = self._core.means.shape
        kept = _from_numbers(memory["numbers"], n_arms, d) if "numbers" in memory else memory
        _schema(n_arms, d)(kept, "run.memory")
        lower, upper = kept["bracket"]
        self._core.atboc = _core.AtbocMemory(
            last=kept["last"],
            evaluations=kept["evaluations"],
            lower=lower,
            upper=upper,
            weights=kept["weights"],
            total=kept["total"],
            labels=kept["labels"],
            mixture=kept["mixture"],
            arms=np.array(kept["arms"], dtype=np.int64).reshape(-1, 4),
            points=np.array(kept["points"], dtype=np.float64).reshape(-1, 4, d),
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> ATBOC:
        return self.fresh()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_core": None}

    def to_dict(self) -> dict[str, Any]:
        """Return name and gap."""
        return {"name": self.name, "gap": self.gap}


def _schema(n_arms: int, n_features: int) -> Check:
    """What is remembered; the core checks the rest of the lengths."""
    return record(
        {
            "last": whole(0),
            "evaluations": whole(0),
            "bracket": numbers(2, low=-LARGEST, high=LARGEST),
            "weights": numbers(n_arms, low=0.0, high=COUNT),
            "total": numbers(n_arms, low=0.0, high=COUNT),
            "labels": numbers(n_arms, low=0, high=n_arms - 1, integers=True),
            "mixture": numbers(-1, low=0.0, high=COUNT),
            "arms": numbers(-1, 4, low=0, high=n_arms - 1, integers=True),
            "points": numbers(-1, 4, n_features, low=-LARGEST, high=LARGEST),
        }
    )


def _from_numbers(numbers: list[float], n_arms: int, n_features: int) -> dict[str, Any]:
    """Read the memory as version 0.1 wrote it: one list, with meanings by position."""
    x = np.array(numbers, dtype=np.float64)
    capacity = 2 * n_arms + 8
    if len(x) != 5 + 3 * n_arms + capacity * (5 + 4 * n_features):
        raise ValueError(f"{len(x)} numbers are not the memory of {n_arms} arms")
    last, count, evaluations = (int(v) for v in x[:3])
    weights, total, labels, rest = np.split(x[5:], [n_arms, 2 * n_arms, 3 * n_arms])
    mixture, arms, points = np.split(rest, [capacity, 5 * capacity])
    return {
        "last": last,
        "evaluations": evaluations,
        "bracket": x[3:5].tolist(),
        "weights": weights.tolist(),
        "total": total.tolist(),
        "labels": labels.astype(np.int64).tolist(),
        "mixture": mixture.tolist(),
        "arms": arms.reshape(capacity, 4)[:count].astype(np.int64).tolist(),
        "points": points.reshape(capacity, 4, n_features)[:count].tolist(),
    }
