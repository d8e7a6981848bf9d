"""The campaigns of one storage, kept open for the requests of one process."""

from __future__ import annotations

import threading
from collections import OrderedDict

from linkarms.campaign import Campaign, Trace, open_storage
from linkarms.campaign._campaign import StorageLike
from linkarms.errors import NotFound

__all__ = ["Home"]

#: Campaigns, and traces of campaigns, that are kept in memory.
_KEPT = 256


class Home:
    """Opens campaigns when they are first asked for. Its methods may be called by many threads at once."""

    def __init__(self, storage: StorageLike) -> None:
        self.storage = open_storage(storage)
        self._lock = threading.Lock()
        self._campaigns: OrderedDict[str, Campaign] = OrderedDict()
        self._traces: OrderedDict[str, Trace] = OrderedDict()

    def names(self) -> list[str]:
        """The names of all campaigns; none in a storage that does not exist yet."""
        try:
            return self.storage.names()
        except NotFound:
            return []

    def campaign(self, name: str) -> Campaign:
        """The campaign that all short requests share: its methods take turns."""
        with self._lock:
            found = self._campaigns.get(name)
        if found is None:
            found = self.apart(name)
            with self._lock:
                found = self._campaigns.setdefault(name, found)
                self._campaigns.move_to_end(name)
                while len(self._campaigns) > _KEPT:
                    self._campaigns.popitem(last=False)
        return found

    def apart(self, name: str) -> Campaign:
        """The campaign as an object of its own, for what takes long (retract, export, doctor): others do not wait for it."""
        return Campaign.open(name, storage=self.storage)

    def trace(self, name: str) -> Trace:
        """The evidence of a campaign over its samples."""
        with self._lock:
            found = self._traces.setdefault(name, Trace(name, self.storage))
            self._traces.move_to_end(name)
            while len(self._traces) > _KEPT:
                self._traces.popitem(last=False)
        return found

    def versions(self, names: list[str]) -> dict[str, int]:
        """Entries in the logs of these campaigns, those that exist."""
        found = {}
        for name in names:
            try:
                with self.storage.read(name, 0) as reader:
                    found[name] = reader.head.version
            except NotFound:
                continue
        return found

    def close(self) -> None:
        """Let go of the database."""
        self.storage.close()
