"""What every trial of a simulation shares, and the one function that workers run."""

from __future__ import annotations

import functools
import importlib
import pickle
import time
from dataclasses import dataclass, field
from threading import Event

from linkarms import _core
from linkarms._version import __version__
from linkarms.errors import InvalidInput
from linkarms.montecarlo._failure import Failure, in_words
from linkarms.montecarlo._streams import Seed, Streams
from linkarms.montecarlo._trial import Halted, Trial, run_trial
from linkarms.problem import Problem
from linkarms.sampling import SamplingRule
from linkarms.stopping import StoppingRule

__all__ = ["Outcome", "Packed", "Task", "pack", "run_chunk"]


@dataclass(frozen=True, eq=False)
class Task:
    """A simulation as numbered jobs: with R rules, job ``i R + r`` is trial ``first + i`` of rule ``r``."""

    problem: Problem
    rules: tuple[SamplingRule, ...]
    stops: tuple[StoppingRule, ...]  # one per rule
    deltas: tuple[float, ...]
    seed: int
    max_samples: int
    first: int = 0

    def run(self, job: int, streams: Streams, halt: Event | None = None) -> Trial:
        """Run one job: its numbers depend on the task and the job, on nothing else."""
        trial, rule = divmod(job, len(self.rules))
        seed = Seed(self.seed, (self.first + trial,))
        return run_trial(
            self.problem,
            self.rules[rule],
            self.stops[rule],
            self.deltas,
            seed,
            self.max_samples,
            halt,
            streams,
        )


@dataclass(frozen=True)
class Packed:
    """A pickled task, and which linkarms it was made by."""

    data: bytes
    version: str
    digest: str


@dataclass
class Outcome:
    """The jobs of a chunk that were finished, in order; the seconds they took; why there are not more of them."""

    trials: list[Trial] = field(default_factory=list)
    seconds: float = 0.0
    failure: Failure | None = None
    interrupted: bool = False


def pack(task: Task, pickler: str) -> Packed:
    """Pickle a task with the module ``pickler``, or say what cannot be pickled."""
    try:
        data = importlib.import_module(pickler).dumps(task)
    except Exception as error:
        raise InvalidInput(
            f"the problem and the rules cannot be sent to other processes ({in_words(error)}); define classes of your "
            "own at the top of a module and keep no open files, locks or local functions in them, or use backend='local'"
        ) from error
    return Packed(bytes(data), __version__, _core.build)


@functools.lru_cache(maxsize=2)  # a process runs many chunks of one task
def _unpack(packed: Packed) -> Task:
    if (packed.version, packed.digest) != (__version__, _core.build):
        raise InvalidInput(
            f"a worker has another linkarms (version {__version__}, core {_core.build[:8]}) than the caller "
            f"(version {packed.version}, core {packed.digest[:8]}), and its numbers could differ; install the same on both"
        )
    try:
        task: Task = pickle.loads(packed.data)
    except Exception as error:
        raise InvalidInput(
            f"a worker cannot load the problem or a rule ({in_words(error)}); a class of your own must be in a module "
            "that the workers can import (only Dask also takes those of __main__ and of notebooks)"
        ) from error
    return task


def run_chunk(given: Task | Packed, start: int, stop: int, halt: Event | None = None) -> Outcome:
    """Run the jobs ``start .. stop - 1``; whatever happens on the way, the finished ones are returned.

    Parameters
    ----------
    given : Task or Packed
        In the caller's own process, or in another.
    start, stop : int
        Jobs.
    halt : threading.Event, optional
        Set by the caller to stop the work.
    """
    outcome = Outcome()
    try:
        task = _unpack(given) if isinstance(given, Packed) else given
        begin = time.perf_counter()
        streams = Streams(task.problem)
        for job in range(start, stop):
            outcome.trials.append(task.run(job, streams, halt))
            outcome.seconds = time.perf_counter() - begin
    except (Halted, KeyboardInterrupt):
        outcome.interrupted = True
    except BaseException as error:
        outcome.failure = Failure(error)
    return outcome
