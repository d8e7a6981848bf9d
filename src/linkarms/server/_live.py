"""Live updates: one look at the storage for all who watch, and server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from linkarms.errors import LinkarmsError
from linkarms.server._limits import STREAMS
from linkarms.server._problems import Busy
from linkarms.server._served import ServedCampaigns

__all__ = ["Live"]

#: Seconds between two looks. Other processes write to the same storage, and polling works on every database.
_EVERY = 0.4
#: The largest share of the time spent on polling, and the longest pause in seconds that this may cause.
_SHARE, _PAUSE = 0.2, 5.0
#: Seconds after which a sign of life is sent.
_ALIVE = 15.0
#: Seconds after which a stream ends; a browser begins a new one, and shows its cookie again.
_LONGEST = 3600.0


class Live:
    """Watches the versions of campaigns, as long as anybody listens."""

    def __init__(self, served: ServedCampaigns) -> None:
        self._served = served
        self._watched: Counter[str | None] = Counter()
        self._versions: dict[str, int] = {}
        self._events: dict[str | None, bytes] = {}
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        #: Set when the service is about to stop: streams end.
        self.closing = False

    @property
    def streams(self) -> int:
        """Streams that are open."""
        return self._watched.total()

    def response(self, name: str | None) -> StreamingResponse:
        """Return events for one campaign, or for all: ``version`` with the versions whenever one has changed."""
        return _Stream(self, name)

    @contextmanager
    def place(self, name: str | None) -> Iterator[None]:
        """Count a stream from its first moment to its last; refuse it where there are too many."""
        if self.streams >= STREAMS:
            raise Busy(f"{self.streams} pages are watching; at most {STREAMS} may: close some")
        self._watched[name] += 1
        try:
            yield
        finally:
            self._watched[name] -= 1
            if not self._watched[name]:
                del self._watched[name]

    async def events(self, name: str | None) -> AsyncIterator[bytes]:
        """Generate the events of a stream that has a place."""
        began, sent = time.monotonic(), None
        yield b"retry: 1000\n\n"
        while not self.closing and time.monotonic() - began < _LONGEST:
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._watch())
            news, event = self._news, self._event(name)
            if event != sent:
                sent = event
                yield event
                continue
            try:
                async with asyncio.timeout(_ALIVE):
                    await news.wait()
            except TimeoutError:
                yield b": alive\n\n"

    def _event(self, name: str | None) -> bytes:
        """Return what a stream is sent now; made once for all who watch the same campaigns."""
        if name not in self._events:
            seen = {n: v for n, v in self._versions.items() if name is None or n == name}
            self._events[name] = f"event: version\ndata: {json.dumps(seen)}\n\n".encode()
        return self._events[name]

    async def _watch(self) -> None:
        while not self.closing and self.streams:
            began = time.monotonic()
            everything = self._watched[None] > 0
            wanted = [name for name in self._watched if name is not None]
            with suppress(LinkarmsError):  # the storage cannot be reached: requests get that error
                seen = await self._served.workers.run("look", self._look, everything, wanted)
                if seen != self._versions:
                    self._versions = seen
                    self._wake()
            await asyncio.sleep(min(max(_EVERY, (time.monotonic() - began) / _SHARE), _PAUSE))
        self._wake()

    def _wake(self) -> None:
        self._events.clear()
        self._news.set()
        self._news = asyncio.Event()

    def _look(self, everything: bool, wanted: list[str]) -> dict[str, int]:
        return self._served.versions(self._served.names() if everything else wanted)


class _Stream(StreamingResponse):
    """A stream that is counted as long as it is sent."""

    def __init__(self, live: Live, name: str | None) -> None:
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(live.events(name), media_type="text/event-stream", headers=headers)
        self._place = live.place(name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._place:
            await super().__call__(scope, receive, send)
