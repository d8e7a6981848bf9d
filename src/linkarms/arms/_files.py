"""Recorded samples in files; pyarrow and openpyxl are imported when needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linkarms._validate import place_finder
from linkarms.arms._columns import MISSING, Column
from linkarms.arms._frames import one_line
from linkarms.arms._text_files import first_line, opened, read_text, text_of
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


def read_table(path: str | Path, columns: Sequence[str] | None = None, *, arm: Column | None = None) -> Any:
    """Return a file of recorded samples as a pyarrow table.

    Parameters
    ----------
    path : str or Path
        The end of its name says what it is: .csv, .tsv or .txt (text with commas, tabs or semicolons; the first line tells which, and with
        semicolons numbers may have decimal commas), .jsonl or .ndjson (one JSON object per line), all of these also with .gz; .parquet;
        .xlsx (the first sheet, its first row the names of the columns). Empty cells are missing values. A column without a name is called
        ``Unnamed: N``, as in pandas.
    columns : sequence of str, optional
        Read only these; names that the file does not have are ignored.
    arm : str or int, optional
        The column that names the arms. In text files and JSON lines its cells stay the text that they are, so that 1.10 and 1.1 are two
        arms. They become numbers only where all are written as Python writes them: 1, 2, 3, or 0.5, 1.5.

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
            table = _read_json_lines(path, arm)
        else:
            table = read_text(path, suffix, arm)
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


def _read_json_lines(path: Path, arm: Column | None) -> Any:
    import pyarrow
    from pyarrow import json

    first_line(path)
    with opened(path) as file:
        table = json.read_json(file)
    place = None if arm is None else place_finder(table.column_names)(arm)
    if place is not None and pyarrow.types.is_temporal(table.schema.field(place).type):
        schema = pyarrow.schema([(table.column_names[place], pyarrow.string())])  # dates and times are names
        with opened(path) as file:
            table = json.read_json(file, parse_options=json.ParseOptions(explicit_schema=schema))
    for i, field in enumerate(table.schema):
        if pyarrow.types.is_string(field.type):
            text_of(table.column(i), field.name)
    return table


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
    names, columns = [], []
    for i, name in enumerate(rows[0]):
        cells = [row[i] if i < len(row) else None for row in rows[1:]]
        if name is not None or any(cell is not None for cell in cells):
            names.append(f"Unnamed: {i}" if name is None else str(name))
            columns.append(_excel_column(cells))
    return pyarrow.table(columns, names=names)


def _excel_column(cells: list[Any]) -> Any:
    """The cells as they are; where types are mixed, marks of missing values are left out, and if that is not enough, all become text."""
    import pyarrow

    there = [None if cell in MISSING else cell for cell in cells]
    for wanted in (cells, there):
        try:
            return pyarrow.array(wanted)
        except (pyarrow.ArrowException, OverflowError):
            continue
    return pyarrow.array([None if cell is None else str(cell) for cell in cells])
