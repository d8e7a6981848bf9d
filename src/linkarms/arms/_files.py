"""Recorded samples in files; pyarrow is imported when needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkarms.arms._frames import one_line
from linkarms.errors import InvalidInput, require

__all__ = ["read_table"]

_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> Any:
    """A CSV or Parquet file as a pyarrow table.

    Parameters
    ----------
    path : str or Path
        A file that ends in .csv, .csv.gz, .tsv, .tsv.gz or .parquet. Empty cells are missing values.
    columns : sequence of str, optional
        Read no others; names that the file does not have are passed over.

    Returns
    -------
    pyarrow.Table
        The table; `from_frame` takes it.
    """
    path = Path(path)
    name = path.name.lower()
    suffix = next((s for s in reversed(_SUFFIXES) if name.endswith(s)), None)
    if suffix is None:
        raise InvalidInput(
            f"{path}: cannot tell what kind of file this is; it has to end in {', '.join(_SUFFIXES)}"
        )
    if not path.is_file():
        raise InvalidInput(f"{path}: {'not a file' if path.exists() else 'there is no such file'}")
    require("pyarrow", "data")
    import pyarrow

    try:
        if suffix == ".parquet":
            return _read_parquet(path, columns)
        table = _read_csv(path, suffix)
        return table if columns is None else table.select([c for c in table.column_names if c in columns])
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InvalidInput(f"{path}: cannot be read: {one_line(error)}") from error


def _read_parquet(path: Path, columns: Sequence[str] | None) -> Any:
    from pyarrow import parquet

    if columns is None:
        return parquet.read_table(path)
    there = parquet.read_schema(path).names
    return parquet.read_table(path, columns=[c for c in there if c in columns])


def _read_csv(path: Path, suffix: str) -> Any:
    import pyarrow
    from pyarrow import compute, csv

    parse = csv.ParseOptions(delimiter="\t" if suffix.startswith(".tsv") else ",")
    try:
        table = csv.read_csv(path, parse_options=parse)
    except pyarrow.ArrowInvalid:
        # Types are guessed from the first block: what looks like integers there may have fractions later.
        size = path.stat().st_size * (30 if suffix.endswith(".gz") else 1)
        whole = csv.ReadOptions(block_size=min(max(size, 1 << 20), 1 << 30))
        table = csv.read_csv(path, read_options=whole, parse_options=parse)
    for i, field in enumerate(table.schema):
        if pyarrow.types.is_binary(field.type):
            raise ValueError(f"the column {field.name!r} is not UTF-8 text; save the file as UTF-8")
        if pyarrow.types.is_string(field.type):
            column = table.column(i)
            filled = compute.if_else(compute.equal(column, ""), pyarrow.scalar(None, field.type), column)
            table = table.set_column(i, field, filled)
    return table
