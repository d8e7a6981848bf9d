"""`Campaign`: a clustering run that lives in a database."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from numpy.typing import ArrayLike

from linkarms._validate import check_integer
from linkarms._version import __version__
from linkarms.campaign import _operations, _report
from linkarms.campaign._doctor import examine
from linkarms.campaign._export import export_rows
from linkarms.campaign._limits import LIMITS, check_arms, check_batch, check_lease, check_name, check_text
from linkarms.campaign._overview import Overview, overview
from linkarms.campaign._records import Checkup, Event, Receipt, Status, Ticket
from linkarms.campaign._run import Run
from linkarms.campaign._session import Session, chained, to_json
from linkarms.campaign._settings import Settings, refuse_unstorable
from linkarms.campaign._storage import RETRACTED, TOLD, Entry, Head, Storage, TicketRow
from linkarms.clusterer import BanditClusterer
from linkarms.errors import Conflict, InvalidInput, TooLarge, require
from linkarms.result import Result

__all__ = ["Campaign", "StorageLike", "open_storage"]

StorageLike = str | os.PathLike[str] | Storage
#: A function that is shown the part that is done and a text.
Watcher = Callable[[float, str], None]

_DAY = 86_400.0


def open_storage(
    storage: StorageLike = "sqlite:///linkarms.db", clock: Callable[[], float] | None = None
) -> Storage:
    """The storage that a path or URL names; a `Storage` is returned as it is."""
    if isinstance(storage, Storage):
        if clock is not None:
            raise InvalidInput("a storage has its own clock; give the clock to it, not beside it")
        return storage
    require("sqlalchemy", "campaign")
    from linkarms.campaign._sql import SqlStorage

    return SqlStorage(storage, clock)


class Campaign:
    """A clustering run in a database: fed by many hands, safe from crashes. Use `create` or `open`.

    An append-only log of what was asked and told is the truth. The state that follows from it is written with it, in the same
    transaction, so that opening a campaign does not depend on its length. Whatever a method returned is stored.

    One object may be used by several threads; its methods take turns. Any number of processes, and with PostgreSQL machines, may work on
    the same campaign, each with an object of its own.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> campaign = la.campaign.Campaign.create(
    ...     "lab", arms=["ada", "ben", "cy"], n_clusters=2, family="gaussian:0.25", storage=path
    ... )
    >>> ticket, *others = campaign.ask(3, worker="bench 1")
    >>> ticket.id, ticket.arm
    (1, 'ada')
    >>> campaign.tell(ticket, 0.3).number
    1
    >>> campaign.status().tickets["open"]
    2
    """

    def __init__(self, name: str, storage: Storage) -> None:
        self.name = check_name(name)
        self.storage = storage
        self._lock = threading.RLock()
        self._run: Run | None = None
        self._version: int | None = None

    @classmethod
    def create(
        cls,
        name: str,
        arms: Sequence[str],
        n_clusters: int,
        *,
        storage: StorageLike = "sqlite:///linkarms.db",
        lease: float = _DAY,
        clock: Callable[[], float] | None = None,
        **settings: Unpack[Settings],
    ) -> Campaign:
        """Start a campaign.

        Parameters
        ----------
        name : str
            Letters, digits, ``.``, ``-`` and ``_``.
        arms : sequence of str
            The names of the arms.
        n_clusters : int
            K.
        storage : str, path or Storage, default "sqlite:///linkarms.db"
            A path, ``sqlite:///PATH`` or ``postgresql+psycopg://USER@HOST/DATABASE``. Never a file on a network share.
        lease : float, default one day
            Seconds until a ticket expires, unless `ask` says otherwise.
        clock : callable, optional
            Seconds since 1970, for tests; by default the machine's clock, or that of the PostgreSQL server.
        **settings
            ``n_features, family, delta, sampling, stopping, seed, max_samples`` as for `BanditClusterer`. Families and rules must be those
            of linkarms: only their names and numbers are stored, never code.
        """
        check_name(name)
        names, seconds = check_arms(arms), check_lease(lease)
        features = check_integer("n_features", settings.get("n_features", 1), 1)
        if features > LIMITS.features:
            raise TooLarge(f"n_features={features} is too many; a campaign takes at most {LIMITS.features}")
        clusterer = BanditClusterer(n_clusters, names, **settings)
        refuse_unstorable(clusterer, [settings.get("sampling"), settings.get("stopping")])
        config = to_json({"linkarms": __version__, "clusterer": clusterer.dump(), "lease": seconds})
        home = open_storage(storage, clock)
        first = Entry(1, home.now(), "create", None, None, None, config, "")
        first = first._replace(digest=chained("", first))
        home.create(name, config, Run(config).snapshot(), first)
        return cls(name, home)

    @classmethod
    def open(
        cls,
        name: str,
        storage: StorageLike = "sqlite:///linkarms.db",
        clock: Callable[[], float] | None = None,
    ) -> Campaign:
        """Go on with a campaign; `NotFound` if there is none of this name."""
        self = cls(name, open_storage(storage, clock))
        with self.storage.read(self.name) as reader:
            self._bring_up(reader.head)
        return self

    @staticmethod
    def names(storage: StorageLike = "sqlite:///linkarms.db") -> list[str]:
        """The names of the campaigns in a storage."""
        return open_storage(storage).names()

    def close(self) -> None:
        """Let go of the database; the object may be used again."""
        self.storage.close()

    def __enter__(self) -> Campaign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Campaign({self.name!r}, storage={self.storage!r})"

    def ask(
        self, n: int = 1, worker: str | None = None, *, lease: float | None = None, key: str | None = None
    ) -> list[Ticket]:
        """Tickets for the next ``n`` pulls; fewer where the budget ends, none once the campaign is done.

        Parameters
        ----------
        n : int
            How many.
        worker : str, optional
            Who will measure.
        lease : float, optional
            Seconds until they expire; by default the campaign's.
        key : str, optional
            Idempotency key: the same request with the same key gets the same tickets.
        """
        wanted = check_batch("n", n)
        seconds = None if lease is None else check_lease(lease)
        _check_optional(worker=worker, key=key)
        with self._change() as session:
            length = session.run.lease if seconds is None else seconds
            return _operations.ask(session, wanted, worker, length, key)

    def tell(self, ticket: Ticket | int, value: ArrayLike) -> Receipt:
        """Store the sample of a ticket.

        The same value again gets the same receipt and is counted once; another value is a `Conflict`. An expired ticket still takes its
        sample, once; a released one does not.
        """
        return self.tell_many([ticket], [value])[0]

    def tell_many(
        self, tickets: Sequence[Ticket | int], values: Sequence[ArrayLike], *, key: str | None = None
    ) -> list[Receipt]:
        """Store the samples of several tickets, in this order; all of them or, if one is refused, none."""
        ids, samples = [_number(t) for t in tickets], list(values)
        if len(ids) != len(samples):
            raise InvalidInput(
                f"there are {len(ids)} tickets and {len(samples)} values; give one value for each"
            )
        check_batch("the number of samples", len(ids))
        _check_optional(key=key)
        with self._change() as session:
            return _operations.tell(session, ids, samples, key)

    def add(
        self, arm: str, value: ArrayLike, *, worker: str | None = None, key: str | None = None
    ) -> Receipt:
        """Store a sample that nobody asked for. It counts, as long as nobody chose to report it because of its value."""
        return self.add_many([arm], [value], worker=worker, key=key)[0]

    def add_many(
        self,
        arms: Sequence[str],
        values: Sequence[ArrayLike],
        *,
        worker: str | None = None,
        key: str | None = None,
    ) -> list[Receipt]:
        """Store samples that nobody asked for, earlier measurements say; all of them or, if one is refused, none."""
        names, samples = list(arms), list(values)
        check_batch("the number of samples", len(names))
        _check_optional(worker=worker, key=key)
        with self._change() as session:
            return _operations.add(session, names, samples, worker, key)

    def release(self, ticket: Ticket | int) -> None:
        """Give a pull back that will not be measured: for a reason that has nothing to do with its value."""
        number = _number(ticket)
        with self._change() as session:
            _operations.release(session, number)

    def retract(self, ticket: Ticket | int, reason: str, *, progress: Watcher | None = None) -> None:
        """Take a sample out, as if it had never been told. The log keeps it, and the promise becomes conditional.

        Everything that was told before and after is counted anew, so that this may change an answer, also one that was final. It takes
        as long as a replay of the log; others can work meanwhile.
        """
        number, why = _number(ticket), check_text("reason", reason, LIMITS.reason)
        with self._lock:
            while not self._try_to_retract(number, why, progress):
                pass  # somebody else retracted a sample meanwhile: count anew

    def _try_to_retract(self, number: int, reason: str, progress: Watcher | None) -> bool:
        with self.storage.read(self.name) as reader:
            row = _operations.find_ticket({r.ticket: r for r in reader.tickets([number])}, number)
            if _is_retracted(row):
                return True
            seen = reader.head.version
            skip = {number, *_report.retracted(reader)}
            anew = Run(reader.head.config)
            anew.feed_log(_report.watched(reader.entries(kinds=("tell", "add")), seen, progress), skip)
        with self._change() as session:
            meanwhile = [e for e in session.tx.entries(after=seen) if e.seq <= session.tx.head.version]
            if any(e.kind == "retract" for e in meanwhile):
                return False
            anew.feed_log((e.body for e in meanwhile if e.kind in ("tell", "add")), skip)
            session.run.clusterer = anew.clusterer
            _operations.retract(session, row, reason)
        return True

    def status(self) -> Status:
        """How the campaign stands, in one consistent look."""
        with self._look() as (run, reader):
            return _report.status(run, reader)

    def result(self) -> Result:
        """The clusters as they are known now; after the stop, those of the stop. `Result.reason` names the conditions."""
        with self._look() as (run, reader):
            return _report.result(run, reader)

    def overview(self, recent: int = 20, tickets: int = 100) -> Overview:
        """Status, result, the newest samples and the open tickets, in one consistent look; for a page that shows them."""
        with self._look() as (run, reader):
            return overview(
                run, reader, check_integer("recent", recent, 0), check_integer("tickets", tickets, 0)
            )

    def history(self, after: int = 0, limit: int | None = None) -> list[Event]:
        """The log from entry ``after + 1`` on, at most ``limit`` entries."""
        start = check_integer("after", after, 0)
        most = None if limit is None else check_integer("limit", limit, 0)
        with self.storage.read(self.name) as reader:
            return _report.events(reader, start, most)

    def export(
        self,
        format: str,
        path: str | os.PathLike[str] | None = None,
        *,
        progress: Watcher | None = None,
    ) -> str | bytes | None:
        """All tickets as a table: ``ticket, arm, value, worker, told_at, state``; ``value_0, value_1, ...`` for vectors.

        Parameters
        ----------
        format : {"csv", "json", "parquet"}
            In CSV, cells that a spreadsheet would run begin with an apostrophe.
        path : str or path, optional
            Where to write it; it appears there whole or not at all. Without a path the text, or the bytes of Parquet, are returned.
        """
        with self._look() as (run, reader):
            return export_rows(run, reader, format, path, progress)

    def doctor(self, *, progress: Watcher | None = None) -> Checkup:
        """Replay the log and compare it with what is stored, bit for bit."""
        broken = self.storage.check()
        with self.storage.read(self.name) as reader:
            return examine(reader, broken, progress)

    @contextmanager
    def _change(self) -> Iterator[Session]:
        with self._lock:
            try:
                with self.storage.write(self.name, self._version) as tx:
                    session = Session.begin(tx, self._bring_up(tx.head))
                    yield session
                    session.finish()
                self._version = session.version
            except BaseException:
                self._version = None  # the run in memory may be ahead of what is stored
                raise

    @contextmanager
    def _look(self) -> Iterator[tuple[Run, Any]]:
        with self._lock, self.storage.read(self.name, self._version) as reader:
            yield self._bring_up(reader.head), reader

    def _bring_up(self, head: Head) -> Run:
        """The run at this version: the one in memory if it is there already, else from the snapshot."""
        if self._run is None:
            self._run, self._version = Run(head.config), None
        if self._version != head.version:
            self._version = None
            self._run.restore(head.snapshot)
            self._version = head.version
        return self._run


def _check_optional(**texts: str | None) -> None:
    for what, text in texts.items():
        if text is not None:
            check_text(what, text)


def _number(ticket: Ticket | int) -> int:
    number = ticket.id if isinstance(ticket, Ticket) else ticket
    return check_integer("ticket", number, 1, 2**63 - 1)


def _is_retracted(row: TicketRow) -> bool:
    if row.state not in (TOLD, RETRACTED):
        raise Conflict(
            f"ticket {row.ticket} is {row.state} and has no sample to retract; release gives an open one back"
        )
    return row.state == RETRACTED
