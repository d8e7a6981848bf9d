"""A real PostgreSQL server in a temporary directory, run by a user who is not root."""

import os
import pwd
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path

PASSWORD = "s3cret-word"


def binaries():
    """The directory of initdb and pg_ctl, or None."""
    places = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: float(p.parent.name), reverse=True
    )
    found = shutil.which("initdb")
    places += [Path(found).parent] if found else []
    return next((p for p in places if (p / "initdb").exists() and (p / "pg_ctl").exists()), None)


def required():
    """On the machine that checks every submission the database may not be missing."""
    return bool(os.environ.get("CI") or os.environ.get("LINKARMS_CI"))


def roomy_memory():
    """A directory in memory if there is much of it, else on disk: each database has hundreds of files."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > 4 * 2**30 else Path("/tmp")


class Server:
    """Start with ``with Server() as server``; `database` makes a new database and returns its URL.

    Without ``fsync`` it is quicker, and only a crash of the machine could tell the difference. It listens on a socket in its directory, and
    on the address ``listen`` besides.
    """

    def __init__(self, fsync=True, listen=""):
        self._fsync, self._listen = "on" if fsync else "off", listen
        self._bin = binaries()
        if self._bin is None:
            raise RuntimeError("PostgreSQL is not installed; run: apt-get install postgresql")
        self._home = Path(tempfile.mkdtemp(prefix="la-pg-", dir="/tmp" if fsync else roomy_memory()))
        self._numbers = count(1)
        self._user = {}
        if os.getuid() == 0:
            names = {entry.pw_name for entry in pwd.getpwall()}
            who = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            os.chown(self._home, who.pw_uid, who.pw_gid)
            self._user = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}

    def _call(self, program, *words):
        subprocess.run(
            [self._bin / program, *words],
            check=True,
            capture_output=True,
            text=True,
            cwd=self._home,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(self._home)},
            **self._user,
        )

    def __enter__(self):
        data, log = self._home / "data", self._home / "log"
        self._call("initdb", "-D", data, "-U", "lab", "--auth=trust", "--encoding=UTF8", "--no-sync")
        rules = data / "pg_hba.conf"
        rules.write_text(f"local locked all scram-sha-256\n{rules.read_text()}host all all samenet trust\n")
        places = f"-c listen_addresses={self._listen} -c unix_socket_directories={self._home}"
        settings = f"{places} -c max_connections=60 -c fsync={self._fsync}"
        self._call("pg_ctl", "-D", data, "-l", log, "-w", "-o", settings, "start")
        self.run("postgres", f"ALTER ROLE lab PASSWORD '{PASSWORD}'")
        return self

    def __exit__(self, *_):
        self._call("pg_ctl", "-D", self._home / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self._home, ignore_errors=True)

    def run(self, database, statement):
        import psycopg

        where = {"host": str(self._home), "user": "lab", "dbname": database, "autocommit": True}
        with psycopg.connect(**where, password=PASSWORD) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None

    def database(self, name=None):
        """The URL of a new database; the one called ``locked`` wants a password."""
        name = name or f"db{os.getpid()}_{next(self._numbers)}"
        self.run("postgres", f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://lab@/{name}?host={self._home}"
