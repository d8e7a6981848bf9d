"""One way in: whatever the user has, as an `ArmSource`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linkarms.arms._base import ArmSource
from linkarms.arms._callables import CallableArms
from linkarms.arms._frames import from_frame
from linkarms.arms._recorded import RecordedArms
from linkarms.arms._simulated import SimulatedArms
from linkarms.errors import InvalidInput

__all__ = ["make_source"]

_ACCEPTED = (
    "give a dict of arrays by arm, a list or dict of functions, a pandas, polars or pyarrow frame with arm= "
    "and value=, a Problem, or an ArmSource"
)


def make_source(
    arms: Any,
    *,
    arm: str | None = None,
    value: str | Sequence[str] | None = None,
    replace: bool = True,
    seed: int = 0,
) -> ArmSource:
    """Whatever holds samples, as an `ArmSource`.

    Parameters
    ----------
    arms : ArmSource, Problem, dict, list or frame
        A source (returned as it is); a `Problem` (simulated); a dict of arrays of recorded samples; a dict or
        list of functions that return one sample each; a pandas, polars or pyarrow frame of recorded samples.
    arm, value : str, and str or list of str
        The columns of a frame; for nothing else.
    replace : bool, default True
        Draw recorded samples with replacement.
    seed : int, default 0
        For simulated and recorded arms.

    Returns
    -------
    ArmSource
        The source.
    """
    if _is_frame(arms):
        if arm is None or value is None:
            columns = ", ".join(repr(str(c)) for c in _columns(arms))
            raise InvalidInput(
                "a frame needs arm= (the column with the arm) and value= (the column, or columns, with the "
                f"sample); the columns are {columns}"
            )
        return from_frame(arms, arm, value, replace=replace, seed=seed)
    if arm is not None or value is not None:
        raise InvalidInput("arm= and value= name the columns of a frame, and these arms are not a frame")
    if isinstance(arms, Mapping) and not any(callable(entry) for entry in arms.values()):
        return RecordedArms(arms, replace=replace, seed=seed)
    if not replace:
        raise InvalidInput(
            "replace=False is for recorded samples, and these arms are not recorded (or not by us)"
        )
    if isinstance(arms, ArmSource):
        return arms
    if all(hasattr(arms, name) for name in ("parameters", "families", "n_clusters")):
        return SimulatedArms(arms, seed=seed)
    if isinstance(arms, Mapping):
        return CallableArms(arms)
    if isinstance(arms, (list, tuple)) and (not arms or any(callable(entry) for entry in arms)):
        return CallableArms(arms)
    raise InvalidInput(f"arms is a {type(arms).__name__}, from which no samples can be drawn; {_ACCEPTED}")


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
