"""A stop at a level of the evidence: for sweeps, with no promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms.families import ArmFamilies
from linkarms.sampling import View
from linkarms.stopping import Paper, StoppingRule

__all__ = ["EvidenceLevel"]


class EvidenceLevel(StoppingRule):
    """Stop when ``Z(t) >= log(1/delta)``, without the terms that make the paper's threshold a promise.

    The paper plots measured errors between 0.01 and 0.5 against samples. At such numbers of samples its own threshold is out of reach for
    every delta below one, so what it varied must have been the level. ``delta`` is here a name for the level ``log(1/delta)``, not an
    error probability.

    Parameters
    ----------
    theta : tuple of float, or array of shape (d, 2)
        The parameter space; estimates are clipped to it, as in the paper.

    Examples
    --------
    >>> import math
    >>> import linkarms as la
    >>> from linkarms.paper import EvidenceLevel
    >>> s = la.simulate(la.problems.synthetic1(), stopping=EvidenceLevel((-5, 5)), deltas=[math.exp(-1), math.exp(-8)], trials=20)
    >>> bool(s["ebc-h"].stopping_times.mean(axis=0)[0] < s["ebc-h"].stopping_times.mean(axis=0)[1])
    True
    """

    name = "evidence-level"

    def __init__(self, theta: Any) -> None:
        self._space = Paper(theta)  # its checks, its box

    def native(self, families: ArmFamilies) -> _core.StoppingRule:
        """Return the level alone."""
        return _core.LevelStop()

    def box(self, n_features: int) -> NDArray[np.float64]:
        """Return Theta, shape (d, 2)."""
        return self._space.box(n_features)

    def threshold(self, view: View, delta: float) -> float:
        """Return the level."""
        return -math.log(delta)

    def to_dict(self) -> dict[str, Any]:
        """Return name and Theta."""
        return {"name": self.name, "theta": self._space.to_dict()["theta"]}
