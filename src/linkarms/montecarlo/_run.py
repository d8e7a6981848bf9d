"""Send chunks, gather what comes back, send again what was lost."""

from __future__ import annotations

import contextlib
import pickle
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import NamedTuple

from linkarms._progress import Pace, Progress
from linkarms.montecarlo._chunks import Chunk, Chunks
from linkarms.montecarlo._failure import in_words
from linkarms.montecarlo._pools import Pool
from linkarms.montecarlo._result import BackendError
from linkarms.montecarlo._task import Outcome
from linkarms.montecarlo._trial import Trial

__all__ = ["TRIES", "run_chunks"]

#: A chunk that is lost so often is given up: the last time it ran alone.
TRIES = 3

_TICK = 0.2  # seconds between looks at the clock for the progress bar
_GRACE = 2.0  # seconds that workers which cannot be told to halt are waited for after Ctrl-C


class _Sent(NamedTuple):
    chunk: Chunk
    executor: Executor  # of this chunk: the pool may have another by now


class _Runner:
    def __init__(self, pool: Pool, chunks: Chunks, found: dict[int, Trial], n_rules: int) -> None:
        self.pool, self.chunks, self.found, self.n_rules = pool, chunks, found, n_rules
        self.running: dict[Future[Outcome], _Sent] = {}

    def feed(self) -> None:
        """Keep one chunk queued for each worker besides the one that it runs."""
        workers = max(self.pool.workers, 1)
        while len(self.running) < 2 * workers and not any(s.chunk.suspect for s in self.running.values()):
            chunk = self.chunks.take(workers, bool(self.running))
            if chunk is None:
                return
            executor = self.pool.executor
            try:
                self.running[self.pool.submit(chunk)] = _Sent(chunk, executor)
            except BrokenExecutor as error:
                self.lost(_Sent(chunk, executor), error)

    def gather(self, future: Future[Outcome]) -> None:
        """Take in a finished future; raise what its trials raised."""
        sent = self.running[future]
        try:
            outcome = future.result()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # asyncio's CancelledError is not an Exception
            # what a trial raises is part of the outcome: this is the worker, or the way to it
            del self.running[future]
            self.lost(sent, error)
            return
        self.keep(sent.chunk, outcome)
        del self.running[future]
        if outcome.failure is not None:
            raise outcome.failure.error
        if outcome.interrupted:
            raise KeyboardInterrupt
        self.chunks.learn(len(outcome.trials), outcome.seconds)

    def keep(self, chunk: Chunk, outcome: Outcome) -> None:
        self.found.update(enumerate(outcome.trials, chunk.start))

    def lost(self, sent: _Sent, error: BaseException) -> None:
        first, last = sent.chunk.start // self.n_rules, (sent.chunk.stop - 1) // self.n_rules
        trials = f"the chunk of trials {first} to {last}"
        if isinstance(error, pickle.PicklingError) or "pickle" in str(error).lower():
            raise BackendError(
                f"{trials} cannot be sent to the workers ({in_words(error)}); keep what cannot be pickled out of rules and families"
            ) from error
        again = self.chunks.put_back(sent.chunk)
        if again.losses == TRIES:
            raise BackendError(
                f"{trials} was lost {TRIES} times with its worker, the last time by {in_words(error)}; look into the workers' logs and "
                "memory (the finished trials are in this error's .simulation)"
            ) from error
        if isinstance(error, BrokenExecutor) and sent.executor is self.pool.executor:
            self.pool.renew(error)

    def cancel(self) -> None:
        for future in self.running:
            future.cancel()

    def interrupt(self) -> None:
        """After Ctrl-C: take in what is finished, and what finishes soon."""
        self.pool.halt()
        if not self.pool.cancels_running:
            self.cancel()
        wait(self.running, timeout=None if self.pool.halts else _GRACE)
        self.cancel()
        self.rescue()

    def rescue(self) -> None:
        """Take in what is finished, and nothing else that may have happened."""
        for future, sent in self.running.items():
            if future.done() and not future.cancelled():
                with contextlib.suppress(BaseException):
                    self.keep(sent.chunk, future.result())


def run_chunks(pool: Pool, chunks: Chunks, found: dict[int, Trial], n_rules: int, bar: Progress) -> None:
    """Run all jobs and put their trials into ``found``; Ctrl-C ends it early, with what is finished.

    Raises
    ------
    BackendError
        The workers cannot be used, or a chunk was lost `TRIES` times.
    """
    runner = _Runner(pool, chunks, found, n_rules)
    pace = Pace(chunks.jobs, "trials" if n_rules == 1 else "runs")
    try:
        runner.feed()
        while runner.running:
            done, _ = wait(runner.running, timeout=_TICK, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda f: runner.running[f].chunk.start):
                runner.gather(future)
            runner.feed()
            note = pool.note()
            bar.update(len(found) / chunks.jobs, pace.text(len(found)) + (f", {note}" if note else ""))
    except KeyboardInterrupt:
        runner.interrupt()
        bar.say("interrupted; the finished trials are kept")
    except BaseException:
        pool.halt()
        runner.cancel()
        runner.rescue()
        raise
