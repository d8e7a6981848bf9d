"""From what a user writes to a stopping rule."""

from __future__ import annotations

from typing import Any

from linkarms.errors import InvalidInput
from linkarms.stopping._base import StoppingRule
from linkarms.stopping._paper import Paper

__all__ = ["resolve_stopping", "stopping_from_dict"]

_CHOICES = "linkarms.stopping.Paper(theta=(low, high), epsilon=0.01), or an instance of your own StoppingRule"


def resolve_stopping(rule: Any) -> StoppingRule:
    """The rule itself; an error that names the choices where there is none."""
    if isinstance(rule, StoppingRule):
        return rule
    if rule is ...:
        raise InvalidInput(f"stopping is missing; choose one: {_CHOICES}")
    if rule == "paper":
        raise InvalidInput(
            "stopping='paper' needs the parameter space; give linkarms.stopping.Paper(theta=(low, high))"
        )
    if rule is None:
        raise InvalidInput(
            f"stopping=None asks for the sampling rule's own stop, and this one has none; give {_CHOICES}"
        )
    raise InvalidInput(f"stopping={rule!r} is unknown; choose one: {_CHOICES}")


def stopping_from_dict(spec: dict[str, Any]) -> StoppingRule | None:
    """The rule that ``to_dict`` described; None if it is no rule of the package."""
    if spec.get("name") != Paper.name:
        return None
    return Paper(**{k: v for k, v in spec.items() if k != "name"})
