"""What a dump holds of a run: how it was made, and the state that is set again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkarms._dump import damage_named, dumped_families, dumped_rule
from linkarms._dump_schema import check_state
from linkarms._schema import Damage
from linkarms.engine import Engine
from linkarms.errors import InvalidInput
from linkarms.families import FamilyLike
from linkarms.sampling import SamplingRule, sampling_from_dict
from linkarms.stopping import StoppingRule, stopping_from_dict

if TYPE_CHECKING:
    from linkarms.clusterer import BanditClusterer

__all__ = ["arguments_of", "restore_engine", "settings_of"]


def settings_of(run: BanditClusterer, sampling: SamplingRule, stopping: StoppingRule) -> dict[str, Any]:
    """Return the settings of a run as plain data; `arguments_of` reads them."""
    if not all(isinstance(a, (str, int, float)) for a in run.arms):
        raise InvalidInput(
            "the arms' names are not all strings or numbers, so they cannot be serialised; rename them"
        )
    settings = {
        "arms": list(run.arms),
        "n_clusters": run.n_clusters,
        **run.goal.settings(),
        "n_features": run.n_features,
        "delta": run.delta,
        "max_samples": run.max_samples,
        "families": run.families.to_list(),
        "sampling": sampling.to_dict(),
        "stopping": stopping.to_dict(),
        "late": run.late,
    }
    return settings if run.costs is None else settings | {"costs": run.costs.tolist()}


def arguments_of(
    data: dict[str, Any],
    family: FamilyLike | None,
    sampling: SamplingRule | None,
    stopping: StoppingRule | None,
) -> dict[str, Any]:
    """Return the arguments that make a run with the settings of a dump; a user's own classes have to be given."""
    return {
        "n_clusters": data["n_clusters"],
        "arms": data["arms"],
        "n_features": data["n_features"],
        "family": dumped_families(data["families"], family),
        "delta": data["delta"],
        "sampling": dumped_rule(data["sampling"], "sampling", sampling, sampling_from_dict),
        "stopping": dumped_rule(data["stopping"], "stopping", stopping, stopping_from_dict),
        "max_samples": data["max_samples"],
        "distance_threshold": data.get("distance_threshold"),
        "tolerance": data.get("tolerance", 0.0),
        "costs": data.get("costs"),
    }


def restore_engine(engine: Engine, snapshot: dict[str, Any]) -> None:
    """Set the state of a run from its snapshot; damage is named."""
    with damage_named():
        check_state(snapshot, engine.families.families, engine.families.n_features)
        engine.restore(snapshot["state"])
        if snapshot["stopped"] and not (engine.ready or engine.trivial):
            raise Damage("run.stopped is true, and some arm has no sample")
        memory = snapshot.get("memory")
        if memory is not None:
            engine.sampling.remember(memory)
