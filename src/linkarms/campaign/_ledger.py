"""Tickets and account, rebuilt from the log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from linkarms.campaign._account import Account
from linkarms.campaign._order import in_order_of
from linkarms.campaign._session import chained, to_json
from linkarms.campaign._storage import EXPIRED, OPEN, RELEASED, RETRACTED, TOLD, Entry, TicketRow

__all__ = ["DamagedLog", "Ledger"]


class DamagedLog(Exception):
    """What is wrong with a log, in words."""


class Ledger:
    """Replays the entries of a log one by one, and refuses an entry that contradicts those before it.

    Attributes
    ----------
    config : str
        The settings, from the first entry.
    account : Account
        The account of the tickets.
    tickets : dict
        Every ticket.
    retracted : set of int
        The tickets whose samples were retracted.
    entries, digest, at : int, str, int
        Number, digest and time of the last entry.
    """

    def __init__(self) -> None:
        self.config = ""
        self.account = Account()
        self.tickets: dict[int, TicketRow] = {}
        self.retracted: set[int] = set()
        self.entries, self.digest, self.at = 0, "", 0
        self._in_order = False

    def take(self, entry: Entry) -> None:
        """Replay one more entry."""
        body = self._check_chain(entry)
        if (entry.kind == "create") != (entry.seq == 1) or entry.kind not in _KINDS:
            raise DamagedLog(
                f"log entry {entry.seq} is of the kind {entry.kind!r}, which does not belong there"
            )
        _KINDS[entry.kind](self, entry, body)

    def close(self) -> None:
        """Complete the account at the end of the log."""
        ends = (row.expires_at for row in self.tickets.values() if row.state == OPEN)
        self.account.next_expiry = min((end for end in ends if end is not None), default=None)

    def _check_chain(self, entry: Entry) -> Any:
        self.entries += 1
        if entry.seq != self.entries:
            raise DamagedLog(f"log entry {self.entries} is missing; the next one is {entry.seq}")
        if entry.digest != chained(self.digest, entry):
            raise DamagedLog(f"log entry {entry.seq} ({entry.kind}) was changed: its digest does not fit")
        body = json.loads(entry.body)
        if entry.at < self.at and (entry.kind != "clock" or self.at - entry.at != body["back"]):
            raise DamagedLog(f"log entry {entry.seq} is older than the one before it")
        self.digest, self.at = entry.digest, entry.at
        return body

    def _create(self, entry: Entry, body: Any) -> None:
        self.config = entry.body
        self._in_order = in_order_of(body)
        self.account.pending = [0] * len(json.loads(body["clusterer"])["arms"])

    def _ask(self, entry: Entry, body: Any) -> None:
        self._issue(entry, body["tickets"], OPEN, body["expires"])

    def _tell(self, entry: Entry, body: Any) -> None:
        self._take_samples(entry, body, (OPEN, EXPIRED))

    def _add(self, entry: Entry, body: Any) -> None:
        self._issue(entry, [(i, m) for i, m, _ in body["samples"]], TOLD, None)
        self._take_samples(entry, body, (TOLD,))

    def _expire(self, entry: Entry, body: Any) -> None:
        self.account.expirations += len(body["tickets"])
        for i in body["tickets"]:
            self._move(i, (OPEN,), EXPIRED)

    def _release(self, entry: Entry, body: Any) -> None:
        self._move(body["ticket"], (OPEN, EXPIRED) if self._in_order else (OPEN,), RELEASED)

    def _retract(self, entry: Entry, body: Any) -> None:
        self._move(body["ticket"], (TOLD,), RETRACTED)
        self.retracted.add(body["ticket"])

    def _clock(self, entry: Entry, body: Any) -> None:
        for i, row in self.tickets.items():
            if row.state == OPEN and row.expires_at is not None:
                self.tickets[i] = row._replace(expires_at=row.expires_at - body["back"])

    def _issue(self, entry: Entry, tickets: Iterable[Any], state: str, expires: int | None) -> None:
        numbers, arms = [i for i, _ in tickets], [m for _, m in tickets]
        expected = self.account.issue(arms, state)
        if list(expected) != numbers:
            raise DamagedLog(
                f"log entry {entry.seq} numbers its tickets {numbers[:3]}..., not from {expected.start} on"
            )
        for i, m in zip(numbers, arms, strict=True):
            self.tickets[i] = TicketRow(i, m, entry.worker, state, expires)

    def _take_samples(self, entry: Entry, body: Any, allowed: tuple[str, ...]) -> None:
        for i, m, value in body["samples"]:
            self.account.told += 1
            if i in self.tickets and self.tickets[i].arm != m:
                raise DamagedLog(f"log entry {entry.seq} tells ticket {i} for arm {m}, which has another one")
            change = {"value": to_json(value), "told_at": entry.at, "number": self.account.told}
            self._move(i, allowed, TOLD, **change)

    def _move(self, ticket: int, allowed: tuple[str, ...], state: str, **change: Any) -> None:
        row = self.tickets.get(ticket)
        if row is None or row.state not in allowed:
            raise DamagedLog(
                f"log entry {self.entries} makes ticket {ticket} {state}, which is {row.state if row else 'unknown'}"
            )
        if row.state != state:
            self.account.move(row.arm, row.state, state)
        self.tickets[ticket] = row._replace(state=state, **change)


_KINDS = {
    "create": Ledger._create,
    "ask": Ledger._ask,
    "tell": Ledger._tell,
    "add": Ledger._add,
    "expire": Ledger._expire,
    "release": Ledger._release,
    "retract": Ledger._retract,
    "clock": Ledger._clock,
}
