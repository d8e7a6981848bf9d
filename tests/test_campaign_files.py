"""Files: backups while others write, file systems that cannot be written, schemas of other versions, exports to bad paths."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

import linkarms as la
from linkarms.campaign import Campaign, _run, backup, open_storage
from linkarms.cli._app import run
from linkarms.errors import InvalidInput, NotFound, StorageError

SETTINGS = {"family": "gaussian", "stopping": la.stopping.Paper(theta=(-10, 10))}
OLD = Path(__file__).parent / "data" / "campaign-schema-1.db"


def create(storage, name="lab", **more):
    return Campaign.create(name, ["a", "b", "c"], 2, storage=storage, **SETTINGS, **more)


@contextmanager
def mounted(place):
    """A file system of our own, and a function that makes it read-only; None where the machine does not let us mount one."""
    place.mkdir()
    mount = [shutil.which("mount") or "mount", "-t", "tmpfs", "-o", "size=5m", "tmpfs", str(place)]
    try:
        made = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except (OSError, AttributeError):
        made = False
    if not made:
        yield None
        return

    def seal():
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)

    try:
        yield seal
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def sealed(place):
    """Without a mount: the same by permissions, which do not bind root."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        pytest.skip("neither mounts nor permissions can make this place read-only for root")
    for path in (*place.iterdir(), place):
        path.chmod(path.stat().st_mode & ~0o222)


@pytest.fixture
def read_only(tmp_path):
    """A directory, and a function that makes it read-only."""
    place = tmp_path / "place"
    with mounted(place) as seal:
        yield place, seal or (lambda: sealed(place))
    if place.exists():
        place.chmod(0o755)


def test_a_campaign_is_read_where_nothing_can_be_written(read_only, monkeypatch):
    monkeypatch.setattr(_run, "_WORTH", (1, 0.0))
    place, seal = read_only
    with create(place / "runs.db") as lab:
        lab.tell_many(lab.ask(3), [0.1, 0.2, 5.0])
        lab.compute()
        expected = lab.status(), lab.export("csv"), lab.history()
    backup(place / "copy.db", storage=place / "runs.db")
    seal()
    for name in ("runs.db", "copy.db"):
        with Campaign.open("lab", storage=place / name) as lab:
            assert (lab.status(), lab.export("csv"), lab.history()) == expected
            assert lab.doctor().ok
            assert lab.overview().status == lab.status(wait=False)
            with pytest.raises(StorageError, match="it cannot be written"):
                lab.ask(1)
            with pytest.raises(StorageError, match="it cannot be written"):
                lab.add("a", 1.0)
        assert Campaign.names(place / name) == ["lab"]
    with pytest.raises(StorageError, match="it cannot be written"):
        create(place / "runs.db", "other")


def test_a_file_that_was_not_closed_where_nothing_can_be_written(read_only):
    """Its last changes are in the write-ahead log: they are read, or it is said that they cannot be."""
    place, seal = read_only
    with create(place / "runs.db") as lab:
        lab.add_many(["a", "b", "c"], [0.1, 0.2, 5.0])
        for end in ("", "-wal", "-shm"):
            shutil.copy(place / f"runs.db{end}", place / f"whole.db{end}")
        for end in ("", "-wal"):
            shutil.copy(place / f"runs.db{end}", place / f"part.db{end}")
    seal()
    with Campaign.open("lab", storage=place / "whole.db") as lab:
        assert lab.status().samples == 3
    with pytest.raises(
        StorageError, match=r"its last changes in part\.db-wal cannot be read .* copy both files"
    ):
        Campaign.open("lab", storage=place / "part.db")


def test_an_old_schema_where_nothing_can_be_written(read_only):
    place, seal = read_only
    shutil.copy(OLD, place / "old.db")
    seal()
    with pytest.raises(
        StorageError, match="has schema 1 and is upgraded to 2 when it is opened: it cannot be"
    ):
        Campaign.open("coffee", storage=place / "old.db")


def test_an_old_schema_is_upgraded_once(tmp_path):
    """Several who open it at the same time, and the answers of before."""
    path = tmp_path / "old.db"
    shutil.copy(OLD, path)
    found = []

    def look():
        with Campaign.open("coffee", storage=path, clock=lambda: 1e9 + 100) as old:
            found.append((old.status().pulls, old.export("csv"), old.status().tickets))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(each == found[0] for each in found)
    assert found[0][0] == {"ada": 3, "ben": 2, "cy": 2, "dot": 2}
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT number FROM linkarms_schema").fetchall() == [(2,)]
    assert connection.execute("SELECT kind, version FROM linkarms_computed").fetchall()[0][0] == "state"
    connection.close()


def test_a_damaged_snapshot_of_an_old_schema_can_be_repaired(tmp_path):
    path = tmp_path / "old.db"
    shutil.copy(OLD, path)
    with Campaign.open("coffee", storage=shutil.copy(OLD, tmp_path / "sound.db")) as sound:
        expected = sound.status().pulls
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE linkarms_campaigns SET snapshot = '{'")
    connection.close()
    with pytest.raises(StorageError, match="the account of the tickets is damaged"):
        Campaign.open("coffee", storage=path)
    with Campaign("coffee", open_storage(path)) as old:
        assert old.doctor(repair=True).repaired
        assert old.status().pulls == expected


@pytest.mark.parametrize("numbers", [[0], [-1], [], [2, 2], [2**40]])
def test_schema_numbers_that_linkarms_never_wrote(storage, numbers):
    create(storage).close()
    kept = open_storage(storage)
    most = 2**31 - 1 if "://" in storage else 2**63 - 1  # what the column holds
    with kept._begin(write=True) as connection:
        connection.exec_driver_sql("DELETE FROM linkarms_schema")
        for number in numbers:
            connection.exec_driver_sql(f"INSERT INTO linkarms_schema VALUES ({min(number, most)})")
    kept.close()
    for use in (lambda: Campaign.open("lab", storage=storage), lambda: create(storage, "new")):
        with pytest.raises(StorageError, match=r"schema") as caught:
            use()
        assert "restore a copy" in str(caught.value) or "upgrade linkarms" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_backup_of_a_file_in_use_is_complete(tmp_path):
    """While others write: the copy is the campaign as it was at one moment. A plain copy of the file is not."""
    path, stop, told = tmp_path / "runs.db", threading.Event(), []
    with create(path, delta=1e-300) as lab:
        lab.add_many(["a", "b", "c"] * 100, [0.123456789] * 300)
        shutil.copy(path, tmp_path / "plain.db")  # without its -wal

        def work():
            with Campaign.open("lab", storage=path) as other:
                while not stop.is_set():
                    told.append(other.add("a", 1.0).number)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            for i in range(5):
                before = lab.status(wait=False).tickets["told"]
                assert backup(tmp_path / f"{i}.db", storage=lab.storage) == ["lab"]
                with Campaign.open("lab", storage=tmp_path / f"{i}.db") as copy:
                    assert copy.doctor().ok
                    assert before <= copy.status().tickets["told"] <= lab.status(wait=False).tickets["told"]
        finally:
            stop.set()
            thread.join()
    assert len(told) > 0
    try:
        with Campaign.open("lab", storage=tmp_path / "plain.db") as plain:
            left = plain.status().tickets["told"]
    except (NotFound, StorageError):
        left = 0
    assert left < 300
    assert not list(tmp_path.glob(".linkarms-*"))


def test_a_backup_is_one_file(tmp_path):
    with create(tmp_path / "runs.db") as lab:
        lab.add("a", 1.0)
        backup(tmp_path / "copy.db", storage=tmp_path / "runs.db")
        assert sorted(p.name for p in tmp_path.glob("copy*")) == ["copy.db"]
        moved = tmp_path / "elsewhere"
        moved.mkdir()
        shutil.move(tmp_path / "copy.db", moved)
        with Campaign.open("lab", storage=moved / "copy.db") as copy:
            assert copy.status().samples == 1
            copy.add("b", 2.0)
        assert lab.status().samples == 1


def test_backups_that_cannot_be_made(tmp_path, postgres):
    with create(tmp_path / "runs.db") as lab:
        for target, words in (
            (tmp_path / "runs.db", "exists already"),
            (tmp_path, "this is a directory"),
            (tmp_path / "none" / "x.db", "there is no directory"),
            ("a\0b", "is not a path"),
        ):
            with pytest.raises(InvalidInput, match=words):
                backup(target, storage=lab.storage)
        assert lab.status().samples == 0
    with pytest.raises(NotFound, match="there is no storage"):
        backup(tmp_path / "x.db", storage=tmp_path / "none.db")
    url = postgres.database()
    create(url).close()
    with pytest.raises(InvalidInput, match="pg_dump"):
        backup(tmp_path / "x.db", storage=url)
    assert not (tmp_path / "x.db").exists()


def test_a_backup_of_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "runs.db"
    with create(path, delta=1e-300) as lab:
        for _ in range(4):
            lab.add_many(["a", "b", "c"] * 200, [0.123456789] * 600)
    content = path.read_bytes()
    middle = len(content) // 2 // 4096 * 4096
    path.write_bytes(content[:middle] + b"\xa5" * 8192 + content[middle + 8192 :])
    with pytest.raises(StorageError):
        backup(tmp_path / "copy.db", storage=path)
    assert not (tmp_path / "copy.db").exists()
    assert not list(tmp_path.glob(".linkarms-*"))


def test_backup_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    create("linkarms.db").close()
    assert run(["campaign", "backup", "copy.db"]) == 0
    assert capsys.readouterr().out == "copy.db is written: 1 campaigns\n"
    assert run(["campaign", "backup", "copy.db"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert run(["campaign", "backup", "other.db", "--storage", "linkarms.db", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": "other.db", "campaigns": ["lab"]}
    assert Campaign.names("copy.db") == ["lab"]


BAD_PATHS = {
    "zero character": "a\0.csv",
    "directory": ".",
    "nothing": "",
    "no directory": "none/x.csv",
    "a file as a directory": "runs.db/x.csv",
    "long name": "x" * 300 + ".csv",
    "long path": "/".join(["x" * 200] * 30),
    "device": "/dev/full/x.csv",
    "process": "/proc/self/nothing.csv",
    "number": 7,
    "bytes": b"x.csv",
}


@pytest.mark.parametrize("path", BAD_PATHS.values(), ids=BAD_PATHS)
def test_an_export_to_a_bad_path_is_one_clear_error(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with create("runs.db") as lab:
        lab.add("a", 1.0)
        before = sorted(p.name for p in tmp_path.iterdir())
        for kind in ("csv", "json"):
            with pytest.raises(InvalidInput) as caught:
                lab.export(kind, path)
            assert "\n" not in str(caught.value)
        assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_an_export_to_a_bad_path_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    create("linkarms.db").close()
    for path in ("none/x.csv", "x" * 300 + ".csv", "linkarms.db/x.csv", "/proc/self/nothing.csv"):
        assert run(["campaign", "export", "lab", path]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("linkarms: ")
        assert err.count("\n") == 1


def test_sqlite_needs_neither_psycopg_nor_pyarrow(tmp_path):
    """PostgreSQL's driver is loaded where PostgreSQL is used, pyarrow where Parquet is."""
    code = f"""
import sys
sys.modules["psycopg"] = sys.modules["pyarrow"] = None
import linkarms as la
from linkarms.campaign import Campaign
lab = Campaign.create("lab", ["a", "b", "c"], 2, storage={str(tmp_path / "x.db")!r}, family="gaussian")
lab.tell_many(lab.ask(3), [0.0, 0.5, 9.0])
lab.compute()
assert lab.doctor().ok and len(lab.export("csv").splitlines()) == 4 and lab.export("json")
for use in (lambda: lab.export("parquet"), lambda: Campaign.names("postgresql://lab@localhost/db")):
    try:
        use()
    except la.errors.MissingDependency as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "pip install 'linkarms[data]'" in ran.stdout
    assert "pip install 'linkarms[postgresql]'" in ran.stdout


def test_an_export_has_the_permissions_of_a_new_file_and_touches_no_umask(tmp_path, monkeypatch):
    from linkarms.campaign._export import written_whole

    (tmp_path / "plain").touch()
    monkeypatch.setattr("os.umask", lambda mask: pytest.fail("the umask belongs to all threads"))
    with written_whole(tmp_path / "table.csv") as scratch:
        scratch.write_text("x")
    assert (tmp_path / "table.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode
