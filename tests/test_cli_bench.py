"""``linkarms bench``: a short timing of this machine. No time is asserted."""

import json

import pytest

import linkarms as la
from linkarms.cli import _startup, _timing
from linkarms.cli._app import run

SPREAD = {"median", "low", "high"}


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(_timing, "_ROUNDS", 2)
    monkeypatch.setattr(_timing, "_STEPS", 400)
    monkeypatch.setattr(_timing, "_TRIALS", 2)
    monkeypatch.setattr(_timing, "_PROCESSES", 1)


def test_it_prints_json(short, capsys):
    assert run(["bench", "--json", "--quiet", "--seed", "3"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    report = json.loads(out)
    assert set(report) == {
        "seed",
        "machine",
        "steps",
        "trial_milliseconds",
        "import_seconds",
        "first_answer_seconds",
    }
    assert report["seed"] == 3
    assert report["machine"]["linkarms"]
    assert [(row["arms"], row["rule"]) for row in report["steps"]] == [
        (4, "ebc-h"),
        (20, "ebc-h"),
        (20, "ebc"),
        (200, "ebc-h"),
        (6, "ebc-h"),
    ]
    times = [row["microseconds"] for row in report["steps"]]
    times += [report[key] for key in ("trial_milliseconds", "import_seconds", "first_answer_seconds")]
    for time in times:
        assert set(time) == SPREAD
        assert 0.0 < time["low"] <= time["median"] <= time["high"]


def test_it_prints_a_table(short, capsys):
    assert run(["bench"]) == 0
    out = capsys.readouterr().out
    for words in ("20 arms, ebc", "one trial, synthetic1", "import linkarms", "first answer"):
        assert words in out


def test_a_run_takes_all_its_steps(monkeypatch):
    """Also where an arm has used its samples and starts again with the first."""
    monkeypatch.setattr(_timing, "_ROUNDS", 3)
    monkeypatch.setattr(_timing, "_STEPS", 50)
    kept = []
    engine = _timing.Engine
    monkeypatch.setattr(_timing, "Engine", lambda *words: kept.append(engine(*words)) or kept[-1])
    problem = la.problems.synthetic2()
    times = _timing._step_times(problem, "ebc-h", _timing._RATES, 0)
    assert len(times) == 3
    (made,) = kept
    assert made.core.counts.sum() == 200
    assert made.core.counts.max() > 50  # more than it had samples


def test_a_process_that_fails_is_one_line():
    with pytest.raises(la.LinkarmsError, match="NameError"):
        _startup.fresh_process(["-c", "nonsense"])
    assert _startup.fresh_process(["-c", "print('here')"])[1] == "here\n"


def test_the_first_answer_is_the_readme_example(capsys):
    exec(_startup._FIRST_ANSWER, {})
    assert "2 clusters" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--seed", "-1"], "--seed -1 is out of range"), (["--only", "step"], "--only")],
)
def test_bad_input_is_refused(words, said, capsys):
    assert run(["bench", *words]) == 2
    assert said in capsys.readouterr().err
