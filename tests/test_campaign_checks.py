"""Campaigns, their command and their page say when the stored samples contradict the family."""

import json

import numpy as np
import pytest
from tests.service_thread import local_service

from linkarms.campaign import Campaign
from linkarms.campaign._checks import read_fit
from linkarms.cli._app import run

ARMS = {"ada": 0.0, "ben": 1.0, "cy": 400.0}


@pytest.fixture
def storage(tmp_path):
    """A campaign whose samples vary ten times as much as it was told."""
    rng = np.random.default_rng(2)
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with Campaign.create("coffee", storage=url, n_clusters=2, arms=list(ARMS), family="gaussian") as made:
        for name, mean in ARMS.items():
            made.add_many([name] * 30, list(rng.normal(mean, 10.0, 30)))
    return url


def test_a_campaign_checks_what_is_stored(storage):
    with Campaign.open("coffee", storage) as made:
        (found,) = made.check_model()
        assert (found.kind, found.arms, found.breaks_promise) == ("variance", ("ada", "ben", "cy"), True)
        rows = [row for row in json.loads(made.export("json")) if row["arm"] == "ada"]
        furthest = max(rows, key=lambda row: abs(row["value"]))
        made.retract(furthest["ticket"], "the scale was not levelled")
        assert made.check_model()[0].kind == "variance"
    with Campaign.open("coffee", storage) as made, made.storage.read("coffee", known=True) as reader:
        seen = read_fit(made._computer.run, reader).samples[0].ravel().tolist()
    assert seen == [row["value"] for row in rows if row is not furthest]


def test_the_command_says_it(storage, capsys):
    words = ["campaign", "status", "coffee", "--storage", storage]
    assert run(words) == 0
    assert "warning: arms 'ada', 'ben', 'cy': the variance is up to " in capsys.readouterr().out
    assert run([*words, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["warnings"]) == 1


def test_the_page_says_it(storage, tmp_path):
    with local_service(tmp_path / "runs.db") as client:
        view = client.get("/api/v1/campaigns/coffee/view").json()
        assert len(view["words"]["warnings"]) == 1
        assert "times the declared one" in view["words"]["warnings"][0]
