"""Replay the log and compare: the state that is stored must be the one that follows from it, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from linkarms._version import __version__
from linkarms.campaign._records import Checkup
from linkarms.campaign._report import retracted
from linkarms.campaign._run import Run
from linkarms.campaign._session import chained, to_json
from linkarms.campaign._storage import EXPIRED, OPEN, RELEASED, RETRACTED, TOLD, Entry, Reader, TicketRow
from linkarms.errors import LinkarmsError

__all__ = ["examine"]


class _Broken(Exception):
    """What is wrong, in words."""


class _Replay:
    """Tickets and account as they follow from the entries of the log."""

    def __init__(self, config: str) -> None:
        self.run = Run(config)
        self.tickets: dict[int, TicketRow] = {}
        self.entries = 0
        self.digest = ""
        self.at = 0

    def take(self, entry: Entry) -> None:
        """One more entry."""
        self._check_chain(entry)
        body, account = json.loads(entry.body), self.run.account
        if entry.kind == "ask":
            arms = [m for _, m in body["tickets"]]
            self._number(entry, account.issue(arms, OPEN), [i for i, _ in body["tickets"]])
            for i, m in body["tickets"]:
                self.tickets[i] = TicketRow(i, m, entry.worker, OPEN, body["expires"])
        elif entry.kind in ("tell", "add"):
            if entry.kind == "add":
                arms = [m for _, m, _ in body["samples"]]
                self._number(entry, account.issue(arms, TOLD), [i for i, _, _ in body["samples"]])
                for i, m, _ in body["samples"]:
                    self.tickets[i] = TicketRow(i, m, entry.worker, TOLD, None)
            for i, _, value in body["samples"]:
                account.told += 1
                change = {"value": to_json(value), "told_at": entry.at, "number": account.told}
                self._move(i, (OPEN, EXPIRED) if entry.kind == "tell" else (TOLD,), TOLD, **change)
        elif entry.kind == "expire":
            account.expirations += len(body["tickets"])
            for i in body["tickets"]:
                self._move(i, (OPEN,), EXPIRED)
        elif entry.kind == "release":
            self._move(body["ticket"], (OPEN,), RELEASED)
        elif entry.kind == "retract":
            self._move(body["ticket"], (TOLD,), RETRACTED)
        elif entry.kind != "create" or entry.seq != 1:
            raise _Broken(f"log entry {entry.seq} is of the kind {entry.kind!r}, which does not belong there")

    def _check_chain(self, entry: Entry) -> None:
        self.entries += 1
        if entry.seq != self.entries:
            raise _Broken(f"log entry {self.entries} is missing; the next one is {entry.seq}")
        if entry.digest != chained(self.digest, entry):
            raise _Broken(f"log entry {entry.seq} ({entry.kind}) was changed: its digest does not fit")
        if entry.at < self.at:
            raise _Broken(f"log entry {entry.seq} is older than the one before it")
        self.digest, self.at = entry.digest, entry.at

    @staticmethod
    def _number(entry: Entry, expected: range, found: list[int]) -> None:
        if list(expected) != found:
            raise _Broken(
                f"log entry {entry.seq} numbers its tickets {found[:3]}..., not from {expected.start} on"
            )

    def _move(self, ticket: int, allowed: tuple[str, ...], state: str, **change: Any) -> None:
        row = self.tickets.get(ticket)
        if row is None or row.state not in allowed:
            raise _Broken(
                f"log entry {self.entries} makes ticket {ticket} {state}, which is {row.state if row else 'unknown'}"
            )
        if row.state != state:
            self.run.account.move(row.arm, row.state, state)
        self.tickets[ticket] = row._replace(state=state, **change)


def examine(
    reader: Reader, broken: str | None = None, progress: Callable[[float, str], None] | None = None
) -> Checkup:
    """Check one campaign in one consistent look.

    Parameters
    ----------
    reader : Reader
        The campaign.
    broken : str, optional
        What the database itself found.
    progress : callable, optional
        Told the part that is done, and a text.
    """
    replay: _Replay | None = None
    difference = None if broken is None else f"the database finds: {broken}"
    try:
        replay = _Replay(reader.head.config)
        if difference is None:
            _replay_all(reader, replay, progress)
            difference = next(_differences(reader, replay), None)
    except _Broken as error:
        difference = str(error)
    except (LinkarmsError, ValueError, KeyError, TypeError, IndexError) as error:
        entry = replay.entries if replay else 0
        difference = f"log entry {entry} cannot be replayed ({type(error).__name__}: {error})"
    if difference is not None:
        difference += _other_version(reader.head.config)
    counted = (replay.entries, replay.run.account.told, len(replay.tickets)) if replay else (0, 0, 0)
    return Checkup(difference is None, *counted, difference)


def _other_version(config: str) -> str:
    """A hint where a changed formula may be the reason of a difference."""
    try:
        maker = json.loads(config)["linkarms"]
    except (ValueError, KeyError, TypeError):
        return ""
    if maker == __version__:
        return ""
    return f" (linkarms {maker} created the campaign and this is {__version__}; see Changed decisions in its changelog)"


def _replay_all(reader: Reader, replay: _Replay, progress: Callable[[float, str], None] | None) -> None:
    last, skip = max(reader.head.version, 1), retracted(reader)

    def bodies() -> Iterator[str]:
        for entry in reader.entries():
            replay.take(entry)
            if progress is not None:
                progress(entry.seq / last, f"entry {entry.seq:,} of {last:,}")
            if entry.kind in ("tell", "add"):
                yield entry.body
            elif entry.kind == "create" and entry.body != reader.head.config:
                raise _Broken("the settings differ from those in the first log entry")

    replay.run.feed_log(bodies(), skip)


def _differences(reader: Reader, replay: _Replay) -> Iterator[str]:
    head = reader.head
    for what, stored, found in (
        ("the number of log entries", head.version, replay.entries),
        ("the time of the last entry", head.at, replay.at),
        ("the digest of the log", head.digest, replay.digest),
    ):
        if stored != found:
            yield f"{what}: {stored} is stored, the log gives {found}"
    stored, found = json.loads(head.snapshot), json.loads(replay.run.snapshot())
    # a bound that only saves a search: it may be lower than necessary
    bound = stored.get("account", {}).pop("next_expiry", None)
    found["account"].pop("next_expiry")
    yield from _unequal("snapshot", stored, found)
    ends = [
        row.expires_at for row in replay.tickets.values() if row.state == OPEN and row.expires_at is not None
    ]
    if ends and (bound is None or bound > min(ends)):
        yield f"snapshot.account.next_expiry: {bound} is stored, and a ticket expires at {min(ends)}"
    left = dict(replay.tickets)
    for row in reader.tickets():
        expected = left.pop(row.ticket, None)
        if expected is None:
            yield f"ticket {row.ticket} is stored, and the log does not know it"
        elif row != expected:
            name = next(n for n in row._fields if getattr(row, n) != getattr(expected, n))
            yield f"ticket {row.ticket}, {name}: {getattr(row, name)!r} is stored, the log gives {getattr(expected, name)!r}"
    for ticket in left:
        yield f"ticket {ticket} is in the log, and it is not stored"


def _unequal(where: str, stored: Any, found: Any) -> Iterator[str]:
    """Paths at which two JSON values differ, in order."""
    if isinstance(stored, dict) and isinstance(found, dict) and stored.keys() == found.keys():
        for key in found:
            yield from _unequal(f"{where}.{key}", stored[key], found[key])
    elif isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        for i, (a, b) in enumerate(zip(stored, found, strict=True)):
            yield from _unequal(f"{where}[{i}]", a, b)
    elif stored != found or type(stored) is not type(found):
        yield f"{where}: {stored!r} is stored, the log gives {found!r}"
