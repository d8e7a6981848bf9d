"""Trip records in the published formats, with what is wrong in them."""

import datetime as dt
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from linkarms.datasets import load_bookings
from linkarms.errors import InvalidInput

LOOKUP = '"LocationID","Borough","Zone","service_zone"\n1,"EWR","Newark Airport","EWR"\n74,"Manhattan","East Harlem North","Boro Zone"\n'
LOOKUP += '75,"Manhattan","East Harlem South","Boro Zone"\n264,"Unknown","N/A","N/A"\n'


@pytest.fixture
def zones(tmp_path):
    path = tmp_path / "taxi_zone_lookup.csv"
    path.write_text(LOOKUP)
    return path


def at(day, hour, minute=0, second=0, month=1):
    return dt.datetime(2025, month, day, hour, minute, second)


def write_green(path, trips, pickup="lpep_pickup_datetime"):
    """Columns and types of the published green files; a trip is (pickup, zone) or (pickup, zone, seconds of the ride)."""
    rides = [t[2] if len(t) > 2 else 60 + i for i, t in enumerate(trips)]
    ends = [
        None if t[0] is None else t[0] + dt.timedelta(seconds=r) for t, r in zip(trips, rides, strict=True)
    ]
    columns = {
        "VendorID": pa.array([2] * len(trips), pa.int32()),
        pickup: pa.array([t[0] for t in trips], pa.timestamp("us")),
        pickup.replace("pickup", "dropoff"): pa.array(ends, pa.timestamp("us")),
        "store_and_fwd_flag": pa.array(["N"] * len(trips), pa.large_string()),
        "PULocationID": pa.array([t[1] for t in trips], pa.int32()),
        "DOLocationID": pa.array([75] * len(trips), pa.int32()),
        "fare_amount": pa.array([9.3] * len(trips), pa.float64()),
    }
    parquet.write_table(pa.table(columns), path)
    return path


def test_gaps_by_zone(tmp_path, zones):
    trips = [
        (at(1, 0, 10), 75),
        (at(1, 0, 0), 74),
        (at(1, 0, 0, 30), 74),
        (at(2, 0, 0, 30), 74),
        (at(1, 1), 75),
    ]
    found = load_bookings(write_green(tmp_path / "green_tripdata_2025-01.parquet", trips), zones)
    assert list(found.gaps) == ["74 East Harlem North", "75 East Harlem South"]
    assert found.gaps["74 East Harlem North"].tolist() == [30.0, 86400.0]
    assert found.gaps["75 East Harlem South"].tolist() == [3000.0]
    assert (found.report.rows, found.report.kept, found.report.dropped) == (5, 5, {})
    assert found.hours == (0, 24)


def test_every_row_is_accounted_for(tmp_path, zones):
    good = [(at(1, 9), 74), (at(1, 10), 74), (at(1, 11), 74)]
    bad = [
        (None, 74),
        (at(3, 9), None),
        (at(3, 9), 1),
        (at(3, 9), 264),
        (at(1, 12, month=2), 74),
        (at(4, 9), 74, 5),
        (at(4, 9), 74, 5),
        (at(4, 23), 74),
    ]
    path = write_green(tmp_path / "green_tripdata_2025-01.parquet", good + bad)
    found = load_bookings(path, zones, hours=(8, 20))
    assert dict(found.report.dropped) == {
        "without a readable pickup time": 1,
        "without a readable zone": 1,
        "for the second time": 1,
        "outside 2025-01": 1,
        "outside Manhattan": 2,
        "outside the hours 8 to 20": 1,
    }
    assert (found.report.rows, found.report.kept) == (11, 4)
    # the pickup of the 4th has no neighbour on its day: a gap over three nights is none
    assert found.gaps == {"74 East Harlem North": pytest.approx([3600.0, 3600.0])}
    assert "4 of 11 rows kept" in str(found.report)


def test_the_whole_day_keeps_gaps_over_midnight(tmp_path):
    path = write_green(tmp_path / "x.parquet", [(at(1, 23), 7), (at(2, 1), 7)])
    assert load_bookings(path, borough=None).gaps["7"].tolist() == [7200.0]
    with pytest.raises(InvalidInput, match="no two pickups are left"):
        load_bookings(path, borough=None, hours=(0, 23))


def test_two_pickups_in_one_second_are_two_trips(tmp_path):
    path = write_green(tmp_path / "x.parquet", [(at(1, 1), 7, 5), (at(1, 1), 7, 9)])
    assert load_bookings(path, borough=None).gaps["7"].tolist() == [0.0]


def test_yellow_cabs_and_several_files(tmp_path):
    first = write_green(
        tmp_path / "yellow_tripdata_2025-01.parquet",
        [(at(31, 23, 59), 7), (at(31, 23), 7)],
        "tpep_pickup_datetime",
    )
    second = write_green(
        tmp_path / "yellow_tripdata_2025-02.parquet",
        [(at(1, 0, month=2), 7), (at(1, 2, month=2), 7), (at(1, 0), 7)],
        "tpep_pickup_datetime",
    )
    found = load_bookings([first, second], borough=None)
    assert found.gaps["7"].tolist() == [3540.0, 7200.0]  # none from one file to the next
    assert dict(found.report.dropped) == {"outside 2025-02": 1}
    only = load_bookings([first, second], borough=None, month="2025-02")
    assert only.gaps["7"].tolist() == [7200.0]
    assert only.report.kept == 2


def test_csv_with_cells_that_cannot_be_read(tmp_path):
    path = tmp_path / "trips.csv"
    path.write_text(
        "pickup_datetime,PULocationID\n2025-01-01 00:00:00,12\nyesterday,12\n2025-01-01 00:00:07,12\n"
        "2025-01-01 00:00:09,somewhere\n,12\n2025-01-01 00:00:19,12.5\n2025-01-01 00:00:10,12.0\n"
    )
    found = load_bookings(path, borough=None)
    assert found.gaps["12"].tolist() == [7.0, 3.0]
    assert dict(found.report.dropped) == {"without a readable pickup time": 2, "without a readable zone": 2}


def test_many_random_trips_against_a_plain_loop(tmp_path, zones):
    rng = np.random.default_rng(3)
    trips = [
        (at(1, 0) + dt.timedelta(seconds=int(rng.integers(31 * 86400))), int(rng.choice([74, 75])), 1000 + i)
        for i in range(400)
    ]
    found = load_bookings(
        write_green(tmp_path / "green_tripdata_2025-01.parquet", trips), zones, hours=(7, 19)
    )
    for zone, name in ((74, "74 East Harlem North"), (75, "75 East Harlem South")):
        mine = sorted(t[0] for t in trips if t[1] == zone and 7 <= t[0].hour < 19)
        gaps = [(b - a).total_seconds() for a, b in pairwise(mine) if a.date() == b.date()]
        assert found.gaps[name].tolist() == gaps


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("when,PULocationID\n2025-01-01 00:00:00,1\n", "no column 'lpep_pickup_datetime' or"),
        ("pickup_datetime,zone\n2025-01-01 00:00:00,1\n", "no column 'PULocationID'"),
        ("pickup_datetime,PULocationID\n17,1\n18,1\n", "of type int64"),
        ("pickup_datetime,PULocationID\n2025-01-01 00:00:00,1\n", "no two pickups are left"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, content, message):
    path = tmp_path / "trips.csv"
    path.write_text(content)
    with pytest.raises(InvalidInput, match=message):
        load_bookings(path, borough=None)


def test_arguments_that_cannot_be_used(tmp_path, zones):
    path = write_green(tmp_path / "green_tripdata_2025-01.parquet", [(at(1, 1), 74), (at(1, 2), 74)])
    with pytest.raises(InvalidInput, match="needs the zone lookup"):
        load_bookings(path)
    with pytest.raises(InvalidInput, match="EWR, Manhattan, Unknown"):
        load_bookings(path, zones, borough="Atlantis")
    with pytest.raises(InvalidInput, match=r"hours\[1\]"):
        load_bookings(path, zones, hours=(20, 8))
    with pytest.raises(InvalidInput, match="not a pair"):
        load_bookings(path, zones, hours=8)
    with pytest.raises(InvalidInput, match="not a month"):
        load_bookings(path, zones, month="January")
    with pytest.raises(InvalidInput, match="not a month"):
        load_bookings(path, zones, month="2025-13")
    with pytest.raises(InvalidInput, match="no files"):
        load_bookings([], zones)
    with pytest.raises(InvalidInput, match="no such file"):
        load_bookings(tmp_path / "gone.parquet", zones)
    (tmp_path / "torn.parquet").write_bytes(path.read_bytes()[:200])
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_bookings(tmp_path / "torn.parquet", zones)
    zones.write_text("LocationID,Borough,Zone\nx,Manhattan,A\n")
    with pytest.raises(InvalidInput, match="not whole numbers"):
        load_bookings(path, zones)
