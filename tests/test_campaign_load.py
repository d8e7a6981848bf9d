"""Eight processes on one campaign, killed or not; the rounds of the evidence are of the same kind."""

import json
from pathlib import Path

import pytest
from evidence import campaign_crashes
from tests.repeats import repeats

KEPT = Path(__file__).parents[1] / "evidence" / "campaign_crashes.json"


def test_eight_processes_at_once(storage):
    """No "database is locked", no lost update, no ticket given to two workers."""
    tells = repeats(200, 400)
    found = campaign_crashes.run_round(storage, seed=100, tells=tells, kills=False)
    assert found["wrong"] == []
    assert found["samples"] >= tells


def test_workers_killed_under_load(storage, monkeypatch):
    monkeypatch.setattr(campaign_crashes, "PAUSE", (0.02, 0.2))  # a fast machine needs a second for all
    found = campaign_crashes.run_round(storage, seed=101, tells=800)
    assert found["wrong"] == []
    assert found["samples"] >= 800
    assert found["kills"] >= 5


def test_the_verdict_can_fail(tmp_path):
    """Journals and a campaign that do not agree."""
    from linkarms.campaign import Campaign

    url = tmp_path / "x.db"
    with Campaign.create("x", storage=url, **campaign_crashes.campaign_worker.settings()) as campaign:
        campaign.tell_many(campaign.ask(3), [0.5, 0.25, 0.125])
    lines = [
        ["got", "k", [1, 2, 9]],
        ["tell", "k", [[1, 0.5], [2, 0.75], [9, 1.0]]],
        ["told", "k"],
        ["got", "l", [1]],
    ]
    (tmp_path / "worker-0").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert campaign_crashes.verdict(url, "x", tmp_path)["wrong"] == [
        "ticket 1 was given out 2 times",
        "ticket 2 is lost or changed",
        "ticket 9 is lost or changed",
        "ticket 3 was told by nobody",
    ]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_kept_rounds(database):
    rounds = json.loads(KEPT.read_text())[database]
    assert len(rounds) >= 20
    for found in rounds:
        assert found["wrong"] == []
        assert found["samples"] >= 5_000
        assert found["kills"] >= 5
