"""The storage on SQLite and PostgreSQL, in SQLAlchemy Core."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, text

from linkarms.campaign import _connect
from linkarms.campaign._connect import Database, find_database
from linkarms.campaign._faults import explained
from linkarms.campaign._schema import SCHEMA, campaigns, make_tables, schema_number
from linkarms.campaign._sqlite import WRITE
from linkarms.campaign._storage import Entry, Head, Reader, Storage, Transaction
from linkarms.campaign._transaction import APPEND, NOW, SqlTransaction, head_query
from linkarms.campaign._upgrade import upgrade
from linkarms.errors import Conflict, NotFound

__all__ = ["SqlStorage"]

_HEADS = {flags: head_query(*flags) for flags in product((False, True), repeat=3)}


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
        self._database: Database = find_database(storage)
        self._postgres = self._database.path is None
        self._clock = clock if clock is not None or self._postgres else time.time
        self._engine: Engine | None = None
        self._owner = os.getpid()
        self._checked = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"SqlStorage({self._database.shown!r})"

    @property
    def shown(self) -> str:
        """The address, without a password."""
        return self._database.shown

    @property
    def path(self) -> Path | None:
        """The file of an SQLite database."""
        return self._database.path

    def _connected(self) -> Engine:
        with self._lock:
            if self._engine is not None and self._owner != os.getpid():
                # after a fork: the connections belong to the parent, and are not closed here
                self._engine.dispose(close=False)
                self._engine = None
            if self._engine is None:
                self._engine, self._owner = self._database.connect(), os.getpid()
                weakref.finalize(self, _dispose, self._engine, self._owner)
            return self._engine

    @contextmanager
    def _begin(self, write: bool) -> Iterator[Connection]:
        path = self._database.path
        if path is not None and not path.is_file():
            raise NotFound(f"there is no storage {path}; create a campaign first, or correct the path")
        with explained(self.shown):
            if not self._checked:
                self._check_schema()
            with self._transaction(write) as connection:
                yield connection

    @contextmanager
    def _transaction(self, write: bool) -> Iterator[Connection]:
        options: dict[str, Any] = {WRITE: True} if write else {}
        if self._postgres and not write:
            options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with (
            self._connected().connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield connection

    def _check_schema(self) -> None:
        """Refuse a database of another program; upgrade the tables of an older linkarms."""
        with self._transaction(write=False) as connection:
            number = schema_number(connection, self.shown)
        if number is None:
            raise NotFound(f"{self.shown} holds no campaigns; create one first")
        if number < SCHEMA:
            what = f"{self.shown} has schema {number} and is upgraded to {SCHEMA} when it is opened"
            with explained(what), self._transaction(write=True) as connection:
                upgrade(connection, self.shown)
        self._checked = True

    def now(self) -> int:
        """Return the clock, in microseconds since 1970 (UTC)."""
        if self._clock is not None:
            return int(self._clock() * 1e6)
        with explained(self.shown), self._connected().connect() as connection:
            return int(connection.execute(select(NOW)).scalar_one())

    def create(self, name: str, config: str, account: str, first: Entry) -> None:
        """Store a new campaign with the first entry of its log."""
        path = self._database.path
        if path is not None and not path.parent.is_dir():
            raise NotFound(
                f"there is no directory {path.parent}; make it, or correct the path of the storage"
            )
        with explained(self.shown), self._transaction(write=True) as connection:
            make_tables(connection, self.shown)
            upgrade(connection, self.shown)
            if connection.execute(select(campaigns.c.id).where(campaigns.c.name == name)).first():
                raise Conflict(f"there is a campaign {name!r} already; open it, or choose another name")
            row = {"name": name, "version": first.seq, "at": first.at, "created_at": first.at}
            row |= {"digest": first.digest, "config": config, "account": account}
            made = connection.execute(insert(campaigns).values(row).returning(campaigns.c.id))
            connection.execute(APPEND, {"campaign": made.scalar_one(), **first._asdict()})
        self._checked = True

    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""
        with self._begin(write=False) as connection:
            return sorted(connection.execute(select(campaigns.c.name)).scalars())

    @contextmanager
    def read(self, name: str, known: bool = False) -> Iterator[Reader]:
        """Read a campaign."""
        with self._begin(write=False) as connection:
            yield self._open(connection, name, known, lock=False)

    @contextmanager
    def write(self, name: str, known: bool = False) -> Iterator[Transaction]:
        """Change a campaign."""
        with self._begin(write=True) as connection:
            yield self._open(connection, name, known, lock=True)

    def _open(self, connection: Connection, name: str, known: bool, lock: bool) -> SqlTransaction:
        given = {"of_name": name}
        if lock and self._postgres:
            given["silence"] = f"{_connect.SILENCE}s"
        row = connection.execute(_HEADS[self._postgres, lock, known], given).first()
        if row is None:
            raise NotFound(
                f"there is no campaign {name!r} in {self.shown}; `linkarms campaign list` shows them"
            )
        number, now, *head = row[: 2 + len(Head._fields)]
        at = int(self._clock() * 1e6) if self._clock is not None else int(now)
        return SqlTransaction(connection, int(number), Head(*head), at, self.shown)

    def check(self) -> str | None:
        """Run SQLite's own check of the file; PostgreSQL checks its files itself."""
        with self._begin(write=False) as connection:
            if self._postgres:
                return None
            found = [str(row[0]) for row in connection.execute(text("PRAGMA quick_check(1)"))]
            return None if found == ["ok"] else found[0]

    def copy_to(
        self, target: sqlite3.Connection, pages: int, progress: Callable[[int, int, int], None]
    ) -> None:
        """Copy an SQLite file as it is at one moment."""
        with self._begin(write=False) as connection:
            # this read fixes the moment: what others write meanwhile does not make the copy begin again
            connection.execute(select(campaigns.c.id)).all()
            source: Any = connection.connection.driver_connection
            source.backup(target, pages=pages, progress=progress)

    def close(self) -> None:
        """Close the file or the connections."""
        with self._lock:
            if self._engine is not None:
                _dispose(self._engine, self._owner)
            self._engine, self._checked = None, False


def _dispose(engine: Engine, owner: int) -> None:
    """Close connections where they were opened: in a fork they are the parent's."""
    engine.dispose(close=owner == os.getpid())
