"""An SQLAlchemy engine for an SQLite file, with the settings of linkarms."""

from __future__ import annotations

import os
import random
import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from linkarms.errors import StorageError

__all__ = ["TIMEOUT", "WRITE", "sqlite_engine"]

#: Seconds to wait for a lock.
TIMEOUT = 30
#: The execution option of connections that are about to write.
WRITE = "linkarms_write"

#: Seconds between two attempts to take a lock; random, so that all processes get their turn.
_LOOK = (0.0005, 0.005)


def sqlite_engine(path: Path) -> Engine:
    """Return an engine for this file; nothing is opened yet."""
    if path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return _reading(path)
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        connect_args={"timeout": TIMEOUT, "check_same_thread": False},
        hide_parameters=True,
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


def _reading(path: Path) -> Engine:
    """Return an engine for a file that cannot be written, or whose directory cannot.

    SQLite's write-ahead log needs two files beside the database. Where they cannot be created the database is opened as one that never
    changes. That is right as long as there is no such log; each transaction checks.
    """

    def connect() -> sqlite3.Connection:
        log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
        in_use = log.exists() and log.stat().st_size > 0
        if in_use and not index.exists() and not os.access(path.parent, os.W_OK):
            raise StorageError(
                f"{path}: it was not closed, and its last changes in {log.name} cannot be read where nothing can be written; "
                "copy both files to a directory that can be written"
            )
        how = "mode=ro" if in_use or os.access(path.parent, os.W_OK) else "mode=ro&immutable=1"
        address = f"file:{quote(str(path.absolute()))}?{how}"
        found = sqlite3.connect(address, uri=True, timeout=TIMEOUT, check_same_thread=False)
        found.isolation_level = None
        return found

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if connection.get_execution_options().get(WRITE):
            raise sqlite3.OperationalError("attempt to write a readonly database")
        connection.exec_driver_sql("BEGIN")

    return engine


def _begin_immediate(connection: Any) -> None:
    """Wait for the write lock, trying every few milliseconds.

    SQLite's own waiting sleeps up to a tenth of a second between attempts, while others take the lock many times: eight processes
    then get a fifth of the throughput, and some wait for seconds.
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
