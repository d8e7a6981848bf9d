"""Whether the storage answers, without a look at it for every request that asks."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable

from linkarms.server._limits import TIMES
from linkarms.server._shared import Shared, unwatched

__all__ = ["Health"]


class Health:
    """Remembers when the storage last answered.

    A service under load answers from that, so a monitor with a short timeout does not take a busy service for a dead one.

    Parameters
    ----------
    look : coroutine function
        A look at the storage; it raises if the storage cannot be read.
    """

    def __init__(self, look: Callable[[], Awaitable[object]]) -> None:
        self._look = look
        self._shared = Shared(self._renew)
        self._answered = -math.inf

    async def check(self) -> None:
        """Raise what a look at the storage raises, or `TimeoutError` if it takes longer than `TIMES.health`.

        A look is at most `TIMES.recent` old when the next one begins. Nobody waits for that one unless the storage has not answered
        for `TIMES.health`, or has failed.
        """
        age = time.monotonic() - self._answered
        if age < TIMES.recent:
            return
        look = unwatched(asyncio.ensure_future(self._shared()))
        if age >= TIMES.health:
            async with asyncio.timeout(TIMES.health):
                await look

    async def _renew(self) -> None:
        try:
            await self._look()
        except BaseException:
            self._answered = -math.inf
            raise
        self._answered = time.monotonic()
