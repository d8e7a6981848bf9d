"""`BanditClusterer`: ask which arm to sample, tell what was measured, stop when the clusters are certain enough."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._answer import make_result
from linkarms._dump import damage_named, read_dump, write_dump
from linkarms._dumped_run import arguments_of, restore_engine, settings_of
from linkarms._goal import check_goal
from linkarms._matched import matched
from linkarms._recorded_loop import Recorded, Source, check_records, looks_of, pull_until_done, run_recorded
from linkarms._samples import check_samples, sufficient_statistics
from linkarms._validate import CostsLike, check_costs, check_count, check_delta, check_integer, check_seed
from linkarms.checks import SampleLog, Told
from linkarms.engine import Engine
from linkarms.errors import FamilySuggestion, InvalidInput, UnknownArm
from linkarms.families import DEFAULT, ArmFamilies, FamilyLike, resolve
from linkarms.families._suggest import FamilyHint
from linkarms.families._unknown import moments_to_rows
from linkarms.problem import arm_names, check_size, find_arm
from linkarms.result import Result
from linkarms.sampling import SamplingRule, resolve_sampling
from linkarms.stopping import StoppingRule, resolve_stopping

__all__ = ["BanditClusterer"]


class BanditClusterer:
    """Groups arms into single-linkage clusters of their parameters, with as few samples as possible.

    What each event does:

    ========================  ===============  ======================  =====================
    event                     pulls (choice)   estimates, evidence     answer
    ========================  ===============  ======================  =====================
    ``ask``: pending          counts           no effect               no effect
    ``tell``                  counts           counts                  may stop the run
    ``release``               no longer        no effect               no effect
    ``tell`` after the stop   no effect        kept in `late`          frozen, no effect
    ========================  ===============  ======================  =====================

    Parameters
    ----------
    n_clusters : int, optional
        K, from 1 to the number of arms. Without it, and without a distance threshold, the run samples for the cut with the largest gap by
        the estimates (`linkarms.linkage.largest_gap`) and stops when that cut is certain: right for its own K, with probability at
        least 1 - delta. It takes at least three arms.
    arms : int or sequence
        How many arms, or their names; at most `linkarms.problem.MAX_ARMS`.
    n_features : int, default 1
        Numbers in one sample.
    family : str, Family or a sequence with one per arm, optional
        The distributions of the samples; see `linkarms.families`. By default ``"gaussian-unknown"``: real numbers of unknown
        variance. Samples that then turn out to be whole numbers get a `linkarms.errors.FamilySuggestion`.
    delta : float, default 0.05
        The promised error probability.
    sampling : str or SamplingRule, default "ebc-h"
        Which arm next; see `linkarms.sampling`.
    stopping : str, StoppingRule or None, default "anytime"
        When to stop; see `linkarms.stopping`. None for the sampling rule's own stop, where it has one.
    seed : int, numpy.random.Generator or None, default 0
        Seed of the rules' own random numbers (EBC's first weights); None for a random seed.
    max_samples : int, optional
        Give up, without a promise, after this many samples.
    distance_threshold : float, optional
        In place of a number of clusters: they are the components of the graph that joins arms closer than this, as in scikit-learn's
        ``AgglomerativeClustering(distance_threshold=r, linkage="single")``. Arms at exactly this distance are not joined, and
        a run on them does not stop without a tolerance.
    tolerance : float, default 0
        Differences of distances below this do not matter. A partition into K clusters is right if no cluster can be split so that all
        pairs cut are longer, by the tolerance or more, than some pair of arms of two clusters; one by a threshold r, if no two arms of two
        clusters are at most r minus the tolerance apart, and no cluster can be split into parts at least r plus the tolerance apart.
        With a tolerance every run ends, even if distances are equal.
    costs : sequence of float or dict, optional
        What a sample of each arm costs, in the order of the arms or by name. Expensive arms are then sampled less; `Result.cost` is
        what the run has cost. For EBC-H and EBC.

    Examples
    --------
    >>> import numpy as np
    >>> import linkarms as la
    >>> rng = np.random.default_rng(1)
    >>> truth = {"ada": 0.0, "ben": 0.4, "cy": 5.0}
    >>> c = la.BanditClusterer(n_clusters=2, arms=list(truth))
    >>> while not c.done:
    ...     for arm in c.ask():
    ...         c.tell(arm, rng.normal(truth[arm]))
    >>> c.result().clusters
    [['ada', 'ben'], ['cy']]
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        arms: int | Sequence[Hashable] | None = None,
        n_features: int = 1,
        family: FamilyLike | None = None,
        delta: float = 0.05,
        sampling: str | SamplingRule = "ebc-h",
        stopping: StoppingRule | str | None = "anytime",
        seed: int | np.random.Generator | None = 0,
        max_samples: int | None = None,
        *,
        distance_threshold: float | None = None,
        tolerance: float = 0.0,
        costs: CostsLike | None = None,
    ) -> None:
        if arms is None:
            raise InvalidInput("arms are missing; give their number, or their names")
        check_size(arms)
        self.arms = arm_names(arms)
        self.goal = check_goal(n_clusters, distance_threshold, tolerance, n_arms=len(self.arms))
        self.n_features = check_integer("n_features", n_features, 1)
        self.delta = check_delta(delta)
        self.max_samples = None if max_samples is None else check_count("max_samples", max_samples)
        self.costs = check_costs(costs, self.arms)
        given = DEFAULT if family is None else family
        self.families: ArmFamilies = resolve(given, len(self.arms), self.n_features)
        rule = resolve_sampling(sampling).fresh()
        self._engine = Engine(
            self.families,
            self.goal,
            rule,
            resolve_stopping(stopping, rule),
            self.delta,
            np.random.default_rng(check_seed(seed)),
            self.costs,
        )
        self._index = {name: m for m, name in enumerate(self.arms)}
        self._stopped = self._engine.trivial
        self._closed: str | None = None
        self._hint = FamilyHint(wanted=family is None)
        self._log = SampleLog(len(self.arms), self.n_features)
        self._records: Told | None = None  # of a table; the checks look at them instead of the log
        self.features: tuple[str, ...] | None = None
        #: Samples told after the stop, as (arm, numbers): kept, and without influence on the answer.
        self.late: list[tuple[Hashable, list[float]]] = []

    @property
    def n_clusters(self) -> int | None:
        """K as it was given; None under a distance threshold and for the largest gap."""
        return self.goal.n_clusters

    @property
    def distance_threshold(self) -> float | None:
        """Arms closer than this are joined; None where K is fixed."""
        return self.goal.distance_threshold

    @property
    def tolerance(self) -> float:
        """Differences of distances below this do not matter."""
        return self.goal.tolerance

    @property
    def n_samples(self) -> int:
        """Samples told, without late ones."""
        return int(self._engine.core.counts.sum())

    @property
    def means(self) -> NDArray[np.float64]:
        """Means of the arms' sufficient statistics, shape (M, d), not clipped; 0 without a sample."""
        return self._engine.core.means.copy()

    @property
    def moments(self) -> NDArray[np.float64]:
        """What is kept of the samples of arms of unknown variance, shape (M, 4 + d); zeros for others."""
        rows = moments_to_rows(self._engine.core.told().moments)
        return rows if rows.size else np.zeros((len(self.arms), 4 + self.n_features))

    @property
    def pending(self) -> dict[Hashable, int]:
        """Pulls asked for and neither told nor released, by arm."""
        return {name: int(n) for name, n in zip(self.arms, self._engine.core.pending, strict=True) if n}

    @property
    def done(self) -> bool:
        """Whether there is nothing more to ask: the rule stopped, the budget is used up, or the run was closed."""
        return self._stopped or self._closed is not None or self._budget_left(pending=False) == 0

    def _budget_left(self, pending: bool) -> int | None:
        if self.max_samples is None:
            return None
        used = self.n_samples + (int(self._engine.core.pending.sum()) if pending else 0)
        return max(self.max_samples - used, 0)

    def ask(self, n: int = 1) -> list[Hashable]:
        """Return the next ``n`` arms to sample, an arm perhaps several times; fewer when the budget runs out, none once done.

        They are pending until told or released: they count in the choice of arms, so a batch spreads out, never in the decision to stop.
        """
        wanted, core = check_count("n", n), self._engine.core
        if self.done:
            return []
        left = self._budget_left(pending=True)
        before = core.pending.copy()
        chosen: list[Hashable] = []
        try:
            for _ in range(wanted if left is None else min(wanted, left)):
                m = self._engine.choose()
                core.add_pending(m, 1)
                chosen.append(self.arms[m])
        except BaseException:
            core.set_pending(before)
            raise
        return chosen

    def tell(self, arm: Hashable, value: ArrayLike) -> None:
        """Report one sample of an arm: a number, or ``n_features`` numbers.

        Samples may come in any order, and for arms that were not asked for (such as earlier measurements), as long as
        neither whether nor when they are reported depends on their values.
        """
        self.tell_many([arm], [value])

    def tell_many(self, arms: Iterable[Hashable], values: Iterable[ArrayLike]) -> None:
        """Report several samples, in this order. If one is refused, none is counted."""
        names = list(arms)
        indices, samples = self.check_samples(names, values)
        text = self._hint.look(samples, self._engine.core.counts)
        if text is not None:
            warnings.warn(text, FamilySuggestion, stacklevel=3)
        statistics = sufficient_statistics(self.families, indices, samples)
        rows = list(zip(indices, names, samples, statistics, strict=True))
        if len(rows) == 1 or (self._engine.compiled and not self.families.has_callbacks):
            for row in rows:
                self._take_in(*row)
            return
        # a user's own rule or family may raise in the middle of a batch
        saved, late, stopped = self._engine.core.save(), list(self.late), self._stopped
        logged = self._log.lengths()
        try:
            for row in rows:
                self._take_in(*row)
        except BaseException:
            self._engine.core.restore(saved)
            self.late, self._stopped = late, stopped
            self._log.cut(logged)
            raise

    def check_samples(
        self, arms: Iterable[Hashable], values: Iterable[ArrayLike]
    ) -> tuple[list[int], NDArray[np.float64]]:
        """Return the indices of the arms and the samples, shape (n, d), as `tell_many` would count them; or raise its error."""
        names, raw = list(arms), list(values)
        if len(names) != len(raw):
            raise InvalidInput(
                f"there are {len(names)} arms and {len(raw)} values; give one value for each arm"
            )
        indices = [find_arm(self._index, name) for name in names]
        return indices, check_samples(self.families, indices, names, raw)

    def _take_in(
        self, m: int, name: Hashable, value: NDArray[np.float64], statistic: NDArray[np.float64]
    ) -> None:
        engine = self._engine
        if self.done:
            self.late.append((name, value.tolist()))
            self._settle(m)
            return
        saved = None if engine.compiled and not self.families.has_callbacks else engine.core.save()
        try:
            engine.observe(m, statistic)
            self._stopped = engine.check()
        except BaseException:
            if saved is not None:
                engine.core.restore(saved)
            raise
        self._log.add(m, value)
        self._settle(m)

    def _settle(self, m: int) -> None:
        """Count one pending pull of arm ``m`` as made, if there is one."""
        if self._engine.core.pending[m] > 0:
            self._engine.core.add_pending(m, -1)

    def release(self, arm: Hashable) -> None:
        """Give back a pending pull that will not be told."""
        m = find_arm(self._index, arm)
        if self._engine.core.pending[m] == 0:
            raise UnknownArm(
                f"arm {arm!r} has no pending pull to release; pending are {self.pending or 'none'}"
            )
        self._engine.core.add_pending(m, -1)

    def close(self, reason: str) -> None:
        """End the run without a promise, for a reason that the result will name (for example, an arm that is out of samples)."""
        if not self.done:
            self._closed = str(reason)

    def fit(
        self, source: Source, callback: Callable[[BanditClusterer], None] | None = None
    ) -> BanditClusterer:
        """Pull arms of ``source`` one at a time until done; ``callback(self)`` is called after every sample.

        Parameters
        ----------
        source : ArmSource
            Something with ``pull(index)``; see `linkarms.arms`. Its arms are found by their names, in any order; by their positions where
            the run was given the number of arms.
        callback : callable, optional
            For progress views. A callback with an attribute ``next_look`` is called only when the run has that many samples, and at its
            end; recorded arms then run inside the core.
        """
        if not hasattr(source, "pull"):
            raise InvalidInput(
                f"fit takes a source of samples, not a {type(source).__name__}; call linkarms.cluster with it, "
                "or fit(linkarms.arms.make_source(...))"
            )
        source = matched(self, source)
        if isinstance(source, Recorded):
            check_records(self._engine, source)
            self._records = Told(source.records, resampled=source.replace)
            native = self._engine.compiled and not self.families.has_callbacks and not self.pending
            if native and not self.done and (callback is None or hasattr(callback, "next_look")):
                self._stopped = run_recorded(self._engine, source, self.max_samples, looks_of(callback, self))
                if callback is not None:
                    callback(self)
        pull_until_done(self, source, callback)
        return self

    def evidence_and_threshold(self) -> tuple[float, float]:
        """Return the statistic of the stopping rule and the level it has to reach (0 and infinite before every arm has a sample)."""
        return self._engine.evidence(), self._engine.threshold()

    def result(self) -> Result:
        """Return the current clusters; `Result.stopped` and `Result.reason` say whether the promise holds."""
        told = self._log.told() if self._records is None else self._records
        ended = self._stopped, self._ending()
        return make_result(self._engine, self.arms, self.delta, *ended, told=told, features=self.features)

    def _ending(self) -> str | None:
        """Why the run ended without a stop; None if it did not."""
        if self._stopped or not self.done:
            return None
        return f"max_samples={self.max_samples} is used up" if self._closed is None else self._closed

    def dump(self) -> str:
        """Return the whole run as versioned plain JSON, from which `load` continues exactly."""
        return write_dump(settings_of(self, self._engine.sampling, self._engine.stopping) | self.snapshot())

    def snapshot(self) -> dict[str, Any]:
        """Return the part of a dump that changes during the run, without late samples, for `restore`."""
        snapshot = {"stopped": self._stopped, "closed": self._closed, "state": self._engine.to_dict()}
        memory = self._engine.sampling.memory()
        return snapshot if memory is None else snapshot | {"memory": memory}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Continue from a `snapshot` of the same run."""
        restore_engine(self._engine, snapshot)
        self._stopped, self._closed = snapshot["stopped"], snapshot["closed"]

    def __copy__(self) -> BanditClusterer:
        return deepcopy(self)  # runs share nothing

    def set_pending(self, pulls: Sequence[int]) -> None:
        """Set how many pulls of each arm are under way, for callers that track them themselves."""
        self._engine.core.set_pending(np.asarray(pulls, dtype=np.int64))

    @classmethod
    def load(
        cls,
        blob: str,
        family: FamilyLike | None = None,
        sampling: SamplingRule | None = None,
        stopping: StoppingRule | None = None,
    ) -> BanditClusterer:
        """Return the run that `dump` wrote; it continues as if it had never been interrupted (but see docs/files-and-resume.md).

        Parameters
        ----------
        blob : str
            What `dump` returned.
        family, sampling, stopping : optional
            Your own classes, which a dump names but does not contain.
        """
        data = read_dump(blob)
        with damage_named():
            self = cls(**arguments_of(data, family, sampling, stopping))
            self.restore(data)
            self.late = [(name, list(value)) for name, value in data["late"]]
        return self

    def _repr_html_(self) -> str:
        from linkarms.notebook import clusterer_html

        return clusterer_html(self)

    def __repr__(self) -> str:
        return (
            f"BanditClusterer({len(self.arms)} arms, {self.goal}, delta={self.delta:g}, "
            f"{self.n_samples} samples, {'done' if self.done else 'running'})"
        )
