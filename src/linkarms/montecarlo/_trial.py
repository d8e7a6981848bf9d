"""One seeded trial: compiled where both rules are the package's own, a Python loop otherwise."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from threading import Event
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from linkarms.engine import Engine
from linkarms.errors import InvalidInput
from linkarms.montecarlo._failure import in_words
from linkarms.problem import Problem
from linkarms.sampling import EBC, EBCH, RoundRobin, SamplingRule
from linkarms.stopping import Anytime, StoppingRule

__all__ = ["BLOCK", "Halted", "Trial", "run_trial"]

#: Samples drawn at a time. Another number gives other samples for the same seed.
BLOCK = 256
Rule = TypeVar("Rule", SamplingRule, StoppingRule)


class Halted(Exception):
    """The caller does not need the rest of this trial."""


@dataclass(frozen=True)
class Trial:
    """Stopping time (-1: none) and correctness for each delta; samples drawn and seconds of the processor spent.

    Where the arms have costs: the cost at the stop for each delta, -1 where there was none.
    """

    stopped_at: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    samples: int
    seconds: float
    costs: NDArray[np.float64] | None = None


class _Streams:
    """The samples of the arms, in blocks: one random stream per arm, so all rules see the same samples."""

    def __init__(self, problem: Problem, seeds: list[np.random.SeedSequence]) -> None:
        self.problem = problem
        self.rngs = [np.random.default_rng(s) for s in seeds]
        self.samples = np.empty((problem.n_arms, BLOCK, problem.n_features))
        self.used = np.full(problem.n_arms, BLOCK, dtype=np.int64)

    def refill(self) -> None:
        for m in np.flatnonzero(self.used >= BLOCK):
            family = self.problem.families[m]
            drawn = family.draw(self.rngs[m], self.problem.parameters[m], BLOCK)
            self.samples[m] = family.statistics(drawn)
            self.used[m] = 0


#: Rules that do not change during a trial, so a trial needs no copy. A user's subclass may have state.
_UNCHANGING = (EBC, EBCH, RoundRobin, Anytime)


def _own(rule: Rule) -> Rule:
    """Return a copy for this trial: the state of a user's rule must not depend on earlier trials."""
    if type(rule) in _UNCHANGING:
        return rule
    try:
        return copy.deepcopy(rule)
    except Exception as error:
        raise InvalidInput(
            f"the rule {rule.name!r} cannot be copied for each trial ({in_words(error)}); keep no open files, "
            "locks or the like in it"
        ) from error


def _stop_if(halt: Event | None) -> None:
    if halt is not None and halt.is_set():
        raise Halted


def run_trial(
    problem: Problem,
    sampling: SamplingRule,
    stopping: StoppingRule,
    deltas: tuple[float, ...],
    seed: np.random.SeedSequence,
    max_samples: int,
    halt: Event | None = None,
) -> Trial:
    """Run one trial: one trajectory for all deltas, unless the sampling rule depends on delta.

    `Halted` is raised soon after ``halt`` is set.
    """
    if sampling.uses_delta and len(deltas) > 1:
        parts = [run_trial(problem, sampling, stopping, (d,), seed, max_samples, halt) for d in deltas]
        return Trial(
            np.concatenate([p.stopped_at for p in parts]),
            np.concatenate([p.wrong for p in parts]),
            sum(p.samples for p in parts),
            sum(p.seconds for p in parts),
            None
            if problem.costs is None
            else np.concatenate([p.costs for p in parts if p.costs is not None]),
        )
    sampling, stopping = _own(sampling), _own(stopping)
    # children by key, not by spawn(): a seed then gives the same children however often it is used
    children = [
        np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i))
        for i in range(problem.n_arms + 1)
    ]
    streams = _Streams(problem, children[:-1])
    engine = Engine(
        problem.arm_families,
        problem.goal,
        sampling,
        stopping,
        min(deltas),
        np.random.default_rng(children[-1]),
        problem.costs,
    )
    counts = None if problem.costs is None else np.zeros((len(deltas), problem.n_arms), dtype=np.int64)
    stopped_at = np.full(len(deltas), -1, dtype=np.int64)
    labels = np.full((len(deltas), problem.n_arms), -1, dtype=np.int64)
    start = time.thread_time()  # time of this thread only, however many share the cores
    if engine.trivial:
        stopped_at[:] = 0
        labels[:] = problem.labels
    elif engine.compiled:
        levels = np.array([stopping.level(d) for d in deltas])
        ending = "need_samples"
        while ending == "need_samples":
            _stop_if(halt)
            streams.refill()
            outcome = engine.core.run(
                streams.samples, streams.used, levels, stopped_at, labels, max_samples, counts
            )
            ending = outcome.ending
    else:
        _python_loop(engine, streams, deltas, max_samples, stopped_at, labels, counts, halt)
    seconds = time.thread_time() - start
    wrong = np.array(
        [t >= 0 and not problem.is_correct(named) for t, named in zip(stopped_at, labels, strict=True)]
    )
    costs = None
    if counts is not None and problem.costs is not None:
        costs = np.where(stopped_at < 0, -1.0, counts @ problem.costs)
    return Trial(stopped_at, wrong, int(engine.core.counts.sum()), seconds, costs)


def _python_loop(
    engine: Engine,
    streams: _Streams,
    deltas: tuple[float, ...],
    max_samples: int,
    stopped_at: NDArray[np.int64],
    labels: NDArray[np.int64],
    counts: NDArray[np.int64] | None,
    halt: Event | None,
) -> None:
    for t in range(1, max_samples + 1):
        _stop_if(halt)
        streams.refill()
        m = engine.choose()
        engine.observe(m, streams.samples[m, streams.used[m]])
        streams.used[m] += 1
        for j in np.flatnonzero(stopped_at < 0):
            if engine.check(deltas[j]):
                stopped_at[j] = t
                labels[j] = engine.core.labels
                if counts is not None:
                    counts[j] = engine.core.counts
        if np.all(stopped_at >= 0):
            return
