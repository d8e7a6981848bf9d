"""Recorded samples in data frames; narwhals and the frame libraries are imported when needed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms.arms._recorded import RecordedArms
from linkarms.errors import InvalidInput, require

__all__ = ["from_frame", "make_frame", "one_line"]


def from_frame(
    frame: Any, arm: str, value: str | Sequence[str], *, replace: bool = True, seed: int = 0
) -> RecordedArms:
    """Recorded samples from a data frame, one row a sample.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, polars.LazyFrame or pyarrow.Table
        Anything that narwhals reads.
    arm : str
        The column with the name of the arm. The arms keep their order of first appearance.
    value : str or list of str
        The column, or columns, with the numbers of a sample.
    replace, seed
        As for `RecordedArms`.

    Returns
    -------
    RecordedArms
        The samples by arm.

    Examples
    --------
    >>> import pandas
    >>> from linkarms.arms import from_frame
    >>> trips = pandas.DataFrame({"zone": ["a", "b", "a"], "gap": [1.0, 5.0, 2.0]})
    >>> from_frame(trips, arm="zone", value="gap").n_records
    (2, 1)
    """
    require("narwhals", "data")
    import narwhals as nw

    values = [value] if isinstance(value, str) else list(value)
    try:
        table = nw.from_native(frame)
        table = table.collect() if isinstance(table, nw.LazyFrame) else table
        columns = list(table.columns)
    except Exception as error:  # whatever the frame's library raises: duplicate columns, a failing query
        raise InvalidInput(f"the frame cannot be read: {one_line(error)}") from error
    _check_columns(columns, arm, values)
    if len(table) == 0:
        raise InvalidInput("the frame has no rows")
    names, codes = _encode(arm, table[arm].to_list())
    samples = np.column_stack([_numbers(table[column], names, codes) for column in values])
    order = np.argsort(codes, kind="stable")
    groups = np.split(samples[order], np.flatnonzero(np.diff(codes[order])) + 1)
    return RecordedArms(dict(zip(names, groups, strict=True)), replace=replace, seed=seed)


def _check_columns(columns: list[str], arm: str, values: list[str]) -> None:
    if not values:
        raise InvalidInput("no value column is given; name at least one")
    wanted = [arm, *values]
    for i, name in enumerate(wanted):
        if columns.count(name) > 1:
            raise InvalidInput(f"the frame has {columns.count(name)} columns called {name!r}; rename them")
        if name not in columns:
            raise InvalidInput(
                f"there is no column {name!r}; the columns are {', '.join(map(repr, columns))}"
            )
        if name in wanted[:i]:
            raise InvalidInput(
                f"the column {name!r} is named twice; the arm and the values need columns of their own"
            )


def _encode(column: str, cells: list[Any]) -> tuple[list[Hashable], NDArray[np.int64]]:
    """The different names in order of first appearance, and the place of each row's name among them."""
    places: dict[Hashable, int] = {}
    try:
        codes = np.fromiter((places.setdefault(cell, len(places)) for cell in cells), np.int64, len(cells))
    except TypeError:
        raise InvalidInput(f"column {column!r} cannot name arms; use strings or numbers") from None
    nameless = [place for name, place in places.items() if _is_missing(name)]
    if nameless:
        rows = np.flatnonzero(np.isin(codes, nameless))
        raise InvalidInput(
            f"column {column!r}: {len(rows)} of {len(cells)} arm names are missing, the first in row "
            f"{rows[0]} (counted from 0); drop those rows or name the arm"
        )
    return [name.item() if isinstance(name, np.generic) else name for name in places], codes


def _is_missing(name: Any) -> bool:
    """None, NaN (not equal to itself), or pandas' own marks, whose comparisons are neither true nor false."""
    return name is None or type(name).__name__ in ("NAType", "NaTType") or bool(name != name)


def _numbers(series: Any, names: list[Hashable], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """One value column as finite floats."""
    import narwhals as nw

    if not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        raise InvalidInput(
            f"column {series.name!r} is not numeric (its type is {series.dtype}); convert it to numbers"
        )
    numbers = np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        first = int(bad[0])
        raise InvalidInput(
            f"column {series.name!r}: {len(bad)} of {len(numbers)} values are missing or not finite, the "
            f"first in row {first} (counted from 0, arm {names[codes[first]]!r}); drop those rows or fill "
            "them in"
        )
    return numbers


def make_frame(columns: dict[str, list[Any]]) -> Any:
    """A data frame of the first of pandas, polars and pyarrow that is installed.

    Parameters
    ----------
    columns : dict
        Lists of equal length by the name of the column. None is a missing value.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The frame.
    """
    if find_spec("pandas") is not None:
        import pandas

        return pandas.DataFrame(columns)
    uniform = {name: _one_type(cells) for name, cells in columns.items()}
    if find_spec("polars") is not None:
        import polars

        return polars.DataFrame(uniform)
    require("pyarrow", "data")
    import pyarrow

    return pyarrow.table(uniform)


def _one_type(cells: list[Any]) -> list[Any]:
    """The cells where they share one plain type, else their text: polars and pyarrow type columns."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) <= 1 and kinds <= {int, float, str, bool}:
        return cells
    if kinds == {int, float}:
        return [None if cell is None else float(cell) for cell in cells]
    return [None if cell is None else str(cell) for cell in cells]


def one_line(error: Exception) -> str:
    """The message of an exception without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__
