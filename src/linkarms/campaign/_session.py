"""One change of a campaign: log entries, tickets and snapshot, written together."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from linkarms.campaign._run import Run
from linkarms.campaign._storage import EXPIRED, OPEN, Entry, Transaction
from linkarms.errors import Conflict

__all__ = ["Session", "chained", "request_digest", "to_json"]


def to_json(data: Any) -> str:
    """Compact JSON; never NaN or infinity."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def chained(before: str, entry: Entry) -> str:
    """The digest of an entry and of the digest before it: a changed, lost or added entry breaks the chain."""
    content = to_json([before, *entry[:-1]])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def request_digest(key: str | None, *request: Any) -> str | None:
    """What tells one request from another under the same idempotency key; None without a key."""
    return None if key is None else hashlib.sha256(to_json(request).encode()).hexdigest()[:32]


@dataclass
class Session:
    """A transaction with the run brought up to its version.

    Attributes
    ----------
    tx : Transaction
        The storage's side.
    run : Run
        The state, changed in place.
    at : int
        The time of all that happens here; never before the last entry, also if a clock was set back.
    version, digest : int, str
        The last entry of the log so far.
    """

    tx: Transaction
    run: Run
    at: int
    version: int
    digest: str

    @classmethod
    def begin(cls, tx: Transaction, run: Run) -> Session:
        """Start, and let leases that are over expire."""
        session = cls(tx, run, max(tx.now, tx.head.at), tx.head.version, tx.head.digest)
        session._expire()
        return session

    def log(
        self,
        kind: str,
        body: Any,
        worker: str | None = None,
        key: str | None = None,
        request: str | None = None,
    ) -> None:
        """Append an entry."""
        entry = Entry(self.version + 1, self.at, kind, worker, key, request, to_json(body), "")
        entry = entry._replace(digest=chained(self.digest, entry))
        self.tx.append(entry)
        self.version, self.digest = entry.seq, entry.digest

    def earlier(self, key: str | None, request: str | None) -> Entry | None:
        """The entry that answered this request before; `Conflict` if the key came with another request."""
        entry = None if key is None else self.tx.find_key(key)
        if entry is not None and entry.request != request:
            raise Conflict(f"the key {key!r} was used for another request; use a new key for a new request")
        return entry

    def finish(self) -> None:
        """Write the snapshot, if anything happened."""
        if self.version != self.tx.head.version:
            self.tx.save(self.version, self.at, self.digest, self.run.snapshot())

    def _expire(self) -> None:
        account = self.run.account
        if account.next_expiry is None or self.at < account.next_expiry:
            return
        rows = self.tx.overdue(self.at)
        if rows:
            self.log("expire", {"tickets": [row.ticket for row in rows]})
            self.tx.update_tickets([row._replace(state=EXPIRED) for row in rows])
            for row in rows:
                account.move(row.arm, OPEN, EXPIRED)
            account.expirations += len(rows)
        account.next_expiry = self.tx.next_expiry()
