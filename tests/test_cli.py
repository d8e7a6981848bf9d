from __future__ import annotations

import csv
import io
import json
import re

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from tests.cli_words import PAPER

import linkarms as la
from linkarms.cli._app import run


@pytest.fixture
def samples(tmp_path):
    """Four arms in two clusters, 200 records each, in shuffled rows; two value columns."""
    rng = np.random.default_rng(8)
    rows = [(zone, mean) for zone, mean in zip("abcd", (0.0, 8.0, 1.0, 9.0), strict=True) for _ in range(200)]
    rows = [rows[i] for i in rng.permutation(len(rows))]
    noise = rng.standard_normal((len(rows), 2))
    columns = {
        "zone": [zone for zone, _ in rows],
        "x": [mean + e for (_, mean), e in zip(rows, noise[:, 0], strict=True)],
        "y": [-mean + e for (_, mean), e in zip(rows, noise[:, 1], strict=True)],
        "note": ["hello"] * len(rows),
    }
    path = tmp_path / "samples.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "samples.parquet")
    return path


def cluster(path, *more, value="x", k=2):
    return [
        "cluster",
        str(path),
        "--arm",
        "zone",
        "--value",
        value,
        "-k",
        str(k),
        "--family",
        "gaussian",
        *more,
    ]


# -- cluster -------------------------------------------------------------------------------------------------


def test_cluster_prints_the_clusters(samples, capsys):
    assert run(cluster(samples, *PAPER, "--quiet")) == 0
    out, err = capsys.readouterr()
    first = la.arms.from_frame(la.arms.read_table(samples), "zone", "x").names
    groups = [sorted(re.split(", ", line.split(": ")[1])) for line in out.splitlines() if "●" in line]
    assert sorted(groups) == [["a", "c"], ["b", "d"]]
    assert out.startswith("2 clusters, ")
    assert "wrong with probability at most 0.05" in out
    assert err == ""
    assert set(first) == set("abcd")


def test_cluster_json_is_what_the_library_returns(samples, capsys):
    assert run(cluster(samples, *PAPER, "--json", "--quiet", "--seed", "3", "--delta", "0.01")) == 0
    out = json.loads(capsys.readouterr().out)
    want = la.cluster(
        la.arms.read_table(samples),
        2,
        arm="zone",
        value="x",
        delta=0.01,
        seed=3,
        family="gaussian",
        stopping=la.stopping.Paper(theta=(-5, 15), epsilon=0.01),
    )
    assert out == want.to_dict(cuts=True) | {"warnings": want.warnings}
    assert out["stopped"] is True


def test_cluster_reads_parquet_and_several_columns(samples, capsys):
    path = samples.with_suffix(".parquet")
    line = ["--stopping", "paper", "--theta", "-15,15", "--epsilon", "0.02", "--sampling", "ebc"]
    assert run(cluster(path, *line, "--json", "-q", value="x,y")) == 0
    out = json.loads(capsys.readouterr().out)
    assert np.shape(out["parameters"]) == (4, 2)
    assert sorted(map(sorted, out["clusters"])) == [["a", "c"], ["b", "d"]]


def test_progress_goes_to_stderr_in_plain_lines(samples, capsys):
    assert run(cluster(samples, *PAPER)) == 0
    out, err = capsys.readouterr()
    assert "evidence" not in out
    assert len(err.splitlines()) >= 2
    for line in err.splitlines():
        assert re.fullmatch(r"[\d,]+ samples: would .* \(evidence -?[\d.]+ of [\d.]+\)", line)


def test_a_budget_that_runs_out_is_exit_1(samples, capsys):
    assert run(cluster(samples, *PAPER, "--max-samples", "6", "--json", "-q")) == 1
    out = json.loads(capsys.readouterr().out)
    assert (out["stopped"], out["samples"]) == (False, 6)
    assert run(cluster(samples, *PAPER, "--max-samples", "6", "-q")) == 1
    assert "no promise: --max-samples 6 is used up" in capsys.readouterr().out


def test_without_replacement_an_exhausted_arm_is_exit_1(tmp_path, capsys):
    path = tmp_path / "few.csv"
    path.write_text("zone,x\na,0\nb,0.9\nc,2\na,0.1\nb,1.1\nc,2.2\n")
    assert run(cluster(path, *PAPER, "--no-replace", "-q")) == 1
    out = capsys.readouterr().out
    assert re.search(r"arm '[abc]' is exhausted: all of its 2 recorded samples are used", out)
    assert "no promise" in out


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "csv", "json"])
def test_cluster_writes_files(samples, tmp_path, suffix, capsys):
    path = tmp_path / f"out.{suffix}"
    assert run(cluster(samples, *PAPER, "--out", str(path), "--json", "-q")) == 0
    answer = json.loads(capsys.readouterr().out)
    content = path.read_bytes()
    if suffix == "json":
        assert json.loads(content) == answer
    elif suffix == "csv":
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        assert [row["arm"] for row in rows] == answer["arms"]
        assert [int(row["cluster"]) for row in rows] == answer["labels"]
        assert [int(row["pulls"]) for row in rows] == answer["pulls"]
        assert [float(row["parameter_0"]) for row in rows] == [p[0] for p in answer["parameters"]]
        assert list(rows[0]) == ["arm", "cluster", "pulls", "parameter_0", "low_0", "high_0"]
        for row in rows:
            assert float(row["low_0"]) < float(row["parameter_0"]) < float(row["high_0"])
    else:
        assert content[:4] in (b"\x89PNG", b"<?xm", b"%PDF")


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("suffix", ["png", "csv", "json"])
def test_nothing_to_decide(samples, tmp_path, k, suffix, capsys):
    path = tmp_path / f"out.{suffix}"
    assert run(cluster(samples, *PAPER, "--out", str(path), k=k)) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{k} cluster{'s' if k > 1 else ''}, 0 samples")
    assert path.stat().st_size > 0


def test_a_wide_gaussian_is_remarked_on(tmp_path, capsys):
    rng = np.random.default_rng(1)
    path = tmp_path / "wide.csv"
    lines = [f"{zone},{x}" for zone, m in (("a", 0), ("b", 50)) for x in m + 3.0 * rng.standard_normal(500)]
    path.write_text("\n".join(["zone,x", *lines, "c,25"]) + "\n")
    run(cluster(path, *PAPER, "--max-samples", "5"))
    said = capsys.readouterr().out
    assert re.search(
        r"warning: arms 'a', 'b': the variance is up to (8|9|10)[\d.]* times the declared one; .*; leave the fam",
        said,
    )
    run(cluster(path, *PAPER, "--max-samples", "5", "--family", "gaussian:9"))
    assert "warning" not in capsys.readouterr().out


# -- words ---------------------------------------------------------------------------------------------------


def test_theta_for_each_coordinate():
    from linkarms.cli._parse import parse_stopping

    assert parse_stopping("paper", "-1,1,0,9", 0.5).to_dict() == (
        la.stopping.Paper(theta=[(-1, 1), (0, 9)], epsilon=0.5).to_dict()
    )
    assert parse_stopping("paper", "-1,1", None).to_dict() == la.stopping.Paper(theta=(-1, 1)).to_dict()


def test_an_exponential_file(tmp_path, capsys):
    rng = np.random.default_rng(2)
    path = tmp_path / "gaps.csv"
    rates = {"a": 1.0, "b": 1.2, "c": 20.0}
    lines = [f"{zone},{x}" for zone, rate in rates.items() for x in rng.exponential(1 / rate, 300)]
    path.write_text("\n".join(["zone,x", *lines]) + "\n")
    words = ["--family", "exponential", "--stopping", "paper", "--theta", "0.1,50", "--json", "-q"]
    assert run(cluster(path, *words)) == 0
    assert json.loads(capsys.readouterr().out)["clusters"] == [["a", "b"], ["c"]]


# -- demo and simulate ---------------------------------------------------------------------------------------


def test_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--seed", "4", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split(": ")[1] for line in out.splitlines() if "●" in line] == ["0, 1", "2, 3", "4, 5"]
    assert "the clusters are right" in out
    assert out.endswith("picture: linkarms-demo.png\n")
    assert (tmp_path / "linkarms-demo.png").read_bytes()[:4] == b"\x89PNG"
    assert run(["demo", "--seed", "4", "--delta", "0.001", "--json", "-q", "--out", "other.svg"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["correct"], answer["picture"], answer["delta"]) == (True, "other.svg", 0.001)
    assert "<svg" in (tmp_path / "other.svg").read_text()


def test_simulate_table_and_json(capsys):
    words = ["simulate", "synthetic1", "--stopping", "paper", "--theta", "-5,5", "--trials", "6", "-q"]
    words += ["--rules", "ebc-h,round-robin", "--deltas", "0.1,0.001", "--seed", "5", "--n-jobs", "1"]
    assert run(words) == 0
    table = capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    stop = la.stopping.Paper(theta=(-5, 5), epsilon=0.01)
    want = la.simulate(
        la.problems.synthetic1(),
        ["ebc-h", "round-robin"],
        stopping=stop,
        deltas=[0.1, 0.001],
        trials=6,
        seed=5,
    )
    rows = answer["summary"]
    assert [(row["rule"], row["delta"]) for row in rows] == [
        ("ebc-h", 0.1),
        ("ebc-h", 0.001),
        ("round-robin", 0.1),
        ("round-robin", 0.001),
    ]
    assert rows[1]["mean"] == want["ebc-h"].stopping_times[:, 1].mean()
    assert (answer["trials"], rows[0]["unstopped"]) == (6, 0)
    for word in (
        "rule",
        "mean samples",
        "95% interval",
        "error rate",
        "unstopped",
        f"{rows[1]['mean']:,.1f}",
    ):
        assert word in table


def test_simulate_says_when_runs_did_not_stop(capsys):
    words = ["simulate", "synthetic1", "--stopping", "paper", "--theta", "-5,5", "--trials", "2", "-q"]
    assert run([*words, "--max-samples", "50", "--json"]) == 1
    assert [row["unstopped"] for row in json.loads(capsys.readouterr().out)["summary"]] == [2] * 4
    assert run([*words, "--max-samples", "50"]) == 1
    assert re.search(r"ebc-h +0\.1 +2 +- +- +- +2", capsys.readouterr().out)


def test_a_problem_of_ones_own(tmp_path, capsys):
    path = tmp_path / "mine.json"
    content = {
        "parameters": [1.0, 2.0, 9.0],
        "n_clusters": 2,
        "family": ["gaussian", "gaussian:0.5", "gaussian"],
    }
    path.write_text(json.dumps({**content, "arms": ["a", "b", "c"]}))
    words = [
        "simulate",
        str(path),
        *PAPER,
        "--rules",
        "ebc-h",
        "--deltas",
        "0.1",
        "--trials",
        "3",
        "-q",
        "--json",
    ]
    assert run(words) == 0
    (row,) = json.loads(capsys.readouterr().out)["summary"]
    assert (row["trials"], row["errors"]) == (3, 0)
