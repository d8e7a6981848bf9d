"""Trials in chunks that are kept in files: an interrupted run continues, and finished trials are not run again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from linkarms._version import __version__
from linkarms.errors import InvalidInput

__all__ = ["chunk_seed", "load_chunk", "save_chunk", "settings_digest"]


def chunk_seed(seed: int, chunk: int) -> int:
    """A seed for one chunk. Full entropy in, 63 bits out: two chunks, or two seeds, do not share a stream."""
    return int(np.random.SeedSequence((seed, chunk)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def settings_digest(spec: dict[str, Any]) -> str:
    """The name of the folder for chunks with these settings, of this version of the package."""
    full = {"settings": spec, "version": __version__}
    return hashlib.sha256(json.dumps(full, sort_keys=True).encode()).hexdigest()[:16]


def load_chunk(folder: Path | None, name: str) -> dict[str, Any] | None:
    """What `save_chunk` kept under this name; None if there is nothing."""
    path = None if folder is None else folder / f"{name}.json"
    if path is None or not path.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{path}: damaged ({error}); remove it, and its trials are run again") from error
    return found


def save_chunk(folder: Path | None, name: str, found: dict[str, Any]) -> None:
    """Keep plain data; nothing without a folder."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.with_suffix(".part").write_text(json.dumps(found), "utf-8")
    path.with_suffix(".part").replace(path)  # a file is whole or not there
