"""The kept figures of campaigns: complete, and those that the page shows."""

import json

import pytest
from benchmarks import campaign

KEPT = json.loads(campaign.RESULTS.read_text())


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_figure_has_p50_and_p99(database):
    for figure in ("tell", "batch", "ask_6", "ask_100", "tell_100"):
        entry = KEPT[database][figure]
        assert 0 < entry["p50_ms"] <= entry["p99_ms"]
        assert entry["calls"] >= 50
    assert KEPT["sqlite"]["large_samples"] >= 1_000_000


def test_targets_are_judged_by_the_figures():
    assert KEPT["targets"] == campaign.targets(KEPT)
    assert {row["figure"]: row["limit"] for row in KEPT["targets"]} == {
        "tell": 300,
        "batch": 20_000,
        "ask_100": 5,
        "open": 1_000,
    }


def test_opening_a_million_samples_takes_less_than_a_second():
    assert KEPT["sqlite"]["open"]["p99_ms"] < 1_000


def test_the_page_shows_the_kept_figures():
    page = campaign.PAGE.read_text()
    assert campaign.fill(page, KEPT) == page
    with pytest.raises(ValueError, match="substring not found"):
        campaign.fill("no marks", KEPT)


def test_a_quick_run(tmp_path):
    """The code that measures, on a small scale."""
    found = campaign.measure(tmp_path / "x.db", quick=True, million=False, progress=lambda text: None)
    assert found["batch"]["rate"] > 100
    assert found["tell"]["calls"] == 100
    times = campaign.bare_commits(tmp_path, 5)
    assert campaign.summary(times, rate=campaign.rate(times))["calls"] == 5
    assert campaign.summary([1.0] * 99 + [3.0]) == {"calls": 100, "p50_ms": 1.0, "p99_ms": 1.02}
    assert campaign.rate([2.0, 2.0], 500) == 250_000
