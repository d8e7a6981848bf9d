"""The engine: families and rules held together over one run of the native core, with `observe`, `choose` and `check`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms._goal import Goal
from linkarms.errors import CallbackError, InvalidInput
from linkarms.families import ArmFamilies
from linkarms.families._unknown import moments_from_rows, moments_to_rows
from linkarms.sampling import SamplingRule, View
from linkarms.stopping import StoppingRule

__all__ = ["Engine"]


class Engine:
    """One run, without names, tickets or budgets: arms are indices, samples are checked by the caller.

    Parameters
    ----------
    families : ArmFamilies
        The families of the M arms.
    goal : int or Goal
        What is asked for; a number is K.
    sampling, stopping : SamplingRule, StoppingRule
        The rules; the core runs those of the package, a user's own are asked in Python.
    delta : float
        The promised error probability.
    rng : numpy.random.Generator
        Draws EBC's first weights; afterwards it belongs to the user's rules.
    costs : ndarray, shape (M,), optional
        What a sample of each arm costs; all the same by default.

    Attributes
    ----------
    core : linkarms._core.Engine
        The run inside the native core.
    """

    def __init__(
        self,
        families: ArmFamilies,
        goal: int | Goal,
        sampling: SamplingRule,
        stopping: StoppingRule,
        delta: float,
        rng: np.random.Generator,
        costs: NDArray[np.float64] | None = None,
    ) -> None:
        self.goal = goal if isinstance(goal, Goal) else Goal(goal)
        self.families, self.delta, self.rng = families, delta, rng
        self.costs = costs
        self.sampling, self.stopping = sampling, stopping
        if not self.goal.is_fixed:
            for rule in (sampling, stopping):
                if rule.needs_fixed_clusters:
                    raise InvalidInput(
                        f"the rule {rule.name!r} needs n_clusters and no tolerance; give another rule, for example 'ebc-h' or 'anytime'"
                    )
        if self.goal.n_clusters is not None:
            sampling.check(families, self.goal.n_clusters)
        stopping.check(families)
        self._native_sampling, self._native_stopping = sampling.native(delta), stopping.native(families)
        self._anytime = isinstance(self._native_stopping, _core.AnytimeStop)
        if families.unknown_variance and self._native_stopping is not None and not self._anytime:
            families.require_known(f"the stopping rule {stopping.name!r}")
        box, weights = (
            stopping.box(families.n_features),
            sampling.initial_weights(len(families.families), rng),
        )
        try:
            self.core = _core.Engine(
                families.model,
                self.goal.task(),
                sampling=self._native_sampling,
                stopping=self._native_stopping,
                box=box,
                weights=weights,
            )
        except ValueError as error:  # no certified solver for these families and this goal
            raise InvalidInput(str(error)) from error
        if costs is not None:
            if not sampling.takes_costs:
                raise InvalidInput(f"sampling {sampling.name!r} does not take costs; use 'ebc-h' or 'ebc'")
            self.core.set_sample_costs(costs.tolist())
        sampling.attach(self.core)

    def __reduce__(self) -> tuple[Any, ...]:
        # the core is made again and told what it was told: it may hold functions of this process
        made = (self.families, self.goal, self.sampling, self.stopping, self.delta, self.rng, self.costs)
        return Engine, made, {"state": self.to_dict(), "memory": self.sampling.memory()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.restore(kept["state"])
        if kept["memory"] is not None:
            self.sampling.remember(kept["memory"])

    @property
    def compiled(self) -> bool:
        """Return whether both rules run inside the core, so that whole trials can."""
        return self._native_sampling is not None and self._native_stopping is not None

    @property
    def trivial(self) -> bool:
        """Return whether there is only one possible answer (K = 1 or K = M), and nothing to sample."""
        return self.goal.is_trivial(len(self.families.families))

    @property
    def n_clusters(self) -> int:
        """Return K; where it was not given, the number of clusters of the estimates, 0 before every arm has a sample."""
        if self.goal.n_clusters is not None:
            return self.goal.n_clusters
        return int(self.core.labels.max()) + 1

    @property
    def n_arms(self) -> int:
        """Return M."""
        return len(self.families.families)

    @property
    def ready(self) -> bool:
        """Return whether every arm has a sample."""
        return self.core.ready

    @property
    def ambiguous(self) -> bool:
        """Return whether the estimates have equal edges at the cut."""
        return self.core.ambiguous

    @property
    def witness(self) -> tuple[int, int, int, int] | None:
        """Return the least certain pair of pairs, by index; -1 for the arms of a pair that is missing."""
        return self.core.witness()

    def view(self) -> View:
        """Return what rules may look at."""
        return View(self.core, self.families, self.goal, self.delta, self.rng, self.costs)

    def observe(self, arm: int, statistic: NDArray[np.float64]) -> None:
        """Take in the sufficient statistic of one sample; if a user's function fails, nothing has changed."""
        self.core.observe(arm, np.ascontiguousarray(statistic))

    def choose(self) -> int:
        """Return the next arm, pending pulls counted as pulls."""
        if self._native_sampling is not None:
            return self.core.choose()
        n = self.core.counts + self.core.pending
        if n.min() == 0 or not self.ready:
            return int(n.argmin())
        arm = self.sampling.choose(self.view())
        if isinstance(arm, bool) or not isinstance(arm, (int, np.integer)) or not 0 <= arm < len(n):
            raise InvalidInput(
                f"{self.sampling.name}.choose returned {arm!r}; it must return an arm's index, 0..{len(n) - 1}"
            )
        return int(arm)

    def evidence(self) -> float:
        """Return the statistic of the stopping rule; 0 before every arm has a sample."""
        if self.trivial:
            return math.inf
        if not self.ready:
            return 0.0
        if self._native_stopping is None:
            return self._number("statistic", self.stopping.statistic(self.view()))
        return self.core.evidence(self.stopping.level(self.delta))

    def threshold(self, delta: float | None = None) -> float:
        """Return the level it has to reach; infinite before every arm has a sample."""
        level = self.delta if delta is None else delta
        if self.trivial:
            return -math.log(level)
        if not self.ready:
            return math.inf
        if self._native_stopping is None:
            return self._number("threshold", self.stopping.threshold(self.view(), level))
        return self.core.threshold_base + self.stopping.level(level)

    def _number(self, what: str, returned: float) -> float:
        """What a user's own stopping rule returned; NaN is refused."""
        value = float(returned)
        if math.isnan(value):
            raise CallbackError(
                f"{type(self.stopping).__name__}.{what} returned nan after {int(self.core.counts.sum())} samples; "
                "it must return a number; correct the rule"
            )
        return value

    def check(self, delta: float | None = None) -> bool:
        """Return whether the rule stops now."""
        if self.trivial:
            return True
        takes_ties = self.stopping.takes_ties or self.goal.tolerance > 0.0
        if not self.ready or (self.ambiguous and not takes_ties):
            return False
        if self._native_stopping is not None:
            return self.core.check(self.stopping.level(self.delta if delta is None else delta))
        evidence = self.evidence()
        return math.isfinite(evidence) and evidence >= self.threshold(delta)

    def error_bound(self) -> float | None:
        """Return the smallest delta at which the rule would stop now (math.md 9), 1 if none; None for a rule asked in Python."""
        if self.trivial:
            return 0.0
        if self._native_stopping is None:
            return None
        if not self.ready or (self.ambiguous and self.goal.tolerance == 0.0):
            return 1.0
        return self.stopping.delta_at(self.evidence() - self.threshold(1.0))

    def to_dict(self) -> dict[str, Any]:
        """Return all that a dump holds, as plain data: the rest is a pure function of it."""
        told = self.core.told()
        moments = (
            {"moments": moments_to_rows(told.moments).tolist()} if self.families.unknown_variance else {}
        )
        knots = {"knots": [[list(knot) for knot in own] for own in told.knots]} if told.knots else {}
        return {
            **moments,
            **knots,
            "counts": told.counts,
            "pending": told.pending,
            "means": told.means.tolist(),
            "weights": [told.weights, told.weight_sum],
            "scale": told.scale,
            "rng": self.rng.bit_generator.state,
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Set the state from the data of `to_dict`."""
        shape = self.core.means.shape
        weights, weight_sum = np.array(data["weights"], dtype=np.float64).reshape(2, -1).tolist()
        told = _core.Told(
            counts=data["counts"],
            pending=data["pending"],
            means=np.array(data["means"], dtype=np.float64).reshape(shape),
            moments=moments_from_rows(np.array(data["moments"], dtype=np.float64), shape[1])
            if "moments" in data
            else [],
            knots=data.get("knots", []),
            weights=weights,
            weight_sum=weight_sum,
            scale=int(data.get("scale", 0)),
        )
        self.core.set_told(told)
        self.rng.bit_generator.state = data["rng"]
