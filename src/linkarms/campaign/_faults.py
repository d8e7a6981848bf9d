"""Explain errors of the database in one line, without parameters and passwords."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from linkarms.errors import Conflict, StorageError

__all__ = ["explained"]

_DAMAGED = "the file is damaged or not a database; restore a copy"
#: Parts of the driver's message, and our message.
_MEANINGS = (
    (
        ("database or disk is full", "no space left", "could not extend file", "disk full"),
        "the disk is full; free some space and try again",
    ),
    (("file is not a database", "malformed", "encrypted", "disk i/o error", "invalid page"), _DAMAGED),
    (
        ("no such table", "no such column", "does not exist"),
        "a table or column is missing, or there is no such database; restore a copy, or correct the address",
    ),
    (("readonly database", "read-only", "permission denied"), "it cannot be written; change the permissions"),
    (("unable to open",), "the file cannot be opened; check the directory and the permissions"),
    (("locked", "lock timeout", "busy"), "others kept it locked for too long; try again"),
    (
        ("idle-in-transaction", "idle in transaction"),
        "the client was silent for too long and the server ended the change; nothing of it is stored: try again",
    ),
    (
        ("password", "authentication"),
        "the server refuses the user or the password; set LINKARMS_DB_PASSWORD or LINKARMS_DB_PASSWORD_FILE",
    ),
)


@contextmanager
def explained(shown: str) -> Iterator[None]:
    """Turn an error of the database ``shown`` into a `StorageError`."""
    try:
        yield
    except IntegrityError as error:
        raise Conflict(
            f"{shown}: a name, number or key is taken already ({_first_line(error)}); open the campaign again"
        ) from error
    except (DBAPIError, sqlite3.Error) as error:
        text = f"{_original(error)} {type(_original(error)).__name__}".lower()
        for words, meaning in _MEANINGS:
            if any(word in text for word in words):
                raise StorageError(f"{shown}: {meaning} ({_first_line(error)})") from error
        if getattr(error, "connection_invalidated", False) or "connect" in text:
            raise StorageError(
                f"{shown}: the database cannot be reached ({_first_line(error)}); the last change is stored completely or not "
                "at all: try again"
            ) from error
        raise StorageError(f"{shown}: {_first_line(error)}") from error
    except SQLAlchemyError as error:
        raise StorageError(f"{shown}: {' '.join(str(error).split())}") from error
    except UnicodeDecodeError as error:
        raise StorageError(f"{shown}: {_DAMAGED}") from error


def _original(error: Exception) -> object:
    """The driver's own error."""
    return getattr(error, "orig", None) or error


def _first_line(error: Exception) -> str:
    lines = str(_original(error)).strip().splitlines()
    return lines[0].strip() if lines else type(_original(error)).__name__
