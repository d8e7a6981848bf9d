"""The tickets of a campaign as a table: CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linkarms.campaign._computer import Standing
from linkarms.campaign._records import moment
from linkarms.campaign._run import Run, Watcher
from linkarms.campaign._storage import EXPIRED, Reader
from linkarms.errors import InvalidInput, require

__all__ = ["FORMATS", "check_target", "export_rows", "written_whole"]

FORMATS = ("csv", "json", "parquet")
#: Characters that begin a formula in a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
#: Rows between two reports of progress.
_OFTEN = 5_000


def export_rows(
    run: Run,
    reader: Reader,
    standing: Standing,
    format: str,
    path: str | os.PathLike[str] | None,
    progress: Watcher | None,
) -> str | bytes | None:
    """Return the table as text or bytes, or write it to a file."""
    if format not in FORMATS:
        raise InvalidInput(f"format={format!r} is unknown; choose one of {', '.join(FORMATS)}")
    if format == "parquet":
        require("pyarrow", "data")
    target = None if path is None else check_target(path)
    columns = _columns(run.clusterer.n_features)
    rows = _rows(run, reader, standing, progress)
    if format == "csv":
        content: str | bytes = _csv(columns, rows)
    elif format == "json":
        content = json.dumps([dict(zip(columns, row, strict=True)) for row in rows], allow_nan=False)
    else:
        content = _parquet(columns, list(rows))
    if target is None:
        return content
    with written_whole(target) as scratch:
        scratch.write_bytes(content.encode() if isinstance(content, str) else content)
    return None


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return a path at which a file can be written; `InvalidInput` for any other."""
    try:
        target = Path(path)
        folder = target.parent
        if "\0" in str(target):
            raise ValueError("it holds a zero character")
        if not target.name or target.is_dir():
            what = "this is a directory; name a file"
        elif not folder.is_dir():
            what = f"there is no directory {folder}; make it, or correct the path"
        elif not os.access(folder, os.W_OK):
            what = f"the directory {folder} cannot be written; choose another one"
        else:
            return target
    except (TypeError, ValueError) as error:  # a number, say, or a zero character
        raise InvalidInput(f"{path!r} is not a path ({error}); give the name of a file") from error
    except OSError as error:
        what = f"{error.strerror or error}; choose another path"
    raise InvalidInput(f"{target}: {what}")


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Write to a temporary path beside the target, and rename it at the end. A full disk leaves an existing target unchanged."""
    scratch = None
    try:
        new = target.parent / f".linkarms-{secrets.token_hex(8)}{target.suffix[:20]}"
        # with the permissions of any new file; to ask for the umask would change it for a moment, in all threads
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        scratch = new
        yield scratch
        with open(scratch, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(scratch, target)
        scratch = None
    except OSError as error:
        raise InvalidInput(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        if scratch is not None:
            scratch.unlink(missing_ok=True)


def _columns(n_features: int) -> list[str]:
    values = ["value"] if n_features == 1 else [f"value_{i}" for i in range(n_features)]
    return ["ticket", "arm", *values, "worker", "told_at", "state"]


def _rows(run: Run, reader: Reader, standing: Standing, progress: Watcher | None) -> Iterator[list[Any]]:
    nothing = [None] * run.clusterer.n_features
    gone = {row.ticket for row in standing.overdue}
    total = max(standing.account.issued, 1)
    for row in reader.tickets():
        if progress is not None and row.ticket % _OFTEN == 0:
            progress(row.ticket / total, f"ticket {row.ticket:,} of {total:,}")
        values = nothing if row.value is None else json.loads(row.value)
        told_at = None if row.told_at is None else moment(row.told_at).isoformat()
        state = EXPIRED if row.ticket in gone else row.state
        yield [row.ticket, run.arms[row.arm], *values, row.worker, told_at, state]


def _csv(columns: list[str], rows: Iterator[list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_harmless(cell) for cell in row])
    return text.getvalue()


def _harmless(cell: Any) -> Any:
    """Put an apostrophe before a text that begins like a formula; numbers stay as they are."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _parquet(columns: list[str], rows: list[list[Any]]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    types = {"ticket": pyarrow.int64(), "arm": pyarrow.string(), "worker": pyarrow.string()}
    types |= {"told_at": pyarrow.string(), "state": pyarrow.string()}
    data = {
        name: pyarrow.array([row[i] for row in rows], type=types.get(name, pyarrow.float64()))
        for i, name in enumerate(columns)
    }
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(data), sink)
    return sink.getvalue()
