"""EBC, EBC-H and round robin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms._validate import check_number
from linkarms.sampling._base import SamplingRule, View

__all__ = ["EBC", "EBCH", "Compiled", "RoundRobin"]


class Compiled(SamplingRule):
    """A rule that the native core runs."""

    def choose(self, view: View) -> int:
        """Refuse: such a rule is asked inside the core."""
        raise TypeError(f"{self.name} chooses inside the native core; it is not called from Python")


class EBC(Compiled):
    """Efficient Bandit Clustering: track the average of weights that climb psi, one step per sample (Algorithm 1).

    Parameters
    ----------
    step : float, default 1.0
        ``c`` in the step size ``eta = c / sqrt(t)``. The paper does not give it; 1 reproduces its figures.

    Examples
    --------
    >>> import linkarms as la
    >>> la.cluster(la.problems.synthetic1(), sampling=la.sampling.EBC(step=0.5)).stopped
    True
    """

    name = "ebc"

    def __init__(self, step: float = 1.0) -> None:
        self._step = check_number("step", step, 0.0)

    @property
    def step(self) -> float:
        """Return ``c``."""
        return self._step

    def native(self, delta: float) -> _core.SamplingRule:
        """Return EBC with its step."""
        return _core.Ebc(step=self._step)

    def initial_weights(self, n_arms: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw weights uniformly from the simplex, as in the paper."""
        x = rng.standard_exponential(n_arms)
        return np.asarray(x / x.sum())

    def to_dict(self) -> dict[str, Any]:
        """Return name and step."""
        return {"name": self.name, "step": self._step}


class EBCH(Compiled):
    """EBC-H: pull the arm that moves most in the nearest alternative, ``argmax KL_m`` at ``lambda*(N/t)``. The default.

    Examples
    --------
    >>> import linkarms as la
    >>> la.cluster(la.problems.synthetic1(), sampling=la.sampling.EBCH()).stopped
    True
    """

    name = "ebc-h"

    def native(self, delta: float) -> _core.SamplingRule:
        """Return EBC-H."""
        return _core.EbcH()


class RoundRobin(Compiled):
    """One arm after the other.

    Examples
    --------
    >>> import linkarms as la
    >>> la.cluster(la.problems.synthetic1(), sampling=la.sampling.RoundRobin()).stopped
    True
    """

    name = "round-robin"

    def native(self, delta: float) -> _core.SamplingRule:
        """Return round robin."""
        return _core.RoundRobin()
