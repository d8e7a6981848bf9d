"""The campaigns of one storage, kept open for the requests of one process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from linkarms.campaign import Campaign, Overview, Trace, open_storage
from linkarms.campaign._open import StorageLike
from linkarms.errors import NotFound
from linkarms.server._answers import to_json
from linkarms.server._current import Computed, Current, Glance
from linkarms.server._health import Health
from linkarms.server._shared import Shared
from linkarms.server._view import PATIENCE, progress_of, view_of
from linkarms.server._workers import Workers

__all__ = ["ServedCampaigns"]

T = TypeVar("T")
#: Campaigns kept in memory with all that was computed for them, and campaigns of which only the answers are kept.
_KEPT, _ANSWERS = 64, 1_024
#: Microseconds after which leases are checked again, if there are too many tickets to know the next one that ends.
_SOON = 5_000_000
#: Samples that the page lists.
_RECENT = 20


class ServedCampaigns:
    """Opens campaigns when they are first asked for. Its methods may be called by many threads at once.

    Attributes
    ----------
    storage : Storage
        Where the campaigns are.
    workers : Workers
        The threads of the process.
    health : Health
        Whether the storage answers, for the event loop.
    """

    def __init__(self, storage: StorageLike, workers: Workers) -> None:
        self.storage, self.workers = open_storage(storage), workers
        self._lock = threading.Lock()
        self._changed: OrderedDict[str, Campaign] = OrderedDict()
        self._read: OrderedDict[str, tuple[Campaign, Trace]] = OrderedDict()
        self._watched: OrderedDict[str, _Watched] = OrderedDict()
        self.health = Health(lambda: workers.run("health", self.names))

    def names(self) -> list[str]:
        """The names of all campaigns; none in a storage that does not exist yet."""
        try:
            return self.storage.names()
        except NotFound:
            return []

    def campaign(self, name: str) -> Campaign:
        """Return the object that all changes go through, one at a time. Nothing else uses it, so no reader delays it."""
        with self._lock:
            found = self._changed.get(name)
        if found is None:
            found = self.open_separately(name)
        return self._keep(self._changed, name, lambda: found)

    def open_separately(self, name: str) -> Campaign:
        """Return a separate object of the campaign for long work (retract, export, doctor): nobody else waits for it."""
        return Campaign.open(name, storage=self.storage)

    def read(self, name: str) -> tuple[Campaign, Trace]:
        """Return the object that all readers share, so `ask` need not wait for evidence, and its trace."""
        return self._keep(self._read, name, lambda: (Campaign(name, self.storage), Trace(name, self.storage)))

    def watched(self, name: str) -> _Watched:
        """What readers of a campaign get; on the event loop."""
        return self._keep(self._watched, name, lambda: _Watched(self, name), _ANSWERS)

    def glance(self, name: str) -> Glance:
        """A short look at a campaign."""
        with self.storage.read(name, known=True) as reader:
            return Glance(reader.head.version, reader.now)

    def versions(self, names: list[str]) -> dict[str, int]:
        """Entries in the logs of these campaigns, those that exist."""
        found = {}
        for name in names:
            with suppress(NotFound):
                found[name] = self.glance(name).version
        return found

    def forget(self, name: str) -> None:
        """Keep nothing of a campaign that does not exist."""
        with self._lock:
            self._watched.pop(name, None)
            self._read.pop(name, None)

    def close(self) -> None:
        """Close the database."""
        self.workers.close()
        self.storage.close()

    def _keep(self, kept: OrderedDict[str, T], name: str, make: Callable[[], T], most: int = _KEPT) -> T:
        """Return the object kept under this name, or a new one; the one that was used longest ago is dropped."""
        with self._lock:
            if name not in kept:
                kept[name] = make()
            kept.move_to_end(name)
            while len(kept) > most:
                kept.popitem(last=False)
            return kept[name]


class _Watched:
    """What readers of one campaign share: one look at a time, one computation at a time.

    Attributes
    ----------
    glance : Shared
        A look at its version.
    state : Current
        Bodies ``status``, ``listed`` and ``result``.
    view : Current
        The body ``view``: what the page shows.
    """

    def __init__(self, served: ServedCampaigns, name: str) -> None:
        self._served, self._name, self._replayed = served, name, 0.0
        self._warnings: list[str] = []
        self._checked = (0, 0)  # samples and retractions at the last check of the model
        self.glance = Shared(self._look)
        self.state = self._current(lambda wait: self._make_state(wait))
        self.view = self._current(lambda wait: self._make_view(wait))

    def _current(self, make: Callable[[bool], Computed]) -> Current:
        workers, name = self._served.workers, self._name

        async def compute() -> Computed:
            return await workers.in_turn("state", name, make, True)

        async def peek() -> Computed:
            return await workers.run("peek", make, False)

        return Current(self.glance, compute, Shared(peek))

    async def _look(self) -> Glance:
        try:
            return await self._served.workers.run("look", self._served.glance, self._name)
        except NotFound:
            self._served.forget(self._name)
            raise

    def _make_state(self, wait: bool) -> Computed:
        at, (campaign, _) = time.monotonic(), self._served.read(self._name)
        seen = campaign.overview(0, wait=wait)
        status = seen.status.to_dict()
        bodies = {
            "status": to_json(status),
            "listed": to_json(status | {"progress": progress_of(seen.status)}),
            "result": to_json(seen.result.to_dict(cuts=seen.result.has_quick_cuts)),
        }
        return self._computed(seen, bodies, at)

    def _make_view(self, wait: bool) -> Computed:
        at, (campaign, trace) = time.monotonic(), self._served.read(self._name)
        seen = campaign.overview(_RECENT, wait=wait)
        if wait:
            self._replayed = trace.catch_up(PATIENCE)
            self._check(campaign, seen)
        view = view_of(seen, self._replayed, trace.looks, self._warnings)
        return self._computed(seen, {"view": to_json(view)}, at, self._replayed >= 1.0)

    def _check(self, campaign: Campaign, seen: Overview) -> None:
        """Look for what contradicts the family, when the number of samples has grown by a tenth or samples were retracted."""
        told = (seen.status.samples, seen.status.tickets["retracted"])
        if told[0] > 1.1 * self._checked[0] or told[1] != self._checked[1]:
            self._warnings = [str(finding) for finding in campaign.check_model()]
            self._checked = told

    def _computed(self, seen: Overview, bodies: dict[str, bytes], at: float, whole: bool = True) -> Computed:
        return Computed(seen.status.version, self._until(seen), bodies, whole, at, seen.status.age)

    def _until(self, seen: Overview) -> int | None:
        """When the first open lease ends."""
        if not seen.status.tickets["open"]:
            return None
        if seen.open_tickets:
            return int(seen.open_tickets[0].expires_at.timestamp() * 1e6)
        return self._served.glance(self._name).now + _SOON
