"""The client has the methods of a campaign, gives the same answers, and gets over a lost connection."""

import http.server
import inspect
import re
import socket
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from tests.service_thread import local_service

import linkarms as la
from linkarms.campaign import Campaign
from linkarms.client import Client
from linkarms.server import Access

ARMS = ["ada", "ben", "cy"]
RULE = la.stopping.Paper(theta=(-10, 10))


@pytest.fixture
def pair(storage):
    """A client, and the campaign behind it."""
    with local_service(storage) as service:
        url = f"http://127.0.0.1:{service.port}"
        with Client.create("lab", ARMS, 2, url=url, stopping=RULE, delta=0.1, family="gaussian") as client:
            yield client, Campaign.open("lab", storage)


def test_it_has_the_methods_of_a_campaign():
    def public(kind):
        return {name: f for name, f in inspect.getmembers(kind, callable) if not name.startswith("_")}

    ours, theirs = public(Client), public(Campaign)
    # for services, which compute and have pages
    assert theirs.keys() - ours.keys() == {"check_model", "compute", "overview"}
    for name in ("ask", "tell", "tell_many", "add", "add_many", "release", "status", "result", "history"):
        assert inspect.signature(ours[name]) == inspect.signature(theirs[name]), name


def test_it_gives_the_same_answers(pair):
    client, campaign = pair
    assert client.status() == campaign.status()
    tickets = client.ask(3, worker="me", lease=60.0)
    assert [t.arm for t in tickets] == ARMS
    assert client.result().parameters.mask.all()
    receipts = client.tell_many(tickets, [0.0, 0.5, np.float64(5.0)])
    assert receipts == campaign.tell_many(tickets, [0.0, 0.5, 5.0])
    assert client.tell(tickets[0], [0.0]) == receipts[0]
    extra = client.add("ada", 0.25, worker="note", key="p7")
    assert client.add("ada", 0.25, worker="note", key="p7") == extra
    (last,) = client.ask(key="monday")
    assert client.ask(key="monday") == [last]
    client.release(last)
    client.retract(extra.ticket, "a slip")
    assert client.status() == campaign.status()
    assert client.status(wait=False).tickets == campaign.status().tickets
    assert client.result(wait=False).arms == tuple(ARMS)
    assert client.history() == campaign.history()
    assert client.history(1, 2) == campaign.history(1, 2)
    assert client.export("csv") == campaign.export("csv")
    assert client.export("parquet") == campaign.export("parquet")
    assert client.doctor() == campaign.doctor()
    ours, theirs = client.result(), campaign.result()
    assert ours.to_dict() == theirs.to_dict()
    assert np.array_equal(ours.parameters, theirs.parameters)
    assert Client.names(client.url) == ["lab"]


def test_numbers_of_numpy_are_numbers(pair):
    client, campaign = pair
    settings = {
        "n_features": np.int32(1),
        "delta": np.float32(0.25),
        "seed": np.uint8(3),
        "lease": np.float64(60),
    }
    with Client.create(
        "np", np.array(ARMS), np.int64(2), url=client.url, stopping=RULE, family="gaussian", **settings
    ) as made:
        assert made.status().delta == 0.25
    tickets = client.ask(np.int64(2), lease=np.float32(60.0))
    numbers = np.array([ticket.id for ticket in tickets])
    receipts = client.tell_many(numbers, np.array([0.5, 1.5], dtype=np.float32))
    assert receipts == campaign.tell_many(numbers.tolist(), [0.5, 1.5])
    assert client.tell(numbers[0], np.float32(0.5)) == receipts[0]
    client.retract(numbers[0], "a slip")
    client.release(np.array([ticket.id for ticket in client.ask(1)])[0])
    assert client.history(np.int64(1), np.int64(2)) == campaign.history(1, 2)
    with pytest.raises(la.errors.InvalidInput, match="cannot be sent as JSON"):
        client.ask(1, worker={1, 2})
    with pytest.raises(la.errors.InvalidInput, match="finite"):
        client.ask(1, lease=np.float32("inf"))


def test_a_history_that_comes_in_pages(pair, monkeypatch):
    client, campaign = pair
    for _ in range(5):
        client.ask(3)
    monkeypatch.setattr("linkarms.server._reading._TICKETS", 4)
    assert client.history() == campaign.history()
    assert client.history(1, 3) == campaign.history(1, 3)


def test_errors_are_the_library_s_own(pair, tmp_path):
    client, _ = pair
    with pytest.raises(la.errors.NotFound, match="there is no campaign 'tea'"):
        Client.open("tea", client.url)
    with pytest.raises(la.errors.Conflict, match="already"):
        Client.create("lab", ARMS, 2, url=client.url, stopping=RULE, family="gaussian")
    with pytest.raises(la.errors.UnknownArm, match="there is no arm 'eve'"):
        client.add("eve", 1.0)
    with pytest.raises(la.errors.InvalidInput, match="finite"):
        client.add("ada", float("nan"))
    with pytest.raises(la.errors.TooLarge):
        client.ask(10_001)
    with pytest.raises(la.errors.InvalidInput, match="one value for each"):
        client.tell_many([1, 2], [0.0])
    with pytest.raises(la.errors.InvalidInput, match="not the address"):
        Client("lab", "ftp://x")
    assert client.status().samples == 0
    client.export("csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == client.export("csv")


def test_tokens(tmp_path, monkeypatch):
    token = "write-token-0123456789"
    with local_service(tmp_path / "runs.db", Access.from_tokens({token: "write"})) as service:
        url = f"http://127.0.0.1:{service.port}"
        with pytest.raises(la.errors.ServiceError, match="give a token"):
            Client.names(url)
        assert Client.names(url, token=token) == []
        monkeypatch.setenv("LINKARMS_TOKEN", token)
        assert Client.names(url) == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b'{"name": "coffee", "arms": []}', "another version: its answer has no"),
        (b"<html>", "not that of a linkarms service"),
    ],
)
def test_a_service_of_another_version_or_of_something_else(answer, words):
    with (
        something_else(answer) as url,
        Client("coffee", url, patience=0) as client,
        pytest.raises(la.errors.ServiceError, match=words),
    ):
        client.status()


@contextmanager
def something_else(answer):
    """The address of a server that gives this answer to everything."""

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Other) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    "answer",
    [
        *(
            b"[]",
            b"null",
            b'"x"',
            b"7",
            b"{}",
            b"[" * 100_000,
            b"\xff",
            b'{"name": 3, "arms": 4}',
            b'{"arms": ["a"]}',
        ),
        *(
            b'{"tickets": 3, "receipts": 3, "events": 3, "campaigns": 3, "parameters": 3}',
            b'{"campaigns": [{}]}',
        ),
        *(
            b'{"tickets": [3], "receipts": [[]], "events": ["x"], "campaigns": [0], "parameters": [[[]]], "arms": []}',
        ),
    ],
    ids=lambda answer: answer[:40].decode("ascii", "replace"),
)
def test_json_that_is_not_that_of_a_service(answer):
    with something_else(answer) as url, Client("coffee", url, patience=0) as client:
        for request in (
            client.status,
            client.result,
            client.ask,
            client.history,
            client.doctor,
            lambda: client.tell(1, 0.5),
            lambda: client.add("ada", 0.5),
            lambda: Client.names(url),
        ):
            with pytest.raises(la.errors.ServiceError) as caught:
                request()
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "url", ["http://h:99999", "http://h:x", "http://[::1", "http://", "h:8000", "http://h\n:1", 8000, None]
)
def test_what_is_not_an_address(url):
    with pytest.raises(la.errors.InvalidInput, match="is not the address of a service"):
        Client("coffee", url)


@pytest.mark.parametrize("token", ["t\u00f6ken", "a\nb", "", 7, b"bytes"])
def test_what_is_not_a_token(token):
    with pytest.raises(la.errors.InvalidInput, match="the token is not printable ASCII"):
        Client("coffee", token=token)


def test_an_export_to_a_bad_path(pair, tmp_path):
    client, _ = pair
    for path in (tmp_path, tmp_path / "none" / "x.csv", "a\0b", 3):
        with pytest.raises(la.errors.InvalidInput):
            client.export("csv", path)
    assert list(tmp_path.glob("*.csv")) == []


def test_nobody_there():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(la.errors.ServiceError, match="cannot be reached"):
        Client("lab", url, patience=0.3).status()


class Cutter:
    """A proxy that passes a request on and cuts the connection instead of passing the answer back, ``n`` times."""

    def __init__(self, port, n):
        self._port, self._left = port, n
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.cut = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                near, _ = self._socket.accept()
            except OSError:
                return
            with near, socket.create_connection(("127.0.0.1", self._port)) as far:
                while data := near.recv(2**20):
                    far.sendall(self._rest(near, data))
                    answer = self._rest(far, far.recv(2**20))
                    if self.cut < self._left:
                        self.cut += 1
                        break
                    near.sendall(answer)

    @staticmethod
    def _rest(source, data):
        """The message that begins with ``data``, whole."""
        while b"\r\n\r\n" not in data:
            data += source.recv(2**20)
        head, _, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        missing = int(length[1]) - len(body) if length else 0
        while missing > 0:
            more = source.recv(missing)
            data, missing = data + more, missing - len(more)
        return data

    def close(self):
        self._socket.close()


def test_an_answer_that_was_lost_is_asked_for_again_and_counted_once(pair):
    client, campaign = pair
    for request in (
        lambda c: c.ask(2),
        lambda c: c.add("ada", 1.0),
        lambda c: c.tell(1, 0.5),
        lambda c: c.release(2),
    ):
        before = campaign.status().version
        cutter = Cutter(int(client.url.rpartition(":")[2]), 2)
        with Client("lab", cutter.url, patience=20, timeout=20) as far:
            request(far)
        cutter.close()
        assert cutter.cut == 2
        assert campaign.status().version == before + 1
    assert campaign.status().tickets == {"open": 0, "told": 2, "released": 1, "expired": 0, "retracted": 0}
