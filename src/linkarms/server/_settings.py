"""From the JSON of a new campaign to what the library takes."""

from __future__ import annotations

from typing import Any

from linkarms.errors import InvalidDump, InvalidInput
from linkarms.families import Family, from_dict
from linkarms.server._models import Create
from linkarms.stopping import StoppingRule, stopping_from_dict

__all__ = ["settings_of"]


def settings_of(request: Create) -> dict[str, Any]:
    """The keywords of `Campaign.create`, without what was left out."""
    given = request.model_dump(
        exclude={"name", "arms", "n_clusters", "family", "stopping"}, exclude_none=True
    )
    family = request.family
    given["family"] = [_family(f) for f in family] if isinstance(family, list) else _family(family)
    if request.stopping is not None:
        given["stopping"] = _rule(request.stopping)
    return given


def _family(spec: str | dict[str, Any]) -> str | Family:
    if isinstance(spec, str):
        return spec
    if spec.get("custom"):
        raise InvalidInput("a campaign takes the families of linkarms only; leave out `custom`")
    try:
        return from_dict(spec)
    except (InvalidDump, InvalidInput) as error:
        raise InvalidInput(f"family: {error}") from error
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidInput(
            f'family: this is no family ({type(error).__name__}); write {{"name": "gaussian"}}'
        ) from error


def _rule(spec: str | dict[str, Any]) -> str | StoppingRule:
    if isinstance(spec, str):
        return spec
    try:
        rule = stopping_from_dict(spec)
    except InvalidInput as error:
        raise InvalidInput(f"stopping: {error}") from error
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidInput(
            f"stopping: this is no rule ({type(error).__name__}); "
            'write {"name": "paper", "theta": [low, high], "epsilon": 0.01}'
        ) from error
    if rule is None:
        raise InvalidInput(
            f"stopping: there is no rule {str(spec.get('name'))[:60]!r}; "
            'write {"name": "paper", "theta": [low, high], "epsilon": 0.01}'
        )
    return rule
