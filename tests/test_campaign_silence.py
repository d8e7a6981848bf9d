"""PostgreSQL: a worker whose packets vanish does not hold up its campaign for longer than is stated."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.postgres import Server, required

import linkarms as la
from linkarms.campaign import Campaign, _connect, open_storage
from linkarms.errors import StorageError

SETTINGS = {"family": "gaussian", "stopping": la.stopping.Paper(theta=(-10, 10))}
#: Seconds that a slow machine may take over what takes milliseconds.
MARGIN = 12.0


class Wire:
    """A proxy on loopback before the server's socket. It can be cut: from then on nothing arrives, and nobody is told."""

    def __init__(self, url):
        parts = urlsplit(url)
        self._server = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"postgresql+psycopg://lab@127.0.0.1:{self._listener.getsockname()[1]}{parts.path}"
        self._cut = threading.Event()
        self._open = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Let nothing through any more, in either direction."""
        self._cut.set()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._open += [client, server]
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source, target):
        with suppress(OSError):
            while data := source.recv(65_536):
                if self._cut.is_set():
                    threading.Event().wait(60)  # the connection stays open, and silent
                    return
                target.sendall(data)

    def close(self):
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def wire(postgres):
    made = Wire(postgres.database())
    made.direct = f"postgresql+psycopg://lab@{urlsplit(made.url).path}?host={made._server.rpartition('/')[0]}"
    with Campaign.create("lab", ["a", "b", "c"], 2, storage=made.direct, **SETTINGS) as lab:
        made.lab = lab
        yield made
    made.close()


def vanish(wire):
    """A worker that locks the campaign, and whose packets vanish before it has told anything; what it gets to know in the end."""
    outcome, locked = [], threading.Event()

    def work():
        storage = open_storage(wire.url)
        try:
            with storage.write("lab") as tx:
                wire.cut()
                locked.set()
                head = tx.head
                tx.append(
                    la.campaign.Entry(head.version + 1, head.at, "tell", None, None, None, "x" * 300_000, "d")
                )
                tx.save(head.version + 1, head.at, "d", head.account)
            outcome.append("stored")
        except StorageError as error:
            outcome.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    assert locked.wait(30)
    return thread, outcome


def test_a_campaign_is_free_again(wire, monkeypatch):
    monkeypatch.setattr(_connect, "SILENCE", 2)
    thread, outcome = vanish(wire)
    began = time.monotonic()
    assert len(wire.lab.ask(1)) == 1
    assert time.monotonic() - began < 2 + MARGIN
    wire.close()
    thread.join(60)
    assert outcome != ["stored"]
    assert [e.kind for e in wire.lab.history()] == ["create", "ask"], "nothing of the other one is stored"
    assert wire.lab.doctor().ok


def test_without_the_limit_it_is_not(wire, monkeypatch):
    """What the test above would see if the limit were not there."""
    monkeypatch.setattr(_connect, "SILENCE", 0)
    monkeypatch.setattr(_connect, "LOCKED", 2)
    thread, _ = vanish(wire)
    with (
        Campaign.open("lab", storage=wire.direct) as other,
        pytest.raises(StorageError, match="locked for too long"),
    ):
        other.ask(1)
    wire.close()
    thread.join(60)


def test_the_stated_limits_are_those_in_force(postgres):
    assert (_connect.SILENCE, _connect.READING, _connect.LOCKED) == (15, 600, 30)
    assert _connect.SILENCE < _connect.LOCKED, "who waits outlasts who is silent"
    storage = open_storage(postgres.database())
    Campaign.create("lab", ["a", "b", "c"], 2, storage=storage, **SETTINGS)

    def shown(reader, name):
        return reader._connection.exec_driver_sql(f"SHOW {name}").scalar()

    with storage.read("lab") as reader:
        assert shown(reader, "idle_in_transaction_session_timeout") == "10min"
    with storage.write("lab") as tx:
        assert shown(tx, "idle_in_transaction_session_timeout") == "15s"
        assert shown(tx, "lock_timeout") == "30s"
        told = tx._connection.connection.driver_connection.info.get_parameters()
    expected = {
        "keepalives": "1",
        "keepalives_idle": "10",
        "keepalives_interval": "5",
        "keepalives_count": "3",
    }
    assert {name: told[name] for name in expected} == expected
    assert told["tcp_user_timeout"] == "25000"
    with storage.read("lab") as reader:
        assert shown(reader, "idle_in_transaction_session_timeout") == "10min"
    storage.close()


def test_both_ends_of_a_tcp_connection_watch_it(wire):
    storage = open_storage(wire.url)
    with storage.read("lab") as reader:
        raw = reader._connection.connection.driver_connection
        end = socket.socket(fileno=raw.fileno())
        try:
            assert end.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 10
            assert end.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 25_000
        finally:
            end.detach()
        options = raw.info.get_parameters()["options"]
    for setting in ("tcp_keepalives_idle=10", "tcp_keepalives_interval=5", "tcp_user_timeout=25000"):
        assert setting in options
    storage.close()


@contextmanager
def cable(number):
    """A network of two ends, ours and that of a worker in a namespace of its own, and a function that unplugs it."""
    space, ours, theirs = f"la-{number}", f"la-{number}-a", f"la-{number}-b"
    address = f"10.213.{number % 250}"
    commands = [
        f"netns add {space}",
        f"link add {ours} type veth peer name {theirs}",
        f"link set {theirs} netns {space}",
        f"addr add {address}.1/24 dev {ours}",
        f"link set {ours} up",
        f"-n {space} addr add {address}.2/24 dev {theirs}",
        f"-n {space} link set {theirs} up",
    ]
    tool = shutil.which("ip")
    if (tool is None or os.geteuid() != 0) and not required():
        pytest.skip("needs `ip` and root, to make a network and unplug it")
    try:
        for command in commands:
            made = subprocess.run([tool, *command.split()], capture_output=True, check=False)
            if made.returncode:
                pytest.skip(f"no network of our own: {made.stderr.decode().strip()}")
        yield (
            f"{address}.1",
            [tool, "netns", "exec", space],
            lambda: subprocess.run([tool, "link", "set", ours, "down"], check=True),
        )
    finally:
        subprocess.run([tool, "link", "del", ours], capture_output=True, check=False)
        subprocess.run([tool, "netns", "del", space], capture_output=True, check=False)


WORKER = """
import sys, time
from linkarms.campaign import _connect, open_storage
_connect.SILENCE = 0  # only the network can tell that this worker is gone
_connect.KEEPALIVE = (1, 1, 2)
with open_storage(sys.argv[1]).write("lab"):
    print("locked", flush=True)
    time.sleep(600)
"""


def test_an_unplugged_cable_is_noticed(monkeypatch):
    """A real network between worker and server: the server finds out by itself, after 3 seconds here and 25 as it is set."""
    monkeypatch.setattr(_connect, "LOCKED", 60)
    with cable(os.getpid()) as (host, there, unplug), Server(fsync=False, listen=host) as server:
        direct = server.database()
        name = urlsplit(direct).path
        with Campaign.create("lab", ["a", "b", "c"], 2, storage=direct, **SETTINGS) as lab:
            command = [*there, sys.executable, "-c", WORKER, f"postgresql://lab@{host}{name}"]
            worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            try:
                assert worker.stdout.readline() == "locked\n"
                unplug()
                began = time.monotonic()
                assert len(lab.ask(1)) == 1
                waited = time.monotonic() - began
            finally:
                worker.kill()
                worker.communicate()
    assert 1.0 < waited < 3.0 + MARGIN
