"""Recorded samples in data frames; narwhals and the frame libraries are imported when needed."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms.arms._base import SeedLike
from linkarms.arms._columns import Column, Columns, as_floats, find_columns, names_of, refuse_levels
from linkarms.arms._recorded import RecordedArms
from linkarms.arms._wide import wide_samples
from linkarms.errors import InvalidInput, ManyArms, require

__all__ = ["from_frame", "make_frame", "one_line"]

#: More different values than this in the column of the arms get a remark.
_MANY = 1_000


def from_frame(
    frame: Any,
    arm: Column | None,
    value: Columns | None,
    *,
    replace: bool = True,
    seed: SeedLike = 0,
    drop_missing: bool = False,
) -> RecordedArms:
    """Return recorded samples from a data frame: one row per sample, or one column per arm.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame, polars.LazyFrame or pyarrow.Table
        Anything that narwhals reads.
    arm : str, int or None
        The column with the name of the arm. The arms keep their order of first appearance. None for a wide table: each column is an arm.
    value : str, int, list of them, or None
        The column, or columns, with the numbers of a sample. In a wide table the columns that are arms; None for all that have a name and
        numbers. Others are left out with a `linkarms.errors.ColumnsLeftOut`, and a column of numbers with some text is refused.
    replace, seed
        As for `RecordedArms`.
    drop_missing : bool, default False
        Leave out rows (of a wide table: cells) without an arm or with a number that is missing or not finite; otherwise they are refused.

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

    try:
        table = nw.from_native(frame)
        table = table.collect() if isinstance(table, nw.LazyFrame) else table
        columns = list(table.columns)
    except Exception as error:  # whatever the frame's library raises: duplicate columns, a failing query
        raise InvalidInput(f"the frame cannot be read: {one_line(error)}") from error
    if len(table) == 0:
        raise InvalidInput("the table has no rows; give one row per sample")
    refuse_levels(columns)
    values = names_of(value)
    if arm is None:
        wide = wide_samples(table, columns, values)
        return RecordedArms(wide, replace=replace, seed=seed, drop_missing=drop_missing)
    arm_column, *found = find_columns(columns, [arm, *values])
    if not values:
        raise InvalidInput("no value column is given; name at least one")
    cells = table.get_column(arm_column).to_list()
    samples = np.column_stack(
        [as_floats(table.get_column(column), name) for column, name in zip(found, values, strict=True)]
    )
    if drop_missing:
        named = np.array([not _is_missing(cell) for cell in cells])
        kept = named & np.isfinite(samples).all(axis=1)
        if not kept.any():
            raise InvalidInput(f"no row has an arm and finite numbers in {', '.join(map(repr, values))}")
        cells, samples = [cells[i] for i in np.flatnonzero(kept)], samples[kept]
    names, codes = _encode(arm, cells)
    _remark_on_many(arm, len(names), len(cells))
    for i, column in enumerate(values):
        _refuse_missing(column, samples[:, i], names, codes)
    order = np.argsort(codes, kind="stable")
    groups = np.split(samples[order], np.flatnonzero(np.diff(codes[order])) + 1)
    return RecordedArms(dict(zip(names, groups, strict=True)), replace=replace, seed=seed, features=values)


def _remark_on_many(column: Column, n_arms: int, n_rows: int) -> None:
    """Warn before a column with very many different values becomes arms."""
    if n_arms > _MANY:
        warnings.warn(
            f"column {column!r} has {n_arms:,} different values in {n_rows:,} rows, and each becomes an arm; if that is not meant, "
            "name another column as the arm",
            ManyArms,
            stacklevel=5,
        )


def _encode(column: Column, cells: list[Any]) -> tuple[list[Hashable], NDArray[np.int64]]:
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
            f"{rows[0]} (counted from 0); name the arm, or leave those rows out with drop_missing"
        )
    return [name.item() if isinstance(name, np.generic) else name for name in places], codes


def _is_missing(name: Any) -> bool:
    """None, NaN (not equal to itself), or pandas' own marks, whose comparisons are neither true nor false."""
    return name is None or type(name).__name__ in ("NAType", "NaTType") or bool(name != name)


def _refuse_missing(
    column: Column, numbers: NDArray[np.float64], names: list[Hashable], codes: NDArray[np.int64]
) -> None:
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        first = int(bad[0])
        raise InvalidInput(
            f"column {column!r}: {len(bad)} of {len(numbers)} values are missing or not finite, the "
            f"first in row {first} (counted from 0, arm {names[codes[first]]!r}); fill them in, or leave those rows out with "
            "drop_missing"
        )


def make_frame(columns: dict[str, list[Any]]) -> Any:
    """Return a data frame of the first of pandas, polars and pyarrow that is installed.

    Parameters
    ----------
    columns : dict
        Lists of equal length by the name of the column. None is a missing value.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The frame.

    Examples
    --------
    >>> from linkarms.arms import make_frame
    >>> list(make_frame({"arm": ["a", "b"], "cluster": [0, 1]}).columns)
    ['arm', 'cluster']
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
    """Return the message of an exception without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__
