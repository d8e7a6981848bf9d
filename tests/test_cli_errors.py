from __future__ import annotations

import importlib.util
import json

import pytest
from tests.cli_words import PAPER, cluster

import linkarms as la
from linkarms import cli
from linkarms.cli._app import run


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ["--theta", "0,1"],
            "--theta belongs to the paper's rule; give --stopping paper, or leave --theta out",
        ),
        (["--stopping", "anytime", "--epsilon", "0.1"], "--epsilon belongs to the paper's rule"),
        (["--stopping", "magic"], "--stopping magic: there is no such rule; choose anytime or paper"),
        (["--stopping", "paper"], "--stopping paper needs --theta LO,HI"),
        (["--stopping", "paper", "--theta", "1,2,3"], "--theta 1,2,3: give two numbers"),
        (["--stopping", "paper", "--theta", "1"], "--theta 1: give two numbers"),
        (["--stopping", "paper", "--theta", "1,x"], "--theta 1,x: 'x' is not a number"),
        (["--stopping", "paper", "--theta", "1,,2"], "--theta '1,,2': give words with single commas"),
        (["--stopping", "paper", "--theta", "5,-5"], "--theta 5.0,-5.0 is empty"),
        ([*PAPER, "--epsilon", "-1"], "--epsilon -1"),
        ([*PAPER, "--epsilon", "x"], "'--epsilon'"),
        ([*PAPER, "--delta", "1.5"], "--delta 1.5 is out of range"),
        ([*PAPER, "--seed", "-1"], "--seed -1 is out of range"),
        ([*PAPER, "--max-samples", "-1"], "Input should be greater than or equal to 0"),
        (
            [*PAPER, "--max-samples", str(2**64)],
            f"--max-samples {2**64} is out of range; give a whole number from 1 to",
        ),
        ([*PAPER, "--sampling", "magic"], "--sampling 'magic' is unknown"),
        ([*PAPER, "-k", "9"], "-k 9, but there are only"),
        ([*PAPER, "-k", "0"], "-k 0 is out of range; give a whole number from 1 to"),
        ([*PAPER, "-k", "two"], "-k two: write a whole number, or auto"),
        ([*PAPER, "--arm", "place"], "there is no column 'place'; the columns are 'zone', 'x', 'y', 'note'"),
        ([*PAPER, "--value", "note"], "column 'note' is not numeric"),
        ([*PAPER, "--value", "x,"], "--value 'x,': give words with single commas"),
        (
            [*PAPER, "--family", "cauchy"],
            "--family 'cauchy' is unknown; choose gaussian-unknown[:SHAPE], gaussian[:VARIANCE], bounded:LOW:HIGH",
        ),
        ([*PAPER, "--family", "gamma"], "--family 'gamma': too few words; write gamma:SHAPE"),
        ([*PAPER, "--family", "gamma:x"], "--family 'gamma:x': 'x' is not a number; write gamma:SHAPE"),
        ([*PAPER, "--family", "gamma:2:scale"], "'scale' is neither 'rate' nor 'mean'; write gamma:SHAPE"),
        (
            [*PAPER, "--family", "exponential:scale"],
            "'scale' is neither 'rate' nor 'mean'; write exponential",
        ),
        ([*PAPER, "--family", "bernoulli:2"], "--family 'bernoulli:2': too many words; write bernoulli"),
        ([*PAPER, "--family", "categorical:x"], "'x' is not a whole number"),
        ([*PAPER, "--family", "bounded:1"], "--family 'bounded:1': too few words; write bounded:LOW:HIGH"),
        ([*PAPER, "--family", "gaussian:-1"], "--family 'gaussian:-1': covariance has the variance -1"),
        ([*PAPER, "--family", "gaussian-unknown"], "needs a known variance"),
        (
            [*PAPER, "--family", "gaussian-unknown:each"],
            "'each' is neither 'isotropic', 'coordinate', 'full' nor 'shared'",
        ),
        (["--stopping", "paper", "--theta", "0.1,9", "--family", "exponential"], "arm 'a'"),
        ([*PAPER, "--out", "clusters.xlsx"], "--out clusters.xlsx: it has to end in .png"),
        ([*PAPER, "--out", "nowhere/clusters.png"], "there is no directory nowhere"),
        ([*PAPER, "--colour", "red"], "--colour"),
        ([*PAPER, "extra"], "extra"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(few_samples, change, message, capsys):
    assert run(cluster(few_samples, "--quiet", *change)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("linkarms: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cluster"], "Missing argument"),
        (["cluster", "x.csv"], "--arm is missing; give --arm COL and --value COL"),
        (["sing"], "No such command 'sing'"),
        (["demo", "--delta", "0"], "--delta 0 is out of range"),
        (["demo", "--out", "demo.txt"], "--out demo.txt: it has to end in .png"),
        (["simulate", "synthetic1", "--theta", "0,1"], "--theta belongs to the paper's rule"),
        (["audit", "synthetic1", "--epsilon", "0.1"], "--epsilon belongs to the paper's rule"),
        (["audit", "synthetic9"], "there is no problem 'synthetic9'; choose synthetic1"),
        (
            ["audit", "synthetic1", "--weaken", "0.5"],
            "--weaken 0.5 is out of range; give a number that is at least 1",
        ),
        (["audit", "synthetic1", "--deltas", "0"], "--deltas 0 is out of range"),
        (["audit", "synthetic1", "--trials", "0"], "--trials 0 is out of range"),
        (["audit", "synthetic1", "--sampling", "magic"], "--sampling 'magic' is unknown"),
        (["audit", "synthetic1", "--stopping", "paper"], "--stopping paper needs --theta LO,HI"),
        (["simulate", "synthetic9", *PAPER], "there is no problem 'synthetic9'; choose synthetic1"),
        (["simulate", "synthetic1:3", *PAPER], "there is no problem 'synthetic1:3'"),
        (["simulate", "synthetic2:scale", *PAPER], "there is no problem 'synthetic2:scale'"),
        (["simulate", "scaling:x", *PAPER], "scaling:x: 'x' is not a whole number"),
        (["simulate", "scaling:3", *PAPER], "n_arms=3 is odd"),
        (["simulate", "none.json", *PAPER], "none.json: there is no such file"),
        (["simulate", "synthetic1", *PAPER, "--rules", "magic"], "--rules 'magic' is unknown"),
        (["simulate", "synthetic1", *PAPER, "--rules", "ebc,ebc"], "same name"),
        (["simulate", "synthetic1", *PAPER, "--deltas", "0.1,2"], "--deltas 2 is out of range"),
        (["simulate", "synthetic1", *PAPER, "--deltas", "a"], "--deltas a: 'a' is not a number"),
        (["simulate", "synthetic1", *PAPER, "--trials", "0"], "--trials 0 is out of range"),
        (["simulate", "synthetic1", *PAPER, "--n-jobs", "0"], "--n-jobs 0 is out of range"),
    ],
)
def test_bad_commands_are_one_line_and_exit_2(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("linkarms: ")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_bad_files_are_one_line_and_exit_2(tmp_path, capsys):
    for name, content, message in [
        ("none.csv", None, "there is no such file"),
        ("data.xls", "", "cannot tell what kind of file"),
        ("empty.csv", "", "the file is empty"),
        ("ragged.csv", "zone,x\na,1,2,3\n", "cannot be read"),
        ("gaps.csv", "zone,x\na,1\nb,\n", "1 of 2 values are missing"),
    ]:
        if content is not None:
            (tmp_path / name).write_text(content)
        assert run(cluster(tmp_path / name, *PAPER)) == 2
        err = capsys.readouterr().err
        assert err.startswith("linkarms: ")
        assert err.count("\n") == 1
        assert message in err


def test_an_out_that_cannot_be_written_is_exit_2(few_samples, tmp_path, capsys):
    (tmp_path / "taken.json").mkdir()
    assert run(cluster(few_samples, *PAPER, "--out", str(tmp_path / "taken.json"))) == 2
    assert "this is a directory" in capsys.readouterr().err


def test_missing_packages_are_named(monkeypatch, capsys, tmp_path):
    real = importlib.util.find_spec

    def hide(*names):
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *a: None if name in names else real(name, *a)
        )

    hide("typer")
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "pip install 'linkarms[cli]'" in err
    hide("matplotlib")
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--out", "demo.png"]) == 2
    assert "pip install 'linkarms[plots]'" in capsys.readouterr().err
    assert run(["demo", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["picture"] is None
    assert err.startswith("no picture: ")


def test_an_interruption_is_one_line(few_samples, monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(la, "cluster", interrupt)
    assert run(cluster(few_samples, *PAPER)) == 130
    out, err = capsys.readouterr()
    assert (out, err.strip()) == ("", "linkarms: interrupted")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "this is not JSON"),
        ("[1, 2]", "give an object with parameters"),
        ('{"n_clusters": 2}', "parameters is missing"),
        ('{"parameters": [1, 9]}', "n_clusters is missing"),
        ('{"parameters": [1, 2, 9], "n_clusters": 2, "K": 3}', "'K' is unknown"),
        (
            '{"parameters": [1, 2, 9], "n_clusters": 7}',
            "n_clusters=7, but there are only 3 arms; choose 1 to 3",
        ),
        ('{"parameters": "x", "n_clusters": 1}', "not an array of numbers"),
        ('{"parameters": [1, 2, 9], "n_clusters": 2, "family": 3}', "family=3 is not a family"),
        ('{"parameters": [1, 2, 9], "n_clusters": 2, "family": "cauchy"}', "family='cauchy' is unknown"),
    ],
)
def test_bad_problem_files(tmp_path, content, message, capsys):
    path = tmp_path / "mine.json"
    path.write_text(content)
    assert run(["simulate", str(path), *PAPER]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert message in err
    assert "mine.json" in err
