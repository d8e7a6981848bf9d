"""SIGTERM ends the process within its grace, whatever runs."""

import gc
import re
import sys
import threading
import time
from types import SimpleNamespace

import httpx
import pytest
from tests.service_process import MAIN, Service
from tests.test_service import COFFEE, HERE

from linkarms.server import _run
from linkarms.server._limits import COLLECTIONS, TIMES

#: The service with a grace of two seconds, and campaigns that never finish what `{0}` says.
STUCK = """
from linkarms.server import _limits
_limits.TIMES = _limits.TIMES._replace(grace=2.0)
import time
from linkarms.campaign import Campaign
def stuck(*args, **kwargs):
    while True:
        time.sleep(0.01)
Campaign.{0} = stuck
"""
#: The service with campaigns that take their time.
SLOW = """
import time
from linkarms.campaign import Campaign
ask = Campaign.ask
def later(*args, **kwargs):
    time.sleep(1.5)
    return ask(*args, **kwargs)
Campaign.ask = later
"""


@pytest.mark.parametrize(
    ("method", "path"),
    [("ask", "ask"), ("overview", ""), ("overview", "view"), ("doctor", "doctor"), ("export", "export")],
)
def test_it_ends_though_something_goes_on(tmp_path, method, path):
    with Service(tmp_path / "runs.db", main=STUCK.format(method) + MAIN) as service:
        with httpx.Client(base_url=service.url, timeout=60) as client:
            assert client.post("/api/v1/campaigns", json=COFFEE).status_code == 201
            answered = []

            def send():
                kind = "POST" if path in ("ask", "doctor") else "GET"
                json = {} if path == "ask" else None
                try:
                    answered.append(client.request(kind, f"{HERE}/{path}".rstrip("/"), json=json).status_code)
                except httpx.TransportError:
                    answered.append("cut off")

            sender = threading.Thread(target=send)
            sender.start()
            time.sleep(1.0)
            assert not answered
            began = time.monotonic()
            said = service.stop(say=True)
            assert time.monotonic() - began < 2.0 + 5.0
            sender.join(20)
        assert re.search("[12] operations were cut off", said)
        assert answered[0] in ("cut off", 500)


def test_requests_under_way_are_answered(tmp_path):
    with Service(tmp_path / "runs.db", main=SLOW + MAIN) as service:
        with httpx.Client(base_url=service.url, timeout=60) as client:
            assert client.post("/api/v1/campaigns", json=COFFEE).status_code == 201
            found = []
            sender = threading.Thread(
                target=lambda: found.append(client.post(f"{HERE}/ask", json={}).json()["tickets"])
            )
            sender.start()
            time.sleep(0.5)
            assert service.stop() == 0
            sender.join(20)
        assert [ticket["id"] for ticket in found[0]] == [1]


def test_pauses_of_python_are_short_while_it_serves_and_as_before_afterwards(tmp_path, monkeypatch):
    def settings():
        return sys.getswitchinterval(), gc.get_threshold(), gc.get_freeze_count() > 0

    gc.unfreeze()  # a service on a thread of another test may be running
    seen, before = [], settings()
    monkeypatch.setattr(
        _run, "Server", lambda *arguments: SimpleNamespace(run=lambda: seen.append(settings()))
    )
    _run.serve(tmp_path / "runs.db", port=0)
    assert seen == [(pytest.approx(TIMES.turn), COLLECTIONS, True)]
    assert settings() == before
