"""Our own step under the clock: `Engine.run` over samples that were drawn before."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from linkarms.bench._settings import Setting
from linkarms.engine import Engine
from linkarms.engine._kernels import NEED_SAMPLES, Trials
from linkarms.problem import Problem
from linkarms.sampling import resolve_sampling

__all__ = ["Ours", "Samples"]

#: Numbers kept ahead in all, and samples of one arm: few enough for the caches, enough that no arm runs out in a round.
_NUMBERS, _MOST, _LEAST = 2_000_000, 1024, 16


class Samples:
    """The arms' next samples, one random stream an arm: what an arm gives does not depend on when it is asked."""

    def __init__(self, problem: Problem, seed: int, ahead: int | None = None) -> None:
        self.problem = problem
        n_arms, d = problem.parameters.shape
        self.rngs = [
            np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(m,))) for m in range(n_arms)
        ]
        self.block = max(_LEAST, min(_MOST if ahead is None else ahead, _NUMBERS // (n_arms * d)))
        self.values = np.empty((n_arms, self.block, d))
        self.used = np.full(n_arms, self.block, dtype=np.int64)

    def top_up(self) -> None:
        """Move what is left of each arm's block to its front and draw as many as were used."""
        for m in np.flatnonzero(self.used):
            family, block = self.problem.families[m], self.values[m]
            n = int(self.used[m])
            block[: self.block - n] = block[n:].copy()
            block[self.block - n :] = family.statistics(
                family.draw(self.rngs[m], self.problem.parameters[m], n)
            )
            self.used[m] = 0

    def take(self, m: int) -> NDArray[np.float64]:
        """The next sufficient statistic of arm ``m``."""
        if self.used[m] == self.block:
            self.top_up()
        self.used[m] += 1
        return np.array(self.values[m, self.used[m] - 1])


class Ours:
    """An engine on its way through a seeded trajectory.

    Parameters
    ----------
    setting : Setting
        Problem and stopping rule.
    rule : str
        ``"ebc"`` or ``"ebc-h"``.
    seed : int
        Fixes the samples and EBC's first weights.
    ahead : int, optional
        The most samples of an arm to draw ahead; fewer for a short run.
    """

    def __init__(self, setting: Setting, rule: str, seed: int, ahead: int | None = None) -> None:
        problem = setting.problem
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(problem.n_arms,)))
        sampling = resolve_sampling(rule)
        self.engine = Engine(problem.arm_families, problem.n_clusters, sampling, setting.stopping, 0.1, rng)
        self.samples = Samples(problem, seed, ahead)
        # no level can be reached, so that the run goes on
        self._trials = Trials(
            self.samples.values,
            self.samples.used,
            np.array([math.inf]),
            np.full(1, -1, dtype=np.int64),
            np.full((1, problem.n_arms), -1, dtype=np.int64),
        )

    @property
    def t(self) -> int:
        """Samples taken in so far."""
        return int(self.engine.state.counts.sum())

    def advance(self, steps: int) -> float:
        """Take in so many samples; nanoseconds for each. Samples are drawn outside the clock."""
        goal = self.t + steps
        elapsed = 0
        status = NEED_SAMPLES
        while status == NEED_SAMPLES:
            self.samples.top_up()
            start = time.perf_counter_ns()
            status = self.engine.run(self._trials, goal)
            elapsed += time.perf_counter_ns() - start
        return elapsed / steps

    @property
    def state_bytes(self) -> int:
        """Memory owned by the state."""
        return self.engine.nbytes

    @property
    def costs_evaluated(self) -> int:
        """Pair costs evaluated since the start."""
        return self.engine.costs_evaluated
