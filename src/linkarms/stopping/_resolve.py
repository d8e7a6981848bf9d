"""From what a user writes to a stopping rule."""

from __future__ import annotations

from typing import Any

from linkarms.errors import InvalidInput
from linkarms.sampling import SamplingRule
from linkarms.stopping._anytime import Anytime
from linkarms.stopping._base import StoppingRule
from linkarms.stopping._boc import BOC
from linkarms.stopping._maxgap import MaxGap
from linkarms.stopping._paper import Paper
from linkarms.stopping._size import SampleSize

__all__ = ["resolve_stopping", "stopping_from_dict"]

_CHOICES = "'anytime', linkarms.stopping.Paper(theta=(low, high), epsilon=0.01), or an instance of your own StoppingRule"

_SHIPPED: dict[str, type[StoppingRule]] = {cls.name: cls for cls in (Anytime, Paper, BOC, MaxGap, SampleSize)}


def resolve_stopping(rule: Any, sampling: SamplingRule | None = None) -> StoppingRule:
    """Return the rule itself, or with None the own stop of ``sampling``; raise an error that names the choices if there is none.

    Examples
    --------
    >>> from linkarms.sampling import MaxGapElim
    >>> from linkarms.stopping import resolve_stopping
    >>> resolve_stopping("anytime").name, resolve_stopping(None, MaxGapElim()).name
    ('anytime', 'maxgap')
    """
    if isinstance(rule, StoppingRule):
        return rule
    if rule == "anytime":
        return Anytime()
    if rule == "paper":
        raise InvalidInput(
            "stopping='paper' needs the parameter space; give linkarms.stopping.Paper(theta=(low, high))"
        )
    if rule is None:
        own = None if sampling is None else sampling.own_stopping()
        if own is not None:
            return own
        words = "this one has none" if sampling is None else f"{sampling.name!r} has none"
        raise InvalidInput(
            f"stopping=None asks for the sampling rule's own stop, and {words}; give {_CHOICES}"
        )
    raise InvalidInput(f"stopping={rule!r} is unknown; choose one: {_CHOICES}")


def stopping_from_dict(spec: dict[str, Any]) -> StoppingRule | None:
    """Return the rule that ``to_dict`` described; None if it is not a rule of the package.

    Examples
    --------
    >>> from linkarms.stopping import Paper, stopping_from_dict
    >>> stopping_from_dict(Paper(theta=(-9, 9)).to_dict()).name
    'paper'
    """
    cls = _SHIPPED.get(str(spec.get("name")))
    if cls is None:
        return None
    arguments = {k: v for k, v in spec.items() if k != "name"}
    if cls is Anytime:
        arguments.setdefault("version", 1)  # written before rules had versions
    return cls(**arguments)
