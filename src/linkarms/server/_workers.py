"""Threads for work that must not run on the event loop, and a queue of requests per campaign."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, ParamSpec, TypeVar

from linkarms.server._limits import QUEUE
from linkarms.server._problems import Busy

__all__ = ["Kind", "Workers"]

P = ParamSpec("P")
T = TypeVar("T")
#: What a thread is for: changes of campaigns; asks, which compute; states for readers; the same without computing; short looks at the
#: storage; whether the storage answers at all; work that takes as long as a replay of the log; and parsing.
Kind = Literal["change", "ask", "state", "peek", "look", "health", "long", "parse"]
#: Threads of each kind. Those that hold a connection for as long as they work are fewer than the 15 that SQLAlchemy keeps: asks and states
#: compute without one.
_THREADS: dict[Kind, int] = {
    "change": 5,
    "ask": 4,
    "state": 2,
    "peek": 2,
    "look": 2,
    "health": 1,
    "long": 2,
    "parse": 2,
}


class Workers:
    """Threads by kind of work, so that no kind waits for another; and at most one thread of a kind for one campaign."""

    def __init__(self) -> None:
        self._pools = {
            kind: ThreadPoolExecutor(n, thread_name_prefix=f"linkarms-{kind}") for kind, n in _THREADS.items()
        }
        self._turns: dict[tuple[Kind, str], _Turns] = {}
        self._lock = threading.Lock()
        self._running = 0

    @property
    def running(self) -> int:
        """Threads that are at work."""
        return self._running

    async def run(self, kind: Kind, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what ``function`` returns, called on a thread of this kind."""

        def counted() -> T:
            self._count(1)
            try:
                return function(*args, **kwargs)
            finally:
                self._count(-1)

        return await asyncio.get_running_loop().run_in_executor(self._pools[kind], counted)

    async def in_turn(
        self, kind: Kind, campaign: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do the same when it is this request's turn: first come, first served, one at a time per campaign.

        A waiting request holds no thread, so a campaign whose computation takes long does not delay others. `Busy` if too many wait.
        """
        turns = self._turns.setdefault((kind, campaign), _Turns())
        if turns.users > QUEUE:
            raise Busy(f"{QUEUE} requests already wait for the campaign {campaign!r}; try again later")
        turns.users += 1
        try:
            async with turns.lock:
                return await self.run(kind, function, *args, **kwargs)
        finally:
            turns.users -= 1
            if not turns.users:
                del self._turns[kind, campaign]

    def close(self) -> None:
        """Start nothing more; what runs is not waited for."""
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)

    def _count(self, change: int) -> None:
        with self._lock:
            self._running += change


class _Turns:
    """The lock of a campaign, and how many hold it or wait for it."""

    def __init__(self) -> None:
        self.lock, self.users = asyncio.Lock(), 0
