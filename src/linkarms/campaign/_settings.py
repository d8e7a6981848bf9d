"""What a campaign is created with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from linkarms._clip import check_clip
from linkarms._validate import check_integer
from linkarms.campaign._limits import LIMITS
from linkarms.campaign._order import check_in_order
from linkarms.clusterer import BanditClusterer
from linkarms.errors import InvalidDump, InvalidInput, TooLarge
from linkarms.sampling import sampling_from_dict

if TYPE_CHECKING:
    from linkarms._validate import CostsLike
    from linkarms.families import FamilyLike
    from linkarms.sampling import SamplingRule
    from linkarms.stopping import StoppingRule

__all__ = ["Settings", "make_clusterer"]


class Settings(TypedDict, total=False):
    """Settings of a campaign: those of `BanditClusterer`, ``clip``, the range to which samples are clipped, and ``in_order``."""

    n_features: int
    family: FamilyLike | None
    delta: float
    sampling: str | SamplingRule
    stopping: StoppingRule | str | None
    seed: int
    max_samples: int | None
    distance_threshold: float | None
    tolerance: float
    costs: CostsLike | None
    clip: tuple[float, float] | None
    in_order: bool


def make_clusterer(
    n_clusters: int | None, arms: Sequence[str], settings: Settings
) -> tuple[BanditClusterer, dict[str, Any]]:
    """Return the clusterer of a new campaign, and what its config holds of the other settings: those that are not the default."""
    given: dict[str, Any] = dict(settings)
    range_given, in_order = given.pop("clip", None), check_in_order(given.pop("in_order", False))
    features = check_integer("n_features", given.get("n_features", 1), 1)
    if features > LIMITS.features:
        raise TooLarge(f"n_features={features} is too many; a campaign takes at most {LIMITS.features}")
    clip = None if range_given is None else check_clip(range_given)
    if clip is not None and given.get("family") is None:
        given["family"] = clip.family(features)
    clusterer = BanditClusterer(n_clusters, arms, **given)
    refuse_unstorable(clusterer, [given.get("sampling"), given.get("stopping")])
    return clusterer, ({} if clip is None else {"clip": clip}) | ({"in_order": True} if in_order else {})


def refuse_unstorable(clusterer: BanditClusterer, rules: Sequence[Any]) -> None:
    """Refuse families and rules that cannot be rebuilt from their names, and rules whose choices depend on more than the log."""
    parts = [part for f in clusterer.families.families for part in getattr(f, "families", [f])]
    own = [x for x in (*parts, *rules) if not type(x).__module__.startswith(("linkarms.", "builtins"))]
    why = f"{type(own[0]).__name__} is a class of your own" if own else None
    try:
        BanditClusterer.load(clusterer.dump())
    except InvalidDump as error:
        why = str(error)
    if why is not None:
        raise InvalidInput(f"a campaign takes only families and rules of linkarms ({why}); use one of those")
    rule = sampling_from_dict(json.loads(clusterer.dump())["sampling"])
    if rule is not None and rule.has_memory:
        raise InvalidInput(
            f"sampling {rule.name!r} keeps state between choices, which the log of a campaign does not hold; use "
            "a rule without state, for example 'ebc-h'"
        )
