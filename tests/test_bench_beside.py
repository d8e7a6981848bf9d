"""Two versions in turns: both do the same on the same samples, and a difference is seen. No time is asserted."""

import json
import os
import sys

import pytest
from benchmarks import page
from benchmarks.beside import __main__ as command
from benchmarks.beside import compare as comparison
from benchmarks.beside.jobs import Job, jobs
from benchmarks.beside.tables import judge, tables

STEP = {"kind": "step", "setting": ["scaling", 4], "rule": "ebc", "warm_up": 20, "steps": 30, "seed": 1}
TRIALS = {"kind": "trials", "problem": "synthetic1", "trials": 2, "seed": 1}
RECORDED = {"kind": "recorded", "samples": 150, "seed": 1}


@pytest.fixture
def small(monkeypatch):
    """One job of each kind, two rounds each."""
    todo = [Job(order["kind"], order, 2, 0.0) for order in (STEP, TRIALS, RECORDED)]
    monkeypatch.setattr(comparison, "jobs", lambda quick, seed: todo)
    monkeypatch.setattr(comparison, "_STARTS", {True: 1})


def test_a_version_beside_itself_does_the_same(small):
    report = comparison.compare(sys.executable, quick=True) | {"name": "same"}
    assert [row["name"] for row in report["rows"]] == [
        "step, per step",
        "trials, per trial, all of simulate",
        "trials, per trial, the run alone",
        "recorded, per sample",
    ]
    for row in report["rows"]:
        assert row["same_work"]
        assert row["ratio"]["low"] <= row["ratio"]["median"] <= row["ratio"]["high"]
        assert min(row["this"]["low"], row["other"]["low"]) > 0.0
    assert report["versions"]["this"] == report["versions"]["other"]
    assert [row["limit"] for row in report["startup"]] == [None, 1.0]
    text = page.in_markdown(tables(report))
    assert "| same / this |" in text
    assert "pulled the same arms" in text


def test_other_work_is_said(monkeypatch):
    """Another seed on one side gives other counts."""

    class Other(comparison.Version):
        def order(self, **words):
            if "open" in words and self is versions[1]:
                words = {"open": words["open"] | {"seed": 2}}
            return super().order(**words)

    env = dict(os.environ)
    with Other(sys.executable, env) as this, Other(sys.executable, env) as other:
        versions = (this, other)
        (row,) = comparison._in_turns(Job("step", STEP, 2), this, other)
    assert not row["same_work"]
    report = {"name": "other", "quick": True, "seed": 0, "rows": [row], "startup": []}
    report["machine"] = comparison.machine()
    assert "They pulled other arms in: step, per step." in page.in_markdown(tables(report))


def test_limits_are_judged_on_both_sides():
    def met(ratio, limit):
        row = {"name": "x", "limit": limit, "ratio": {"median": ratio}}
        return judge({"rows": [row], "startup": []})[0]["met"]

    assert [met(x, 2.0) for x in (1.9, 2.0, 2.1)] == [False, True, True]
    assert met(0.1, None)


def test_the_jobs_are_those_that_were_promised():
    names = [job.name for job in jobs(False, 0)]
    for words in (
        "EBC-H, M = 4",
        "EBC-H, M = 20",
        "EBC, M = 20",
        "EBC-H, exponential, M = 6",
        "anytime rule, Synthetic 1",
        "EBC-H, M = 1000, well separated",
        "EBC-H, M = 1000, badly separated",
        "EBC-H, M = 5000, badly separated",
    ):
        assert words in names
    limits = {job.name: job.limit for job in jobs(False, 0)}
    assert limits.pop("anytime rule, Synthetic 1") == 2.0
    assert limits.pop("la.cluster on recorded arrays") == 10.0
    assert set(limits.values()) == {1.0}


def test_an_interpreter_without_linkarms_is_one_line(capfd, tmp_path):
    for python, said in (
        (str(tmp_path / "python"), "cannot start"),
        ("true", "ended early"),
    ):
        with pytest.raises(SystemExit) as stopped:
            command.main([python, "--quick"])
        assert stopped.value.code == 2
        err = capfd.readouterr().err
        assert said in err
        assert err.count("\n") == 1


def test_the_figures_are_kept(small, tmp_path, capsys):
    out = tmp_path / "beside.json"
    words = [sys.executable, "--quick", "--name", "twin", "--out", str(out)]
    code = command.main(words)
    report = json.loads(out.read_text())
    assert report["name"] == "twin"
    assert code == (0 if all(t["met"] for t in report["targets"]) else 1)
    assert page.in_markdown(tables(report)) in capsys.readouterr().out
