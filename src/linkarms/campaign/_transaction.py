"""One transaction on a campaign in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    bindparam,
    cast,
    delete,
    func,
    insert,
    literal,
    literal_column,
    null,
    or_,
    select,
    update,
)

from linkarms.campaign._bulk import insert_tickets, update_tickets
from linkarms.campaign._schema import campaigns, computed, log, tickets
from linkarms.campaign._storage import FIGURES, OPEN, STATE, Computed, Entry, Head, TicketRow, Transaction
from linkarms.errors import StorageError

__all__ = ["APPEND", "NOW", "SqlTransaction", "head_query"]

#: Log entries that are fetched at once: a body may hold ten thousand samples.
_ENTRIES = 200
#: Tickets that are asked for by number at once, and that are fetched at once.
_NUMBERS, _ROWS = 1_000, 10_000
NOW = cast(func.extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)

_ENTRY = [log.c[name] for name in Entry._fields]
_TICKET = [tickets.c[name] for name in TicketRow._fields]
# a literal, not a parameter: only then does SQLite use the index of the open tickets
_IS_OPEN = tickets.c.state == literal_column(f"'{OPEN}'")

# Statements that every operation needs are built once, so SQLAlchemy compiles them once.
APPEND = insert(log)
_OF_CAMPAIGN: Any = bindparam("in_campaign")
_FIND_KEY = select(*_ENTRY).where(log.c.campaign == _OF_CAMPAIGN, log.c.key == bindparam("of_key"))
_FOLLOWING = (
    select(*_ENTRY)
    .where(log.c.campaign == _OF_CAMPAIGN, log.c.seq > bindparam("after"))
    .order_by(log.c.seq)
    .limit(_ENTRIES)
)
_OF_KINDS = _FOLLOWING.where(log.c.kind.in_(bindparam("kinds", expanding=True)))
_MINE = select(*_TICKET).where(tickets.c.campaign == _OF_CAMPAIGN).order_by(tickets.c.ticket)
_THESE = _MINE.where(tickets.c.ticket.in_(bindparam("numbers", expanding=True)))
_ALL = _MINE.where(tickets.c.ticket > bindparam("after")).limit(_ROWS)
_SAVE = (
    update(campaigns)
    .where(campaigns.c.id == bindparam("of_id"), campaigns.c.version == bindparam("was"))
    .values({name: bindparam(f"new_{name}") for name in ("version", "at", "digest", "account")})
)
_THIS_KIND = (computed.c.campaign == _OF_CAMPAIGN, computed.c.kind == bindparam("of_kind"))
_COMPUTED = select(*(computed.c[name] for name in Computed._fields)).where(*_THIS_KIND)
_OLDER = or_(
    computed.c.retractions < bindparam("new_retractions"),
    (computed.c.retractions == bindparam("new_retractions"))
    & (computed.c.version < bindparam("new_version")),
)
_KEEP = (
    update(computed)
    .where(*_THIS_KIND, _OLDER)
    .values({name: bindparam(f"new_{name}") for name in Computed._fields[1:]})
)


def head_query(postgres: bool, lock: bool, known: bool) -> Any:
    """Return the query for the number of a campaign, the time, and its head; ``lock`` it for the rest of the transaction.

    On PostgreSQL, a client that holds the lock may be silent for at most ``silence`` seconds.
    """
    version = {
        kind: func.coalesce(
            select(computed.c.version)
            .where(computed.c.campaign == campaigns.c.id, computed.c.kind == literal_column(f"'{kind}'"))
            .scalar_subquery(),
            0,
        )
        for kind in (STATE, FIGURES)
    }
    columns: list[Any] = [campaigns.c[name] for name in ("name", "version", "at", "created_at", "digest")]
    columns += [literal("") if known else campaigns.c.config, campaigns.c.account]
    columns += [version[STATE], version[FIGURES]]
    limit = func.set_config("idle_in_transaction_session_timeout", bindparam("silence"), True)
    extra = [limit] if lock and postgres else []
    query = select(campaigns.c.id, NOW if postgres else null(), *columns, *extra).where(
        campaigns.c.name == bindparam("of_name")
    )
    return query.with_for_update(of=campaigns) if lock and postgres else query


class SqlTransaction(Transaction):
    """A `Transaction` on one connection."""

    def __init__(self, connection: Connection, number: int, head: Head, now: int, shown: str) -> None:
        self._connection, self._id, self.head, self.now, self._shown = connection, number, head, now, shown

    def entries(self, after: int = 0, kinds: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield log entries in order."""
        query = _FOLLOWING if kinds is None else _OF_KINDS
        given: dict[str, Any] = {"in_campaign": self._id}
        if kinds is not None:
            given["kinds"] = list(kinds)
        while True:
            rows = [Entry(*row) for row in self._connection.execute(query, given | {"after": after})]
            yield from rows
            if len(rows) < _ENTRIES:
                return
            after = rows[-1].seq

    def find_key(self, key: str) -> Entry | None:
        """Return the entry with this key."""
        row = self._connection.execute(_FIND_KEY, {"in_campaign": self._id, "of_key": key}).first()
        return None if row is None else Entry(*row)

    def tickets(self, numbers: Iterable[int] | None = None) -> Iterator[TicketRow]:
        """Yield tickets by number."""
        if numbers is not None:
            wanted = sorted(set(numbers))
            for i in range(0, len(wanted), _NUMBERS):
                some = {"in_campaign": self._id, "numbers": wanted[i : i + _NUMBERS]}
                yield from (TicketRow(*row) for row in self._connection.execute(_THESE, some))
            return
        after = 0
        while True:
            following = {"in_campaign": self._id, "after": after}
            rows = [TicketRow(*row) for row in self._connection.execute(_ALL, following)]
            yield from rows
            if len(rows) < _ROWS:
                return
            after = rows[-1].ticket

    def overdue(self, at: int) -> list[TicketRow]:
        """Return open tickets whose lease is over."""
        query = select(*_TICKET).where(tickets.c.campaign == self._id, _IS_OPEN, tickets.c.expires_at <= at)
        return [TicketRow(*row) for row in self._connection.execute(query.order_by(tickets.c.ticket))]

    def next_expiry(self) -> int | None:
        """Return the earliest end of a lease."""
        query = select(func.min(tickets.c.expires_at)).where(tickets.c.campaign == self._id, _IS_OPEN)
        found = self._connection.execute(query).scalar()
        return None if found is None else int(found)

    def computed(self, kind: str) -> Computed | None:
        """Return what was last computed."""
        row = self._connection.execute(_COMPUTED, {"in_campaign": self._id, "of_kind": kind}).first()
        return None if row is None else Computed(*row)

    def append(self, entry: Entry) -> None:
        """Add to the log."""
        self._connection.execute(APPEND, {"campaign": self._id, **entry._asdict()})

    def insert_tickets(self, rows: Sequence[TicketRow]) -> None:
        """Add new tickets."""
        insert_tickets(self._connection, self._id, rows)

    def update_tickets(self, rows: Sequence[TicketRow]) -> None:
        """Change tickets."""
        update_tickets(self._connection, self._id, rows)

    def shift_leases(self, by: int) -> None:
        """Move the ends of all open leases."""
        mine = update(tickets).where(tickets.c.campaign == self._id, _IS_OPEN)
        self._connection.execute(mine.values(expires_at=tickets.c.expires_at + by))

    def save(self, version: int, at: int, digest: str, account: str) -> None:
        """Move the head on."""
        new = {"new_version": version, "new_at": at, "new_digest": digest, "new_account": account}
        changed = self._connection.execute(_SAVE, {"of_id": self._id, "was": self.head.version, **new})
        if changed.rowcount != 1:
            raise StorageError(
                f"{self._shown}: the campaign {self.head.name!r} was changed by another process meanwhile; nothing was stored, try again"
            )

    def keep(self, computed: Computed) -> bool:
        """Store what was computed, if it is newer."""
        this = {"in_campaign": self._id, "of_kind": computed.kind}
        new = {f"new_{name}": value for name, value in computed._asdict().items() if name != "kind"}
        if self._connection.execute(_KEEP, this | new).rowcount == 1:
            return True
        if self.computed(computed.kind) is not None:
            return False
        self._connection.execute(_FIRST, {"campaign": self._id, **computed._asdict()})
        return True

    def rebuild(self, config: str, account: str, rows: Sequence[TicketRow], unknown: Sequence[int]) -> None:
        """Replace what differs from the log."""
        mine = update(campaigns).where(campaigns.c.id == self._id)
        self._connection.execute(mine.values(config=config, account=account))
        self._connection.execute(delete(computed).where(computed.c.campaign == self._id))
        gone = [*unknown, *(row.ticket for row in rows)]
        for i in range(0, len(gone), _NUMBERS):
            some = tickets.c.ticket.in_(gone[i : i + _NUMBERS])
            self._connection.execute(delete(tickets).where(tickets.c.campaign == self._id, some))
        for i in range(0, len(rows), _ROWS):
            insert_tickets(self._connection, self._id, rows[i : i + _ROWS])


_FIRST = insert(computed)
