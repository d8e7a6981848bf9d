"""`Campaign`: a clustering run in a database."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar, Unpack

from numpy.typing import ArrayLike

from linkarms._validate import check_count, check_integer
from linkarms._version import __version__
from linkarms.campaign import _operations, _report
from linkarms.campaign._account import Account
from linkarms.campaign._checks import read_fit
from linkarms.campaign._computer import Computer, Standing
from linkarms.campaign._doctor import examine
from linkarms.campaign._export import export_rows
from linkarms.campaign._figures import Figures
from linkarms.campaign._limits import LIMITS, check_arms, check_batch, check_lease, check_name, check_text
from linkarms.campaign._open import StorageLike, open_storage
from linkarms.campaign._overview import Overview, overview, see
from linkarms.campaign._propose import ask_for_tickets, retract_sample
from linkarms.campaign._records import Checkup, Event, Receipt, Status, Ticket
from linkarms.campaign._run import Watcher
from linkarms.campaign._session import Session, chained, to_json
from linkarms.campaign._settings import Settings, make_clusterer
from linkarms.campaign._storage import Entry, Reader, Storage
from linkarms.checks import Finding
from linkarms.errors import InvalidInput, LinkarmsError
from linkarms.result import Result

__all__ = ["Campaign"]

T = TypeVar("T")

_DAY = 86_400.0


def _nothing(reader: Reader, standing: Standing) -> Any:
    return None


class Campaign:
    """A clustering run in a database: shared by many workers, safe from crashes. Use `create` or `open`.

    An append-only log of what was asked and told is the truth. Whatever a method returned is stored. Clusters, evidence and the choice of
    arms are computed from the log when somebody asks or looks, outside of every transaction, and stored beside it, so the time to
    open a campaign does not depend on its length.

    One object may be used by several threads. Computations run one at a time; telling and adding do not wait for them. Any number of
    processes (with PostgreSQL, on any number of machines) may work on the same campaign, each with its own object.

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

    With ``in_order=True`` a sample waits until all earlier tickets are told or released:

    >>> lamps = la.campaign.Campaign.create("lamps", ["led", "neon", "arc"], 2, in_order=True, storage=path)
    >>> first, second = lamps.ask(2)
    >>> receipt = lamps.tell(second, 0.4)
    >>> status = lamps.status()
    >>> status.samples, status.held, status.awaited
    (0, {'neon': 1}, 1)
    >>> receipt = lamps.tell(first, 7.3)
    >>> lamps.status().samples
    2
    """

    def __init__(self, name: str, storage: Storage) -> None:
        self.name = check_name(name)
        self.storage = storage
        self._computer = Computer(name, storage)

    def __getstate__(self) -> NoReturn:
        raise LinkarmsError("a Campaign holds connections to its storage; open it again with Campaign.open")

    @classmethod
    def create(
        cls,
        name: str,
        arms: Sequence[str],
        n_clusters: int | None = None,
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
        n_clusters : int, optional
            K; without it, and without ``distance_threshold`` in the settings, the cut with the largest gap.
        storage : str, path or Storage, default "sqlite:///linkarms.db"
            A path, ``sqlite:///PATH`` or ``postgresql+psycopg://USER@HOST/DATABASE``. Never a file on a network share.
        lease : float, default one day
            Seconds until a ticket expires, unless `ask` says otherwise.
        clock : callable, optional
            Seconds since 1970, for tests; by default the machine's clock, or that of the PostgreSQL server.
        **settings
            ``n_features, family, delta, sampling, stopping, seed, max_samples, distance_threshold, tolerance, costs`` as for
            `BanditClusterer`, and ``clip`` as for `linkarms.cluster`: the log keeps what was measured. Families and rules must be
            those of linkarms: only their names and numbers are stored, never code. With ``in_order=True`` samples count in the
            order of asking: one that is told early is stored at once, and counts when every earlier ticket is told or released.
            The promise needs that where the time that a sample takes depends on its value.
        """
        check_name(name)
        names, seconds = check_arms(arms), check_lease(lease)
        clusterer, others = make_clusterer(n_clusters, names, settings)
        stored: dict[str, Any] = {"linkarms": __version__, "clusterer": clusterer.dump(), "lease": seconds}
        config = to_json(stored | others)
        opened = open_storage(storage, clock)
        first = Entry(1, opened.now(), "create", None, None, None, config, "")
        first = first._replace(digest=chained("", first))
        opened.create(name, config, Account(pending=[0] * len(names)).to_json(), first)
        return cls(name, opened)

    @classmethod
    def open(
        cls,
        name: str,
        storage: StorageLike = "sqlite:///linkarms.db",
        clock: Callable[[], float] | None = None,
    ) -> Campaign:
        """Open an existing campaign; `NotFound` if there is none of this name."""
        self = cls(name, open_storage(storage, clock))
        _ = self._computer.run  # damage is found now
        return self

    @staticmethod
    def names(storage: StorageLike = "sqlite:///linkarms.db") -> list[str]:
        """Return the names of the campaigns in a storage."""
        return open_storage(storage).names()

    def close(self) -> None:
        """Close the database; the object may be used again."""
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
        """Return tickets for the next ``n`` pulls; fewer when the budget runs out, none once the campaign is done.

        Samples that came since the last ``ask`` are taken into account first.

        Parameters
        ----------
        n : int
            How many.
        worker : str, optional
            Who will measure.
        lease : float, optional
            Seconds until the tickets expire; by default the lease of the campaign.
        key : str, optional
            Idempotency key: the same request with the same key gets the same tickets.
        """
        wanted = check_batch("n", n)
        seconds = None if lease is None else check_lease(lease)
        _check_optional(worker=worker, key=key)
        length = self._computer.run.lease if seconds is None else seconds
        return ask_for_tickets(self._computer, self._change, wanted, worker, length, key)

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
        check = self._computer.run.check_samples
        with self._change() as session:
            return _operations.tell(session, check, ids, samples, key)

    def add(
        self, arm: str, value: ArrayLike, *, worker: str | None = None, key: str | None = None
    ) -> Receipt:
        """Store a sample that was not asked for. It counts, as long as nobody chose to report it because of its value."""
        return self.add_many([arm], [value], worker=worker, key=key)[0]

    def add_many(
        self,
        arms: Sequence[str],
        values: Sequence[ArrayLike],
        *,
        worker: str | None = None,
        key: str | None = None,
    ) -> list[Receipt]:
        """Store samples that were not asked for, such as earlier measurements; all of them or, if one is refused, none.

        With ``in_order=True`` this is a `Conflict`: they have no place in the order of asking.
        """
        names, samples = list(arms), list(values)
        check_batch("the number of samples", len(names))
        _check_optional(worker=worker, key=key)
        indices, checked = self._computer.run.check_samples(names, samples)
        with self._change() as session:
            return _operations.add(session, indices, checked.tolist(), worker, key)

    def release(self, ticket: Ticket | int) -> None:
        """Give back a ticket that will not be measured, for a reason that has nothing to do with its value.

        With ``in_order=True``, how long it took is not such a reason. Later samples wait for an expired ticket until it is released.
        """
        number = _number(ticket)
        with self._change() as session:
            _operations.release(session, number)

    def retract(self, ticket: Ticket | int, reason: str, *, progress: Watcher | None = None) -> None:
        """Remove a sample, as if it had never been told. The log keeps it, and the promise becomes conditional.

        All other samples are counted again, so this may change even a final answer. It takes as long as a replay of the log; others
        can work meanwhile.
        """
        number, why = _number(ticket), check_text("reason", reason, LIMITS.reason)
        retract_sample(self._computer, self._change, number, why, progress)

    def status(self, *, wait: bool = True) -> Status:
        """Return the state of the campaign.

        Parameters
        ----------
        wait : bool, default True
            Count all samples first. If False, nothing is computed: the tickets are current, the rest comes from the last
            computation, and `Status.age` says how old that is. See `compute`.
        """
        standing, figures, _ = self._look(wait)
        return _report.status(self._computer.run, standing, figures)

    def result(self, *, wait: bool = True) -> Result:
        """Return the clusters as they are known now; after the stop, those of the stop. `Result.reason` names the conditions.

        ``wait`` as for `status`.
        """
        standing, figures, _ = self._look(wait)
        return _report.result(self._computer.run, standing.account, figures)

    def overview(self, recent: int = 20, tickets: int = 100, *, wait: bool = True) -> Overview:
        """Return status, result, the newest samples and the open tickets, all of the same moment; for a page that shows them.

        ``wait`` as for `status`.
        """
        run, samples, most = (
            self._computer.run,
            check_count("recent", recent, 0),
            check_count("tickets", tickets, 0),
        )
        standing, figures, seen = self._look(
            wait, lambda reader, standing: see(run, reader, standing, samples, most)
        )
        return overview(run, standing, figures, seen)

    def compute(self, *, progress: Watcher | None = None) -> Status:
        """Count all samples and store the results, so ``status(wait=False)`` finds them, here and in other processes.

        This may take long. The database is not locked meanwhile. On this object, `ask` and calls with ``wait=True`` have to wait, so a
        service computes with a separate object. If ``progress`` raises, the computation ends there.
        """
        computer = self._computer
        with computer.lock:
            standing, _ = computer.catch_up(lambda reader, _: computer.last_figures(reader), progress)
            figures = computer.figures()
            if figures.version > standing.head.figures_version:
                computer.store([*computer.worth_storing(), figures.computed()])
        return _report.status(computer.run, standing, figures)

    def check_model(self) -> tuple[Finding, ...]:
        """Return findings about stored samples that contradict the family, with what they mean and what to use instead.

        This reads all tickets, and checks the first 2,000 samples of each arm. See `linkarms.checks`.
        """
        with self.storage.read(self.name, known=True) as reader:
            fit = read_fit(self._computer.run, reader)
        return fit.findings

    def history(self, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return the log from entry ``after + 1`` on, at most ``limit`` entries."""
        start = check_count("after", after, 0)
        most = None if limit is None else check_count("limit", limit, 0)
        with self.storage.read(self.name) as reader:
            return _report.events(reader, start, most)

    def export(
        self,
        format: str,
        path: str | os.PathLike[str] | None = None,
        *,
        progress: Watcher | None = None,
    ) -> str | bytes | None:
        """Return all tickets as a table: ``ticket, arm, value, worker, told_at, state``; ``value_0, value_1, ...`` for vectors.

        Parameters
        ----------
        format : {"csv", "json", "parquet"}
            In CSV, cells that a spreadsheet would run begin with an apostrophe.
        path : str or path, optional
            Where to write it; the file is written completely or not at all. Without a path the text, or the bytes of Parquet, are returned.
        """
        computer = self._computer
        run = computer.run
        with self.storage.read(self.name, known=True) as reader:
            return export_rows(run, reader, computer.standing(reader), format, path, progress)

    def doctor(self, *, repair: bool = False, progress: Watcher | None = None) -> Checkup:
        """Replay the log and compare it with what is stored, bit for bit.

        Parameters
        ----------
        repair : bool, default False
            Rebuild what differs from the log, if the log itself is intact.
        progress : callable, optional
            Called with the share that is done, and a text.
        """
        return examine(self.name, self.storage, repair, progress)

    @contextmanager
    def _change(self) -> Iterator[Session]:
        run = self._computer.run
        with self.storage.write(self.name, known=True) as tx:
            session = Session.begin(tx, run.arms, run.order.in_order)
            yield session
            session.finish()

    def _look(
        self, wait: bool, look: Callable[[Reader, Standing], T] = _nothing
    ) -> tuple[Standing, Figures, T]:
        """Read the campaign, with figures that are up to date or, unless ``wait``, the last ones."""
        computer = self._computer
        if not wait:
            _ = computer.run
            with self.storage.read(self.name, known=True) as reader:
                standing = computer.standing(reader)
                return standing, computer.last_figures(reader), look(reader, standing)
        with computer.lock:
            standing, (_, seen) = computer.catch_up(
                lambda reader, standing: (computer.last_figures(reader), look(reader, standing))
            )
            figures = computer.figures()
            computer.store_if_worth()
        return standing, figures, seen


def _check_optional(**texts: str | None) -> None:
    for what, text in texts.items():
        if text is not None:
            check_text(what, text)


def _number(ticket: Ticket | int) -> int:
    number = ticket.id if isinstance(ticket, Ticket) else ticket
    return check_integer("ticket", number, 1, 2**63 - 1)
