from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from tests.cli_words import PAPER, cluster, shown_examples
from typer.testing import CliRunner

import linkarms as la
from linkarms.cli._app import app, run


def test_help_shows_examples():
    for command in ("demo", "cluster", "simulate", "bench"):
        shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "100", "TERM": "dumb"})
        assert shown.exit_code == 0
        text = " ".join(shown.output.split())
        assert f"Examples: linkarms {command}" in text
        for option in ("--json", "--seed", "--quiet"):
            assert option in text
    shown = CliRunner().invoke(app, [])
    assert shown.exit_code == 0
    assert all(command in shown.output for command in ("demo", "cluster", "simulate", "bench"))
    assert CliRunner().invoke(app, ["--version"]).output.strip() == la.__version__


def examples():
    """The command lines that the help shows."""
    from linkarms.cli import _cluster, _demo, _simulate

    for function in (_demo.demo, _cluster.cluster, _simulate.simulate):
        yield from (line.split()[1:] for line in shown_examples(function))


@pytest.mark.parametrize("words", list(examples()), ids=" ".join)
def test_the_examples_are_understood(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if words[0] == "demo":
        if "--out" not in words:  # tests/test_cli.py looks at this picture
            monkeypatch.setattr("linkarms.cli._demo.write_out", lambda *_: None)
        assert run(words) == 0
        return
    # Their files do not exist, and everything before the files is accepted.
    code = run(
        [*words, "--quiet"] + ([] if words[0] == "cluster" else ["--trials", "1", "--max-samples", "20"])
    )
    err = capsys.readouterr().err
    assert code in (1, 2)
    assert code == 1 or "no such file" in err.lower()


def command(*words, **options):
    line = [sys.executable, "-c", "from linkarms.cli import main; main()", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False, **options)


def test_a_real_process(few_samples, tmp_path):
    ran = command(*cluster(few_samples, *PAPER, "--json", "-q"), cwd=tmp_path)
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["stopped"] is True
    ran = command(*cluster(few_samples, *PAPER, "--delta", "7"), cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[-1].startswith("linkarms: --delta 7 is out of range")
    assert "Traceback" not in ran.stderr


def test_a_reader_that_leaves_is_no_error(few_samples):
    line = [sys.executable, "-c", "from linkarms.cli import main; main()", "--help"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_the_live_view_on_a_terminal(tmp_path):
    import pty

    reader, terminal = pty.openpty()
    line = [sys.executable, "-c", "from linkarms.cli import main; main()", "demo", "--quick", "--seed", "1"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=terminal, cwd=tmp_path, env=environment, text=True
    ) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(reader, 65536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not part:
                break
            shown += part
        out = process.stdout.read()
    os.close(reader)
    assert process.returncode == 0
    assert "3 clusters" in out
    text = shown.decode()
    for word in ("arm", "cluster", "estimate", "evidence", "threshold", "█", "● 2", "\x1b["):
        assert word in text


def test_quiet_is_put_back(few_samples, monkeypatch, capsys):
    monkeypatch.delenv("LINKARMS_QUIET")
    assert run(cluster(few_samples, *PAPER, "-q")) == 0
    assert "LINKARMS_QUIET" not in os.environ
    monkeypatch.setenv("LINKARMS_QUIET", "yes")
    assert run(cluster(few_samples, *PAPER, "-q")) == 0
    assert os.environ["LINKARMS_QUIET"] == "yes"


def test_a_terminal_that_knows_only_ascii(few_samples):
    ran = command(*cluster(few_samples, *PAPER, "-q"), env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "? 0: a, c" in ran.stdout
