"""Turn whatever the user has into an `ArmSource`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkarms.arms._base import ArmSource, SeedLike
from linkarms.arms._callables import CallableArms
from linkarms.arms._clipped import clipped
from linkarms.arms._columns import Column, Columns
from linkarms.arms._files import read_table
from linkarms.arms._frames import from_frame
from linkarms.arms._recorded import RecordedArms
from linkarms.arms._simulated import SimulatedArms
from linkarms.errors import InvalidInput

__all__ = ["make_source"]

_ACCEPTED = (
    "give a dict or list of arrays, an array of shape (arms, samples), a list or dict of functions, a pandas, polars or pyarrow frame "
    "or a file with arm= and value=, a Problem, or an ArmSource"
)


def make_source(
    arms: Any,
    *,
    arm: Column | None = None,
    value: Columns | None = None,
    wide: bool = False,
    replace: bool = True,
    drop_missing: bool = False,
    clip: tuple[float, float] | None = None,
    seed: SeedLike = 0,
) -> ArmSource:
    """Return whatever holds samples as an `ArmSource`.

    Parameters
    ----------
    arms : ArmSource, Problem, dict, list, array, frame or path
        A source (returned as it is); a `Problem` (simulated); recorded samples: a dict or list of arrays, an array of shape (arms, samples)
        or (arms, samples, d), a pandas, polars or pyarrow frame, or a file that `read_table` reads; a dict or list of functions that return
        one sample each.
    arm, value : str or int, and one or a list of them
        The columns of a frame or file; not for other sources.
    wide : bool, default False
        The frame or file has one column per arm; ``value`` may name which.
    replace : bool, default True
        Draw recorded samples with replacement.
    drop_missing : bool, default False
        Leave out recorded samples that are missing or not finite.
    clip : tuple of float, optional
        Move samples below the first number up to it, and those above the second down to it.
    seed : int, numpy.random.Generator or None, default 0
        For simulated and recorded arms.

    Returns
    -------
    ArmSource
        The source.

    Examples
    --------
    >>> import linkarms as la
    >>> la.arms.make_source([[1.0, 2.0], [5.0, 6.0, 7.0]]).n_records
    (2, 3)
    """
    source = _unclipped(arms, arm, value, wide, replace, drop_missing, seed)
    return source if clip is None else clipped(source, clip)


def _unclipped(
    arms: Any,
    arm: Column | None,
    value: Columns | None,
    wide: bool,
    replace: bool,
    drop_missing: bool,
    seed: SeedLike,
) -> ArmSource:
    if isinstance(arms, (str, Path)):
        arms = read_table(arms, arm=arm)
    if _is_frame(arms):
        if wide and arm is not None:
            raise InvalidInput(
                f"arm={arm!r} is for one row per sample and wide=True for one column per arm; give one of them"
            )
        if not wide and (arm is None or value is None):
            columns = ", ".join(repr(str(c)) for c in _columns(arms))
            raise InvalidInput(
                "a frame needs arm= (the column with the arm) and value= (the column, or columns, with the sample), or wide=True (one "
                f"column per arm); the columns are {columns}"
            )
        return from_frame(arms, arm, value, replace=replace, seed=seed, drop_missing=drop_missing)
    if arm is not None or value is not None or wide:
        raise InvalidInput(
            "arm=, value= and wide= are about the columns of a frame or file, and these arms are neither"
        )
    recorded = _as_records(arms)
    if recorded is not None:
        return RecordedArms(recorded, replace=replace, seed=seed, drop_missing=drop_missing)
    if not replace or drop_missing:
        option = "drop_missing=True" if replace else "replace=False"
        raise InvalidInput(f"{option} is for recorded samples, and these arms are not a table or arrays")
    if isinstance(arms, ArmSource):
        return arms
    if all(hasattr(arms, name) for name in ("parameters", "families", "n_clusters")):
        return SimulatedArms(arms, seed=seed)
    if isinstance(arms, Mapping):
        return CallableArms(arms)
    if isinstance(arms, (list, tuple)) and (not arms or any(callable(entry) for entry in arms)):
        return CallableArms(arms)
    raise InvalidInput(f"arms is a {type(arms).__name__}, from which no samples can be drawn; {_ACCEPTED}")


def _as_records(arms: Any) -> Mapping[Any, Any] | None:
    """Recorded samples as a dict of arrays by arm; None if this is something else."""
    if isinstance(arms, Mapping):
        return None if any(callable(entry) for entry in arms.values()) else arms
    if isinstance(arms, np.ndarray):
        if arms.ndim not in (2, 3):
            raise InvalidInput(
                f"the array has shape {arms.shape}; give one of shape (arms, samples) or (arms, samples, d), or a dict of arrays"
            )
        return dict(enumerate(arms))
    if isinstance(arms, (list, tuple)) and arms and not any(callable(entry) for entry in arms):
        if any(np.ndim(entry) == 0 for entry in arms if not isinstance(entry, (list, tuple))):
            raise InvalidInput(
                "a list of arms holds one array of samples per arm, or one function; numbers alone are not arms"
            )
        return dict(enumerate(arms))
    return None


def _is_frame(arms: Any) -> bool:
    """Whether this is a data frame, told without importing any of the libraries."""
    if hasattr(arms, "__narwhals_dataframe__") or hasattr(arms, "__narwhals_lazyframe__"):
        return True
    return any(
        cls.__name__ in ("DataFrame", "LazyFrame", "Table")
        and cls.__module__.partition(".")[0]
        in ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf", "dask")
        for cls in type(arms).__mro__
    )


def _columns(frame: Any) -> list[Any]:
    """The names of the columns, without reading a lazy frame."""
    if hasattr(frame, "collect_schema"):
        return list(frame.collect_schema().names())
    return list(getattr(frame, "column_names", None) or frame.columns)
