"""EBC, EBC-H and round robin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_number
from linkarms.errors import InvalidInput
from linkarms.sampling import _kernels
from linkarms.sampling._base import SamplingRule, View

__all__ = ["EBC", "EBCH", "RoundRobin", "resolve_sampling"]


class _Compiled(SamplingRule):
    """A rule whose choice is made by `linkarms.sampling._kernels.choose_kernel`."""

    def choose(self, view: View) -> int:
        """Compiled rules are asked inside the engine's kernels."""
        raise TypeError(f"{self.name} chooses inside the engine; it is not called from Python")


class EBC(_Compiled):
    """Efficient Bandit Clustering: track the average of weights that climb psi, one step a sample (Algorithm 1).

    Parameters
    ----------
    step : float, default 1.0
        ``c`` in the step size ``eta = c / sqrt(t)``. The paper does not give it; 1 reproduces its figures.
    """

    name = "ebc"
    code = _kernels.EBC

    def __init__(self, step: float = 1.0) -> None:
        self._step = check_number("step", step, 0.0)

    @property
    def step(self) -> float:
        """``c``."""
        return self._step

    def initial_weights(self, n_arms: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Drawn uniformly from the simplex, as in the paper."""
        x = rng.standard_exponential(n_arms)
        return np.asarray(x / x.sum())

    def to_dict(self) -> dict[str, Any]:
        """Name and step."""
        return {"name": self.name, "step": self._step}


class EBCH(_Compiled):
    """EBC-H: pull the arm that moves most in the nearest alternative, ``argmax KL_m`` at ``lambda*(N/t)``."""

    name = "ebc-h"
    code = _kernels.EBC_H


class RoundRobin(_Compiled):
    """One arm after the other."""

    name = "round-robin"
    code = _kernels.ROUND_ROBIN


_SHIPPED: dict[str, type[SamplingRule]] = {cls.name: cls for cls in (EBC, EBCH, RoundRobin)}


def resolve_sampling(rule: str | SamplingRule) -> SamplingRule:
    """A rule by name, or the instance itself."""
    if isinstance(rule, SamplingRule):
        return rule
    if not isinstance(rule, str) or rule not in _SHIPPED:
        raise InvalidInput(
            f"sampling={rule!r} is unknown; choose one of {', '.join(_SHIPPED)}, or give an instance of SamplingRule"
        )
    return _SHIPPED[rule]()


def sampling_from_dict(spec: dict[str, Any]) -> SamplingRule | None:
    """The rule that ``to_dict`` described; None if it is no rule of the package."""
    cls = _SHIPPED.get(str(spec.get("name")))
    return None if cls is None else cls(**{k: v for k, v in spec.items() if k != "name"})
