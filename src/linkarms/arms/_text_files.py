"""Text files with columns: separators, decimal commas, and names of arms that stay as they are written."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from linkarms._validate import place_finder
from linkarms.arms._columns import MISSING, Column

__all__ = ["first_line", "opened", "read_text", "text_of"]


def opened(path: Path) -> Any:
    """Return a file open for reading bytes, which are unpacked if its name ends in .gz."""
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def first_line(path: Path) -> bytes:
    """Return the first line of a text file, or raise ValueError if it is not UTF-8."""
    with opened(path) as file:
        line: bytes = file.readline()
    if b"\0" in line or line.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("the file is not UTF-8 text, but perhaps UTF-16; save the file as UTF-8")
    try:
        line.decode()
    except UnicodeDecodeError:
        raise ValueError("the first line is not UTF-8 text; save the file as UTF-8") from None
    return line


def text_of(column: Any, name: str) -> Any:
    """Return a column of bytes, or of text that was not looked at, as text; or raise ValueError if it is not UTF-8."""
    import pyarrow

    try:
        column = column.cast(pyarrow.string())
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        raise ValueError(f"the column {name!r} is not UTF-8 text; save the file as UTF-8") from None
    return column


def read_text(path: Path, suffix: str, arm: Column | None) -> Any:
    """Return a file of text as a pyarrow table; of the column ``arm`` the cells stay as they are written."""
    import pyarrow
    from pyarrow import compute

    mark, names = _header(path, suffix)
    place = None if arm is None else place_finder(names)(arm)
    named = None if place is None else names[place]
    table, decimal = _parse(path, suffix, mark, ".", named), "."
    if mark == ";" and any(_has_decimal_commas(column) for column in table.columns):
        table, decimal = _parse(path, suffix, mark, ",", named), ","
    columns = []
    for i, field in enumerate(table.schema):
        column = table.column(i)
        if pyarrow.types.is_binary(field.type):
            column = text_of(column, field.name)
        if pyarrow.types.is_string(column.type):
            column = compute.if_else(compute.equal(column, ""), pyarrow.scalar(None, column.type), column)
            if i == place:
                column = _names(column)
            elif decimal == "," and _is_mostly_numbers(column):  # not all: say which with the usual points
                pointed = compute.replace_substring(column, ",", ".")
                column = compute.if_else(_are_numbers(column), pointed, column)
        columns.append(column)
    return pyarrow.table(
        columns, names=[name or f"Unnamed: {i}" for i, name in enumerate(table.column_names)]
    )


def _header(path: Path, suffix: str) -> tuple[str, list[str]]:
    """The character between the columns (comma, tab or semicolon: the most frequent in the first line), and their names."""
    line = first_line(path)
    usual = "\t" if suffix.startswith(".tsv") else ","
    counts = {mark: line.count(mark.encode()) for mark in (usual, ",", "\t", ";")}
    best = max(counts, key=lambda mark: (counts[mark], mark == usual))
    mark = best if counts[best] else usual
    with opened(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
        return mark, next(csv.reader(text, delimiter=mark), [])


def _parse(path: Path, suffix: str, delimiter: str, decimal_point: str, named: str | None) -> Any:
    import pyarrow
    from pyarrow import csv as arrow_csv

    options = {
        "parse_options": arrow_csv.ParseOptions(delimiter=delimiter),
        "convert_options": arrow_csv.ConvertOptions(
            decimal_point=decimal_point,
            null_values=sorted(MISSING),
            column_types={} if named is None else {named: pyarrow.binary()},
        ),
    }
    try:
        return arrow_csv.read_csv(path, **options)
    except pyarrow.ArrowInvalid:
        # Types are guessed from the first block: what looks like integers there may have fractions later.
        size = path.stat().st_size * (30 if suffix.endswith(".gz") else 1)
        # With one thread, an error names its row.
        whole = arrow_csv.ReadOptions(block_size=min(max(size, 1 << 20), 1 << 30), use_threads=False)
        return arrow_csv.read_csv(path, read_options=whole, **options)


# -- decimal commas ------------------------------------------------------------------------------------------


def _are_numbers(column: Any, fraction: str = r"(,\d*)?") -> Any:
    """Which cells are numbers, with a decimal comma if they have a fraction."""
    from pyarrow import compute

    return compute.match_substring_regex(column, rf"^\s*[-+]?(\d+{fraction}|,\d+)([eE][-+]?\d+)?\s*$")


def _is_mostly_numbers(column: Any) -> bool:
    """Whether at least half of the first hundred cells that are there are such numbers."""
    import pyarrow
    from pyarrow import compute

    missing = compute.is_in(column, value_set=pyarrow.array([*sorted(MISSING), None], pyarrow.string()))
    found = _are_numbers(column.filter(compute.invert(missing)).slice(0, 100)).to_pylist()
    return bool(2 * sum(found) >= max(len(found), 1))


def _has_decimal_commas(column: Any) -> bool:
    """Whether this is a column of text that is numbers, as far as a look tells, some with a decimal comma."""
    from pyarrow import compute

    if str(column.type) != "string" or not _is_mostly_numbers(column):
        return False
    return bool(compute.any(_are_numbers(column, r",\d*")).as_py())


# -- names of arms -------------------------------------------------------------------------------------------


def _names(column: Any) -> Any:
    """A column of text as whole numbers, or as floats, if that changes no name; empty cells and marks for missing numbers are then null."""
    import pyarrow

    encoded = column.combine_chunks().dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    for kind, stored in ((int, pyarrow.int64()), (float, pyarrow.float64())):
        numbers = _exact([text.strip() for text in texts], kind)
        if numbers is not None:
            return pyarrow.array(numbers, stored).take(encoded.indices)
    return column


def _exact(texts: list[str], kind: Callable[[str], float]) -> list[float | None] | None:
    """The numbers that are written as Python writes them, None where one is missing; None if some text is not one, or two are equal."""
    try:
        numbers = [None if text in MISSING else kind(text) for text in texts]
    except ValueError:
        return None
    there = {text: number for text, number in zip(texts, numbers, strict=True) if number is not None}
    exact = all(repr(number) == text and abs(number) < 2.0**63 for text, number in there.items())
    return numbers if there and exact and len(set(there.values())) == len(there) else None
