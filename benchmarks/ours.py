"""Our own step under the clock: whole stretches of a run inside the core, over samples that were drawn before."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import nanoseconds
from benchmarks.settings import Setting
from linkarms.engine import Engine
from linkarms.problem import Problem
from linkarms.sampling import resolve_sampling

__all__ = ["Ours", "Samples"]

#: Numbers kept ahead in all, and samples of one arm: few enough for the caches, enough that no arm runs out in a round.
_NUMBERS, _MOST, _LEAST = 2_000_000, 1024, 16


class Samples:
    """The arms' next samples, one random stream per arm: what an arm gives does not depend on when it is asked."""

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
        """Return the next sufficient statistic of arm ``m``."""
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
        # a level that cannot be reached, so that the run goes on
        self.levels, self.stopped_at = np.array([math.inf]), np.full(1, -1, dtype=np.int64)
        self.labels_then = np.full((1, problem.n_arms), -1, dtype=np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the samples taken in so far, arm by arm."""
        return self.engine.core.counts

    @property
    def t(self) -> int:
        """Return how many samples have been taken in so far."""
        return int(self.counts.sum())

    def go_on(self, goal: int) -> bool:
        """Run until there are ``goal`` samples or an arm has none left; return whether it has to be called again."""
        outcome = self.engine.core.run(
            self.samples.values, self.samples.used, self.levels, self.stopped_at, self.labels_then, goal
        )
        return outcome.ending == "need_samples"

    def advance(self, steps: int) -> float:
        """Take in so many samples; return nanoseconds per sample. Samples are drawn outside the clock."""
        goal, elapsed, again = self.t + steps, 0, True
        while again:
            self.samples.top_up()
            start = nanoseconds()
            again = self.go_on(goal)
            elapsed += nanoseconds() - start
        return elapsed / steps

    @property
    def labels(self) -> NDArray[np.int64]:
        """Return the clusters of the estimates."""
        return self.engine.core.labels

    @property
    def state_bytes(self) -> int:
        """Return the memory that the run holds."""
        return self.engine.core.nbytes

    @property
    def costs_evaluated(self) -> int:
        """Return the pair costs evaluated since the start."""
        return self.engine.core.costs_evaluated
