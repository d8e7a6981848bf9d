"""Recorded samples in files; pyarrow and openpyxl are imported when needed."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkarms.arms._frames import one_line
from linkarms.errors import InvalidInput, require

__all__ = ["read_table"]

_SUFFIXES = (
    ".csv",
    ".csv.gz",
    ".tsv",
    ".tsv.gz",
    ".txt",
    ".jsonl",
    ".jsonl.gz",
    ".ndjson",
    ".ndjson.gz",
    ".parquet",
    ".xlsx",
)
#: What to do about a file that its reader refuses.
_ADVICE = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "; give a header and, in every row, as many cells as it has"),
    **dict.fromkeys((".jsonl", ".ndjson"), "; give one JSON object per line"),
    ".parquet": "; write the file again, or give a CSV file",
    ".xlsx": "; save the sheet again as .xlsx, or as .csv",
}


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> Any:
    """Return a file of recorded samples as a pyarrow table.

    Parameters
    ----------
    path : str or Path
        The end of its name says what it is: .csv, .tsv or .txt (text with commas, tabs or semicolons; the first line tells which, and with
        semicolons numbers may have decimal commas), .jsonl or .ndjson (one JSON object per line), all of these also with .gz; .parquet;
        .xlsx (the first sheet, its first row the names of the columns). Empty cells are missing values.
    columns : sequence of str, optional
        Read only these; names that the file does not have are ignored.

    Returns
    -------
    pyarrow.Table
        The table; `from_frame` takes it.

    Examples
    --------
    >>> import linkarms as la
    >>> la.arms.read_table(la.datasets.sample_file("taxi"), columns=["gap"]).num_rows
    27735
    """
    path = Path(path)
    name = path.name.lower()
    suffix = max((s for s in _SUFFIXES if name.endswith(s)), key=len, default=None)
    if suffix is None:
        raise InvalidInput(
            f"{path}: cannot tell what kind of file this is; it has to end in {', '.join(_SUFFIXES)}"
        )
    if not path.is_file():
        raise InvalidInput(f"{path}: {'not a file' if path.exists() else 'there is no such file'}")
    if path.stat().st_size == 0:
        raise InvalidInput(f"{path}: the file is empty; give a table with a header and one row per sample")
    require("pyarrow", "data")
    import pyarrow

    try:
        if suffix == ".parquet":
            return _read_parquet(path, columns)
        if suffix == ".xlsx":
            table = _read_excel(path)
        elif "json" in suffix:
            table = _read_json_lines(path)
        else:
            table = _read_csv(path, suffix)
        return table if columns is None else table.select([c for c in table.column_names if c in columns])
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        advice = "" if ";" in str(error) else _ADVICE.get(suffix.removesuffix(".gz"), "")
        raise InvalidInput(f"{path}: cannot be read: {one_line(error)}{advice}") from error


def _read_parquet(path: Path, columns: Sequence[str] | None) -> Any:
    from pyarrow import parquet

    if columns is None:
        return parquet.read_table(path)
    there = parquet.read_schema(path).names
    return parquet.read_table(path, columns=[c for c in there if c in columns])


def _read_json_lines(path: Path) -> Any:
    from pyarrow import json

    with _opened(path) as file:
        return json.read_json(file)


def _read_excel(path: Path) -> Any:
    require("openpyxl", "excel")
    import zipfile

    import openpyxl
    import pyarrow

    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(f"this is not an Excel workbook ({one_line(error)})") from error
    rows = list(book.worksheets[0].iter_rows(values_only=True))
    book.close()
    if not rows or not any(cell is not None for cell in rows[0]):
        raise ValueError("the first sheet has no header; put the names of the columns into its first row")
    named = [i for i, cell in enumerate(rows[0]) if cell is not None]
    columns = [[row[i] if i < len(row) else None for row in rows[1:]] for i in named]
    arrays = [pyarrow.array(cells) for cells in columns]  # mixed types are an error that names them
    return pyarrow.table(arrays, names=[str(rows[0][i]) for i in named])


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def _delimiter(path: Path, suffix: str) -> str:
    """Return the character between the columns, from the first line: comma, tab or semicolon, whichever is most frequent."""
    usual = "\t" if suffix.startswith(".tsv") else ","
    with _opened(path) as file:
        first = file.readline(1 << 16)
    counts = {mark: first.count(mark.encode()) for mark in (usual, ",", "\t", ";")}
    best = max(counts, key=lambda mark: (counts[mark], mark == usual))
    return best if counts[best] else usual


def _read_csv(path: Path, suffix: str) -> Any:
    import pyarrow
    from pyarrow import compute

    mark = _delimiter(path, suffix)
    table = _parse(path, suffix, mark, ".")
    if mark == ";" and any(map(_has_decimal_commas, table.columns)):
        table = _parse(path, suffix, mark, ",")
    for i, field in enumerate(table.schema):
        if pyarrow.types.is_binary(field.type):
            raise ValueError(f"the column {field.name!r} is not UTF-8 text; save the file as UTF-8")
        if pyarrow.types.is_string(field.type):
            column = table.column(i)
            filled = compute.if_else(compute.equal(column, ""), pyarrow.scalar(None, field.type), column)
            table = table.set_column(i, field, filled)
    return table


def _has_decimal_commas(column: Any) -> bool:
    """Whether this is a column of text whose first cells are numbers like 1,5."""
    import re

    if str(column.type) != "string":
        return False
    cells = [cell for cell in column.slice(0, 100).to_pylist() if cell]
    return bool(cells) and all(re.fullmatch(r"[-+]?\d+(,\d+)?", cell.strip()) for cell in cells)


def _parse(path: Path, suffix: str, delimiter: str, decimal_point: str) -> Any:
    import pyarrow
    from pyarrow import csv

    options = {
        "parse_options": csv.ParseOptions(delimiter=delimiter),
        "convert_options": csv.ConvertOptions(decimal_point=decimal_point),
    }
    try:
        return csv.read_csv(path, **options)
    except pyarrow.ArrowInvalid:
        # Types are guessed from the first block: what looks like integers there may have fractions later.
        size = path.stat().st_size * (30 if suffix.endswith(".gz") else 1)
        # With one thread, an error names its row.
        whole = csv.ReadOptions(block_size=min(max(size, 1 << 20), 1 << 30), use_threads=False)
        return csv.read_csv(path, read_options=whole, **options)
