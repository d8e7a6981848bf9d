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
from linkarms.montecarlo._streams import BLOCK, Seed, Streams
from linkarms.problem import Problem
from linkarms.sampling import EBC, EBCH, RoundRobin, SamplingRule
from linkarms.stopping import Anytime, StoppingRule

__all__ = ["Halted", "Trial", "run_trial"]

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


#: Rules that do not change during a trial, so a trial needs no copy. A user's subclass may have state.
_UNCHANGING = (EBC, EBCH, RoundRobin, Anytime)
#: Those that draw no random numbers: with them, a trial needs no stream besides those of the arms.
_NOT_RANDOM = (EBCH, RoundRobin)
_UNUSED = np.random.default_rng(0)


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
    seed: Seed | np.random.SeedSequence,
    max_samples: int,
    halt: Event | None = None,
    streams: Streams | None = None,
) -> Trial:
    """Run one trial: one trajectory for all deltas, unless the sampling rule depends on delta.

    `Halted` is raised soon after ``halt`` is set. Many trials in turn can share the ``streams`` of their problem.
    """
    if sampling.uses_delta and len(deltas) > 1:
        parts = [
            run_trial(problem, sampling, stopping, (d,), seed, max_samples, halt, streams) for d in deltas
        ]
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
    if isinstance(seed, np.random.SeedSequence):
        seed = Seed(int(seed.entropy), seed.spawn_key)  # type: ignore[arg-type]
    streams = streams or Streams(problem)
    streams.begin(seed)
    engine = Engine(
        problem.arm_families,
        problem.goal,
        sampling,
        stopping,
        min(deltas),
        _UNUSED
        if type(sampling) in _NOT_RANDOM and type(stopping) in _UNCHANGING
        else np.random.default_rng(seed.child(problem.n_arms)),
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
        streams.fill()
        while True:
            _stop_if(halt)
            outcome = engine.core.run(
                streams.samples, streams.used, levels, stopped_at, labels, max_samples, counts
            )
            if outcome.ending != "need_samples":
                break
            streams.refill(outcome.arm)
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
    streams: Streams,
    deltas: tuple[float, ...],
    max_samples: int,
    stopped_at: NDArray[np.int64],
    labels: NDArray[np.int64],
    counts: NDArray[np.int64] | None,
    halt: Event | None,
) -> None:
    for t in range(1, max_samples + 1):
        _stop_if(halt)
        m = engine.choose()
        if streams.used[m] == BLOCK:
            streams.refill(m)
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
