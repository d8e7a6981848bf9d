"""Trip records of the New York City Taxi and Limousine Commission: the time from one pickup to the next, by zone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_integer
from linkarms.arms._files import read_table
from linkarms.datasets._load_report import LoadReport
from linkarms.errors import InvalidInput

__all__ = ["Bookings", "load_bookings"]

#: The column of the pickup time: green cabs, yellow cabs, high-volume and other for-hire vehicles.
_PICKUP = ("lpep_pickup_datetime", "tpep_pickup_datetime", "pickup_datetime")
_ZONE = ("PULocationID", "PUlocationID")
#: Two rows that agree in all of these that the file has are one trip (a corrected or refunded fare).
_SAME = (
    "lpep_dropoff_datetime",
    "tpep_dropoff_datetime",
    "dropoff_datetime",
    "dropOff_datetime",
    "DOLocationID",
)
_MONTH = re.compile(r"(\d{4})-(\d{2})(?!\d)")


@dataclass(frozen=True)
class Bookings:
    """Times between pickups, by zone.

    Attributes
    ----------
    gaps : dict of str to ndarray
        Seconds from one pickup to the next, in order of time; zones with more pickups first. The key is the zone's
        number and, where a lookup was given, its name: ``"74 East Harlem North"``.
    report : LoadReport
        What became of the rows of the files. The gaps are fewer than the rows kept: one less for each zone and window.
    hours : tuple of int
        The hours of the day, from and to.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.datasets import Bookings, LoadReport
    >>> found = Bookings({"74 East Harlem North": np.array([90.0, 30.0])}, LoadReport("trips.csv", 3, 3, {}), (0, 24))
    >>> {zone: float(gaps.mean()) for zone, gaps in found.gaps.items()}
    {'74 East Harlem North': 60.0}
    """

    gaps: dict[str, NDArray[np.float64]]
    report: LoadReport
    hours: tuple[int, int]


def load_bookings(
    path: str | Path | Sequence[str | Path],
    zones: str | Path | None = None,
    *,
    borough: str | None = "Manhattan",
    month: str | None = None,
    hours: tuple[int, int] = (0, 24),
) -> Bookings:
    """Return the times between bookings from trip records.

    Parameters
    ----------
    path : str, Path or a sequence of them
        Trip records, Parquet or CSV, as published: a pickup time and ``PULocationID``. Gaps do not go from one file to another.
    zones : str or Path, optional
        The zone lookup, a CSV file with ``LocationID``, ``Borough`` and ``Zone``. Needed for ``borough``.
    borough : str or None, default "Manhattan"
        Keep the zones of this borough; None keeps all.
    month : str, optional
        ``"2025-01"``: drop pickups of other months, which every file has a few of. By default the month in the file's name.
    hours : tuple of int, default (0, 24)
        Keep pickups from this hour to before that hour. In a part of the day, gaps that go from one day to the next are
        left out.

    Returns
    -------
    Bookings
        Gaps by zone, with a report of the rows dropped.

    Raises
    ------
    linkarms.errors.InvalidInput
        A file cannot be read or lacks a column, or nothing is left.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linkarms.datasets import load_bookings
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trips-2025-01.csv"
    >>> rows = ["pickup_datetime,PULocationID", "2025-01-01 08:00:00,74", "2025-01-01 08:01:30,74", "2025-01-01 08:05:00,75"]
    >>> _ = path.write_text("\\n".join(rows))
    >>> load_bookings(path, borough=None).gaps
    {'74': array([90.])}
    """
    first, last = _check_hours(hours)
    paths = [path] if isinstance(path, (str, Path)) else list(path)
    if not paths:
        raise InvalidInput("there are no files of trip records; give at least one")
    if borough is not None and zones is None:
        raise InvalidInput(
            f"borough={borough!r} needs the zone lookup; give zones='taxi_zone_lookup.csv', or borough=None for all zones"
        )
    names = None if zones is None else _read_zones(Path(zones), borough)
    rows = kept = 0
    dropped: dict[str, int] = {}
    gaps: dict[int, list[NDArray[np.float64]]] = {}
    pickups: dict[int, int] = {}
    for file in map(Path, paths):
        times, places, lost, n = _read_trips(file, month, names, borough, (first, last))
        rows, kept = rows + n, kept + len(times)
        for reason, count in lost.items():
            dropped[reason] = dropped.get(reason, 0) + count
        for zone in np.unique(places):
            mine = np.sort(times[places == zone])
            pickups[int(zone)] = pickups.get(int(zone), 0) + len(mine)
            gaps.setdefault(int(zone), []).append(_gaps(mine, last - first < 24))
    report = LoadReport(", ".join(p.name for p in map(Path, paths)), rows, kept, dropped)
    order = sorted(gaps, key=lambda z: (-pickups[z], z))
    found = {_name(z, names): np.concatenate(gaps[z]) for z in order}
    if not any(len(g) for g in found.values()):
        raise InvalidInput(f"no two pickups are left ({report}); look at month, borough and hours")
    return Bookings({z: g for z, g in found.items() if len(g)}, report, (first, last))


def _check_hours(hours: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(hours, Sequence) or len(hours) != 2:
        raise InvalidInput(f"hours={hours!r} is not a pair; give, for example, (8, 20)")
    first = check_integer("hours[0]", hours[0], 0, 23)
    return first, check_integer("hours[1]", hours[1], first + 1, 24)


def _name(zone: int, names: dict[int, str] | None) -> str:
    return str(zone) if names is None else f"{zone} {names[zone]}"


def _read_zones(path: Path, borough: str | None) -> dict[int, str]:
    table = read_table(path)
    columns = [_column(table, path, (name,)) for name in ("LocationID", "Borough", "Zone")]
    numbers, boroughs, zones = (table.column(c).to_pylist() for c in columns)
    if not all(isinstance(x, int) for x in numbers):
        raise InvalidInput(
            f"{path}: the column 'LocationID' has cells that are not whole numbers; correct them"
        )
    found = {n: str(z) for n, b, z in zip(numbers, boroughs, zones, strict=True) if borough in (None, b)}
    if not found:
        there = ", ".join(sorted({str(b) for b in boroughs}))
        raise InvalidInput(f"{path}: no zone is in borough={borough!r}; there are {there}")
    return found


def _column(table: Any, path: Path, names: Sequence[str]) -> str:
    for name in names:
        if name in table.column_names:
            return name
    raise InvalidInput(
        f"{path}: there is no column {' or '.join(map(repr, names))}; the columns are {', '.join(map(repr, table.column_names))}"
    )


def _read_trips(
    path: Path, month: str | None, names: dict[int, str] | None, borough: str | None, hours: tuple[int, int]
) -> tuple[NDArray[np.datetime64], NDArray[np.int64], dict[str, int], int]:
    """Times and zones of the trips that are kept; how many were dropped, and why; how many there were."""
    table = read_table(path, columns=(*_PICKUP, *_ZONE, *_SAME))
    times = _times(table.column(_column(table, path, _PICKUP)), path)
    places = _whole_numbers(table.column(_column(table, path, _ZONE)))
    there = np.ones(len(times), dtype=bool)
    dropped: dict[str, int] = {}

    def drop(which: NDArray[np.bool_], reason: str) -> None:
        count = int((which & there).sum())
        if count:
            dropped[reason] = count
            there[which] = False

    drop(np.isnat(times), "without a readable pickup time")
    drop(places < 0, "without a readable zone")
    drop(_again(table, times, places, there), "for the second time")
    begin = _month(path, month)
    if begin is not None:
        drop(times.astype("datetime64[M]") != begin, f"outside {begin}")
    if names is not None:
        known = np.isin(places, np.fromiter(names, np.int64, len(names)))
        drop(~known, "in zones that are not in the lookup" if borough is None else f"outside {borough}")
    hour = (times.astype("datetime64[h]") - times.astype("datetime64[D]")).astype(np.int64)
    drop((hour < hours[0]) | (hour >= hours[1]), f"outside the hours {hours[0]} to {hours[1]}")
    return times[there], places[there], dropped, len(times)


def _times(column: Any, path: Path) -> NDArray[np.datetime64]:
    """As microseconds, without zone; what cannot be read is not a time."""
    import pyarrow
    from pyarrow import compute

    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        column = compute.strptime(column, format="%Y-%m-%d %H:%M:%S", unit="us", error_is_null=True)
    if not pyarrow.types.is_timestamp(column.type):
        raise InvalidInput(
            f"{path}: the pickup times are of type {column.type}; give times like 2025-01-31 08:15:00"
        )
    times = column.cast(pyarrow.timestamp("us"), safe=False).to_numpy()
    return np.asarray(times, dtype="datetime64[us]")


def _whole_numbers(column: Any) -> NDArray[np.int64]:
    """Zone numbers; -1 for what is none."""

    def read(cell: Any) -> int:
        try:
            number = float(cell)
        except (TypeError, ValueError):
            return -1
        return int(number) if number >= 0 and number == int(number) else -1

    if column.null_count == 0 and str(column.type).startswith(("int", "uint")):
        return np.maximum(np.asarray(column.to_numpy(), dtype=np.int64), -1)
    return np.fromiter((read(c) for c in column.to_pylist()), np.int64, len(column))


def _again(
    table: Any, times: NDArray[np.datetime64], places: NDArray[np.int64], there: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Rows that repeat an earlier one; where the file has no other column of `_SAME`, two pickups in one second are two."""
    others = [table.column(c).to_pylist() for c in _SAME if c in table.column_names]
    again = np.zeros(len(times), dtype=bool)
    if not others:
        return again
    seen: set[tuple[Any, ...]] = set()
    pickup = times.astype(np.int64)
    for i in np.flatnonzero(there):
        key = (int(pickup[i]), int(places[i]), *(column[i] for column in others))
        again[i] = key in seen
        seen.add(key)
    return again


def _month(path: Path, month: str | None) -> np.datetime64 | None:
    found = _MONTH.search(path.name) if month is None else _MONTH.fullmatch(month)
    if found is None and month is None:
        return None
    if found is None or not 1 <= int(found[2]) <= 12:
        raise InvalidInput(f"month={month or path.name!r} is not a month; give, for example, '2025-01'")
    return np.datetime64(f"{found[1]}-{found[2]}", "M")


def _gaps(times: NDArray[np.datetime64], within_days: bool) -> NDArray[np.float64]:
    """Seconds between neighbours of the sorted ``times``; with ``within_days``, only between those of one day."""
    gaps = np.diff(times) / np.timedelta64(1, "s")
    if within_days:
        gaps = gaps[np.diff(times.astype("datetime64[D]")) == np.timedelta64(0, "D")]
    return np.asarray(gaps, dtype=np.float64)
