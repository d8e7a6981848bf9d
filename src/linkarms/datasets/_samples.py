"""The data sets that ship with the package. All may be redistributed; ``data/README.md`` names sources and licences."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

from linkarms.arms import make_frame
from linkarms.errors import InvalidInput

__all__ = ["load_flights", "load_penguins", "load_taxi_sample", "sample_file"]

_DATA = Path(__file__).parent / "data"
_NAMES = ("flights", "penguins", "taxi")


def sample_file(name: str) -> Path:
    """Return the path of a data set that ships with the package, a compressed CSV file.

    Parameters
    ----------
    name : {"flights", "penguins", "taxi"}
        The data set.

    Returns
    -------
    pathlib.Path
        The file; `linkarms.cluster` and ``linkarms cluster`` take it.

    Examples
    --------
    >>> from linkarms.datasets import sample_file
    >>> sample_file("penguins").name
    'penguins.csv.gz'
    """
    if name not in _NAMES:
        raise InvalidInput(f"there is no data set {name!r} in the package; choose one of {', '.join(_NAMES)}")
    return _DATA / f"{name}.csv.gz"


def load_penguins() -> Any:
    """Return the Palmer penguins: 344 birds of three species, one row per bird.

    Columns: ``species``, ``island``, ``bill_length_mm``, ``bill_depth_mm``, ``flipper_length_mm``, ``body_mass_g``, ``sex``, ``year``.
    Two birds were not measured: their cells are missing.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The first of them that is installed.

    Notes
    -----
    Gorman, Williams and Fraser (2014), doi:10.1371/journal.pone.0090081; Horst, Hill and Gorman (2020), palmerpenguins. CC0.

    Examples
    --------
    >>> import linkarms as la
    >>> birds = la.datasets.load_penguins().dropna()
    >>> la.cluster(birds, 2, arm="species", value="bill_depth_mm").clusters
    [['Adelie', 'Chinstrap'], ['Gentoo']]
    """
    return _read("penguins")


def load_flights() -> Any:
    """Return delays of flights from New York in 2013, in minutes: at most 1,500 flights of each of 16 carriers, in order of time.

    Columns: ``month``, ``day``, ``carrier``, ``origin``, ``dest``, ``dep_delay``, ``arr_delay``. Cancelled flights have missing delays.
    The flights of a carrier are a random sample of its flights in that year; a mean over carriers is not that of all flights.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The first of them that is installed.

    Notes
    -----
    From the R package nycflights13 (Wickham), after the Bureau of Transportation Statistics. CC0.

    Examples
    --------
    >>> import linkarms as la
    >>> flights = la.datasets.load_flights()
    >>> len(flights), flights["carrier"].nunique()
    (18874, 16)
    """
    return _read("flights")


def load_taxi_sample() -> Any:
    """Return the seconds between pickups of green cabs in six zones of Manhattan, January 2025; each zone in order of time.

    Columns: ``zone`` (number and name), ``gap`` (seconds since the zone's previous pickup). `load_bookings` reads whole files.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The first of them that is installed.

    Notes
    -----
    From the trip records of the New York City Taxi and Limousine Commission, which are public.

    Examples
    --------
    >>> import linkarms as la
    >>> gaps = la.datasets.load_taxi_sample()
    >>> round(gaps["gap"].max() / 3600)
    14
    """
    return _read("taxi")


def _read(name: str) -> Any:
    with gzip.open(sample_file(name), "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return make_frame(
        {column: _cells(cells) for column, cells in zip(header, zip(*rows, strict=True), strict=True)}
    )


def _cells(texts: tuple[str, ...]) -> list[Any]:
    """Return a column as numbers if all its cells are numbers, else as text; None where a cell is empty."""
    for kind in (int, float):
        try:
            return [kind(text) if text else None for text in texts]
        except ValueError:
            continue
    return [text or None for text in texts]
