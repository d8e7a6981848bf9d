"""Wide tables: one column per arm."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms.arms._columns import as_floats, find_columns, has_numbers, is_mostly_numbers, not_numeric
from linkarms.errors import ColumnsLeftOut, InvalidInput

__all__ = ["wide_samples"]

#: What a column without a name is called, the index of a pandas frame among them.
_UNNAMED = re.compile(r"|Unnamed: \d+|__index_level_\d+__")


def wide_samples(table: Any, columns: list[Any], wanted: list[Any]) -> dict[Any, NDArray[np.float64]]:
    """Return the samples of each arm: of the columns that are wanted, or of all that have a name and numbers."""
    arms = find_columns(columns, wanted) if wanted else _columns_of_arms(table, columns)
    return {name: as_floats(table.get_column(name), name) for name in arms}


def _columns_of_arms(table: Any, columns: list[Any]) -> list[Any]:
    arms, left_out = [], []
    for name in columns:
        series = table.get_column(name)
        if _UNNAMED.fullmatch(str(name)):
            left_out.append(f"{name!r} (without a name)")
        elif has_numbers(series):
            arms.append(name)
        elif is_mostly_numbers(series):
            raise not_numeric(series, name)
        else:
            left_out.append(f"{name!r} (without numbers)")
    if not arms:
        raise InvalidInput(f"no column has numbers; the columns are {', '.join(map(repr, columns))}")
    if left_out:
        warnings.warn(
            f"left out of the arms: {', '.join(left_out)}; name the columns that are arms if that is not meant",
            ColumnsLeftOut,
            stacklevel=7,
        )
    return arms
