"""The storage contract, addresses and passwords, and files that are damaged, newer, full or locked."""

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.postgres import PASSWORD

import linkarms as la
from linkarms.campaign import Campaign, _connect, _sqlite, open_storage
from linkarms.errors import Conflict, InvalidInput, NewerSchema, NotFound, StorageError

PAPER = la.stopping.Paper(theta=(-10, 10))


def create(storage, name="lab", **more):
    return Campaign.create(
        name, ["a", "b", "c"], 2, storage=storage, stopping=PAPER, family="gaussian", **more
    )


def test_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    create("sqlite:///a.db").close()
    create(Path("b.db")).close()
    create(f"sqlite:///{tmp_path}/c.db").close()
    assert sorted(p.name for p in tmp_path.glob("*.db")) == ["a.db", "b.db", "c.db"]
    assert Campaign.names("a.db") == Campaign.names("sqlite:///b.db") == ["lab"]
    Campaign.create("default", ["a", "b", "c"], 2, stopping=PAPER, family="gaussian").close()
    assert Campaign.names() == ["default"]
    assert (tmp_path / "linkarms.db").is_file()


@pytest.mark.parametrize(
    "storage",
    ["", "sqlite://", "sqlite:///:memory:", "sqlite:///x.db?mode=memory", "sqlite:///file:x?uri=true", "mysql://u@h/d",
     "postgresql+psycopg2://u@h/d", "://", "a\0b", 7, None],
)  # fmt: skip
def test_what_is_no_storage(storage, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput):
        create(storage)
    assert list(tmp_path.iterdir()) == []


def test_looking_makes_no_file(tmp_path):
    for look in (Campaign.names, lambda storage: Campaign.open("lab", storage=storage)):
        with pytest.raises(NotFound, match="there is no storage"):
            look(tmp_path / "none.db")
    with pytest.raises(NotFound, match="there is no directory"):
        create(tmp_path / "none" / "runs.db")
    assert list(tmp_path.iterdir()) == []


def test_a_password_in_the_address_is_refused_and_not_shown():
    with pytest.raises(InvalidInput) as caught:
        create("postgresql+psycopg://lab:tell-nobody@localhost/db")
    assert "tell-nobody" not in str(caught.value)
    assert "LINKARMS_DB_PASSWORD" in str(caught.value)
    with pytest.raises(InvalidInput) as caught:
        create("postgresql+psycopg://lab:tell-nobody@localhost:notaport/db")
    assert "tell-nobody" not in str(caught.value)


def test_the_password_comes_from_the_environment_or_a_file(postgres, tmp_path, monkeypatch):
    url = postgres.database("locked")
    for name in ("LINKARMS_DB_PASSWORD", "LINKARMS_DB_PASSWORD_FILE", "PGPASSWORD"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(StorageError, match="password"):
        create(url)
    monkeypatch.setenv("LINKARMS_DB_PASSWORD", "wrong-word")
    with pytest.raises(StorageError, match="refuses the user or the password") as caught:
        create(url)
    assert "wrong-word" not in str(caught.value)
    monkeypatch.setenv("LINKARMS_DB_PASSWORD", PASSWORD)
    with create(url) as campaign:
        for shown in (repr(campaign), repr(campaign.storage), campaign.storage.shown):
            assert PASSWORD not in shown
    monkeypatch.delenv("LINKARMS_DB_PASSWORD")
    secret = tmp_path / "secret"
    monkeypatch.setenv("LINKARMS_DB_PASSWORD_FILE", str(secret))
    with pytest.raises(InvalidInput, match="cannot be read"):
        Campaign.names(url)
    secret.write_text(PASSWORD + "\n")
    assert Campaign.names(url) == ["lab"]


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(
        StorageError, match=r"the file cannot be opened|cannot be reached|does not exist|no such database"
    ):
        create(f"postgresql+psycopg://lab@/db?host={tmp_path}")


def test_a_lost_connection_is_replaced(postgres):
    with create(postgres.database()) as lab:
        (ticket,) = lab.ask(1)
        postgres.run(
            "postgres",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'linkarms'",
        )
        lab.tell(ticket, 1.0)
        assert lab.doctor().ok


def test_postgresql_is_asked_for_full_sync(postgres):
    storage = open_storage(postgres.database())
    create(storage)
    with storage._begin(write=True) as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
        assert connection.exec_driver_sql("SHOW lock_timeout").scalar() == "30s"
    storage.close()


def test_sqlite_settings(tmp_path):
    storage = open_storage(tmp_path / "x.db")
    create(storage)
    with storage._begin(write=True) as connection:
        settings = {
            p: connection.exec_driver_sql(f"PRAGMA {p}").scalar()
            for p in ("journal_mode", "synchronous", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 30_000}
    storage.close()


def test_a_newer_schema_is_refused(storage):
    with create(storage) as lab:
        before = lab.export("csv")
    kept = open_storage(storage)
    kept.names()
    with kept._begin(write=True) as connection:
        connection.exec_driver_sql("UPDATE linkarms_schema SET number = 3")
    kept.close()
    for use in (
        lambda: Campaign.open("lab", storage=storage),
        lambda: create(storage, "new"),
        lambda: Campaign.names(storage),
    ):
        with pytest.raises(
            NewerSchema, match="has schema 3 and this linkarms reads schema 2; upgrade linkarms"
        ):
            use()
    raw = open_storage(storage)
    raw._checked = True
    with raw._begin(write=True) as connection:
        connection.exec_driver_sql("UPDATE linkarms_schema SET number = 2")
    raw.close()
    with Campaign.open("lab", storage=storage) as lab:
        assert lab.export("csv") == before
    assert Campaign.names(storage) == ["lab"]


def test_a_file_of_the_first_schema_still_opens(tmp_path):
    """A real file, as the first version wrote it."""
    path = tmp_path / "old.db"
    shutil.copy(Path(__file__).parent / "data" / "campaign-schema-1.db", path)
    with Campaign.open("coffee", storage=path, clock=lambda: 1e9 + 100) as old:
        status = old.status()
        assert status.tickets == {"open": 1, "told": 9, "released": 1, "expired": 1, "retracted": 1}
        assert status.pulls == {"ada": 3, "ben": 2, "cy": 2, "dot": 2}
        rows = old.export("csv").splitlines()
        assert rows[1] == "1,ada,0.125,bench 1,2001-09-09T01:46:40+00:00,retracted"
        assert [e.kind for e in old.history()][:4] == ["create", "ask", "tell", "expire"]
        old.tell_many(old.ask(4), [0.0, 0.25, 5.0, 5.5])
        assert old.status().samples == 13


def test_files_that_are_no_database(tmp_path):
    text = tmp_path / "text.db"
    text.write_text("this is no database\n" * 100)
    empty = tmp_path / "empty.db"
    empty.touch()
    folder = tmp_path / "folder.db"
    folder.mkdir()
    for path, error in ((text, StorageError), (empty, NotFound), (folder, NotFound)):
        with pytest.raises(error):
            Campaign.open("lab", storage=path)
    for path in (text, folder):
        with pytest.raises(StorageError):
            create(path)
    assert text.read_text() == "this is no database\n" * 100
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(NotFound, match="holds no campaigns"):
        Campaign.open("lab", storage=foreign)
    create(foreign).close()
    assert Campaign.names(foreign) == ["lab"]


def test_a_damaged_file(tmp_path):
    path = tmp_path / "runs.db"
    with create(path, delta=1e-300) as lab:
        for _ in range(6):
            tickets = lab.ask(500)
            lab.tell_many(tickets, [1.0] * 500)
    content = path.read_bytes()
    assert not Path(f"{path}-wal").exists()
    middle = len(content) // 2 // 4096 * 4096
    path.write_bytes(content[:middle] + b"\xa5" * 8192 + content[middle + 8192 :])
    try:
        with Campaign.open("lab", storage=path) as lab:
            checkup = lab.doctor()
        assert not checkup.ok
    except StorageError as error:
        assert "damaged" in str(error)  # noqa: PT017
    path.write_bytes(content[: len(content) // 3])
    with pytest.raises(StorageError, match="damaged"), Campaign.open("lab", storage=path) as lab:
        lab.export("csv")


@pytest.mark.parametrize("column", ["config", "account"])
def test_a_damaged_row(tmp_path, column):
    path = tmp_path / "runs.db"
    create(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE linkarms_campaigns SET {column} = '{{\"a\": '")
    connection.close()
    with pytest.raises(StorageError, match="damaged"):
        Campaign.open("lab", storage=path)


def test_a_full_disk_stores_nothing_and_loses_nothing(tmp_path):
    """SQLite's own limit of the file's size stands for the disk's."""
    path = tmp_path / "runs.db"
    storage = open_storage(path)
    with create(storage) as lab:
        lab.tell_many(lab.ask(3), [0.1, 0.2, 5.0])
        tickets = lab.ask(400)
        before, size = lab.export("csv"), path.stat().st_size
        engine = storage._connected()
        with engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        engine.dispose()

        @_sql_event(engine)
        def _limit(connection, _record):
            connection.execute(f"PRAGMA max_page_count = {pages}")

        with pytest.raises(StorageError, match="the disk is full"):
            lab.tell_many(tickets, [0.123456789] * 400)
        assert lab.export("csv") == before
        assert size <= path.stat().st_size
    with Campaign.open("lab", storage=path) as lab:
        assert lab.export("csv") == before
        assert lab.doctor().ok
        lab.tell_many(tickets, [0.123456789] * 400)
        assert lab.doctor().ok


def _sql_event(engine):
    from sqlalchemy import event

    return event.listens_for(engine, "connect")


def test_a_really_full_disk(tmp_path):
    """On a file system of 300 kB, where the machine lets us mount one."""
    place = tmp_path / "small"
    place.mkdir()
    mount = shutil.which("mount")
    made = mount and os.geteuid() == 0 and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(place)], capture_output=True, check=False
    ).returncode == 0  # fmt: skip
    if not made:
        # the same words from the driver
        with pytest.raises(StorageError, match="the disk is full"), la.campaign._faults.explained("x"):
            raise sqlite3.OperationalError("database or disk is full")
        return
    try:
        path = place / "runs.db"
        lab = create(path, delta=1e-300)
        stored = 0
        with pytest.raises(StorageError):  # noqa: PT012
            for _ in range(100):
                lab.add_many(["a", "b", "c"] * 30, [0.123456789] * 90)
                stored += 90
        lab.close()
        with Campaign.open("lab", storage=path) as again:
            assert again.status().tickets["told"] == stored > 0
            assert again.doctor().ok
    finally:
        subprocess.run(["umount", str(place)], check=False)


def test_a_file_that_cannot_be_written(tmp_path):
    path = tmp_path / "runs.db"
    with create(path) as lab:
        before = lab.export("csv")
    storage = open_storage(path)
    with Campaign.open("lab", storage=storage) as lab:
        engine = storage._connected()
        engine.dispose()

        @_sql_event(engine)
        def _readonly(connection, _record):
            connection.execute("PRAGMA query_only = ON")

        with pytest.raises(StorageError, match="cannot be written"):
            lab.ask(1)
        assert lab.export("csv") == before


def test_a_lock_that_is_held_too_long(tmp_path, monkeypatch):
    monkeypatch.setattr(_sqlite, "TIMEOUT", 1)
    path = tmp_path / "runs.db"
    with create(path) as lab:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="others kept it locked for too long; try again"):
            lab.ask(1)
        assert lab.status().tickets["open"] == 0
        other.execute("ROLLBACK")
        other.close()
        assert len(lab.ask(1)) == 1


def test_a_row_that_is_locked_too_long(postgres, monkeypatch):
    monkeypatch.setattr(_connect, "LOCKED", 1)
    url = postgres.database()
    with create(url) as lab, create(url, "other") as other:
        holder = open_storage(url)
        with holder.write("lab"):
            with pytest.raises(StorageError, match="others kept it locked for too long; try again"):
                lab.ask(1)
            assert len(other.ask(1)) == 1, "another campaign is not held up"
        assert len(lab.ask(1)) == 1
        holder.close()


def test_two_create_the_same_campaign(storage):
    made, refused = [], []

    def work():
        try:
            made.append(create(storage))
        except Conflict:
            refused.append(True)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(made), len(refused)) == (1, 3)
    made[0].close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_fork_opens_connections_of_its_own(storage):
    code = f"""
import os, sys
from linkarms.campaign import Campaign
c = Campaign.open("lab", storage={storage!r})
t = c.ask(1)[0]
pid = os.fork()
if pid == 0:
    c.tell(t, 1.0)
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
assert c.status().samples == 1
c.tell(c.ask(1)[0], 2.0)
assert c.doctor().ok and c.status().samples == 2
c.close()
"""
    create(storage).close()
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_without_sqlalchemy(monkeypatch, tmp_path):
    from importlib import util

    real = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name, *a: None if name == "sqlalchemy" else real(name, *a))
    with pytest.raises(la.errors.MissingDependency, match=r"pip install 'linkarms\[campaign\]'"):
        create(tmp_path / "x.db")
