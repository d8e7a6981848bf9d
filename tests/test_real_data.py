"""The experiments on real data, on small files in the true formats."""

import csv
import datetime as dt
import math
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import stats
from scipy.cluster.hierarchy import linkage

import linkarms as la
from linkarms.arms import resampled_problem
from linkarms.datasets import Bookings, LoadReport, Ratings
from linkarms.errors import DownloadError, InvalidInput
from linkarms.paper import (
    _choice,
    check_fit,
    choose_regions,
    choose_users,
    linkage_edges,
    run_movielens,
    run_taxi,
)

REPORT = LoadReport("made up", 0, 0, {})


def write_taxi(folder):
    """January's trips in eight zones; six have many, at clearly different paces."""
    rng = np.random.default_rng(11)
    means = {10: 600, 11: 650, 12: 4000, 13: 4200, 14: 15000, 15: 15500, 16: 90000, 17: 99000}
    start, trips = dt.datetime(2025, 1, 1), []
    for zone, mean in means.items():
        t = 0.0
        while (t := t + rng.exponential(mean)) < 31 * 86400:
            trips.append((start + dt.timedelta(seconds=int(t)), zone))
    columns = {
        "lpep_pickup_datetime": pa.array([t for t, _ in trips], pa.timestamp("us")),
        "lpep_dropoff_datetime": pa.array(
            [t + dt.timedelta(minutes=i % 60) for i, (t, _) in enumerate(trips)], pa.timestamp("us")
        ),
        "PULocationID": pa.array([z for _, z in trips], pa.int32()),
    }
    parquet.write_table(pa.table(columns), folder / "green_tripdata_2025-01.parquet")
    lines = [
        '"LocationID","Borough","Zone","service_zone"',
        *(f'{z},"Manhattan","Zone {z}","Boro Zone"' for z in means),
    ]
    (folder / "taxi_zone_lookup.csv").write_text("\n".join(lines) + "\n")
    return folder


def write_movielens(folder):
    """Nine users with 60 ratings in both genres around different means, and one with too few."""
    rng = np.random.default_rng(5)
    means = {
        1: (1, 1),
        2: (1.2, 1),
        3: (4.5, 1),
        4: (4.5, 1.2),
        5: (1, 4.5),
        6: (4.5, 4.5),
        7: (3, 3),
        8: (3, 2),
        9: (2, 3),
        10: (5, 5),
    }
    movies = [*((i, "Comedy") for i in range(60)), *((100 + i, "Drama") for i in range(60))]
    rows = []
    for user, (comedy, drama) in means.items():
        for movie, genre in movies if user < 10 else movies[55:65]:
            x = (comedy if genre == "Comedy" else drama) + rng.normal(0, 0.6)
            rows.append((user, movie, float(np.clip(round(2 * x) / 2, 0.5, 5))))
    text = ["userID\tmovieID\trating\tdate_day", *(f"{u}\t{m}\t{r:g}\t29" for u, m, r in rows)]
    (folder / "user_ratedmovies.dat").write_text("\n".join(text) + "\n", "latin-1")
    text = ["movieID\tgenre", *(f"{m}\t{g}" for m, g in movies)]
    (folder / "movie_genres.dat").write_text("\n".join(text) + "\n", "latin-1")
    return folder


@pytest.fixture(scope="module")
def taxi(tmp_path_factory):
    return run_taxi(
        write_taxi(tmp_path_factory.mktemp("taxi")),
        trials=25,
        seed=2,
        quick=True,
        rules=["fixed", "round-robin", "ebc-h"],
    )


@pytest.fixture(scope="module")
def movielens(tmp_path_factory):
    return run_movielens(write_movielens(tmp_path_factory.mktemp("movielens")), trials=50, quick=True, seed=2)


def test_taxi(taxi):
    assert taxi.choice.arms == tuple(f"{z} Zone {z}" for z in (10, 11, 12, 13, 14, 15))
    assert taxi.problem.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert taxi.problem.parameters.ravel() == pytest.approx([600, 650, 4000, 4200, 15000, 15500], rel=0.25)
    assert list(taxi.sweeps) == ["fixed", "round-robin", "ebc-h"]
    assert all(len(s.samples) == 25 for s in taxi.sweeps.values())
    assert taxi.settings["hours"] == (0, 24)
    assert taxi.figure == "figure4"
    # gaps were drawn from exponentials: the fit must say so (KS above 1.95/sqrt(n) has probability 1e-3 with a known mean)
    for f in taxi.fit:
        assert 0.7 < f.variation < 1.3
        assert f.distance < 1.95 / math.sqrt(f.records)


def test_movielens(movielens):
    assert movielens.problem.n_features == 2
    assert movielens.choice.arms == (1, 2, 3, 4, 5, 6)
    assert movielens.problem.labels.tolist() == [0, 0, 1, 1, 2, 3]
    assert movielens.choice.ratio > 3
    assert list(movielens.sweeps) == ["fixed", "round-robin", "ebc", "ebc-h", "ebc-uniform"]
    assert "made up" not in str(movielens.report)
    assert movielens.settings["trials"] == 50
    last = [p for p in movielens.points() if p.rule == "fixed"][-1]
    assert (last.samples, last.errors) == (600, 0)


def test_errors_fall_with_samples(movielens):
    for rule in movielens.sweeps:
        errors = [p.errors for p in movielens.points() if p.rule == rule]
        assert errors[0] > errors[-1]


def test_what_is_written(movielens, tmp_path):
    paths = movielens.to_csv(tmp_path / "out")
    assert [p.name for p in paths] == ["movielens-points.csv", "movielens-at-error.csv", "movielens-fit.csv"]
    tables = []
    for path in paths:
        with path.open() as file:
            tables.append(list(csv.DictReader(file)))
    assert len(tables[0]) == sum(len(s.levels) for s in movielens.sweeps.values())
    first = movielens.points()[0]
    assert (tables[0][0]["rule"], float(tables[0][0]["samples"])) == (first.rule, first.samples)
    assert len(tables[1]) == 5 * len(movielens.targets)
    assert len(tables[2]) == 12
    assert "nan" not in "".join(p.read_text() for p in paths)
    text = str(movielens)
    assert "shortest edge cut / longest kept" in text
    assert text.count("round-robin") >= len(movielens.targets)


def test_pictures(movielens, taxi):
    info = la.plots.error_curve_info(movielens)
    assert [c.rule for c in info.ours] == list(movielens.sweeps)
    assert [rule for rule, _, _ in info.paper] == ["fixed", "round-robin", "ebc", "ebc-h"]
    for curve in info.ours:
        p = next(p for p in movielens.points() if p.rule == curve.rule and p.errors > 0)
        assert curve.x[0] == pytest.approx(math.log(p.trials / p.errors))
        assert all(a <= b <= c for a, b, c in zip(curve.x_low, curve.x, curve.x_high, strict=True))
    axes = la.plots.plot_error_curve(movielens)
    # five of ours, four of the paper's, and the line of the key
    assert len(axes.lines) == 10
    fit = la.plots.fit_info(taxi)
    assert fit.names == taxi.choice.arms
    assert len(la.plots.plot_fit(taxi).lines) == 7
    assert la.plots.fit_info(movielens).names[:2] == ("1, 0", "1, 1")


def test_edges_against_scipy():
    rng = np.random.default_rng(1)
    for _ in range(20):
        x = rng.normal(size=(7, 2))
        assert linkage_edges(x) == pytest.approx(sorted(linkage(x, "single")[:, 2], reverse=True))


def test_the_users_chosen_are_the_clearest(monkeypatch):
    """Against all choices by SciPy's linkage; the search that stands in for them where there are too many comes close."""
    rng = np.random.default_rng(2)
    searched = []
    for _ in range(5):
        users = {u: (rng.uniform(0.5, 5, 3), rng.uniform(0.5, 5, 3)) for u in range(11)}
        ratings = Ratings(users, ("Comedy", "Drama"), REPORT)
        means = np.array([[x.mean() for x in parts] for parts in users.values()])

        def gap(chosen, means=means):
            edges = sorted(linkage(means[list(chosen)], "single")[:, 2])
            return edges[2] - edges[1]

        best = max(combinations(range(11), 6), key=gap)
        choice = choose_users(ratings, least=3)
        assert choice.arms == best
        assert choice.edges[2] - choice.edges[3] == pytest.approx(gap(best))
        assert choice.ratio == pytest.approx(choice.edges[2] / choice.edges[3])
        with monkeypatch.context() as m:
            m.setattr(_choice, "_ALL", 0)
            searched.append(gap(choose_users(ratings, least=3).arms) / gap(best))
    assert max(searched) <= 1 + 1e-12
    assert np.mean(searched) > 0.9


def test_choices_that_cannot_be_made():
    with pytest.raises(InvalidInput, match="2 zones with gaps, and 6 are needed"):
        choose_regions(Bookings({"a": np.ones(3), "b": np.ones(3)}, REPORT, (0, 24)))
    ratings = Ratings({u: (np.ones(9), np.ones(5)) for u in range(8)}, ("Comedy", "Drama"), REPORT)
    with pytest.raises(InvalidInput, match="0 users have 6 ratings in each of Comedy, Drama"):
        choose_users(ratings, least=6)
    with pytest.raises(InvalidInput, match="n_clusters=6"):
        choose_users(ratings, n_clusters=6, least=2)


def test_the_fit_is_measured():
    rng = np.random.default_rng(3)
    x, y = rng.exponential(4.0, 400), np.abs(rng.normal(9.0, 1.0, 300))
    rows = check_fit(resampled_problem({"x": x, "y": y}, 1, la.families.Exponential("mean")))
    for row, values in zip(rows, (x, y), strict=True):
        steps = np.sort(values)
        model = 1 - np.exp(-steps / values.mean())
        n = len(values)
        distance = max((np.arange(1, n + 1) / n - model).max(), (model - np.arange(n) / n).max())
        assert row.distance == pytest.approx(distance)
        assert row.variation == pytest.approx(values.std(ddof=1) / values.mean())
        assert row.model_variance == pytest.approx(values.mean() ** 2)
    assert rows[0].distance < 0.1 < 0.5 < rows[1].distance  # the second is far from exponential
    (gauss, _) = check_fit(resampled_problem({"y": y, "z": y + 1}, 1, la.families.Gaussian(4.0)), [0.5])
    assert gauss.model_quantiles.tolist() == pytest.approx([y.mean()])
    assert gauss.distance == pytest.approx(stats.kstest((y - y.mean()) / 2, "norm").statistic)
    with pytest.raises(InvalidInput, match="no records"):
        check_fit(la.problems.synthetic1())
    with pytest.raises(InvalidInput, match="no check"):
        check_fit(resampled_problem({"a": [0.0, 1.0], "b": [1.0]}, 1, "bernoulli"))


def test_rates_and_hours(tmp_path):
    rules = ["fixed"]
    by_rate = run_taxi(write_taxi(tmp_path), trials=25, rules=rules, parameter="rate", hours=(6, 22))
    assert by_rate.settings["parameter"] == "rate"
    assert by_rate.settings["hours"] == (6, 22)
    assert np.all(by_rate.problem.parameters < 1)
    assert by_rate.choice.edges == linkage_edges(by_rate.problem.parameters)
    assert "outside the hours 6 to 22" in by_rate.report.dropped
    assert list(by_rate.sweeps) == ["fixed"]


def test_missing_files_say_where_to_get_them(tmp_path):
    with pytest.raises(
        DownloadError, match=r"green_tripdata_2025-01\.parquet missing; .*nyc\.gov.*download=True"
    ):
        run_taxi(tmp_path)
    with pytest.raises(
        DownloadError, match=r"user_ratedmovies\.dat and movie_genres\.dat missing; .*grouplens\.org"
    ):
        run_movielens(tmp_path)


@pytest.mark.parametrize("name", ["taxi", "movielens", "hetrec"])
def test_the_tables_of_the_docs_are_those_of_the_stored_results(name):
    from evidence import real_data

    text = (real_data.ROOT / "docs" / "real-data.md").read_text("utf-8")
    assert f"<!-- table: {name} -->\n{real_data.table(name)}\n<!-- /table -->" in text
    trials = {int(p["trials"]) for p in real_data.rows(name, "points")}
    assert trials == {400 if name == "taxi" else 1000}
    at = {(r["rule"], r["error"]): float(r["ratio_high"]) for r in real_data.rows(name, "at-error")}
    assert all(high < 1 for (rule, _), high in at.items() if rule == "ebc-h")  # best, beyond chance
