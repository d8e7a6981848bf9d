"""``linkarms campaign`` from a shell."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest
from tests.cli_words import shown_examples
from tests.pages import run_page
from typer.testing import CliRunner

from linkarms.campaign import Campaign
from linkarms.cli import _campaign, _campaign_report
from linkarms.cli._app import app, run

ROOT = Path(__file__).parents[1]
CREATE = [
    "create",
    "lab",
    "--arms",
    "ada,ben,cy,dot",
    "-k",
    "2",
    "--family",
    "gaussian",
    "--stopping",
    "paper",
    "--theta",
    "-10,10",
]
COMMANDS = (
    "create",
    "list",
    "ask",
    "tell",
    "add",
    "release",
    "retract",
    "status",
    "export",
    "doctor",
    "backup",
)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LINKARMS_STORAGE", raising=False)


@pytest.fixture
def shell(capsys, monkeypatch):
    """Run ``linkarms campaign ...``: exit code, stdout, stderr."""

    def call(*words, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = run(["campaign", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_a_campaign_by_hand(shell, tmp_path):
    assert shell(*CREATE) == (0, "campaign lab: 4 arms, 2 clusters, delta=0.05\n", "")
    assert shell("ask", "lab", "-n", "3", "--worker", "w")[1] == "1\tada\n2\tben\n3\tcy\n"
    assert shell("tell", "lab", "1", "-0.5") == (0, "ticket 1 is stored as sample 1, arm ada\n", "")
    assert shell("tell", "lab", "1", "-0.5")[0] == 0
    code, out, err = shell("tell", "lab", "1", "0.5")
    assert (code, out) == (2, "")
    assert err.startswith("linkarms: ticket 1 was told with another value, -0.5")
    assert shell("add", "lab", "dot", "5.5")[1] == "ticket 4 is stored as sample 2, arm dot\n"
    assert shell("release", "lab", "2")[1] == "ticket 2 is given back\n"
    assert shell("tell", "lab", "3", "5")[0] == 0
    assert shell("add", "lab", "ben", "0.25")[0] == 0
    assert shell("retract", "lab", "1", "--reason", "spilled")[1] == "the sample of ticket 1 is taken out\n"
    code, out, _ = shell("status", "lab")
    assert code == 0
    assert "tickets: 3 told, 1 released, 1 retracted" in out
    assert "conditional: 1 sample(s) were retracted" in out
    assert shell("doctor", "lab")[1] == "lab is sound: 8 log entries, 4 samples, 5 tickets\n"
    rows = list(csv.DictReader(io.StringIO(shell("export", "lab")[1])))
    assert [row["state"] for row in rows] == ["retracted", "released", "told", "told", "told"]
    assert shell("export", "lab", "out.parquet")[1] == "out.parquet is written\n"
    assert shell("list")[1] == "lab\trunning\t3 samples\t0 open tickets\n"
    assert shell("list", "--quiet")[1] == "lab\n"


def test_json_everywhere(shell):
    def answer(*words, **more):
        code, out, err = shell(*words, "--json", "--quiet", **more)
        assert (code, err) == (0, "")
        return json.loads(out)

    assert answer(*CREATE)["name"] == "lab"
    (ticket,) = answer("ask", "lab")["tickets"]
    assert set(ticket) == {"id", "arm", "worker", "expires_at"}
    (receipt,) = answer("tell", "lab", "1", "0.5")["receipts"]
    assert (receipt["ticket"], receipt["number"]) == (1, 1)
    assert answer("add", "lab", "cy", "5", "--key", "k") == answer("add", "lab", "cy", "5", "--key", "k")
    answer("ask", "lab")
    assert answer("release", "lab", "3") == {"released": 3}
    assert answer("retract", "lab", "1", "--reason", "r") == {"retracted": 1}
    assert answer("status", "lab")["tickets"]["told"] == 1
    assert [row["ticket"] for row in answer("export", "lab")] == [1, 2, 3]
    assert answer("export", "lab", "x.csv") == {"file": "x.csv", "format": "csv"}
    assert answer("doctor", "lab")["ok"] is True
    assert [c["name"] for c in answer("list")["campaigns"]] == ["lab"]


def test_lines_on_stdin(shell):
    shell(*CREATE, "--features", "2")
    shell("ask", "lab", "-n", "4")
    assert shell("tell", "lab", "-", stdin='1,0.5,-1\n2 0.25 0\n\n"3",5,5\n')[1] == "3 samples are stored\n"
    assert (
        shell("add", "lab", "-", "--key", "k", stdin="dot\t5\t5.5\nada,1,1\n")[1] == "2 samples are stored\n"
    )
    for stdin, words in (
        ("4,1,2\n4\n", "line 2 of stdin, '4', has no value"),
        ("4,1,x\n", "'x' of '4' is not a number"),
        ("four,1,2\n", "'four' is not a ticket"),
        ("4,1\n", "has shape (1,); give 2 number(s)"),
        ("", "number of samples=0"),
    ):
        code, out, err = shell("tell", "lab", "-", stdin=stdin)
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1
    assert Campaign.open("lab").status().samples == 5


def test_the_end_of_a_campaign(shell):
    shell(*CREATE, "--max-samples", "1", "--storage", "runs.db")
    assert shell("ask", "lab", "--storage", "runs.db")[0] == 0
    code, out, err = shell("ask", "lab", "--storage", "runs.db")
    assert (code, out) == (1, "")
    assert err.startswith("linkarms: nothing to measure: ")
    assert shell("ask", "lab", "--storage", "runs.db", "--quiet") == (1, "", "")
    assert json.loads(shell("ask", "lab", "--storage", "runs.db", "--json", "-q")[1]) == {"tickets": []}


def test_a_campaign_that_is_not_sound(shell):
    import sqlite3

    shell(*CREATE)
    shell("ask", "lab")
    with sqlite3.connect("linkarms.db") as connection:
        connection.execute("UPDATE linkarms_tickets SET arm = 1")
    connection.close()
    assert shell("doctor", "lab") == (
        1,
        "lab is NOT sound: ticket 1, arm: 1 is stored, the log gives 0\n",
        "",
    )
    assert json.loads(shell("doctor", "lab", "--json")[1])["ok"] is False


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["status", "lab"], "there is no storage linkarms.db"),
        (["status", "../lab"], "is not a valid campaign name"),
        (
            ["create", "lab", "--arms", "a,,b", "-k", "2", "--stopping", "paper", "--theta", "0,1"],
            "--arms 'a,,b'",
        ),
        ([*CREATE, "--lease", "soon"], "--lease soon"),
        ([*CREATE, "--family", "evil"], "--family 'evil' is unknown"),
        ([*CREATE, "--storage", "postgresql://me:secret@host/db"], "holds a password"),
        (["tell", "lab", "1"], "there is no value for '1'"),
        (["tell", "lab", "1", "--worth", "3"], "is not a number"),
        (["retract", "lab", "1"], "--reason"),
        (["export", "lab", "--json", "--format", "csv"], "contradict each other"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_bad_input_is_one_line_and_exit_2(shell, words, says):
    code, out, err = shell(*words)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1
    assert "secret" not in err


def test_leases_and_the_storage_from_the_environment(shell, monkeypatch):
    monkeypatch.setenv("LINKARMS_STORAGE", "other.db")
    shell(*CREATE, "--lease", "90m")
    assert Path("other.db").is_file()
    from datetime import datetime

    for words, seconds in (([], 5_400), (["--lease", "2d"], 172_800), (["--lease", "45"], 45)):
        (ticket,) = json.loads(shell("ask", "lab", "--json", *words)[1])["tickets"]
        left = datetime.fromisoformat(ticket["expires_at"]).timestamp() - datetime.now().timestamp()
        assert seconds - 60 < left <= seconds


def test_help():
    for command in COMMANDS:
        shown = CliRunner().invoke(
            app, ["campaign", command, "--help"], env={"COLUMNS": "100", "TERM": "dumb"}
        )
        assert shown.exit_code == 0
        text = " ".join(shown.output.split())
        assert f"Examples: linkarms campaign {command}" in text
        for option in ("--storage", "--json", "--quiet"):
            assert option in text
    shown = CliRunner().invoke(app, ["campaign", "--help"])
    assert all(command in shown.output for command in COMMANDS)


def examples():
    """The command lines that the help shows."""
    for name in COMMANDS:
        function = getattr(_campaign, "list_campaigns" if name == "list" else name, None) or getattr(
            _campaign_report, name
        )
        yield from shown_examples(function)


@pytest.mark.parametrize("line", list(examples()))
def test_the_examples_are_understood(shell, line):
    import shlex

    _, _, *words = shlex.split(line)
    code, _, err = shell(*words)
    # without the campaign they get as far as looking for it
    assert code == (0 if words[0] == "create" else 2)
    assert words[0] == "create" or "there is no storage" in err or "number of samples=0" in err


def commands_of_the_page():
    section = (
        (ROOT / "docs" / "campaigns.md").read_text().split("## On the command line")[1].split("\n## ")[0]
    )
    return [re.search(rf"```{kind}\n(.*?)```", section, re.DOTALL)[1] for kind in ("bash", "text")]


def test_the_guide_goes_from_nothing_to_a_result_in_six_commands(tmp_path):
    """The six commands, as they stand there, in a real shell."""
    script, shown = commands_of_the_page()
    assert script.count("linkarms campaign") == script.count("linkarms") == 6
    ran = run_page(script, tmp_path)
    assert ran.returncode == 0, ran.stderr
    end = "  0: ada, ben\n  1: cy, dot\nstopped: the clusters are wrong with probability at most 0.05\n"
    for text in (shown, ran.stdout):
        # another version of Python may draw other random numbers, and then the number of samples differs
        assert re.search(r"^coffee: \d+ samples, 4 arms, 2 clusters\ntickets: \d+ told", text, re.MULTILINE)
        assert end in text
    assert (tmp_path / "samples.csv").read_text().startswith("ticket,arm,value,worker,told_at,state\n1,ada,")


def test_the_loop_of_the_guide_ends_where_nothing_can_be_measured(tmp_path):
    script, _ = commands_of_the_page()
    without = re.sub(r"^measure\(\).*\n", "", script, flags=re.MULTILINE)
    assert without != script
    ran = run_page(without, tmp_path)
    assert "measure: command not found" in ran.stderr
    assert ran.returncode != 0 or "0 samples" in ran.stdout
