"""How many jobs are sent at a time, and which were lost with a worker."""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["SECONDS", "Chunk", "Chunks"]

#: A chunk should take about so long: sending one costs milliseconds, and progress should move.
SECONDS = 0.5

#: A chunk that was lost so often runs alone: if it is lost again, we know which one it was.
_SUSPECT = 2


class Chunk(NamedTuple):
    """The jobs ``start .. stop - 1``, and how often they were lost."""

    start: int
    stop: int
    losses: int = 0

    @property
    def suspect(self) -> bool:
        """Whether it has to run alone."""
        return self.losses >= _SUSPECT


class Chunks:
    """Cuts jobs into chunks on request.

    The first chunks have one job each. After that a chunk has as many as take `SECONDS` by the mean of the finished ones; but with two
    workers and more never over half of what is left for a worker, so all workers end at about the same time.

    Parameters
    ----------
    jobs : int
        How many jobs there are.
    size : int, optional
        Jobs of every chunk, instead of the rule above.
    """

    def __init__(self, jobs: int, size: int | None = None) -> None:
        self.jobs, self.size = jobs, size
        self._next = 0
        self._lost: list[Chunk] = []
        self._finished = 0
        self._seconds = 0.0

    def take(self, workers: int, running: bool) -> Chunk | None:
        """The next chunk, lost ones first; None if there is none, or if it has to wait until nothing is ``running``."""
        if self._lost:
            if self._lost[0].suspect and running:
                return None
            return self._lost.pop(0)
        left = self.jobs - self._next
        if left == 0:
            return None
        chunk = Chunk(self._next, self._next + min(left, self._jobs_now(left, workers)))
        self._next = chunk.stop
        return chunk

    def _jobs_now(self, left: int, workers: int) -> int:
        if self.size is not None:
            return self.size
        if self._finished == 0:
            return 1
        mean = max(self._seconds / self._finished, 1e-6)
        fair = left if workers == 1 else math.ceil(left / (2 * workers))
        return max(1, min(round(SECONDS / mean), fair))

    def learn(self, jobs: int, seconds: float) -> None:
        """Record how long ``jobs`` jobs took."""
        self._finished += jobs
        self._seconds += seconds

    def put_back(self, chunk: Chunk) -> Chunk:
        """Take a lost chunk back, to be handed out again; returns it with its loss counted."""
        again = chunk._replace(losses=chunk.losses + 1)
        self._lost.append(again)
        self._lost.sort(key=lambda c: (c.losses, c.start))
        return again
