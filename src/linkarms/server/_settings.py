"""From the JSON of a new campaign to what the library takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkarms.errors import InvalidDump, InvalidInput
from linkarms.families import from_dict
from linkarms.sampling import sampling_from_dict
from linkarms.server._models import Create
from linkarms.stopping import stopping_from_dict

__all__ = ["settings_of"]

_EXAMPLES = {
    "family": '{"name": "gaussian"}',
    "sampling": '{"name": "ebc", "step": 0.5}',
    "stopping": '{"name": "paper", "theta": [low, high], "epsilon": 0.01}',
}


def settings_of(request: Create) -> dict[str, Any]:
    """The keywords of `Campaign.create`, without what was left out."""
    apart = {"name", "arms", "n_clusters", "family", "sampling", "stopping"}
    given = request.model_dump(exclude=apart, exclude_none=True)
    family = request.family
    if request.clip is not None and "family" not in request.model_fields_set:
        family = None  # the library then takes the clipped range
    given["family"] = [_family(f) for f in family] if isinstance(family, list) else _family(family)
    if request.sampling is not None:
        given["sampling"] = _made("sampling", sampling_from_dict, request.sampling)
    if "stopping" in request.model_fields_set:  # null is the sampling rule's own stop, as in the library
        given["stopping"] = _made("stopping", stopping_from_dict, request.stopping)
    return given


def _family(spec: str | dict[str, Any] | None) -> Any:
    if isinstance(spec, dict) and spec.get("custom"):
        raise InvalidInput("a campaign takes the families of linkarms only; leave out `custom`")
    return _made("family", from_dict, spec)


def _made(what: str, make: Callable[[dict[str, Any]], Any], spec: str | dict[str, Any] | None) -> Any:
    """A family or a rule from what describes it; names are the library's to understand."""
    if not isinstance(spec, dict):
        return spec
    hint = f"write {_EXAMPLES[what]}"
    try:
        made = make(spec)
    except (InvalidDump, InvalidInput) as error:
        raise InvalidInput(f"{what}: {error}") from error
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise InvalidInput(f"{what}: this cannot be understood ({type(error).__name__}); {hint}") from error
    if made is None:
        raise InvalidInput(f"{what}: there is none called {str(spec.get('name'))[:60]!r}; {hint}")
    return made
