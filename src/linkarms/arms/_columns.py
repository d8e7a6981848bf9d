"""Columns of a frame: which are meant, and their numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import place_finder
from linkarms.errors import InvalidInput

__all__ = [
    "MISSING",
    "Column",
    "Columns",
    "as_floats",
    "find_columns",
    "has_numbers",
    "is_mostly_numbers",
    "names_of",
    "not_numeric",
    "refuse_levels",
]

#: The name of a column: pandas also has numbers.
Column: TypeAlias = str | int
#: One column, or several.
Columns: TypeAlias = Column | Sequence[Column]

#: What a cell without a number may hold in a text file or a workbook.
MISSING = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA")
).union(("NULL", "NaN", "n/a", "nan", "null"))


def names_of(columns: Columns | None) -> list[Any]:
    """Return the names of one column, of several, or of none."""
    if columns is None:
        return []
    return list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else [columns]


def refuse_levels(columns: Sequence[Any]) -> None:
    """Raise `InvalidInput` for names of columns that have several levels."""
    if any(isinstance(name, tuple) for name in columns):
        raise InvalidInput(
            f"the names of the columns have several levels, such as {columns[0]!r}; give each column one name: "
            "frame.columns = ['_'.join(map(str, name)) for name in frame.columns]"
        )


def find_columns(columns: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
    """Return the columns that are meant. Where one fits, the text of its name is enough, and spaces around it do not count."""
    find, counts, found = place_finder(columns), Counter(columns), dict[Any, Any]()
    for name in wanted:
        place = find(name)
        if place is None:
            raise InvalidInput(
                f"there is no column {name!r}; the columns are {', '.join(map(repr, columns))}"
            )
        column = columns[place]
        if counts[column] > 1:
            raise InvalidInput(f"the frame has {counts[column]} columns called {name!r}; rename them")
        if column in found:
            raise InvalidInput(
                f"the column {name!r} is named twice; the arm and the values need columns of their own"
            )
        found[column] = name
    return list(found)


def has_numbers(series: Any) -> bool:
    """Return whether the type of a column is one of numbers, or of true and false."""
    import narwhals as nw

    return bool(series.dtype.is_numeric() or series.dtype == nw.Boolean)


def as_floats(series: Any, name: Column) -> NDArray[np.float64]:
    """Return a column as floats, NaN where a value is missing; or raise `InvalidInput` for its first text."""
    import narwhals as nw

    if not has_numbers(series):
        raise not_numeric(series, name)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def not_numeric(series: Any, name: Column) -> InvalidInput:
    """Return the error for a column without numbers: its first text that is not a number, or its type."""
    cells = series.to_list()
    _, texts = _numbers_and_texts(cells)
    if not texts:
        return InvalidInput(
            f"column {name!r} is not numeric (its type is {series.dtype}); convert it to numbers"
        )
    row = next((row for row in texts if str(cells[row]).strip() not in MISSING), texts[0])
    return InvalidInput(
        f"column {name!r} is not numeric: row {row} (counted from 0) has {str(cells[row])[:40]!r}; give a number, or leave the cell empty "
        "and use drop_missing"
    )


def is_mostly_numbers(series: Any) -> bool:
    """Return whether more than half of the cells that are there are numbers, or their text."""
    numbers, texts = _numbers_and_texts(series.to_list())
    return numbers > len(texts)


def _numbers_and_texts(cells: list[Any]) -> tuple[int, list[int]]:
    """How many cells are numbers, and the rows of text that is not; what is missing and dates are neither."""
    numbers, texts = 0, []
    for row, cell in enumerate(cells):
        try:
            number = float(cell)
            numbers += number == number  # NaN is missing
        except ValueError:
            texts.append(row)
        except TypeError:
            continue
    return numbers, texts
