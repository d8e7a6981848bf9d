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

#: The service with a grace of one second, and campaigns that never finish what `{0}` says; the file `{1}` is there once they began.
STUCK = """
from linkarms.server import _limits
_limits.TIMES = _limits.TIMES._replace(grace=1.0)
import pathlib, time
from linkarms.campaign import Campaign
def stuck(*args, **kwargs):
    pathlib.Path({1!r}).touch()
    while True:
        time.sleep(0.01)
Campaign.{0} = stuck
"""
#: The service with campaigns that take their time; the file `{0}` is there once they began.
SLOW = """
import pathlib, time
from linkarms.campaign import Campaign
ask = Campaign.ask
def later(*args, **kwargs):
    pathlib.Path({0!r}).touch()
    time.sleep(0.7)
    return ask(*args, **kwargs)
Campaign.ask = later
"""


def wait_for(file):
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("method", "path"),
    [("ask", "ask"), ("overview", ""), ("overview", "view"), ("doctor", "doctor"), ("export", "export")],
)
def test_it_ends_though_something_goes_on(tmp_path, method, path):
    began_file = tmp_path / "began"
    main = STUCK.format(method, str(began_file)) + MAIN
    with Service(tmp_path / "runs.db", main=main) as service:
        with httpx.Client(base_url=service.url, timeout=60, verify=False) as client:
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
            wait_for(began_file)
            time.sleep(0.2)
            assert not answered
            began = time.monotonic()
            said = service.stop(say=True)
            assert time.monotonic() - began < 1.0 + 5.0
            sender.join(20)
        assert re.search("[12] operations were cut off", said)
        assert answered[0] in ("cut off", 500)


def test_requests_under_way_are_answered(tmp_path):
    began = tmp_path / "began"
    with Service(tmp_path / "runs.db", main=SLOW.format(str(began)) + MAIN) as service:
        with httpx.Client(base_url=service.url, timeout=60, verify=False) as client:
            assert client.post("/api/v1/campaigns", json=COFFEE).status_code == 201
            found = []
            sender = threading.Thread(
                target=lambda: found.append(client.post(f"{HERE}/ask", json={}).json()["tickets"])
            )
            sender.start()
            wait_for(began)
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
