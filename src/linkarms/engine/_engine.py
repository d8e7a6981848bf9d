"""The engine: state, families and rules held together, with `observe`, `choose` and `check`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms.alternatives._cache import COSTS as COUNTED
from linkarms.alternatives._cache import LINK, new_cache
from linkarms.alternatives._search import psi_addresses
from linkarms.engine._kernels import (
    CHECK,
    CHOOSE,
    OBSERVE,
    REFRESH,
    RUN,
    WEIGH,
    Plan,
    Trials,
    engine_kernel,
    no_trials,
)
from linkarms.errors import CallbackError, InvalidInput
from linkarms.families import ArmFamilies
from linkarms.families._model import ScalarModel
from linkarms.families._unknown import KNOWN
from linkarms.sampling import SamplingRule, View
from linkarms.sampling import _kernels as sampling_codes
from linkarms.state import (
    AMBIGUOUS,
    BASE,
    BLOCKER,
    COSTS,
    DISCOUNT,
    EVIDENCE,
    READY,
    SCALE,
    STATISTIC,
    WITNESS,
    W,
    copy_state,
    new_state,
)
from linkarms.stopping import Anytime, Paper, StoppingRule
from linkarms.stopping import _kernels as stopping_codes
from linkarms.stopping._tasks import anytime_address

__all__ = ["Engine"]


class Engine:
    """One run, without names, tickets or budgets: arms are indices, samples are checked by the caller.

    Parameters
    ----------
    families : ArmFamilies
        The families of the M arms.
    n_clusters : int
        K.
    sampling, stopping : SamplingRule, StoppingRule
        The rules; those of the package run compiled, a user's own in Python.
    delta : float
        The promised error probability.
    rng : numpy.random.Generator
        Draws EBC's first weights; afterwards it belongs to the user's rules.
    """

    def __init__(
        self,
        families: ArmFamilies,
        n_clusters: int,
        sampling: SamplingRule,
        stopping: StoppingRule,
        delta: float,
        rng: np.random.Generator,
    ) -> None:
        self.families, self.n_clusters, self.delta, self.rng = families, n_clusters, delta, rng
        self.sampling, self.stopping = sampling, stopping
        sampling.check(families, n_clusters)
        stopping.check(families)
        n_arms, d = families.model.codes.shape
        anytime = stopping if isinstance(stopping, Anytime) else None
        grid = anytime.grid(families) if anytime else np.zeros(0)
        self._discount = anytime.discount if anytime else 1.0
        # (points hold the whole price of an arm)
        points = anytime is not None and isinstance(families.model, ScalarModel) and self._discount == 1.0
        self.state = new_state(n_arms, d, len(grid), points)
        self.state.blocker[SCALE] = len(grid) // 4
        # made by NumPy and not by the compiled function: it asks for large pages, and the kernels walk down columns
        self._cache = new_cache.py_func(n_arms, d, psi_addresses(families.model))  # type: ignore[attr-defined]
        self.state.values[DISCOUNT] = self._discount
        self.state.vectors[W] = sampling.initial_weights(n_arms, rng)
        paper = stopping if isinstance(stopping, Paper) else None
        unknown = int(families.model.address[0, 0]) if families.unknown_variance else KNOWN
        if unknown and not anytime and stopping.code != stopping_codes.USER:
            families.require_known(f"the stopping rule {stopping.name!r}")
        numbers = [
            sampling.number(delta),
            paper.epsilon if paper else 1.0,
            paper.log_volume(families) if paper else 0.0,
            anytime.base(families) if anytime else 0.0,
        ]
        self.plan = Plan(
            np.array([sampling.code, stopping.code, n_clusters, unknown], dtype=np.int64),
            np.array(numbers, dtype=np.float64),
            stopping.box(d),
            sampling.kernel_memory(n_arms, d),
            grid,
            np.array([anytime_address(families.model, self.state) if anytime else 0], dtype=np.int64),
        )
        self._nothing = (np.zeros(d), no_trials(n_arms, d))

    @property
    def compiled(self) -> bool:
        """Both rules are the package's own, and as they should be, so that whole trials can run inside a kernel."""
        own = self.sampling.code == sampling_codes.USER or self.stopping.code == stopping_codes.USER
        return not own and self._discount == 1.0

    @property
    def trivial(self) -> bool:
        """K = 1 or K = M: there is only one partition, and nothing to sample."""
        return self.n_clusters in (1, len(self.state.counts))

    @property
    def ready(self) -> bool:
        """Every arm has a sample."""
        return bool(self.state.info[READY])

    @property
    def ambiguous(self) -> bool:
        """The estimates have equal edges at the cut."""
        return bool(self.state.info[AMBIGUOUS])

    @property
    def nbytes(self) -> int:
        """Memory owned by the state and what is kept of its searches, in bytes."""
        return sum(array.nbytes for array in (*self.state, *self._cache))

    @property
    def costs_evaluated(self) -> int:
        """Pair costs evaluated since this engine was made."""
        return int(self.state.info[COSTS])

    @property
    def witness(self) -> tuple[int, int, int, int] | None:
        """The least certain pair of pairs, by index."""
        if self._anytime:
            self.evidence()
            u, v, a, b = (int(x) for x in self.state.blocker[BLOCKER:])
            return None if u < 0 else (u, v, a, b)
        u, v, a, b = (int(x) for x in self.state.info[WITNESS:COSTS])
        return None if u < 0 else (u, v, a, b)

    @property
    def _anytime(self) -> bool:
        return self.stopping.code == stopping_codes.ANYTIME

    def _call(self, task: int, arm: int = 0, statistic: NDArray[np.float64] | None = None) -> int:
        given = self._nothing[0] if statistic is None else statistic
        return int(
            engine_kernel(
                self.families.model, self.state, self.plan, self._cache, task, arm, given, self._nothing[1], 0
            )
        )

    def run(self, trials: Trials, max_samples: int) -> int:
        """Go on with a whole trial inside the kernel; see `linkarms.engine._kernels.Trials`."""
        model = self.families.model
        status = int(
            engine_kernel(
                model, self.state, self.plan, self._cache, RUN, 0, self._nothing[0], trials, max_samples
            )
        )
        self.families.raise_pending()
        return status

    def view(self) -> View:
        """What rules may look at."""
        return View(self.state, self.families, self.n_clusters, self.delta, self.rng)

    def observe(self, arm: int, statistic: NDArray[np.float64]) -> None:
        """Take in the sufficient statistic of one sample; if a user's function fails, nothing has changed."""
        saved = copy_state(self.state) if self.families.has_callbacks else None
        self._call(OBSERVE, arm, np.ascontiguousarray(statistic))
        try:
            self.families.raise_pending()
        except CallbackError:
            if saved is not None:
                for mine, old in zip(self.state, saved, strict=True):
                    mine[...] = old
                self._forget()
            raise

    def _forget(self) -> None:
        """Take nothing that was kept for granted: the state has been set from outside."""
        self._cache.flags[:, :COUNTED] = 0
        self._cache.levels[:] = -1.0
        self._cache.last[:] = -1
        self._cache.trees[:, LINK] = -1

    def refresh(self) -> None:
        """Bring what depends on counts and means up to date, after they were set from outside."""
        self._forget()
        self._call(REFRESH)
        self.families.raise_pending()

    def choose(self) -> int:
        """The next arm, pending pulls counted as pulls."""
        state = self.state
        n = state.counts + state.pending
        if self.sampling.code != sampling_codes.USER:
            arm = self._call(CHOOSE)
            self.families.raise_pending()
            return arm
        if n.min() == 0 or not self.ready:
            return int(n.argmin())
        arm = self.sampling.choose(self.view())
        if isinstance(arm, bool) or not isinstance(arm, (int, np.integer)) or not 0 <= arm < len(n):
            raise InvalidInput(
                f"{self.sampling.name}.choose returned {arm!r}; it must return an arm's index, 0..{len(n) - 1}"
            )
        return int(arm)

    def evidence(self) -> float:
        """The statistic of the stopping rule; 0 before every arm has a sample."""
        if self.trivial:
            return math.inf
        if not self.ready:
            return 0.0
        if self.stopping.code == stopping_codes.USER:
            return float(self.stopping.statistic(self.view()))
        if self.ambiguous:
            return 0.0
        if self._anytime:
            self._call(WEIGH)
            self.families.raise_pending()
            return float(self.state.values[STATISTIC])
        return float(self.state.values[EVIDENCE])

    def threshold(self, delta: float | None = None) -> float:
        """The level it has to reach; infinite before every arm has a sample."""
        level = self.delta if delta is None else delta
        if self.trivial:
            return -math.log(level)
        if not self.ready:
            return math.inf
        if self.stopping.code == stopping_codes.USER:
            return float(self.stopping.threshold(self.view(), level))
        return float(self.state.values[BASE]) + self.stopping.level(level)

    def check(self, delta: float | None = None) -> bool:
        """Whether the rule stops now."""
        if self.trivial:
            return True
        if not self.ready or (self.ambiguous and not self.stopping.takes_ties):
            return False
        if self._anytime:
            level = self._trial_of(self.stopping.level(self.delta if delta is None else delta))
            model, nothing = self.families.model, self._nothing[0]
            stopped = bool(
                engine_kernel(model, self.state, self.plan, self._cache, CHECK, 0, nothing, level, 0)
            )
            self.families.raise_pending()
            return stopped
        evidence = self.evidence()
        return math.isfinite(evidence) and evidence >= self.threshold(delta)

    def _trial_of(self, level: float) -> Trials:
        """A trial with one level and no samples, to ask about it."""
        return self._nothing[1]._replace(levels=np.array([level]))

    def to_dict(self) -> dict[str, Any]:
        """The state proper, as plain data."""
        state = self.state
        moments = {"moments": state.moments.tolist()} if self.families.unknown_variance else {}
        return {
            **moments,
            "counts": state.counts.tolist(),
            "pending": state.pending.tolist(),
            "means": state.means.tolist(),
            "weights": state.vectors[:2].tolist(),
            "scale": int(state.blocker[SCALE]),
            "rng": self.rng.bit_generator.state,
        }

    def restore(self, data: dict[str, Any]) -> None:
        """Set the state from `to_dict`'s data."""
        state = self.state
        for target, key in ((state.counts, "counts"), (state.pending, "pending"), (state.means, "means")):
            target[...] = np.array(data[key], dtype=target.dtype).reshape(target.shape)
        state.vectors[:2] = np.array(data["weights"], dtype=np.float64).reshape(2, -1)
        state.blocker[SCALE] = data.get("scale", 0)
        if "moments" in data:
            state.moments[...] = np.array(data["moments"], dtype=np.float64)
        self.rng.bit_generator.state = data["rng"]
        self.refresh()
