"""The engine behind the recordings: all that a replay asks of it, so that another engine needs only another file like this one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from tests.recorded import Spec
from tests.recorded.geometric import Geometric

from linkarms._samples import sufficient_statistics
from linkarms.clusterer import BanditClusterer
from linkarms.engine import Engine
from linkarms.families import ArmFamilies, from_dict
from linkarms.sampling import SamplingRule, sampling_from_dict
from linkarms.stopping import Anytime, StoppingRule, stopping_from_dict

__all__ = ["Run", "families_of", "rules_of"]


def families_of(spec: Spec) -> ArmFamilies:
    """The families of the arms."""
    custom = {Geometric.name: Geometric()}
    if isinstance(spec.family, list):
        each = [from_dict(f, custom) for f in spec.family]
    else:
        each = [from_dict(spec.family, custom)] * spec.n_arms
    return ArmFamilies(each, spec.n_features)


def rules_of(spec: Spec) -> tuple[SamplingRule, StoppingRule]:
    """The sampling and the stopping rule."""
    sampling, stopping = sampling_from_dict(spec.sampling), stopping_from_dict(spec.stopping)
    assert sampling is not None
    assert stopping is not None
    return sampling, stopping


class Run:
    """A run from its description: arms are indices, pulls are pending from `pend` until they are observed."""

    def __init__(self, spec: Spec, clusterer: BanditClusterer | None = None) -> None:
        self.spec = spec
        if clusterer is None:
            rng = np.random.default_rng(spec.seed)
            self.families = families_of(spec)
            self._engine = Engine(self.families, spec.n_clusters, *rules_of(spec), spec.delta, rng)
        else:  # look at a run that is under way
            self.families, self._engine = clusterer.families, clusterer._engine

    def choose(self) -> int:
        """The next arm."""
        return self._engine.choose()

    def pend(self, arm: int) -> None:
        """A pull of the arm is under way."""
        self._engine.core.add_pending(arm, 1)

    def observe(self, arm: int, value: NDArray[np.float64]) -> None:
        """Take in one sample, shape (d,)."""
        (statistic,) = sufficient_statistics(self.families, [arm], value[None])
        self._engine.observe(arm, statistic)
        self._engine.core.add_pending(arm, -1 if self._engine.core.pending[arm] else 0)

    @property
    def t(self) -> int:
        """Samples told."""
        return int(self._engine.core.counts.sum())

    @property
    def ready(self) -> bool:
        """Every arm has a sample."""
        return self._engine.ready

    @property
    def psi(self) -> float:
        """psi of the estimates at `weights`."""
        return self._engine.core.psi

    @property
    def kl(self) -> NDArray[np.float64]:
        """KL of each arm in the nearest alternative at `weights`."""
        return self._engine.core.kl.copy()

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights at which psi is taken: pulls, or what the anytime rule makes of them."""
        return self._engine.core.weights.copy()

    @property
    def choice_weights(self) -> NDArray[np.float64]:
        """The same with pending pulls counted as pulls, by which EBC-H chooses."""
        core, stopping = self._engine.core, self._engine.stopping
        c = 0.0
        if isinstance(stopping, Anytime):
            c = stopping.grid(self.families)[core.told().scale]
        told, n = core.counts, self.pulls
        precision = core.weights / (told / (told + c) * told)
        return n / (n + c) * n * precision

    @property
    def pulls(self) -> NDArray[np.int64]:
        """Samples told and pulls under way."""
        return self._engine.core.counts + self._engine.core.pending

    @property
    def tracked(self) -> NDArray[np.float64] | None:
        """The sum of the weights that the rule tracks; None for a rule that tracks none."""
        rule, n = self.spec.sampling["name"], self.spec.n_arms
        if rule == "ebc":
            return self._engine.core.ebc_weight_sum.copy()
        if rule == "atboc":
            return np.array(self._engine.sampling.memory()["total"])
        if rule == "lma":
            memory = self._engine.sampling.memory()
            return np.zeros(n) if memory is None else np.array(memory["sum"])
        return None

    @property
    def bracket(self) -> tuple[float, float]:
        """ATBOC's: psi at its weights, and an upper bound of the maximum."""
        kept = self._engine.core.atboc
        assert kept is not None
        return kept.lower, kept.upper

    @property
    def estimates(self) -> NDArray[np.float64]:
        """Estimates of the parameters, shape (M, d)."""
        return self._engine.core.estimates.copy()

    @property
    def labels(self) -> list[int]:
        """The partition of the estimates."""
        return self._engine.core.labels.tolist()

    def evidence(self) -> float:
        """The statistic of the stopping rule."""
        return self._engine.evidence()

    def threshold(self) -> float:
        """The level that it has to reach."""
        return self._engine.threshold()

    def check(self) -> bool:
        """Whether the rule stops now."""
        return self._engine.check()
