"""A rule with its threshold divided: what an audit must be able to catch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_number
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies
from linkarms.sampling import View
from linkarms.stopping._anytime import Anytime
from linkarms.stopping._base import StoppingRule

__all__ = ["weaken"]


def weaken(rule: StoppingRule, factor: float) -> StoppingRule:
    """Return the same rule with its threshold divided by ``factor``. It promises nothing.

    An audit that cannot fail says nothing about a rule that passes it. This is the rule that has to fail. The threshold is everything that
    the likelihood ratio is compared with: ``log(1/delta)``, the price of the union bound, and the price of not knowing the parameters. The
    anytime rule subtracts the last from its evidence; here it is divided as well.

    Parameters
    ----------
    rule : StoppingRule
        Any rule.
    factor : float
        From 1 on; 1 gives ``rule`` itself.

    Returns
    -------
    StoppingRule
        A rule that runs in Python: about fifty microseconds per sample.

    Examples
    --------
    >>> import linkarms as la
    >>> la.stopping.weaken(la.stopping.Anytime(), 4)
    Anytime() with its threshold divided by 4
    """
    if not isinstance(rule, StoppingRule):
        raise InvalidInput(
            f"rule={rule!r} is not a stopping rule; give an instance such as linkarms.stopping.Anytime()"
        )
    x = check_number("weaken", factor, 1.0, closed=True)
    if x == 1.0:
        return rule
    return _WeakAnytime(rule, x) if isinstance(rule, Anytime) else _Weak(rule, x)


def _no_promise(factor: float) -> str:
    return f"nothing is promised: the threshold was divided by {factor:g}"


class _Weak(StoppingRule):
    """Any rule, asked in Python."""

    name = "weakened"

    def __init__(self, rule: StoppingRule, factor: float) -> None:
        self.rule, self.factor = rule, factor
        self.takes_ties = rule.takes_ties  # type: ignore[misc]

    def statistic(self, view: View) -> float:
        return self.rule.statistic(view)

    def threshold(self, view: View, delta: float) -> float:
        return self.rule.threshold(view, delta) / self.factor

    def box(self, n_features: int) -> NDArray[np.float64]:
        return self.rule.box(n_features)

    def check(self, families: ArmFamilies) -> None:
        self.rule.check(families)

    def promise(self, delta: float) -> str:
        return _no_promise(self.factor)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "rule": self.rule.to_dict(), "factor": self.factor}

    def __repr__(self) -> str:
        return f"{self.rule!r} with its threshold divided by {self.factor:g}"


class _WeakAnytime(Anytime):
    """``log(1/delta)``, the price of the union and of the grid, and the arms' prices, each divided where it is made."""

    name = "weakened-anytime"

    def __init__(self, rule: Anytime, factor: float) -> None:
        # all that the rule is, whatever that comes to be
        self.__dict__.update(rule.__dict__)
        self.factor = self.discount = factor

    def level(self, delta: float) -> float:
        return super().level(delta) / self.factor

    def delta_at(self, level: float) -> float:
        return super().delta_at(level * self.factor)

    def promise(self, delta: float) -> str:
        return _no_promise(self.factor)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "rule": {**super().to_dict(), "name": Anytime.name}, "factor": self.factor}

    def __repr__(self) -> str:
        return f"{super().__repr__()} with its threshold divided by {self.factor:g}"
