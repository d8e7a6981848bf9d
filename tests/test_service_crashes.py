"""kill -9 of the service under eight clients: a short round on each database. The long ones are kept in evidence/service_crashes.json."""

import json
from pathlib import Path

from evidence.service_crashes import CLIENTS, TELLS, run_round
from tests.repeats import repeats


def test_nothing_that_was_acknowledged_is_lost_or_doubled(storage):
    tells = TELLS // repeats(12, 8)
    found = run_round(storage, seed=1000, tells=tells, between=(100, repeats(130, 200)))
    assert found["wrong"] == []
    assert found["samples"] >= tells
    assert found["kills"] >= 2


def test_the_kept_rounds():
    assert (CLIENTS, TELLS) == (8, 5_000)
    kept = json.loads((Path(__file__).parents[1] / "evidence" / "service_crashes.json").read_text())
    for database in ("sqlite", "postgresql"):
        assert len(kept[database]) >= 5
        for found in kept[database]:
            assert found["wrong"] == []
            assert found["samples"] >= TELLS
            assert found["kills"] >= 3
