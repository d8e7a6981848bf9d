"""The paper's figures and tables from our code: few trials, short curves, numbers computed again by other means."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.cluster.hierarchy import fcluster, linkage

import linkarms as la
from linkarms.errors import DownloadError, InvalidInput
from linkarms.paper import published, reproduce
from linkarms.paper.reproduction import (
    CurveSettings,
    Limit,
    RunTime,
    RunTimes,
    _runs,
    _stopping_times,
    compare,
    last_slope,
    theorem3,
)
from linkarms.paper.reproduction._linkage_steps import PAPER_STEPS
from linkarms.paper.reproduction._runs import Execution, available, run_curve


@pytest.fixture
def short_curves(monkeypatch):
    """Curves of two points: trials end sooner."""

    def short(figure):
        return tuple(replace(c, x=c.x[:2], samples=c.samples[:2]) for c in published.curves(figure))

    monkeypatch.setattr(_stopping_times, "curves", short)


def test_deviations_by_hand():
    values = np.array([90.0, 100.0, 110.0, 120.0])
    d = compare(("figure2", "ebc", "1"), values, 100.0, 16, Limit(4.0, 3.0))
    spread = math.sqrt((225 + 25 + 25 + 225) / 3)  # about the mean, 105
    assert d.ours == 105.0
    assert d.standard_error == pytest.approx(spread / 2)
    assert d.percent == pytest.approx(5.0)
    assert d.standard_errors == pytest.approx(5.0 / (spread * math.sqrt(1 / 4 + 1 / 16)))
    assert d.verdict == "within"  # beyond 4%, but not beyond three standard errors
    assert replace(d, limit=Limit(4.0, None)).verdict == "beyond"
    assert replace(d, limit=Limit(4.0, 0.1)).verdict == "beyond"
    assert replace(d, limit=Limit(5.1, None)).verdict == "within"
    assert replace(d, limit=None).verdict == "for information"


def test_few_trials_may_be_three_standard_errors_off():
    """And no more: the percentage is not added to them."""
    values = np.array([-8.0, 0.0, 8.0])  # spread 8; three trials of ours and of the paper's: 8 sqrt(2/3)
    error = 8 * math.sqrt(2 / 3)
    limits = {quick: _stopping_times._limits("figure2", quick)["lucbboc"] for quick in (False, True)}
    for off, verdict in ((3 * error - 0.01, "within"), (3 * error + 0.01, "beyond")):
        for sign in (1, -1):
            d = compare(("p", "c", "x"), 100 + sign * off + values, 100.0, 3, limits[True])
            assert d.verdict == verdict
            assert replace(d, limit=limits[False]).verdict == "beyond"
    assert limits == {False: Limit(10.0, None), True: Limit(10.0, 3.0)}


def test_what_is_no_chance_is_said():
    values = np.array([104.0, 105.0, 106.0])
    limit = Limit(10.0, None)
    near, far = (
        compare(("figure2", name, "1"), values, 100.0, n, limit) for name, n in (("near", 1), ("far", 3))
    )
    assert near.standard_errors == pytest.approx(5 / math.sqrt(4 / 3))
    assert far.standard_errors == pytest.approx(5 / math.sqrt(2 / 3))
    unsure = replace(near, standard_errors=2.9)
    (said,) = _stopping_times._no_chance([unsure, far, replace(far, limit=Limit(1.0, None))])
    assert said.startswith("far, at 1: +5.0%")


def test_a_deviation_without_a_standard_error_is_judged_by_its_percentage():
    single = compare(("p", "c", "x"), np.array([105.0]), 100.0, 16, Limit(4.0))
    assert math.isnan(single.standard_errors)
    assert single.verdict == "beyond"
    assert single.to_dict()["standard_errors"] is None
    unknown = compare(("p", "c", "x"), np.array([90.0, 120.0]), 100.0, None, Limit(4.0))
    assert math.isnan(unknown.standard_errors)
    assert unknown.verdict == "beyond"


def test_figure1_is_single_linkage():
    piece = reproduce("figure1")["figure1"]
    points = la.problems.synthetic1().parameters
    tree = linkage(points, "single")
    for step, clusters in enumerate(piece.content.steps):
        labels = fcluster(tree, 6 - step, "maxclust")
        want = {tuple(int(m) + 1 for m in np.flatnonzero(labels == c)) for c in np.unique(labels)}
        assert set(clusters) == want
    assert piece.content.distances[1:] == pytest.approx(tree[:3, 2])
    assert piece.content.steps == PAPER_STEPS
    assert piece.agrees


def test_a_figure1_that_differs_is_noticed(monkeypatch):
    from linkarms.paper.reproduction import _linkage_steps

    other = (*PAPER_STEPS[:3], ((1, 2, 3), (4,), (5, 6)))
    monkeypatch.setattr(_linkage_steps, "PAPER_STEPS", other)
    r = reproduce("figure1")
    assert not r.agrees
    assert "1 2 3 | 4 | 5 6" in str(r)


def test_slopes_are_least_squares_and_give_the_papers_printed_ones():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.uniform(0, 200, 10)), rng.normal(size=(3, 10))
    for row, slope in zip(y, last_slope(x.tolist(), y), strict=True):
        assert slope == pytest.approx(stats.linregress(x[-4:], row[-4:]).slope)
    for figure in ("figure2", "figure3"):
        mine = [
            (c.rule, c.epsilon, float(last_slope(c.x, np.array(c.samples)))) for c in published.curves(figure)
        ]
        for printed in published.slopes(figure):
            if printed.numerical is not None:
                found = [s for rule, e, s in mine if (rule, e) == (printed.rule, printed.epsilon)]
                digits = 2 if figure == "figure2" else 1
                # cut, not rounded
                assert min(abs(s - printed.numerical) for s in found) < 1.1 * 10**-digits


@pytest.mark.parametrize(
    ("figure", "parameter"), [("figure2", None), ("figure3", "rate"), ("figure3", "mean")]
)
def test_theorem3_by_a_search_over_theta(figure, parameter):
    def divergence(a, b):  # of one coordinate, written down again
        if parameter is None:
            return (a - b) ** 2 / 2
        ratio = b / a if parameter == "rate" else a / b
        return ratio - 1 - math.log(ratio)

    for c in published.curves(figure):
        if c.theta is None:
            continue
        features = 2 if parameter is None else 1
        grid = np.linspace(*c.theta, 2001)
        eta = features * max(
            max(divergence(r, r - c.epsilon), divergence(r, r + c.epsilon)) for r in grid.tolist()
        )
        low, high = theorem3(CurveSettings(c, 1, 0, parameter), (19.0, 19.1))
        assert low == pytest.approx(1 / (1 / 19.0 - eta), rel=1e-9)
        assert high == pytest.approx(1 / (1 / 19.1 - eta), rel=1e-9)
    hopeless = replace(published.curve("figure2", "ebc", (-5, 5)), epsilon=1.0)
    assert theorem3(CurveSettings(hopeless, 1, 0), (19.0, 19.1)) == (math.inf, math.inf)


def test_curves_are_simulations(tmp_path):
    """The trials of a curve are those of `simulate` with the same seed, in one go."""
    full = published.curve("figure2", "ebc-h", (-5, 5))
    curve = replace(full, x=full.x[:2], samples=full.samples[:2])
    run = run_curve(CurveSettings(curve, 12, 3), Execution(store=tmp_path))
    whole = la.simulate(
        la.problems.synthetic1(),
        "ebc-h",
        stopping=la.stopping.Paper((-5, 5), 0.01),
        deltas=[math.exp(-x) for x in curve.x],
        trials=12,
        seed=3,
    )
    assert np.array_equal(run.times, whole["ebc-h"].stopping_times)
    assert run.unstopped == 0
    # within six standard errors of the paper's: false alarm below 1e-8
    z = (run.spent.mean(0) - curve.samples) / (run.spent.std(0, ddof=1) * math.sqrt(1 / 12 + 1 / 300))
    assert np.all(np.abs(z) < 6)


def test_finished_trials_are_not_run_again(tmp_path, monkeypatch):
    full = published.curve("figure2", "ebc-h", (-5, 5))
    curve = replace(full, x=full.x[:1], samples=full.samples[:1])
    calls = []

    def counted(*arguments, **options):
        calls.append(options["trials"])
        return la.simulate(*arguments, **options)

    monkeypatch.setattr(_runs, "simulate", counted)
    first = run_curve(CurveSettings(curve, 12, 0), Execution(store=tmp_path))
    assert calls == [10, 2]
    again = run_curve(CurveSettings(curve, 12, 0), Execution(store=tmp_path))
    assert calls == [10, 2]
    assert np.array_equal(first.times, again.times)
    more = run_curve(CurveSettings(curve, 15, 0), Execution(store=tmp_path))
    assert calls == [10, 2, 5]  # the short chunk is filled up
    assert np.array_equal(more.times[:12], first.times)
    fewer = run_curve(CurveSettings(curve, 4, 0), Execution(store=tmp_path))
    assert calls == [10, 2, 5]
    assert np.array_equal(fewer.times, first.times[:4])
    for other in (CurveSettings(curve, 4, 1), CurveSettings(replace(curve, epsilon=0.02), 4, 0)):
        calls.clear()
        assert not np.array_equal(run_curve(other, Execution(store=tmp_path)).times, fewer.times)
        assert calls == [4]
    folder = tmp_path / CurveSettings(curve, 4, 0).digest()
    (folder / "00000.json").write_text("{")
    with pytest.raises(InvalidInput, match="damaged"):
        run_curve(CurveSettings(curve, 4, 0), Execution(store=tmp_path))


def test_an_interrupted_run_keeps_its_chunks(tmp_path, monkeypatch):
    full = published.curve("figure2", "ebc-h", (-5, 5))
    curve = replace(full, x=full.x[:1], samples=full.samples[:1])

    def broken(*arguments, **options):
        s = la.simulate(*arguments, **options)
        if options["trials"] == 5:
            s.completed = 3
        return s

    monkeypatch.setattr(_runs, "simulate", broken)
    with pytest.raises(KeyboardInterrupt):
        run_curve(CurveSettings(curve, 15, 0), Execution(store=tmp_path))
    assert [p.name for p in tmp_path.glob("*/*")] == ["00000.json"]


def test_trials_by_rule():
    wanted = _stopping_times.curve_settings("figure2", {"ebc": 7}, False, 0)
    assert {(s.paper.rule, s.trials) for s in wanted} == {
        ("ebc", 7),
        ("ebc-h", 300),
        ("atboc", 100),
        ("lucbboc", 200),
    }
    assert {s.trials for s in _stopping_times.curve_settings("figure2", None, True, 0)} == {30}
    by_reading = {
        (s.parameter, s.trials)
        for s in _stopping_times.curve_settings("figure3", {"ebc": 40, "ebc-h": 5}, False, 0)
    }
    assert by_reading == {("rate", 40), ("rate", 5), ("mean", 20), ("mean", 5)}
    with pytest.raises(InvalidInput, match="trials of ebc"):
        reproduce("figure2", trials={"ebc": 0})


def test_rules_that_are_not_there_are_reported(monkeypatch, short_curves):
    monkeypatch.setattr(_stopping_times, "available", lambda rule: rule == "ebc-h")
    r = reproduce("figure2", trials=1)
    assert set(r["figure2"].missing) == {c.rule for c in published.curves("figure2")} - {"ebc-h"}
    assert not r.agrees
    assert "not available: ebc" in str(r)
    assert not available("no such rule")
    assert available("ebc-h")


def test_figures_2_and_3_and_table1(tmp_path, short_curves, monkeypatch):
    monkeypatch.setattr(_stopping_times, "available", lambda rule: rule in ("ebc", "ebc-h"))
    r = reproduce(["table1", "figure3", "figure2"], trials=1, store=tmp_path / "runs")
    assert list(r.pieces) == ["figure2", "figure3", "table1"]
    assert len(r["figure2"].deviations) == 6 * 2
    assert len(r["figure3"].deviations) == 6 * 2 + 6
    assert len(r["table1"].deviations) == 6
    r.to_csv(tmp_path)
    for name in ("figure2", "figure3"):
        piece = r[name]
        rows = list(csv.DictReader((tmp_path / f"{name}.csv").read_text().splitlines()))
        assert len(rows) == 12
        for d, row in zip(piece.deviations, rows, strict=False):
            assert float(row["mean"]) == d.ours
            assert float(row["paper"]) == d.paper
            assert row["unstopped"] == "0"
        for run in piece.content.runs:
            theirs = run.settings.paper
            mine = [d for d in piece.deviations if d.curve == run.settings.label and d.point != "slope"]
            assert [d.ours for d in mine] == run.times.mean(0).tolist()
            assert [d.paper for d in mine] == list(theirs.samples)
    # by the mean: shown, not judged
    by_mean = [d for d in r["figure3"].deviations if "by the mean" in d.curve]
    assert by_mean
    assert {d.verdict for d in by_mean} == {"for information"}
    low, high = r["figure2"].content.t_star["mean"]
    assert 19.06 < low <= high < 19.08
    kinds = r["figure3"].content.t_star
    assert 96.97 < kinds["rate"][0] <= kinds["rate"][1] < 97.0 < 97.9 < kinds["mean"][0]
    slopes = {row.curve: row for row in r["table1"].content.rows}
    row = slopes["ebc, Theta [-500, 500], epsilon 0.1"]
    assert row.theory == pytest.approx((1 / (1 / low - 0.01), 1 / (1 / high - 0.01)))
    deviations = list(csv.DictReader((tmp_path / "deviations.csv").read_text().splitlines()))
    assert [float(d["percent"]) for d in deviations] == [d.percent for d in r.deviations]
    json.dumps(r.to_dict(), allow_nan=False)


def test_table2_measures_every_rule_and_size(tmp_path, monkeypatch):
    from linkarms.paper.reproduction import _run_times

    monkeypatch.setattr(_run_times, "_SIZE", {True: (2, 3, 40), False: (2, 3, 40)})
    monkeypatch.setattr(_run_times, "available", lambda rule: rule in ("ebc", "ebc-h"))
    r = reproduce("table2", quick=True, store=tmp_path)
    cells = {(c.rule, c.arms): c for c in r["table2"].content.cells}
    assert set(cells) == {(rule, m) for rule in ("ebc", "ebc-h") for m in (4, 8, 14, 20)}
    assert all(min(c.milliseconds) > 0 and c.samples <= 240 for c in cells.values())
    assert {d.verdict for d in r.deviations} == {"for information"}
    assert set(r["table2"].missing) == {"lucbboc", "atboc"}
    # times that were taken are kept: the same ones come back
    assert reproduce("table2", quick=True, store=tmp_path)["table2"].content == r["table2"].content


def test_ratios_of_table2():
    content = RunTimes((RunTime("ebc-h", 4, (1.0, 3.0), 9, 0.5), RunTime("ebc", 4, (5.0, 3.0), 9, 2.0)))
    assert content.ratio(content.cells[1]) == (2.0, 4.0)
    assert all(math.isnan(x) for x in RunTimes(content.cells[1:]).ratio(content.cells[1]))


def test_all_without_data_says_what_was_not_run(monkeypatch):
    from linkarms.paper.reproduction import _reproduce

    blank = reproduce("figure1")["figure1"]
    for name in ("run_stopping_times", "run_table1", "run_table2"):
        monkeypatch.setattr(_reproduce, name, lambda *arguments: blank)
    r = reproduce("all")
    assert set(r.not_run) == {"figure4", "figure5"}
    assert "green_tripdata_2025-01.parquet" in r.not_run["figure4"]
    assert "--movielens" in r.not_run["figure5"]
    assert r.agrees


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("figure9", {}, "there is no 'figure9'"),
        ([], {}, "nothing to reproduce"),
        ("figure4", {}, "figure4 needs public data"),
        (["figure1", "figure5"], {}, "figure5 needs public data"),
        ("figure1", {"trials": 0}, "trials"),
        ("figure1", {"seed": -1}, "seed"),
        ("figure1", {"n_jobs": 0}, "n_jobs"),
        ("figure1", {"backend": "moon"}, "backend"),
    ],
)
def test_bad_input(what, options, words):
    with pytest.raises(InvalidInput, match=words):
        reproduce(what, **options)


def test_folders_without_the_data(tmp_path):
    with pytest.raises(DownloadError, match=r"no such folder.*figure4 needs"):
        reproduce("figure4", taxi=tmp_path / "nowhere")
    with pytest.raises(DownloadError, match="missing"):
        reproduce("figure4", taxi=tmp_path)
    with pytest.raises(DownloadError, match="missing"):
        reproduce("figure5", movielens=tmp_path)


def test_figure5_on_ratings_of_our_own(tmp_path):
    rng = np.random.default_rng(5)
    movies = ["movieId,title,genres", *(f"{i},M{i},{'Comedy' if i % 2 else 'Drama'}" for i in range(1, 201))]
    (tmp_path / "movies.csv").write_text("\n".join(movies) + "\n")
    lines = ["userId,movieId,rating,timestamp"]
    for user, (comedy, drama) in enumerate([(1, 1), (1.3, 1), (4.5, 1), (1, 4.5), (4.5, 4.5), (4.3, 4.4)], 1):
        for i in range(1, 201):
            mean = comedy if i % 2 else drama
            lines.append(f"{user},{i},{np.clip(round(2 * rng.normal(mean, 0.7)) / 2, 0.5, 5)},1")
    (tmp_path / "ratings.csv").write_text("\n".join(lines) + "\n")
    r = reproduce("figure5", movielens=tmp_path, trials=25, store=tmp_path / "runs")
    piece = r["figure5"]
    assert piece.settings["trials"] == 25
    at = {(row["rule"], row["error"]): row for row in piece.tables["figure5-at-error"]}
    paper = piece.content.paper_at_error()
    for row in piece.content.at_error():
        kept = at[row.rule, row.error]
        assert kept["samples"] == row.samples or math.isnan(row.samples)
    theirs = paper["ebc-h"][2] / paper["round-robin"][2]
    assert at["ebc-h", 0.2]["paper_ratio"] == pytest.approx(theirs)
    assert {d.verdict for d in piece.deviations} <= {"for information"}
    for rule in set(piece.content.sweeps) - {"round-robin"}:
        assert sum(remark.startswith((f"{rule} needs ", f"{rule}: too few")) for remark in piece.remarks) == 1
    assert piece.agrees


def test_the_order_of_rules_in_words():
    from linkarms.paper.reproduction._measured_error import _order

    row = {"ratio": 0.8, "ratio_low": 0.7, "ratio_high": 0.9, "missed": 0.0, "paper_ratio": 0.75}
    unknown = {**row, "ratio": math.nan, "ratio_low": 1.2}
    missed = {**row, "ratio": 5.0, "missed": 0.5}
    assert _order("ebc-h", [row, unknown, missed]) == [
        "ebc-h needs fewer samples than round robin, 0.80 to 0.80 times as many; in the paper 0.75 to 0.75 times."
    ]
    assert "too few runs" in _order("ebc-h", [unknown])[0]
