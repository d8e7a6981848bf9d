"""The benchmark: its yardsticks compute what the engine computes, and its report is complete. No time is asserted."""

import json

import numpy as np
import pytest
from benchmarks import growth, page, startup, step, stretch, trials
from benchmarks.__main__ import main
from benchmarks.clock import interleave, ratio, spread
from benchmarks.run import SECTIONS, run
from benchmarks.targets import TARGETS, judge
from benchmarks.yardsticks import YARDSTICKS

import linkarms as la


def test_contenders_take_turns():
    order = []
    contenders = {name: lambda name=name: order.append(name) or float(len(order)) for name in "abc"}
    times = interleave(contenders, 3)
    assert "".join(order) == "abccbaabc"
    assert times["a"].tolist() == [1.0, 6.0, 7.0]
    assert ratio(times["c"], times["a"]) == spread(np.array([3.0, 4 / 6, 9 / 7]))
    assert spread(np.array([4.0, 1.0, 2.0, 3.0, 5.0])) == {"median": 3.0, "low": 2.0, "high": 4.0}


SPREAD = {"median", "low", "high"}
STEP = {"problem", "family", "arms", "clusters", "features", "rule", "costs_per_step", "state_bytes"} | {
    "microseconds",
    "plain_numpy_microseconds",
    "numpy_microseconds",
    "loop_microseconds",
    "plain_numpy_over_linkarms",
    "numpy_over_linkarms",
    "loop_over_linkarms",
    "over_ebc_h",
    "paper_milliseconds",
}
GROWTH = {"kind", "arms", "clusters", "features", "given_up", "steps_per_round", "microseconds"} | {
    "row_microseconds",
    "over_row",
    "costs_per_step",
    "state_bytes",
    "rounds_with_wrong_clusters",
    "from_samples_per_arm",
    "to_samples_per_arm",
    "runs",
    "steps",
    "mean_microseconds",
    "ends",
    "ends_with_wrong_clusters",
}
TARGET = {"name", "what", "limit", "at_least", "unit", "figure", "met"}


@pytest.fixture
def small(monkeypatch):
    """The same sections on less."""
    monkeypatch.setitem(step._SIZE, True, (3, 100))
    monkeypatch.setitem(growth._ARMS, True, ((10, 20),))
    monkeypatch.setitem(growth._ROUNDS, True, 2)
    monkeypatch.setattr(growth, "_NEW_RUNS", 10)
    monkeypatch.setattr(stretch, "_MOST_RUNS", 3)
    monkeypatch.setitem(growth._PATIENCE, True, 300.0)
    monkeypatch.setitem(trials._ROUNDS, True, 2)
    monkeypatch.setattr(trials, "_TRIALS", {"synthetic1": {True: 3}, "synthetic2": {True: 1}})
    monkeypatch.setitem(startup._ROUNDS, True, 1)
    monkeypatch.setattr(startup, "FAMILIES", {"poisson": startup.FAMILIES["poisson"]})


def test_the_step_has_all_fields(small, capsys, tmp_path):
    kept = tmp_path / "results.json"
    code = main(["--quick", "--only", "step", "--out", str(kept)])
    assert "(a) NumPy from scratch" in capsys.readouterr().out
    report = json.loads(kept.read_text())
    assert set(report) == {"quick", "seed", "machine", *SECTIONS, "paper", "targets"}
    assert {"cpu", "cores", "python", "numpy", "scipy", "linkarms", "load_average"} <= set(report["machine"])
    assert [report[name] for name in SECTIONS if name != "step"] == [None] * 3
    assert (report["quick"], report["seed"]) == (True, 0)
    rows = report["step"]["rows"]
    assert [(r["problem"], r["rule"]) for r in rows] == [
        (problem, rule) for problem in ("scaling(4)", "scaling(20)", "synthetic2") for rule in step.RULES
    ]
    for row in rows:
        assert set(row) == STEP
        for name, kind in YARDSTICKS.items():
            timed = row["problem"] != "synthetic2" and row["rule"] in kind.rules
            for key in (f"{name}_microseconds", f"{name}_over_linkarms"):
                assert set(row[key] or ()) == (SPREAD if timed else set())
        assert row["microseconds"]["low"] <= row["microseconds"]["median"] <= row["microseconds"]["high"]
        assert row["state_bytes"] > 0
        assert row["costs_per_step"] >= 1.0
    assert [r["paper_milliseconds"] for r in rows] == [0.44, 0.62, 1.90, 3.52, None, None]
    assert report["paper"]["milliseconds"]["atboc"] == [21.1, 91.2, 348.0, 1133.0]
    assert [t["name"] for t in report["targets"]] == ["numpy", "loop", "ebc", "four", "exponential"]
    assert all(set(t) == TARGET for t in report["targets"])
    assert code == (0 if all(t["met"] for t in report["targets"]) else 1)


def test_the_whole_run_prints_all_tables_and_writes_nothing(small, capsys):
    before = page.RESULTS.read_bytes(), page.PAGE.read_bytes()
    code = main(["--quick", "--seed", "3"])
    out, _ = capsys.readouterr()
    assert code in (0, 1)
    for words in (
        "| (a) / linkarms | (a') / linkarms | (b) / linkarms |",
        "ANOTHER MACHINE",
        "badly separated",
        "| synthetic1 |",
        "| import linkarms |",
        "| la.cluster, poisson |",
        "at least 200 times",
    ):
        assert words in out
    for row in ("| 10 |", "| 20 |"):
        assert any(line.startswith(row) for line in out.splitlines())
    assert (page.RESULTS.read_bytes(), page.PAGE.read_bytes()) == before


def test_growth_has_all_fields_and_gives_up(small, monkeypatch):
    section = run("growth", quick=True, seed=1)["growth"]
    assert [(r["kind"], r["arms"]) for r in section["rows"]] == [
        ("well", 10),
        ("well", 20),
        ("badly", 10),
        ("badly", 20),
    ]
    assert all(set(row) == GROWTH and not row["given_up"] for row in section["rows"])
    for row in section["rows"]:
        assert (row["from_samples_per_arm"], row["to_samples_per_arm"]) == (3, 5.0)
        assert row["runs"] in ((2, 4, 6) if row["arms"] == 10 else (1,))
        assert row["steps"] == (20 * row["runs"] if row["arms"] == 10 else 40)
        assert row["steps_per_round"] == row["steps"] / 2
        assert row["ends"] == (row["runs"] if row["arms"] == 10 else 2)
        assert row["rounds_with_wrong_clusters"] <= row["ends_with_wrong_clusters"] <= row["ends"]
        assert row["mean_microseconds"] > 0.0
    monkeypatch.setitem(growth._PATIENCE, True, 0.0)
    report = run("growth", quick=True, seed=1)
    assert all(row["given_up"] for row in report["growth"]["rows"])
    assert len(report["growth"]["rows"]) == 4
    assert [t["figure"] for t in report["targets"]] == [None] * 6
    assert not any(t["met"] for t in report["targets"])
    assert "given up" in page.markdown(report)
    assert "Given up: the warm-up of this size or a smaller one took more than 0 s." in page.markdown(report)


def test_a_table_says_which_sizes_fell_short(small):
    report = run("growth", quick=True, seed=1)
    assert "from 3 to 5 samples per arm on average.\n" in page.markdown(report)
    assert "Given up" not in page.markdown(report)
    report["growth"]["rows"][1]["to_samples_per_arm"] = 3.25
    assert "on average; M = 20 only to 3.25.\n" in page.markdown(report)


def test_trials_are_those_of_simulate(small):
    section = run("trials", quick=True, seed=4)["trials"]
    assert [row["problem"] for row in section["rows"]] == ["synthetic1", "synthetic2"]
    first, _ = section["rows"]
    times = [
        la.simulate(la.problems.synthetic1(), "ebc-h", deltas=[0.1], trials=3, seed=seed)[
            "ebc-h"
        ].stopping_times
        for seed in (4, 5)
    ]
    assert first["samples_per_trial"] == pytest.approx(np.mean(times))
    for row in section["rows"]:
        assert 0.0 < row["inside_milliseconds"]["median"] <= row["milliseconds"]["high"]


def test_startup_runs_in_processes_of_its_own(small):
    section = run("startup", quick=True)["startup"]
    assert set(section["import_seconds"]) == SPREAD
    for key in ("help_seconds", "first_answer_seconds"):
        assert set(section[key]) == SPREAD | {"processor"}
        assert section[key]["processor"] > 0.0
    assert section["import_seconds"]["median"] < section["first_answer_seconds"]["median"]
    assert set(section["cluster_seconds"]) == {"poisson"}


@pytest.mark.parametrize("name", startup.FAMILIES)
def test_every_family_of_the_startup_gets_its_answer(name, capsys):
    """The programs that are timed in processes of their own, here without one."""
    family, draw = startup.FAMILIES[name]
    exec(startup._CLUSTER.format(family=family, draw=draw), {})
    assert "stopped" in capsys.readouterr().out


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
def test_targets_are_judged_on_both_sides(target):
    for factor in (0.5, 1.0, 2.0):
        report = {**dict.fromkeys(SECTIONS), target.section: reported(target, factor)}
        (found,) = [t for t in judge(report) if t["name"] == target.name]
        assert found["figure"] == pytest.approx(target.limit * factor)
        assert found["met"] is (factor >= 1.0 if target.at_least else factor <= 1.0)


def reported(target, factor):
    """A section in which every figure is ``factor`` times the target's limit."""
    x = {"median": float(target.limit * factor)}
    if target.section == "step":
        keys = ("plain_numpy_over_linkarms", "loop_over_linkarms", "over_ebc_h", "microseconds")
        problems = ("scaling(4)", "scaling(20)", "synthetic2")
        return {
            "rows": [
                {"problem": p, "rule": r, **dict.fromkeys(keys, x)} for p in problems for r in step.RULES
            ]
        }
    if target.section == "startup":
        keys = ("import_seconds", "help_seconds", "first_answer_seconds")
        return {**dict.fromkeys(keys, x), "cluster_seconds": {"one": {"median": 0.0}, "other": x}}
    rows = [
        {
            "kind": kind,
            "arms": arms,
            "given_up": False,
            "microseconds": {"median": 1.0} if arms == 100 else x,
            "over_row": x,
            "state_bytes": int(1e6 * x["median"]),
        }
        for kind in growth.KINDS
        for arms in (100, 1000)
    ]
    return {"rows": rows}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "steps"], "invalid choice: 'steps'"),
        (["--out", "nowhere/times.json"], "there is no directory nowhere"),
        (["--seed", "-1"], "-1 is negative"),
    ],
)
def test_bad_input_is_refused(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["--quick", *words])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_the_page_is_filled_between_its_marks(small):
    new = page.markdown(run("trials", quick=True))
    text = page.PAGE.read_text()
    filled = page.fill(text, new)
    assert filled == page.fill(filled, new)
    assert filled.split(page.BEGIN)[0] == text.split(page.BEGIN)[0]
    assert filled.split(page.END)[1] == text.split(page.END)[1]
    assert "| synthetic1 |" in filled
    with pytest.raises(ValueError, match="needs one"):
        page.fill("nothing here", new)


def test_the_page_shows_the_kept_figures():
    text = page.PAGE.read_text()
    assert page.filled(text) == text
