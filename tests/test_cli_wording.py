"""The command line names its options, not the arguments of Python."""

import inspect

import pytest
import typer
from tests.cli_words import cluster

from linkarms.cli._app import app, run
from linkarms.cli._wording import in_options, speaking_of

COMMANDS = typer.main.get_command(app).commands
CLUSTER = ("cluster", "x.csv")
CREATE = ("campaign", "create", "lab")


@pytest.mark.parametrize(
    ("words", "said", "shown"),
    [
        (CLUSTER, "leave them out with drop_missing", "leave them out with --drop-missing"),
        (CLUSTER, "or clip=(LOW, HIGH), which", "or --clip LOW:HIGH, which"),
        (
            CLUSTER,
            "arm='id' is for rows and wide=True for columns",
            "--arm 'id' is for rows and --wide for columns",
        ),
        (CLUSTER, "clip=(3, -1) is empty", "--clip 3:-1 is empty"),
        (CLUSTER, "theta=(5.0, 1.0) is empty", "--theta 5.0,1.0 is empty"),
        (CLUSTER, "give n_clusters, or a distance_threshold", "give -k, or a --distance-threshold"),
        (CLUSTER, "max_samples=30 is used up", "--max-samples 30 is used up"),
        (CLUSTER, "give the family 'bernoulli'", "give --family bernoulli"),
        (CLUSTER, "choose one of ebc, or give an instance of SamplingRule", "choose one of ebc"),
        (("campaign", "status", "lab"), "max_samples=30 is used up", "--max-samples 30 is used up"),
        (CREATE, "n_features=0 is out of range", "--features 0 is out of range"),
        (("simulate", "p.json"), "sampling='magic' is unknown", "--rules 'magic' is unknown"),
        # What the user wrote stays, and so do the keys of a problem's file.
        (CLUSTER, "there is no column 'n_clusters'", "there is no column 'n_clusters'"),
        (CLUSTER, 'arm "a delta=2 b"', 'arm "a delta=2 b"'),
        (
            CLUSTER,
            "the sampling rule's own stop, and max_samples",
            "the sampling rule's own stop, and --max-samples",
        ),
        (
            ("simulate", "p.json"),
            "p.json: n_clusters=7, but there are only 3 arms",
            "p.json: n_clusters=7, but there are only 3 arms",
        ),
    ],
)
def test_arguments_become_options(words, said, shown):
    with speaking_of(typer.main.get_command(app), words):
        assert in_options(said) == shown
    assert in_options("max_samples=30") == "max_samples=30"  # no command is running


def test_a_file_with_missing_values_names_the_option(tmp_path, capsys):
    path = tmp_path / "delays.csv"
    path.write_text("origin,arr_delay\na,1\na,\nb,2\n")
    assert run(["cluster", str(path), "--arm", "origin", "--value", "arr_delay", "-k", "2"]) == 2
    said = capsys.readouterr().err
    assert "--drop-missing" in said
    assert "drop_missing" not in said


def test_the_reason_names_the_option_and_json_the_argument(few_samples, capsys):
    words = cluster(few_samples, "--quiet", "--max-samples", "5")
    assert run(words) == 1
    assert "--max-samples 5 is used up" in capsys.readouterr().out
    assert run([*words, "--json"]) == 1
    assert "max_samples=5 is used up" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [[], *([name] for name in COMMANDS), *(["campaign", name] for name in COMMANDS["campaign"].commands)],
)
def test_the_help_fits_a_terminal_of_80_columns(words, monkeypatch, capsys):
    """Lines are not too long, no description is cut off, and examples can be copied as they are."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    assert run([*words, "--help"]) == 0
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if len(line) > 80 or line.endswith("-")] == []
    if words in ([], ["campaign"]):
        assert "...\n" not in shown.partition("Commands:")[2]
        return
    command = COMMANDS[words[0]] if len(words) == 1 else COMMANDS["campaign"].commands[words[1]]
    lines = inspect.cleandoc(command.callback.__doc__).partition("Examples:")[2].splitlines()
    assert lines
    assert all(line in shown for line in lines)
