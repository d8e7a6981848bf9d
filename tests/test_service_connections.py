"""Connections that are slow, silent or many, and what the log says of them."""

import contextlib
import logging
import socket
import subprocess
import threading
import time

import httpx
import pytest
from tests.service_process import Service
from tests.service_thread import local_service
from tests.test_service_access import ACCESS

from linkarms.server._limits import TIMES
from linkarms.server._logs import LimitRepeats

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
SHORT = TIMES._replace(request=0.5, unread=0.5, rate=10**9)


@pytest.fixture
def service(tmp_path, monkeypatch):
    """A service that waits half a second where it else waits for ten or more, and looks four times as often."""
    monkeypatch.setattr("linkarms.server._connections.TIMES", SHORT)
    monkeypatch.setattr("linkarms.server._server._EVERY", 0.25)
    with local_service(tmp_path / "runs.db", ACCESS) as client:
        yield client


def connect(client):
    return socket.create_connection(("127.0.0.1", client.port), timeout=20)


def ask_health(raw):
    """Send a request and read its answer."""
    raw.sendall(HEAD + b"\r\n")
    answer = b""
    while not answer.endswith(b"ok\n"):
        answer += raw.recv(2**16)
    assert b"200 OK" in answer


def is_closed(raw):
    """Whether the other side closed the connection, within twenty seconds; what it sent before is read."""
    try:
        while raw.recv(2**16):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def trickle(raw, pieces):
    """Send a byte now and then until the other side has had enough."""
    with contextlib.suppress(OSError):
        for piece in pieces:
            raw.sendall(piece)
            time.sleep(0.1)


@pytest.mark.parametrize("sent", [b"", b"GET /heal", HEAD, HEAD + b"X: " + b"a" * 500])
def test_a_request_that_does_not_come_is_not_waited_for(service, sent):
    with connect(service) as raw:
        raw.sendall(sent)
        began = time.monotonic()
        assert is_closed(raw)
        assert time.monotonic() - began < 5.0


def test_a_byte_now_and_then_is_not_enough(service):
    with connect(service) as raw:
        raw.sendall(HEAD)
        began = time.monotonic()
        trickle(raw, [b"X-%d: 1\r\n" % i for i in range(100)])
        assert is_closed(raw)
        assert time.monotonic() - began < 5.0
    # not between two requests, either
    with connect(service) as raw:
        ask_health(raw)
        trickle(raw, [b"G", b"E", b"T", *[b" "] * 100])
        assert is_closed(raw)


def test_a_handshake_that_does_not_come_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("linkarms.server._server.TIMES", SHORT)
    words = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out cert.pem"
    )
    subprocess.run(words.split(), check=True, capture_output=True, cwd=tmp_path)
    tls = {"cert": str(tmp_path / "cert.pem"), "key": str(tmp_path / "key.pem")}
    with local_service(tmp_path / "runs.db", tls=tls, verify=False) as service:
        assert service.get("/healthz").status_code == 200
        for sent in (b"", b"\x16\x03\x01"):
            with connect(service) as raw:
                raw.sendall(sent)
                began = time.monotonic()
                assert is_closed(raw)
                assert time.monotonic() - began < 5.0


def test_a_connection_may_be_idle_for_longer_than_a_request_may_take(service):
    with connect(service) as raw:
        for _ in range(3):
            ask_health(raw)
            time.sleep(1.1)  # four looks at the connections, and more than twice what a request may take


def test_a_body_without_an_end_after_a_refusal(service):
    with connect(service) as raw:
        raw.sendall(
            b"POST /api/v1/campaigns HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        assert b" 401 " in raw.recv(2**16)
        trickle(raw, [b"1\r\na\r\n"] * 100)
        assert is_closed(raw)


def test_an_answer_that_nobody_takes(service):
    """Answers of 40 kB are asked for and not read: what does not fit into the buffers of both systems stays in the process."""
    with connect(service) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with contextlib.suppress(OSError):
            raw.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1_000)
        end = time.monotonic() + 60
        while service.server.open_connections.inside and time.monotonic() < end:
            time.sleep(0.1)
        assert service.server.open_connections.inside == 0
    assert service.get("/healthz").status_code == 200


def test_a_new_connection_takes_the_place_of_a_silent_one(tmp_path, monkeypatch):
    monkeypatch.setattr("linkarms.server._connections.CONNECTIONS", 8)
    with local_service(tmp_path / "runs.db") as service, contextlib.ExitStack() as stack:
        raws = [stack.enter_context(connect(service)) for _ in range(40)]
        for raw in raws:
            with contextlib.suppress(OSError):
                raw.sendall(HEAD)
        time.sleep(
            0.3
        )  # while as many are accepted in the same moment, none waits yet, and one more would be closed
        for _ in range(20):  # on a connection of its own each time
            assert httpx.get(f"{service.base_url}/healthz", timeout=20, verify=False).status_code == 200
            assert service.server.open_connections.inside <= 9
        assert sum(is_closed(raw) for raw in raws[:30]) == 30


def test_where_all_connections_are_at_work_a_new_one_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr("linkarms.server._connections.CONNECTIONS", 4)
    with local_service(tmp_path / "runs.db") as service, contextlib.ExitStack() as stack:
        streams = [stack.enter_context(connect(service)) for _ in range(4)]
        for raw in streams:
            raw.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in raw.recv(2**16)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{service.base_url}/healthz", timeout=20, verify=False)
        streams[0].close()
        end = time.monotonic() + 20
        while service.server.open_connections.inside == 4 and time.monotonic() < end:
            time.sleep(0.05)
        assert httpx.get(f"{service.base_url}/healthz", timeout=20, verify=False).status_code == 200
        assert not is_closed_soon(streams[1])


def is_closed_soon(raw):
    raw.settimeout(0.5)
    return is_closed(raw)


def test_few_files_and_many_connections_fill_no_log(tmp_path):
    """Two hundred and fifty files for six hundred connections: the service goes on, and says little."""
    with Service(tmp_path / "runs.db", files=250) as service, contextlib.ExitStack() as stack:
        for _ in range(600):
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", service.port), timeout=20))
            with contextlib.suppress(OSError):
                raw.sendall(HEAD)
        for _ in range(300):  # and whatever is no HTTP
            with socket.create_connection(("127.0.0.1", service.port), timeout=20) as raw:
                raw.sendall(b"\x16\x03\x01 hello\r\n\r\n")
                assert is_closed(raw)
        assert httpx.get(f"{service.url}/healthz", timeout=20, verify=False).status_code == 200
        said = service.stop(say=True)
    assert "Invalid HTTP request" in said
    assert len(said) < 5_000


def test_lines_of_a_kind_are_counted_instead(monkeypatch):
    now = 0.0
    monkeypatch.setattr("linkarms.server._logs.time.monotonic", lambda: now)
    said, log = [], logging.getLogger("linkarms.test.seldom")
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    log.addHandler(handler)
    log.addFilter(LimitRepeats())
    log.propagate = False
    for i in range(100):
        log.warning("slow %d", i)
        log.warning("lost")
    assert said == [word for i in range(5) for word in (f"slow {i}", "lost")]
    now = 11.0
    log.warning("slow %d", 100)
    assert said[-1] == "slow 100 (95 more like this were not logged)"
    log.warning("slow %d", 101)
    assert said[-1] == "slow 101"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b'GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nCookie: a="' + b"\\a" * 30_000 + b'"\r\n\r\n',
        b"POST /api/v1/campaigns HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"1\r\n \r\n" * 100_000,
    ],
    ids=["a cookie full of backslashes", "chunks of one byte"],
)
def test_one_request_without_a_token_does_not_hold_up_the_others(service, request_bytes):
    """They were stopped for seconds: quotes were removed from the cookie by FastAPI, and chunks parsed 256 KiB at a time."""
    stop, waits = threading.Event(), []

    def look():
        while not stop.is_set():
            began = time.monotonic()
            assert service.get("/healthz").status_code == 200
            waits.append(time.monotonic() - began)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        with connect(service) as raw, contextlib.suppress(OSError):
            raw.sendall(request_bytes)
            raw.recv(2**16)
        time.sleep(0.5)
    finally:
        stop.set()
        watcher.join()
    assert max(waits) < 1.0
