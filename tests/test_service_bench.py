"""The kept figures of the service under load: complete, without an error, and those that the page shows."""

import json
from itertools import product

from benchmarks import service
from tests.service_thread import local_service
from tests.test_service import COFFEE, HERE

KEPT = json.loads(service.RESULTS.read_text())


def test_every_row_is_there_and_has_no_error():
    rows = {(row["kind"], row["connections"]): row for row in KEPT["rows"]}
    assert set(rows) == set(product(service.KINDS, service.CONNECTIONS))
    for row in rows.values():
        assert row["errors"] == 0
        assert 0 < row["p50_ms"] <= row["p99_ms"]
        assert row["requests"] >= 100
    assert KEPT["machine"]["load_average"] is not None


def test_the_page_shows_the_kept_figures():
    page = service.PAGE.read_text(encoding="utf-8")
    assert service.fill(page, KEPT) == page


def test_every_tell_that_is_counted_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(service, "TICKETS", 40)
    with local_service(tmp_path / "runs.db") as client:
        client.post("/api/v1/campaigns", json=COFFEE | {"delta": 1e-300})
        row = service.measure(
            str(client.base_url), "coffee", "tell", 2, seconds=300
        )  # until the tickets are used up
        assert (row["requests"], row["errors"]) == (40, 0)
        assert client.get(HERE).json()["samples"] == 40
