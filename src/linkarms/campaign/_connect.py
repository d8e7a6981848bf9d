"""From what a user writes as ``storage`` to an SQLAlchemy engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError

from linkarms.campaign._sqlite import sqlite_engine
from linkarms.errors import InvalidInput, require

__all__ = ["DEFAULT", "KEEPALIVE", "LOCKED", "READING", "SILENCE", "Database", "find_database"]

#: The default storage.
DEFAULT = "sqlite:///linkarms.db"
#: Seconds that a client may wait for a lock in PostgreSQL.
LOCKED = 30
#: Seconds that a client of PostgreSQL may be silent between two statements of a change.
SILENCE = 15
#: Seconds that a client of PostgreSQL may be silent between two statements of a read.
READING = 600
#: TCP keepalive: seconds of silence before the first probe, seconds between probes, and how many may go unanswered.
KEEPALIVE = (10, 5, 3)

_PASSWORD, _PASSWORD_FILE = "LINKARMS_DB_PASSWORD", "LINKARMS_DB_PASSWORD_FILE"
_FORMS = "a path, sqlite:///PATH, or postgresql+psycopg://USER@HOST/DATABASE"


class Database:
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
        """Return an engine with the settings of linkarms; nothing is opened yet."""
        if self.path is not None:
            return sqlite_engine(self.path)
        require("psycopg", "postgresql")
        return create_engine(
            self._with_password(), connect_args=_postgres(), pool_pre_ping=True, hide_parameters=True
        )

    def _with_password(self) -> URL:
        """Return the password from the environment or a file; without either, libpq uses its own sources (PGPASSWORD, .pgpass)."""
        file = os.environ.get(_PASSWORD_FILE)
        if file:
            try:
                return self._url.set(password=Path(file).read_text(encoding="utf-8").rstrip("\r\n"))
            except (OSError, UnicodeError) as error:
                raise InvalidInput(
                    f"{_PASSWORD_FILE}={file} cannot be read ({getattr(error, 'strerror', None) or error}); correct the path"
                ) from error
        password = os.environ.get(_PASSWORD)
        return self._url.set(password=password) if password else self._url


def _postgres() -> dict[str, Any]:
    """Return the connection options for libpq.

    Both ends notice within 25 seconds that the other one is gone. A client that is silent in the middle of a change loses its
    transaction after `SILENCE` seconds (see `head_query`). Readers delay nobody, and may be silent for longer.
    """
    idle, interval, count = KEEPALIVE
    gone = 1_000 * (idle + interval * count)  # milliseconds
    session = {
        "synchronous_commit": "on",  # what is acknowledged is on disk, whatever the server's default
        "timezone": "UTC",
        "lock_timeout": f"{LOCKED}s",
        "idle_in_transaction_session_timeout": f"{READING}s",
        "tcp_keepalives_idle": idle,
        "tcp_keepalives_interval": interval,
        "tcp_keepalives_count": count,
        "tcp_user_timeout": gone,
    }
    return {
        "connect_timeout": 10,
        "application_name": "linkarms",
        "options": " ".join(f"-c {name}={value}" for name, value in session.items()),
        "keepalives": 1,
        "keepalives_idle": idle,
        "keepalives_interval": interval,
        "keepalives_count": count,
        "tcp_user_timeout": gone,
    }


def find_database(storage: str | os.PathLike[str]) -> Database:
    """Return the database that ``storage`` names; `InvalidInput` for anything else."""
    if not isinstance(storage, (str, os.PathLike)) or not str(storage) or "\0" in str(storage):
        raise InvalidInput(f"storage={storage!r} is not a storage; give {_FORMS}")
    text = os.fspath(storage)
    if "://" not in text:
        return Database(URL.create("sqlite", database=text))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # the text may hold a password: it is not repeated
        raise InvalidInput(f"the storage is not a URL that can be read; give {_FORMS}") from None
    if url.password is not None:
        raise InvalidInput(
            f"the storage {url.render_as_string(hide_password=True)} holds a password, which other users of the machine could "
            f"see; leave it out and set {_PASSWORD} or {_PASSWORD_FILE}"
        )
    if url.drivername in ("postgresql", "postgresql+psycopg"):
        return Database(url.set(drivername="postgresql+psycopg"))
    if url.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise InvalidInput(f"storage {url.drivername}:// is not supported; give {_FORMS}")
    if url.query or not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise InvalidInput(
            f"storage {text} is not a file; give sqlite:///PATH: a campaign must outlive the process"
        )
    return Database(URL.create("sqlite", database=url.database))
