"""`cluster`: the whole loop in one call, over anything that gives samples."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkarms._clip import check_clip
from linkarms._progress import Progress
from linkarms._spread import refuse_without_spread
from linkarms._validate import CostsLike, check_seed
from linkarms.arms import RecordedArms, make_source
from linkarms.arms._base import SeedLike
from linkarms.arms._columns import Column, Columns
from linkarms.clusterer import BanditClusterer
from linkarms.errors import ArmExhausted, FamilySuggestion
from linkarms.families import DEFAULT, FamilyLike, suggestion
from linkarms.problem import Problem, check_size
from linkarms.result import Result
from linkarms.sampling import SamplingRule
from linkarms.stopping import StoppingRule

__all__ = ["DEFAULT_BUDGET", "cluster"]

#: Samples after which `cluster` and the command line give up, unless told otherwise.
DEFAULT_BUDGET = 1_000_000


def cluster(
    arms: Any,
    n_clusters: int | None = None,
    *,
    delta: float = 0.05,
    family: FamilyLike | None = None,
    sampling: str | SamplingRule = "ebc-h",
    stopping: StoppingRule | str | None = "anytime",
    seed: SeedLike = 0,
    max_samples: int | None = DEFAULT_BUDGET,
    costs: CostsLike | None = None,
    replace: bool = True,
    arm: Column | None = None,
    value: Columns | None = None,
    wide: bool = False,
    drop_missing: bool = False,
    clip: tuple[float, float] | None = None,
    progress: bool = False,
    callback: Callable[[BanditClusterer], None] | None = None,
    distance_threshold: float | None = None,
    tolerance: float | None = None,
) -> Result:
    """Cluster arms that can be sampled at once: callables, recorded samples, simulated arms.

    Parameters
    ----------
    arms : Problem, dict or list of callables, dict or list of arrays, array, data frame, path, or ArmSource
        Where samples come from. A dict or list of arrays (samples of shape (n,) or (n, d)), an array of shape (arms, samples) or (arms,
        samples, d), a pandas, polars or pyarrow frame and a file (CSV, JSON lines, Parquet, Excel; see `linkarms.arms.read_table`) hold
        recorded samples, of which one is drawn at each pull. A callable returns one sample.
    n_clusters : int, optional
        K; a Problem has its own. Without it, and without a distance threshold: the cut with the largest gap, as in `BanditClusterer`.
    delta : float, default 0.05
        The promised error probability.
    family : str, Family or a sequence with one per arm, optional
        The distributions of the samples; a Problem has its own. By default ``"gaussian-unknown"``: real numbers of unknown
        variance. Samples that are whole numbers get a `linkarms.errors.FamilySuggestion`.
    max_samples : int or None, default 1,000,000
        Give up, without a promise, after so many samples: with tied parameters, or nearly tied ones, a run might never end. None
        for no limit.
    sampling, stopping, seed, costs
        As in `BanditClusterer`; the seed also draws the recorded or simulated samples. None draws a random seed.
    replace : bool, default True
        Draw recorded samples with replacement. Without, a run ends, with no promise, when it needs more of an arm than there are.
        Either way the promise is about the distributions that the records came from only if the records are as good as fresh
        samples; with replacement it is about the records themselves.
    arm, value : str or int, and one or a list of them
        Columns of a data frame or file: the arm's name, and the sample's number or numbers.
    wide : bool, default False
        The frame or file has one column per arm; ``value`` may name which.
    drop_missing : bool, default False
        Leave out recorded samples with a number that is missing or not finite; otherwise they are refused.
    clip : tuple of float, optional
        Move samples below the first number up to it, and those above the second down to it. The clusters are then those of the clipped
        means, the result says so, and the default family is ``bounded``, which assumes nothing but the range. Use it if there are rare,
        extreme samples.
    progress : bool, default False
        Show progress on stderr.
    callback : callable, optional
        ``callback(clusterer)`` after every sample.
    distance_threshold, tolerance : float, optional
        As in `BanditClusterer`; a Problem has its own.

    Returns
    -------
    Result

    Examples
    --------
    >>> import linkarms as la
    >>> r = la.cluster(la.problems.synthetic1(), delta=0.05, seed=3)
    >>> r.stopped, r.labels.tolist()
    (True, [0, 0, 1, 1, 2, 2])
    """
    if isinstance(arms, (Mapping, list, tuple)):
        check_size(arms)
    seed = check_seed(seed)
    source = make_source(
        arms,
        arm=arm,
        value=value,
        wide=wide,
        replace=replace,
        drop_missing=drop_missing,
        clip=clip,
        seed=seed,
    )
    if isinstance(arms, Problem):
        family = arms.family if family is None else family
        if n_clusters is None and distance_threshold is None:
            n_clusters, distance_threshold = arms.goal.n_clusters, arms.goal.distance_threshold
        tolerance = arms.tolerance if tolerance is None else tolerance
        costs = arms.costs if costs is None else costs
    if family is None and clip is not None:
        family = check_clip(clip).family(source.n_features)
    if family is None and isinstance(source, RecordedArms):
        text = suggestion(np.concatenate(source.records))
        if text is not None:
            warnings.warn(text, FamilySuggestion, stacklevel=2)
        family = DEFAULT
    clusterer = BanditClusterer(
        n_clusters,
        list(source.names),
        n_features=source.n_features,
        family=family,
        delta=delta,
        sampling=sampling,
        stopping=stopping,
        seed=seed,
        max_samples=max_samples,
        distance_threshold=distance_threshold,
        tolerance=0.0 if tolerance is None else tolerance,
        costs=costs,
    )
    clusterer.features = source.features
    if isinstance(source, RecordedArms) and clusterer.families.unknown_variance and not clusterer.done:
        refuse_without_spread(source, clusterer.families)
    with Progress("clustering", enabled=progress) as bar:
        watch = _ProgressWatch(bar) if progress else None
        after_each: Callable[[BanditClusterer], None] | None = callback if watch is None else watch
        if watch is not None and callback is not None:
            shown, asked = watch, callback

            def after_each(c: BanditClusterer) -> None:
                shown(c)
                asked(c)

        try:
            clusterer.fit(source, after_each)
        except ArmExhausted as error:
            clusterer.close(str(error))
    result = clusterer.result()
    if clip is not None:
        result = dataclasses.replace(result, reason=f"{result.reason}; {check_clip(clip).remark}")
    return result


class _ProgressWatch:
    """A callback that shows the evidence, each time the number of samples has grown by one percent."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self.next_look = 1

    def __call__(self, c: BanditClusterer) -> None:
        if c.n_samples < self.next_look:
            return
        self.next_look = c.n_samples + 1 + c.n_samples // 100
        evidence, threshold = c.evidence_and_threshold()
        share = evidence / threshold if threshold > 0.0 else 0.0
        self._bar.update(share, f"{c.n_samples} samples, evidence {evidence:.1f} of {threshold:.1f}")
