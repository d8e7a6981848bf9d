"""The cuts of a run into any number of clusters that are certified, found when asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkarms import _core
from linkarms._goal import Goal
from linkarms.engine import Engine
from linkarms.result import Cut, Known
from linkarms.stopping import Anytime, StoppingRule

__all__ = ["Later", "later_cuts"]


class Later:
    """A value that is computed when it is first asked for. Pickling computes it."""

    def __init__(self, compute: Callable[[], tuple[Cut, ...]]) -> None:
        self._compute = compute
        self._value: tuple[Cut, ...] | None = None

    def __call__(self) -> tuple[Cut, ...]:
        """Return the value."""
        if self._value is None:
            self._value = self._compute()
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return Known, (self(),)


def later_cuts(engine: Engine, delta: float) -> Later:
    """Return the certified cuts of a run as it is now, to be computed on demand: the run may go on in the meantime.

    The evidence is that of the run's anytime rule. A run under another rule is judged by the anytime rule as it is by default: its
    theorem holds whatever chose the arms and the moment.
    """
    rule: StoppingRule = engine.stopping if isinstance(engine.stopping, Anytime) else Anytime()
    families = engine.families
    if not engine.ready or engine.n_arms < 3:
        return Later(tuple)
    told = engine.core.told()

    def compute() -> tuple[Cut, ...]:
        core = _core.Engine(families.model, Goal(2).task(), stopping=rule.native(families))
        core.set_told(told)
        found = core.cuts(rule.level(delta))
        return tuple(Cut(k, labels) for k, labels in found)

    return Later(compute)
