"""From what a user writes as ``storage`` to an SQLAlchemy engine."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from linkarms.errors import InvalidInput, StorageError, require

__all__ = ["DEFAULT", "TIMEOUT", "WRITE", "Place", "find_place"]

#: Where campaigns live unless the user says otherwise.
DEFAULT = "sqlite:///linkarms.db"
#: Seconds to wait for a lock.
TIMEOUT = 30
#: The execution option of connections that are about to write.
WRITE = "linkarms_write"

#: Seconds between two looks at a lock that others hold; random, so that all get their turn.
_LOOK = (0.0005, 0.005)

_PASSWORD, _PASSWORD_FILE = "LINKARMS_DB_PASSWORD", "LINKARMS_DB_PASSWORD_FILE"
_FORMS = "a path, sqlite:///PATH, or postgresql+psycopg://USER@HOST/DATABASE"


class Place:
    """A database: its address, how it may be shown, and how to connect.

    Attributes
    ----------
    shown : str
        For messages; without a password.
    path : Path or None
        The file of an SQLite database.
    """

    def __init__(self, url: URL) -> None:
        self._url = url
        self.path = Path(str(url.database)) if url.get_backend_name() == "sqlite" else None
        self.shown = str(self.path) if self.path else url.render_as_string(hide_password=True)

    def connect(self) -> Engine:
        """An engine with the settings of linkarms; nothing is opened yet."""
        if self.path is not None:
            return _sqlite(self._url)
        require("psycopg", "campaign")
        options = {
            "connect_timeout": 10,
            "application_name": "linkarms",
            # what is acknowledged is on disk, whatever the server's default
            "options": f"-c synchronous_commit=on -c lock_timeout={TIMEOUT}s -c timezone=UTC",
        }
        return create_engine(
            self._with_password(), connect_args=options, pool_pre_ping=True, hide_parameters=True
        )

    def _with_password(self) -> URL:
        """The password from the environment or a file; without either, libpq looks in its own places (PGPASSWORD, .pgpass)."""
        file = os.environ.get(_PASSWORD_FILE)
        if file:
            try:
                return self._url.set(password=Path(file).read_text(encoding="utf-8").rstrip("\r\n"))
            except (OSError, UnicodeError) as error:
                raise InvalidInput(
                    f"{_PASSWORD_FILE}={file} cannot be read ({getattr(error, 'strerror', None) or error}); mend the path"
                ) from error
        password = os.environ.get(_PASSWORD)
        return self._url.set(password=password) if password else self._url


def find_place(storage: str | os.PathLike[str]) -> Place:
    """The database that ``storage`` names; `InvalidInput` for what is none."""
    if not isinstance(storage, (str, os.PathLike)) or not str(storage) or "\0" in str(storage):
        raise InvalidInput(f"storage={storage!r} is no storage; give {_FORMS}")
    text = os.fspath(storage)
    if "://" not in text:
        return Place(URL.create("sqlite", database=text))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # the text may hold a password: it is not repeated
        raise InvalidInput(f"the storage is no URL that can be read; give {_FORMS}") from None
    if url.password is not None:
        raise InvalidInput(
            f"the storage {url.render_as_string(hide_password=True)} holds a password, which other users of the machine could "
            f"see; leave it out and set {_PASSWORD} or {_PASSWORD_FILE}"
        )
    if url.drivername in ("postgresql", "postgresql+psycopg"):
        return Place(url.set(drivername="postgresql+psycopg"))
    if url.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise InvalidInput(f"storage {url.drivername}:// is not supported; give {_FORMS}")
    if url.query or not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise InvalidInput(
            f"storage {text} is no file; give sqlite:///PATH: a campaign has to outlive the process"
        )
    return Place(URL.create("sqlite", database=url.database))


def _sqlite(url: URL) -> Engine:
    engine = create_engine(
        url, connect_args={"timeout": TIMEOUT, "check_same_thread": False}, hide_parameters=True
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _record: Any) -> None:
        connection.isolation_level = None  # BEGIN and COMMIT are ours, not the driver's
        _use_wal(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A deferred BEGIN that later wants to write fails at once where another has written meanwhile.
        if connection.get_execution_options().get(WRITE):
            _begin_immediate(connection.connection.driver_connection)
        else:
            connection.exec_driver_sql("BEGIN")

    return engine


def _begin_immediate(connection: Any) -> None:
    """Wait for the write lock, looking every few milliseconds.

    SQLite's own waiting sleeps up to a tenth of a second between two looks, in which others take the lock many times: eight processes
    then get a fifth of the throughput, and single ones wait for seconds.
    """
    end = time.monotonic() + TIMEOUT
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(random.uniform(*_LOOK))
    finally:
        connection.execute(f"PRAGMA busy_timeout = {1_000 * TIMEOUT}")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Readers and the writer do not wait for each other in this mode. It is kept in the file; setting it does not wait for locks."""
    end = time.monotonic() + TIMEOUT
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            if mode != "wal":
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            if mode == "wal":
                return
            raise StorageError(f"SQLite cannot use its write-ahead log here (mode {mode}); use a local disk")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
