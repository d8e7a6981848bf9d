"""From what a user writes to a sampling rule."""

from __future__ import annotations

from typing import Any

from linkarms.errors import InvalidInput
from linkarms.sampling._atboc import ATBOC
from linkarms.sampling._base import SamplingRule
from linkarms.sampling._fixed import FixedSize
from linkarms.sampling._lma import LMA
from linkarms.sampling._lucbboc import LUCBBOC
from linkarms.sampling._maxgap import MaxGapElim, MaxGapTop2UCB, MaxGapUCB
from linkarms.sampling._rules import EBC, EBCH, RoundRobin

__all__ = ["resolve_sampling", "sampling_from_dict"]

_SHIPPED: dict[str, type[SamplingRule]] = {
    cls.name: cls
    for cls in (EBC, EBCH, LMA, RoundRobin, FixedSize, ATBOC, LUCBBOC, MaxGapElim, MaxGapUCB, MaxGapTop2UCB)
}


def resolve_sampling(rule: str | SamplingRule) -> SamplingRule:
    """Return a rule by name, or the instance itself.

    Examples
    --------
    >>> from linkarms.sampling import EBC, resolve_sampling
    >>> resolve_sampling("ebc-h").name, resolve_sampling(EBC(step=0.5)).step
    ('ebc-h', 0.5)
    """
    if isinstance(rule, SamplingRule):
        return rule
    if not isinstance(rule, str) or rule not in _SHIPPED:
        raise InvalidInput(
            f"sampling={rule!r} is unknown; choose one of {', '.join(_SHIPPED)}, or give an instance of SamplingRule"
        )
    return _SHIPPED[rule]()


def sampling_from_dict(spec: dict[str, Any]) -> SamplingRule | None:
    """Return the rule that ``to_dict`` described; None if it is not a rule of the package.

    Examples
    --------
    >>> from linkarms.sampling import EBC, sampling_from_dict
    >>> sampling_from_dict(EBC(step=0.5).to_dict()).step
    0.5
    """
    cls = _SHIPPED.get(str(spec.get("name")))
    return None if cls is None else cls(**{k: v for k, v in spec.items() if k != "name"})
