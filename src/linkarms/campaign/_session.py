"""One change of a campaign: log entries, tickets and account, written together. No long computation happens here."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from linkarms.campaign._account import Account
from linkarms.campaign._storage import EXPIRED, Entry, Transaction
from linkarms.errors import Conflict

__all__ = ["Session", "chained", "check_same_request", "request_digest", "to_json"]

#: Microseconds by which the clock may be behind the last entry before it counts as set back.
_SET_BACK = 60_000_000


def to_json(data: Any) -> str:
    """Return compact JSON; never NaN or infinity."""
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def chained(before: str, entry: Entry) -> str:
    """Return the digest of an entry and of the digest before it: a changed, lost or added entry breaks the chain."""
    content = to_json([before, *entry[:-1]])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def request_digest(key: str | None, *request: Any) -> str | None:
    """Return a digest that distinguishes requests with the same idempotency key; None without a key."""
    return None if key is None else hashlib.sha256(to_json(request).encode()).hexdigest()[:32]


@dataclass
class Session:
    """A transaction with the account of its campaign.

    Attributes
    ----------
    tx : Transaction
        The storage's side.
    account : Account
        The tickets, changed in place.
    arms : tuple of str
        The names of the arms.
    at : int
        The time of all that happens here.
    version, digest : int, str
        The last entry of the log so far.
    in_order : bool
        Samples count in the order of asking.
    """

    tx: Transaction
    account: Account
    arms: tuple[str, ...]
    at: int
    version: int
    digest: str
    in_order: bool = False

    @classmethod
    def begin(cls, tx: Transaction, arms: tuple[str, ...], in_order: bool) -> Session:
        """Start, and mark leases that are over as expired."""
        head = tx.head
        account = Account.from_json(head.account, len(arms))
        session = cls(tx, account, arms, max(tx.now, head.at), head.version, head.digest, in_order)
        if head.at - tx.now > _SET_BACK:
            session._set_back(head.at - tx.now)
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
        """Return the entry that answered this request before; `Conflict` if the key came with another request."""
        entry = None if key is None else self.tx.find_key(key)
        check_same_request(entry, request)
        return entry

    def finish(self) -> None:
        """Write the account, if anything happened."""
        if self.version != self.tx.head.version:
            self.tx.save(self.version, self.at, self.digest, self.account.to_json())

    def _set_back(self, by: int) -> None:
        """Adapt to a clock that was set back: every open lease keeps its remaining time.

        Otherwise a clock that was far ahead for a moment would stop the campaign's time until that moment is reached.
        """
        self.at -= by
        self.log("clock", {"back": by})
        self.tx.shift_leases(-by)
        if self.account.next_expiry is not None:
            self.account.next_expiry -= by

    def _expire(self) -> None:
        account = self.account
        if account.next_expiry is None or self.at < account.next_expiry:
            return
        rows = self.tx.overdue(self.at)
        if rows:
            self.log("expire", {"tickets": [row.ticket for row in rows]})
            self.tx.update_tickets([row._replace(state=EXPIRED) for row in rows])
            account.expire(rows)
        account.next_expiry = self.tx.next_expiry()


def check_same_request(entry: Entry | None, request: str | None) -> None:
    """Refuse a key that came with another request before."""
    if entry is not None and entry.request != request:
        raise Conflict(f"the key {entry.key!r} was used for another request; use a new key for a new request")
