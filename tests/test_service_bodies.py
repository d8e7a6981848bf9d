"""Bodies: how long, how deep, how slow, and what one of them costs all others."""

import contextlib
import gzip
import json
import socket
import threading
import time

import httpx
import pytest
from tests.service_thread import local_service
from tests.test_service import COFFEE, HERE, problem, stored

from linkarms.server._body import parse
from linkarms.server._limits import BODIES, JSON, TIMES
from linkarms.server._models import Add, Create, Token

JSON_TYPE = {"content-type": "application/json"}
ZEROS = b"[" + b"0," * (4 * 2**20 - 20) + b"0]"


@pytest.fixture
def coffee(tmp_path):
    with local_service(tmp_path / "runs.db") as client:
        assert client.post("/api/v1/campaigns", json=COFFEE).status_code == 201
        yield client


class Pulse:
    """How long ``/healthz`` takes while something else goes on."""

    def __init__(self, url):
        self._url, self._over, self.worst, self.looks = url, threading.Event(), 0.0, 0
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        with httpx.Client(base_url=self._url, timeout=300) as client:
            while not self._over.is_set():
                began = time.perf_counter()
                assert client.get("/healthz").status_code == 200
                self.worst, self.looks = max(self.worst, time.perf_counter() - began), self.looks + 1

    def __enter__(self):
        self._thread.start()
        while not self.looks:
            time.sleep(0.01)
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        (f"{HERE}/add", b'{"samples": %s}' % ZEROS, "200000 values"),
        (f"{HERE}/tell", ZEROS, "200000 values"),
        ("/api/v1/session", b'{"token": %s}' % ZEROS, "larger than 2048 bytes"),
        ("/api/v1/campaigns", ZEROS, "larger than 2097152 bytes"),
    ],
    ids=["add", "tell", "session", "create"],
)
def test_eight_mebibytes_of_zeros_hold_up_nobody(coffee, path, body, words):
    before = stored(coffee)
    with Pulse(str(coffee.base_url)) as pulse:
        began = time.perf_counter()
        problem(coffee.post(path, content=body, headers=JSON_TYPE), 413, words)
        assert time.perf_counter() - began < 5.0  # 54 to 190 s before
    assert pulse.worst < 2.0
    assert stored(coffee) == before


def test_the_largest_body_that_is_read_holds_up_nobody(coffee):
    wrong = [{"arm": "ada", "value": i / 7, "colour": "red"} for i in range(9_999)]
    flat = [i / 7 for i in range(JSON.values - 10)]
    for body in ({"samples": wrong}, {"samples": flat}, {"samples": [{"arm": "ada", "value": flat}]}):
        with Pulse(str(coffee.base_url)) as pulse:
            problem(coffee.post(f"{HERE}/add", json=body), 422, "samples.0")
        assert pulse.worst < 2.0


def test_a_sign_in_is_small(coffee):
    assert coffee.post("/api/v1/session", json={"token": "x" * 150}).status_code == 200
    problem(coffee.post("/api/v1/session", json={"token": "x" * BODIES.token}), 413, f"{BODIES.token} bytes")
    # from the announcement alone: not a byte of it is read
    with socket.create_connection(("127.0.0.1", coffee.port)) as raw:
        raw.sendall(
            b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 8000000\r\n\r\n"
        )
        answer = raw.recv(2**16)
    assert b" 413 " in answer


@pytest.mark.parametrize("limit", [BODIES.command, BODIES.samples])
def test_a_body_beyond_its_limit_is_not_carried_out_though_its_beginning_is_whole(coffee, limit):
    path, body = (
        ("ask", {}) if limit == BODIES.command else ("add", {"samples": [{"arm": "ada", "value": 1}]})
    )
    before = stored(coffee)

    def chunks():
        yield json.dumps(body).encode()
        for _ in range(limit // 2**14 + 1):
            yield b" " * 2**14

    problem(coffee.post(f"{HERE}/{path}", content=chunks(), headers=JSON_TYPE), 413, f"{limit} bytes")
    assert stored(coffee) == before


def test_compressed_bodies_are_not_read(coffee):
    """There is no decompression, so there is no bomb: 8 MB of zeros are 8 kB here."""
    bomb = gzip.compress(b'{"samples": [' + b" " * 8_000_000 + b"]}")
    assert len(bomb) < 10_000
    for encoding in ("gzip", "deflate", "br", "GZIP"):
        answer = coffee.post(f"{HERE}/add", content=bomb, headers=JSON_TYPE | {"content-encoding": encoding})
        problem(answer, 415, "compressed")
    plain = {"content-encoding": "identity"}
    assert coffee.post(f"{HERE}/ask", json={}, headers=plain).status_code == 200


def test_a_slow_body_is_given_up(coffee, monkeypatch):
    monkeypatch.setattr("linkarms.server._body.TIMES", TIMES._replace(body=0.5, rate=10_000))
    before = stored(coffee)
    with socket.create_connection(("127.0.0.1", coffee.port), timeout=20) as raw:
        raw.sendall(
            b"POST %s/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 2\r\n\r\n{" % HERE.encode()
        )
        answer = b"".join(iter(lambda: raw.recv(2**16), b""))  # to the end: the connection is closed
    assert b" 408 " in answer
    assert b"too slowly" in answer
    assert stored(coffee) == before


def test_slow_sign_ins_take_no_turns_of_large_bodies(coffee):
    """More of them than large bodies are read at a time, without an announced length."""
    with contextlib.ExitStack() as stack:
        for _ in range(2 * BODIES.large):
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", coffee.port)))
            raw.sendall(
                b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
            )
        time.sleep(0.5)
        large = {"samples": [{"arm": "ada", "value": 0.5}] * 2_000}
        began = time.perf_counter()
        assert coffee.post(f"{HERE}/add", json=large).status_code == 200
        assert time.perf_counter() - began < TIMES.body / 2


def nested(levels):
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (nested(JSON.depth + 1), "levels deep"),
        (nested(100_000), "levels deep"),
        (b'{"a":' * 50 + b"0" + b"}" * 50, "levels deep"),
        (json.dumps({f"k{i}": i for i in range(JSON.members + 1)}).encode(), "65 members"),
        (b'{"samples": [{"arm": "ada", "value": 1e999}]}', "1e999"),
        (b'{"samples": [{"arm": "ada", "value": NaN}]}', "NaN"),
        (b"9" * 401, "401 digits"),
        (b"{}{}", "not JSON"),
        (b"\xff", "not JSON"),
    ],
    ids=["deep", "very deep", "deep objects", "members", "infinite", "NaN", "digits", "two", "bytes"],
)
def test_the_form_is_checked_before_the_model(body, words):
    with pytest.raises(ValueError, match=words):
        parse(Add, body)


def test_as_deep_as_allowed_is_read():
    with pytest.raises(ValueError, match="the body: Input should be"):
        parse(Token, nested(JSON.depth))
    deep = {"name": "product", "families": [{"name": "product", "families": ["gaussian", "gaussian"]}]}
    assert parse(Create, json.dumps(COFFEE | {"family": deep}).encode()).family == deep


def test_a_handful_of_errors_is_named():
    with pytest.raises(ValueError, match=r"^samples\.0: Input should be") as found:
        parse(Add, b'{"samples": [%s]}' % b",".join([b'"x"'] * 100_000))
    assert len(str(found.value)) < 500
    many = {f"extra{i}": 0 for i in range(60)}
    with pytest.raises(ValueError, match=r"and 5\d more") as found:
        parse(Token, json.dumps(many).encode())
    assert len(str(found.value)) < 500
    assert "extra9" not in str(found.value)
