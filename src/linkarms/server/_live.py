"""Live updates: one look at the storage for all who watch, and server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

from linkarms.errors import LinkarmsError, TooLarge
from linkarms.server._home import Home

__all__ = ["Live"]

#: Seconds between two looks. Other processes write to the same storage, so that looking is the one way that works on every database.
_EVERY = 0.4
#: Seconds after which a sign of life is sent.
_ALIVE = 15.0
#: Seconds after which a stream ends; a browser begins a new one, and shows its cookie again.
_LONGEST = 3600.0
#: Streams at the same time.
_STREAMS = 500


class Live:
    """Watches the versions of campaigns, as long as anybody wants to know."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._watched: Counter[str | None] = Counter()
        self._versions: dict[str, int] = {}
        self._task: asyncio.Task[None] | None = None
        #: Set when the service is about to stop: streams end.
        self.closing = False

    @property
    def streams(self) -> int:
        """Streams that are open."""
        return self._watched.total()

    def check_room(self) -> None:
        """Refuse a stream where there are too many."""
        if self.streams >= _STREAMS:
            raise TooLarge(f"{self.streams} pages are watching; at most {_STREAMS} may: close some")

    async def stream(self, name: str | None) -> AsyncIterator[bytes]:
        """Events for one campaign, or for all: an event ``version`` with the versions whenever one has changed."""
        self._watched[name] += 1
        began = told_at = time.monotonic()
        sent: dict[str, int] | None = None
        try:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._watch())
            yield b"retry: 1000\n\n"
            while not self.closing and time.monotonic() - began < _LONGEST:
                seen = (
                    self._versions if name is None else {n: v for n, v in self._versions.items() if n == name}
                )
                if seen != sent:
                    sent, told_at = dict(seen), time.monotonic()
                    yield f"event: version\ndata: {json.dumps(sent)}\n\n".encode()
                elif time.monotonic() - told_at > _ALIVE:
                    told_at = time.monotonic()
                    yield b": alive\n\n"
                await asyncio.sleep(_EVERY / 2)
        finally:
            self._watched[name] -= 1

    async def _watch(self) -> None:
        while not self.closing and self.streams:
            everything = self._watched[None] > 0
            wanted = [name for name, n in self._watched.items() if n > 0 and name is not None]
            with suppress(LinkarmsError):  # the storage is away: whoever asks for more gets to know
                self._versions = await asyncio.to_thread(self._look, everything, wanted)
            await asyncio.sleep(_EVERY)

    def _look(self, everything: bool, wanted: list[str]) -> dict[str, int]:
        return self._home.versions(self._home.names() if everything else wanted)
