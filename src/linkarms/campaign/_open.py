"""From what names a storage to the storage."""

from __future__ import annotations

import os
from collections.abc import Callable

from linkarms.campaign._storage import Storage
from linkarms.errors import InvalidInput, require

__all__ = ["StorageLike", "open_storage"]

StorageLike = str | os.PathLike[str] | Storage


def open_storage(
    storage: StorageLike = "sqlite:///linkarms.db", clock: Callable[[], float] | None = None
) -> Storage:
    """Return the storage that a path or URL names; a `Storage` is returned as it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=storage)
    >>> storage.names()
    ['lab']
    """
    if isinstance(storage, Storage):
        if clock is not None:
            raise InvalidInput("a storage has its own clock; pass the clock when you open the storage")
        return storage
    require("sqlalchemy", "campaign")
    from linkarms.campaign._sql import SqlStorage

    return SqlStorage(storage, clock)
