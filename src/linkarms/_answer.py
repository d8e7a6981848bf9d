"""The answer of a run: what its engine knows, under the names of the arms, and what can be said for it."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from linkarms._cuts import later_cuts
from linkarms._silent import silent_arms, silent_in_words
from linkarms._ties import nearest_tie, tie_in_words
from linkarms._witness import name_witness
from linkarms._words import plural
from linkarms.checks import ModelFit, Told
from linkarms.engine import Engine
from linkarms.families._unknown import moments_to_rows
from linkarms.regions import Intervals
from linkarms.result import Result, Tie, would_stop_at

__all__ = ["make_result"]


def make_result(
    engine: Engine,
    arms: tuple[Hashable, ...],
    delta: float,
    stopped: bool,
    ending: str | None,
    *,
    told: Told,
    features: tuple[str, ...] | None,
) -> Result:
    """The clusters as an engine knows them now.

    Parameters
    ----------
    engine : Engine
        The run.
    arms : tuple
        Names of the arms.
    delta : float
        The promised error probability.
    stopped : bool
        The rule stopped, so the promise holds.
    ending : str or None
        Why the run ended otherwise, if it did.
    told : Told
        The samples, for the checks of the model.
    features : tuple of str or None
        Names of the coordinates.
    """
    core, n_arms, k = engine.core, len(arms), engine.goal.n_clusters
    sampled = core.counts > 0
    parameters: NDArray[np.float64] = core.estimates.copy()
    if not sampled.all():
        parameters = np.ma.masked_array(
            parameters, mask=np.repeat(~sampled[:, None], parameters.shape[1], axis=1)
        )
    if engine.trivial:
        labels = np.arange(n_arms) if k == n_arms else np.zeros(n_arms, np.int64)
    else:
        labels = core.labels.copy() if engine.ready else np.full(n_arms, -1)
    indices = engine.witness if engine.ready and not engine.trivial else None
    witness = None if indices is None else name_witness(indices, arms)
    moments = moments_to_rows(core.told().moments) if engine.families.unknown_variance else None
    silent = [] if stopped else silent_arms(engine, moments, ended=ending is not None)
    tie = None if stopped or silent else nearest_tie(engine, arms)
    why = silent_in_words(silent, arms, features, engine.families.n_features) if silent else None
    return Result(
        labels=labels.astype(np.int64),
        arms=arms,
        stopped=stopped,
        delta=delta,
        samples=int(core.counts.sum()),
        pulls=core.counts.copy(),
        parameters=parameters,
        evidence=engine.evidence(),
        threshold=engine.threshold(),
        witness=witness,
        reason=_reason(engine, arms, delta, stopped, ending, tie, why),
        ambiguous=engine.ambiguous,
        error_bound=engine.error_bound(),
        fit=ModelFit(engine.families, arms, told),
        regions=_regions(engine, delta, moments),
        features=features,
        distance_threshold=engine.goal.distance_threshold,
        tolerance=engine.goal.tolerance,
        costs=engine.costs,
        tie=tie,
        later_cuts=later_cuts(engine, delta),
    )


def _regions(engine: Engine, delta: float, moments: NDArray[np.float64] | None) -> Intervals | None:
    """The confidence intervals of the arms; None for a user's own family."""
    core, families = engine.core, engine.families
    if families.has_callbacks:
        return None
    return Intervals(families, core.counts.copy(), core.means.copy(), core.estimates.copy(), delta, moments)


def _reason(
    engine: Engine,
    arms: tuple[Hashable, ...],
    delta: float,
    stopped: bool,
    ending: str | None,
    tie: Tie | None,
    why: str | None,
) -> str:
    """Whether the promise holds, and why or why not; ``why`` is already known where some arms give no evidence."""
    if engine.trivial:
        have = "has" if len(arms) == 1 else "have"
        into = plural(engine.goal.n_clusters or 1, "cluster")
        return f"{plural(len(arms), 'arm')} {have} only one partition into {into}: no samples were needed"
    if stopped:
        spare = engine.goal.tolerance
        words = f"; differences of distances below {spare:g} are taken for equal" if spare else ""
        which = (
            f"the largest gap is at {plural(engine.n_clusters, 'cluster')}, and "
            if engine.goal.largest_gap
            else ""
        )
        return f"stopped: {which}{engine.stopping.promise(delta)}{words}"
    missing = [name for name, n in zip(arms, engine.core.counts, strict=True) if n == 0]
    start = "no promise yet: still running" if ending is None else f"no promise: {ending}"
    if missing:
        return f"{start}; {len(missing)} arm(s) have no sample, the first is {missing[0]!r}"
    if why is None and engine.ambiguous and engine.goal.tolerance == 0.0:
        equal = (
            "equal edges at the cut"
            if engine.goal.distance_threshold is None
            else "a distance equal to the threshold"
        )
        return f"{start}; the estimates have {equal}, so their partition is not unique"
    bound = engine.error_bound()
    if ending is not None and bound is not None:
        start += f"; {would_stop_at(bound, ended=True)}"
    why = why or engine.stopping.diagnose(engine.view())
    if why is None and tie is not None:
        why = tie_in_words(engine, tie, ended=ending is not None)
    return start if why is None else f"{start}; {why}"
