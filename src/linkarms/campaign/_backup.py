"""A copy of an SQLite storage, made while others use it."""

from __future__ import annotations

import os
import sqlite3

from linkarms.campaign._export import check_target, written_whole
from linkarms.campaign._open import StorageLike, open_storage
from linkarms.campaign._run import Watcher
from linkarms.errors import InvalidInput, StorageError

__all__ = ["backup"]

#: Pages that are copied between two reports of progress.
_PAGES = 1_000


def backup(
    path: str | os.PathLike[str],
    storage: StorageLike = "sqlite:///linkarms.db",
    *,
    progress: Watcher | None = None,
) -> list[str]:
    """Copy all campaigns of an SQLite storage to a new file, and return their names, while others use it.

    The copy is the storage as it was at one moment. It is one file, complete in itself; copying the file of a storage that is in use
    would leave out what is in its write-ahead log.

    Parameters
    ----------
    path : str or path
        The copy. It must not exist yet, and appears whole or not at all.
    storage : str, path or Storage, default "sqlite:///linkarms.db"
        The storage: an SQLite file. For PostgreSQL use its own ``pg_dump``.
    progress : callable, optional
        Called with the share that is done, and a text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=folder / "runs.db")
    >>> la.campaign.backup(folder / "copy.db", storage=folder / "runs.db")
    ['lab']
    """
    source = open_storage(storage)
    from linkarms.campaign._faults import explained
    from linkarms.campaign._sql import SqlStorage

    if not isinstance(source, SqlStorage) or source.path is None:
        raise InvalidInput(f"{source!r} is not an SQLite file; back up PostgreSQL with pg_dump")
    target = check_target(path)
    if target.exists():
        raise InvalidInput(f"{target} exists already; choose another name for the copy, or remove it")

    def report(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(1.0 - remaining / max(total, 1), f"page {total - remaining:,} of {total:,}")

    try:
        names = source.names()
        with written_whole(target) as scratch, explained(str(target)):
            copy = sqlite3.connect(scratch, isolation_level=None)
            try:
                source.copy_to(copy, _PAGES, report)
                copy.execute("PRAGMA journal_mode = DELETE")  # everything in one file
                (found,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            finally:
                copy.close()
            if found != "ok":
                raise StorageError(f"{source.shown}: the database finds: {found}; restore a copy")
    finally:
        if source is not storage:
            source.close()
    return names
