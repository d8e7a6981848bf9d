"""The campaigns of one storage, kept open for the requests of one process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from linkarms.campaign import Campaign, Overview, Trace, open_storage
from linkarms.campaign._campaign import StorageLike
from linkarms.errors import NotFound
from linkarms.server._answers import to_json
from linkarms.server._current import Computed, Current, Glance
from linkarms.server._shared import Shared
from linkarms.server._view import progress_of, view_of
from linkarms.server._workers import Workers

__all__ = ["Home"]

T = TypeVar("T")
#: Campaigns that are kept in memory.
_KEPT = 256
#: Microseconds after which leases are looked at again, where there are too many tickets to know the next one that ends.
_SOON = 5_000_000


class Home:
    """Opens campaigns when they are first asked for. Its methods may be called by many threads at once.

    Attributes
    ----------
    storage : Storage
        Where the campaigns are.
    workers : Workers
        The threads of the process.
    alive : Shared
        Whether the storage answers, for the event loop.
    """

    def __init__(self, storage: StorageLike, workers: Workers) -> None:
        self.storage, self.workers = open_storage(storage), workers
        self._lock = threading.Lock()
        self._changed: OrderedDict[str, Campaign] = OrderedDict()
        self._watched: OrderedDict[str, _Watched] = OrderedDict()
        self.alive = Shared(lambda: workers.run("health", self.names))

    def names(self) -> list[str]:
        """The names of all campaigns; none in a storage that does not exist yet."""
        try:
            return self.storage.names()
        except NotFound:
            return []

    def campaign(self, name: str) -> Campaign:
        """The campaign that all changes go through: they take turns. Nothing else uses it, so that no reader holds it up."""
        with self._lock:
            found = self._changed.get(name)
        if found is None:
            found = self.apart(name)
        return self._keep(self._changed, name, lambda: found)

    def apart(self, name: str) -> Campaign:
        """The campaign as an object of its own, for what takes long (retract, export, doctor): others do not wait for it."""
        return Campaign.open(name, storage=self.storage)

    def watched(self, name: str) -> _Watched:
        """What is computed of a campaign for those who read it; on the event loop."""
        return self._keep(self._watched, name, partial(_Watched, self, name))

    def glance(self, name: str, known: int = 0) -> Glance:
        """A short look at a campaign; at version ``known`` its snapshot is not loaded."""
        with self.storage.read(name, known) as reader:
            return Glance(reader.head.version, reader.now)

    def versions(self, names: list[str], known: dict[str, int]) -> dict[str, int]:
        """Entries in the logs of these campaigns, those that exist."""
        found = {}
        for name in names:
            try:
                found[name] = self.glance(name, known.get(name, 0)).version
            except NotFound:
                continue
        return found

    def forget(self, name: str) -> None:
        """Keep nothing of a campaign that does not exist."""
        with self._lock:
            self._watched.pop(name, None)

    def close(self) -> None:
        """Let go of the database."""
        self.workers.close()
        self.storage.close()

    def _keep(self, kept: OrderedDict[str, T], name: str, make: Callable[[], T]) -> T:
        """The one that is kept under this name, or a new one; the one that was used longest ago is dropped."""
        with self._lock:
            if name not in kept:
                kept[name] = make()
            kept.move_to_end(name)
            while len(kept) > _KEPT:
                kept.popitem(last=False)
            return kept[name]


class _Watched:
    """What readers of one campaign share: one look at a time, one computation at a time, on a campaign object of their own.

    Attributes
    ----------
    glance : Shared
        A look at its version.
    state : Current
        Bodies ``status``, ``listed`` and ``result``.
    view : Current
        The body ``view``: what the page shows.
    """

    def __init__(self, home: Home, name: str) -> None:
        self._home, self._name = home, name
        self._campaign, self._trace = Campaign(name, home.storage), Trace(name, home.storage)
        self._version = 0
        self.glance = Shared(self._look)
        self.state = Current(self.glance, lambda: self._compute(self._make_state))
        self.view = Current(self.glance, lambda: self._compute(self._make_view))

    async def _look(self) -> Glance:
        try:
            found = await self._home.workers.run("look", self._home.glance, self._name, self._version)
        except NotFound:
            self._home.forget(self._name)
            raise
        self._version = found.version
        return found

    async def _compute(self, make: Callable[[], Computed]) -> Computed:
        return await self._home.workers.in_turn("state", self._name, make)

    def _make_state(self) -> Computed:
        at = time.monotonic()
        seen = self._campaign.overview(recent=0)
        status, result = seen.status.to_dict(), seen.result.to_dict()
        bodies = {
            "status": to_json(status),
            "listed": to_json(status | {"progress": progress_of(seen.status)}),
            "result": to_json(result),
        }
        return Computed(seen.status.version, self._until(seen), bodies, at=at)

    def _make_view(self) -> Computed:
        at = time.monotonic()
        seen = self._campaign.overview()
        view = view_of(seen, self._trace)
        whole = view["evidence"]["replayed"] >= 1.0
        return Computed(seen.status.version, self._until(seen), {"view": to_json(view)}, whole, at)

    def _until(self, seen: Overview) -> int | None:
        """When the first open lease ends."""
        if not seen.status.tickets["open"]:
            return None
        if seen.open_tickets:
            return int(seen.open_tickets[0].expires_at.timestamp() * 1e6)
        return self._home.glance(self._name, seen.status.version).now + _SOON
