"""A short soak on each database, and what the long ones and Schemathesis found: kept in evidence/, shown in docs/what-it-survives.md."""

import json
from pathlib import Path

import pytest
from evidence import service_fuzz, service_soak
from tests.repeats import LONG, repeats

from linkarms.campaign import Campaign

ROOT = Path(__file__).parents[1]


def test_two_services_one_of_them_killed(storage, monkeypatch):
    if not LONG:  # each process of clients takes a second to start
        monkeypatch.setattr(service_soak, "PROCESSES", 1)
    found = service_soak.soak(
        storage,
        seed=7,
        seconds=repeats(4, 5),
        connections=4,
        campaigns=3,
        arms=(4, 12),
        every=2,
        rule="paper",
    )
    assert found["wrong"] == []
    assert found["kills"] >= 1
    assert found["samples"] >= 5
    assert {"status", "ask", "add"} <= set(found["requests"])
    assert all(look["n"] >= 5 for look in found["healthz"])
    assert found["memory_mib"]["end"] > 10


def test_a_lost_or_doubled_sample_would_be_found(tmp_path):
    made = service_soak.create_campaigns(tmp_path / "runs.db", 1, (4, 4), "paper")
    with Campaign.open("soak-0", tmp_path / "runs.db") as campaign:
        campaign.add_many(made["soak-0"], [0.0, 5.0, 0.1, 5.1])

    def differ(told, given=()):
        return service_soak.differences(tmp_path / "runs.db", made, told, dict(given))

    right = {("soak-0", i + 1): value for i, value in enumerate([0.0, 5.0, 0.1, 5.1])}
    assert differ(right) == []
    assert differ(right | {("soak-0", 2): 5.5}) == ["soak-0: ticket 2 is lost or changed"]
    assert differ(right | {("soak-0", 9): 5.5}) == ["soak-0: ticket 9 is lost or changed"]
    assert differ({k: v for k, v in right.items() if k[1] != 3}) == ["soak-0: ticket 3 was told by nobody"]
    assert differ(right, {("soak-0", 1): 2}) == ["soak-0: ticket 1 was given out 2 times"]


@pytest.mark.parametrize(("name", "script"), [("fuzz", service_fuzz), ("soak", service_soak)])
def test_what_was_kept_is_without_a_fault_and_shown(name, script):
    kept = json.loads((ROOT / "evidence" / f"service_{name}.json").read_text())
    runs = kept["runs"] if name == "fuzz" else [kept[each] for each in script.NAMES if each in kept]
    assert runs
    for run in runs:
        assert run["wrong"] == []
    page = (ROOT / "docs" / "what-it-survives.md").read_text("utf-8")
    shown = page.split(f"<!-- table: {name} -->\n")[1].split("\n<!-- /table -->")[0]
    assert shown == script.table(kept)
