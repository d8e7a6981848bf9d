"""One result shared by all who ask for it at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

__all__ = ["Shared", "unwatched"]

T = TypeVar("T")


class Shared(Generic[T]):
    """Call it for a look that begins after the call. All who wait share it: at most one look is under way, and one waits.

    Parameters
    ----------
    look : coroutine function
        How to look.
    """

    def __init__(self, look: Callable[[], Awaitable[T]]) -> None:
        self._look = look
        self._running: asyncio.Task[T] | None = None
        self._waiting: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        if self._waiting is None:
            self._waiting = unwatched(asyncio.create_task(self._begin(self._running)))
        return await asyncio.shield(self._waiting)

    async def _begin(self, before: asyncio.Task[T] | None) -> T:
        if before is not None:
            await asyncio.wait([before])
        self._running, self._waiting = self._waiting, None
        return await self._look()


def unwatched(task: asyncio.Task[T]) -> asyncio.Task[T]:
    """Return a task whose error is not logged if nobody waits for it any more."""

    def look_at(task: asyncio.Task[T]) -> None:
        if not task.cancelled():
            task.exception()

    task.add_done_callback(look_at)
    return task
