"""What was computed of a campaign, kept until it changes."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from linkarms.server._shared import unwatched

__all__ = ["Computed", "Current", "Glance"]


class Glance(NamedTuple):
    """A short look at a campaign.

    Attributes
    ----------
    version : int
        Entries of its log.
    now : int
        The storage's clock, in microseconds since 1970.
    """

    version: int
    now: int


@dataclass(frozen=True)
class Computed:
    """What was computed of a campaign.

    Attributes
    ----------
    version : int
        Entries of the log that it rests on.
    until : int or None
        When the next lease ends, by the storage's clock: then it is no longer true.
    bodies, tags : dict
        JSON by name, and its ETag: the same content has the same in every process.
    whole : bool
        False while a part of it is still to be read from a long log.
    at : float
        When the computation began, in seconds of `time.monotonic`.
    age : float
        Seconds since all samples were counted in it; 0 if they are.
    """

    version: int
    until: int | None
    bodies: dict[str, bytes]
    whole: bool = True
    at: float = 0.0
    age: float = 0.0
    tags: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        tags = {
            name: f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
            for name, body in self.bodies.items()
        }
        object.__setattr__(self, "tags", tags)


class Current:
    """Computes a state when the campaign has changed, once for all who ask for it, and remembers the last one.

    Parameters
    ----------
    glance : coroutine function
        A look at the campaign, begun after the call.
    compute : coroutine function
        The state, computed elsewhere than on the event loop.
    peek : coroutine function
        The same without computing: tickets are those of now, the rest may be older. It has to be quick.
    """

    def __init__(
        self,
        glance: Callable[[], Awaitable[Glance]],
        compute: Callable[[], Awaitable[Computed]],
        peek: Callable[[], Awaitable[Computed]],
    ) -> None:
        self._glance, self._compute, self._peek = glance, compute, peek
        self._last: Computed | None = None
        self._task: asyncio.Task[None] | None = None

    async def get(self, wait: float) -> Computed:
        """Return the current state if it is ready within ``wait`` seconds, otherwise what is known without computing."""
        began = time.monotonic()
        seen = await self._glance()
        while True:
            last = self._last
            if last is not None and _is_current(last, seen, began):
                return last
            task = self._start()
            await asyncio.wait([task], timeout=max(began + wait - time.monotonic(), 0.0))
            if not task.done():
                return await self._peek()
            task.result()  # an error is passed on to all who wait

    def _start(self) -> asyncio.Task[None]:
        if self._task is None:
            self._task = unwatched(asyncio.create_task(self._renew()))
        return self._task

    async def _renew(self) -> None:
        try:
            self._last = await self._compute()
        finally:
            self._task = None


def _is_current(last: Computed, seen: Glance, began: float) -> bool:
    if last.at >= began:
        return last.version >= seen.version
    over = last.until is not None and seen.now >= last.until
    return last.version == seen.version and last.whole and not over
