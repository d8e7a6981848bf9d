"""The data sets that ship with the package, and the names that moved."""

import numpy as np
import pytest

import linkarms as la
from linkarms import arms, datasets
from linkarms.errors import InvalidInput

pandas = pytest.importorskip("pandas")


def test_files_are_small_and_named():
    for name in ("flights", "penguins", "taxi"):
        path = datasets.sample_file(name)
        assert path.is_file()
        assert path.stat().st_size < 300_000
    with pytest.raises(InvalidInput, match="no data set 'iris' in the package; choose one of flights"):
        datasets.sample_file("iris")


def test_loaders_read_what_pandas_reads():
    for name, load in (
        ("flights", datasets.load_flights),
        ("penguins", datasets.load_penguins),
        ("taxi", datasets.load_taxi_sample),
    ):
        found, expected = load(), pandas.read_csv(datasets.sample_file(name))
        assert list(found.columns) == list(expected.columns)
        for column in expected.columns:
            assert found[column].isna().tolist() == expected[column].isna().tolist()
            there = expected[column].notna()
            assert found[column][there].tolist() == expected[column][there].tolist()


def test_known_facts():
    birds = datasets.load_penguins()
    assert birds["species"].value_counts().to_dict() == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}
    assert int(birds["body_mass_g"].isna().sum()) == 2
    # the mean gaps that docs/real-data.md gives for the six zones
    means = datasets.load_taxi_sample().groupby("zone", sort=False)["gap"].mean()
    assert means.round().tolist() == [230, 333, 961, 1263, 1362, 2259]
    flights = datasets.load_flights()
    assert flights.groupby("carrier").size().max() == 1_500
    assert (np.diff(flights["month"]) >= 0).all()


def test_old_names_are_aliases():
    for name in (
        "DATASETS",
        "Bookings",
        "Dataset",
        "LoadReport",
        "Ratings",
        "fetch",
        "load_bookings",
        "load_ratings",
    ):
        assert getattr(arms, name) is getattr(datasets, name)
    assert la.datasets is datasets
