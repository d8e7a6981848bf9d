"""The storage on SQLite and PostgreSQL, in SQLAlchemy Core."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Engine,
    bindparam,
    case,
    cast,
    func,
    insert,
    literal_column,
    null,
    select,
    text,
    update,
)

from linkarms.campaign._bulk import insert_tickets, update_tickets
from linkarms.campaign._connect import WRITE, Place, find_place
from linkarms.campaign._faults import explained
from linkarms.campaign._schema import campaigns, log, make_tables, schema_number, tickets
from linkarms.campaign._storage import OPEN, Entry, Head, Reader, Storage, TicketRow, Transaction
from linkarms.errors import Conflict, NotFound, StorageError

__all__ = ["SqlStorage"]

#: Rows that are fetched, or asked for by number, at once.
_CHUNK = 1_000

_ENTRY = [log.c[name] for name in Entry._fields]
_TICKET = [tickets.c[name] for name in TicketRow._fields]
_NOW = cast(func.extract("epoch", func.clock_timestamp()) * 1_000_000, BigInteger)

# spelled out, not bound: only then does SQLite use the index of the open tickets
_IS_OPEN = tickets.c.state == literal_column(f"'{OPEN}'")

# Statements that every operation needs are built once: SQLAlchemy then finds them compiled.
_APPEND = insert(log)
_FIND_KEY = select(*_ENTRY).where(
    log.c.campaign == bindparam("in_campaign"), log.c.key == bindparam("of_key")
)
_MINE = select(*_TICKET).where(tickets.c.campaign == bindparam("in_campaign")).order_by(tickets.c.ticket)
_THESE = _MINE.where(tickets.c.ticket.in_(bindparam("numbers", expanding=True)))
_ALL = _MINE.where(tickets.c.ticket > bindparam("after")).limit(10 * _CHUNK)
_SAVE = (
    update(campaigns)
    .where(campaigns.c.id == bindparam("of_id"), campaigns.c.version == bindparam("was"))
    .values({name: bindparam(f"new_{name}") for name in ("version", "at", "digest", "snapshot")})
)


def _head_query(now: Any, lock: bool) -> Any:
    """The head of a campaign, without its snapshot at the version that the reader knows."""
    snapshot = case((campaigns.c.version == bindparam("known"), ""), else_=campaigns.c.snapshot)
    columns = [campaigns.c[name] for name in Head._fields[:-1]]
    query = select(campaigns.c.id, now, *columns, snapshot).where(campaigns.c.name == bindparam("of_name"))
    return query.with_for_update() if lock else query


_HEADS = {
    (postgres, lock): _head_query(_NOW if postgres else null(), lock and postgres)
    for postgres in (False, True)
    for lock in (False, True)
}


class SqlStorage(Storage):
    """Campaigns in an SQLite file (on a local disk) or in a PostgreSQL database.

    Parameters
    ----------
    storage : str or path
        A path, ``sqlite:///PATH`` or ``postgresql+psycopg://USER@HOST/DATABASE``.
    clock : callable, optional
        Seconds since 1970 (UTC). By default the machine's clock for SQLite, whose users share a machine, and the server's for PostgreSQL.
    """

    def __init__(self, storage: str | os.PathLike[str], clock: Callable[[], float] | None = None) -> None:
        self._place: Place = find_place(storage)
        self._postgres = self._place.path is None
        self._clock = clock if clock is not None or self._postgres else time.time
        self._engine: Engine | None = None
        self._owner = os.getpid()
        self._checked = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"SqlStorage({self._place.shown!r})"

    @property
    def shown(self) -> str:
        """The address, without a password."""
        return self._place.shown

    def _connected(self) -> Engine:
        with self._lock:
            if self._engine is not None and self._owner != os.getpid():
                # after a fork: the connections belong to the parent, and are not closed here
                self._engine.dispose(close=False)
                self._engine = None
            if self._engine is None:
                self._engine, self._owner = self._place.connect(), os.getpid()
                weakref.finalize(self, _dispose, self._engine, self._owner)
            return self._engine

    @contextmanager
    def _begin(self, write: bool) -> Iterator[Connection]:
        path = self._place.path
        if path is not None and not path.is_file():
            raise NotFound(f"there is no storage {path}; create a campaign first, or mend the path")
        with explained(self.shown):
            engine = self._connected()
            options: dict[str, Any] = {WRITE: True} if write else {}
            if self._postgres and not write:
                options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
            with engine.connect().execution_options(**options) as connection, connection.begin():
                if not self._checked:
                    if schema_number(connection, self.shown) is None:
                        raise NotFound(f"{self.shown} holds no campaigns; create one first")
                    self._checked = True
                yield connection

    def now(self) -> int:
        """The clock, in microseconds since 1970 (UTC)."""
        if self._clock is not None:
            return int(self._clock() * 1e6)
        with explained(self.shown), self._connected().connect() as connection:
            return int(connection.execute(select(_NOW)).scalar_one())

    def create(self, name: str, config: str, snapshot: str, first: Entry) -> None:
        """A new campaign with the first entry of its log."""
        path = self._place.path
        if path is not None and not path.parent.is_dir():
            raise NotFound(f"there is no directory {path.parent}; make it, or mend the path of the storage")
        with explained(self.shown):
            options = {WRITE: True}
            with self._connected().connect().execution_options(**options) as connection, connection.begin():
                make_tables(connection, self.shown)
                if connection.execute(select(campaigns.c.id).where(campaigns.c.name == name)).first():
                    raise Conflict(f"there is a campaign {name!r} already; open it, or choose another name")
                row = {"name": name, "version": first.seq, "at": first.at, "created_at": first.at}
                row |= {"digest": first.digest, "config": config, "snapshot": snapshot}
                made = connection.execute(insert(campaigns).values(row).returning(campaigns.c.id))
                connection.execute(_APPEND, {"campaign": made.scalar_one(), **first._asdict()})
        self._checked = True

    def names(self) -> list[str]:
        """The names of all campaigns, sorted."""
        with self._begin(write=False) as connection:
            return sorted(connection.execute(select(campaigns.c.name)).scalars())

    @contextmanager
    def read(self, name: str, known: int | None = None) -> Iterator[Reader]:
        """Look at a campaign."""
        with self._begin(write=False) as connection:
            yield self._open(connection, name, known, lock=False)

    @contextmanager
    def write(self, name: str, known: int | None = None) -> Iterator[Transaction]:
        """Change a campaign."""
        with self._begin(write=True) as connection:
            yield self._open(connection, name, known, lock=True)

    def _open(self, connection: Connection, name: str, known: int | None, lock: bool) -> _SqlTransaction:
        query = _HEADS[self._postgres, lock]
        row = connection.execute(query, {"known": -1 if known is None else known, "of_name": name}).first()
        if row is None:
            raise NotFound(
                f"there is no campaign {name!r} in {self.shown}; `linkarms campaign list` names them"
            )
        number, now, *head = row
        at = int(self._clock() * 1e6) if self._clock is not None else int(now)
        return _SqlTransaction(connection, int(number), Head(*head), at, self.shown)

    def check(self) -> str | None:
        """SQLite's own check of the file; PostgreSQL looks after its files itself."""
        with self._begin(write=False) as connection:
            if self._postgres:
                return None
            found = [str(row[0]) for row in connection.execute(text("PRAGMA quick_check(1)"))]
            return None if found == ["ok"] else found[0]

    def close(self) -> None:
        """Let go of the file or the connections."""
        with self._lock:
            if self._engine is not None:
                _dispose(self._engine, self._owner)
            self._engine, self._checked = None, False


def _dispose(engine: Engine, owner: int) -> None:
    """Close connections where they were opened: in a fork they are the parent's."""
    engine.dispose(close=owner == os.getpid())


class _SqlTransaction(Transaction):
    def __init__(self, connection: Connection, number: int, head: Head, now: int, shown: str) -> None:
        self._connection, self._id, self.head, self.now, self._shown = connection, number, head, now, shown

    def entries(self, after: int = 0, kinds: Sequence[str] | None = None) -> Iterator[Entry]:
        query = select(*_ENTRY).where(log.c.campaign == self._id, log.c.seq > bindparam("after"))
        if kinds is not None:
            query = query.where(log.c.kind.in_(list(kinds)))
        query = query.order_by(log.c.seq).limit(_CHUNK)
        while True:
            rows = [Entry(*row) for row in self._connection.execute(query, {"after": after})]
            yield from rows
            if len(rows) < _CHUNK:
                return
            after = rows[-1].seq

    def find_key(self, key: str) -> Entry | None:
        row = self._connection.execute(_FIND_KEY, {"in_campaign": self._id, "of_key": key}).first()
        return None if row is None else Entry(*row)

    def tickets(self, numbers: Iterable[int] | None = None) -> Iterator[TicketRow]:
        if numbers is not None:
            wanted = sorted(set(numbers))
            for i in range(0, len(wanted), _CHUNK):
                some = {"in_campaign": self._id, "numbers": wanted[i : i + _CHUNK]}
                yield from (TicketRow(*row) for row in self._connection.execute(_THESE, some))
            return
        after = 0
        while True:
            following = {"in_campaign": self._id, "after": after}
            rows = [TicketRow(*row) for row in self._connection.execute(_ALL, following)]
            yield from rows
            if len(rows) < 10 * _CHUNK:
                return
            after = rows[-1].ticket

    def overdue(self, at: int) -> list[TicketRow]:
        query = select(*_TICKET).where(tickets.c.campaign == self._id, _IS_OPEN, tickets.c.expires_at <= at)
        return [TicketRow(*row) for row in self._connection.execute(query.order_by(tickets.c.ticket))]

    def next_expiry(self) -> int | None:
        query = select(func.min(tickets.c.expires_at)).where(tickets.c.campaign == self._id, _IS_OPEN)
        found = self._connection.execute(query).scalar()
        return None if found is None else int(found)

    def append(self, entry: Entry) -> None:
        self._connection.execute(_APPEND, {"campaign": self._id, **entry._asdict()})

    def insert_tickets(self, rows: Sequence[TicketRow]) -> None:
        insert_tickets(self._connection, self._id, rows)

    def update_tickets(self, rows: Sequence[TicketRow]) -> None:
        update_tickets(self._connection, self._id, rows)

    def save(self, version: int, at: int, digest: str, snapshot: str) -> None:
        new = {"new_version": version, "new_at": at, "new_digest": digest, "new_snapshot": snapshot}
        changed = self._connection.execute(_SAVE, {"of_id": self._id, "was": self.head.version, **new})
        if changed.rowcount != 1:
            raise StorageError(
                f"{self._shown}: the campaign {self.head.name!r} was changed by somebody else meanwhile; nothing was stored, do it again"
            )
