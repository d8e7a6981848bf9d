"""kill -9 of the service under eight clients; more rounds are kept in evidence/service_crashes.json."""

import json
from pathlib import Path

from evidence.service_crashes import CLIENTS, TELLS, load


def test_nothing_that_was_acknowledged_is_lost_or_doubled(storage):
    found = load(storage, seed=1000, tells=TELLS)
    assert found["wrong"] == []
    assert found["samples"] >= TELLS
    assert found["kills"] >= 3


def test_the_kept_rounds():
    kept = json.loads((Path(__file__).parents[1] / "evidence" / "service_crashes.json").read_text())
    for database in ("sqlite", "postgresql"):
        assert len(kept[database]) >= 2
        for found in kept[database]:
            assert found["wrong"] == []
            assert found["samples"] >= 5_000
            assert found["kills"] >= 3
    assert CLIENTS == 8
