"""Computing for a campaign: bring its state up to the log and work out the figures, outside of every transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from typing import Any, NamedTuple, TypeVar

from linkarms.campaign._account import Account
from linkarms.campaign._figures import Figures
from linkarms.campaign._run import Run, Watcher, retracted
from linkarms.campaign._storage import FIGURES, STATE, Computed, Entry, Head, Reader, Storage, TicketRow
from linkarms.errors import StorageError

__all__ = ["PAGE", "Computer", "Standing", "advance", "read_page", "shown"]

#: Log entries that are read at once.
PAGE = 200
#: Figures that took at least this many seconds to compute are stored.
_SLOW = 0.2

T = TypeVar("T")


class Standing(NamedTuple):
    """A campaign as one read saw it.

    Attributes
    ----------
    head : Head
        Its head.
    account : Account
        Its tickets; those whose lease is over count as expired, even if that is not stored yet.
    overdue : list of TicketRow
        The tickets that have expired and are not stored as expired yet.
    now : int
        The time.
    """

    head: Head
    account: Account
    overdue: list[TicketRow]
    now: int

    @classmethod
    def of(cls, reader: Reader, n_arms: int) -> Standing:
        """Read it."""
        head, account = reader.head, Account.from_json(reader.head.account, n_arms)
        now = max(reader.now, head.at)
        bound = account.next_expiry
        rows = [] if bound is None or now < bound else reader.overdue(now)
        return cls(head, account.without(rows), rows, now)


class Computer:
    """Keeps the run of one campaign in memory, and the last figures.

    The log is read in pages, each in its own short read; together they are consistent, because entries never change. The
    computations happen between the reads. `lock` is held meanwhile: computations run one at a time, and nobody else waits.
    """

    def __init__(self, name: str, storage: Storage) -> None:
        self.name, self.storage = name, storage
        self.lock = threading.RLock()
        self._loading = threading.Lock()
        self._loaded: tuple[Run, Figures] | None = None
        self._lost = False
        self._figures: Figures | None = None
        self._slow: Figures | None = None

    @property
    def run(self) -> Run:
        """The run: its clusterer belongs to the thread that holds the lock, its settings never change."""
        return self._load()[0]

    def _load(self) -> tuple[Run, Figures]:
        """Return the run, and the figures before the first sample."""
        with self._loading:
            if self._loaded is None:
                with self.storage.read(self.name) as reader:
                    head = reader.head
                run = Run(head.config)
                Account.from_json(head.account, len(run.arms))
                self._loaded = run, Figures.of(run)
            return self._loaded

    def standing(self, reader: Reader) -> Standing:
        """Return the campaign as this read sees it."""
        return Standing.of(reader, len(self.run.arms))

    def last_figures(self, reader: Reader) -> Figures:
        """Return the newest figures there are, without computing any."""
        known = self._figures
        if known is None or reader.head.figures_version > known.version:
            stored = reader.computed(FIGURES)
            if stored is not None:
                found = Figures.read(stored)
                with self._loading:
                    if found.newer_than(self._figures):
                        self._figures = found
        return self._figures or self._load()[1]

    def catch_up(
        self, look: Callable[[Reader, Standing], T], progress: Watcher | None = None
    ) -> tuple[Standing, T]:
        """Bring the run to the end of the log as it is now, and return what was read there. The lock has to be held.

        Samples that are told during the computation have to wait for the next one: otherwise this might never end.
        """
        with self.storage.read(self.name, known=True) as reader:
            standing = self.standing(reader)
            seen = look(reader, standing)
            step = self._read_on(reader, standing)
        while not self._take(step, standing.head.version, progress):
            self.store_if_worth()
            with self.storage.read(self.name, known=True) as reader:
                step = self._read_on(reader, standing)
        return standing, seen

    def _read_on(self, reader: Reader, standing: Standing) -> _Step:
        """Read the state to continue from, and the entries that follow it."""
        run, last, retractions = self.run, standing.head.version, standing.account.retractions
        kinds = run.order.kinds
        astray = self._lost or run.retractions != retractions or run.version > last
        if not astray and reader.head.state_version <= run.version:
            return _Step(read_page(reader, kinds, run.version, last))
        stored = reader.computed(STATE)
        if stored is not None and (stored.retractions != retractions or stored.version > last):
            stored = None
        if not astray and (stored is None or stored.version <= run.version):
            return _Step(read_page(reader, kinds, run.version, last))
        skip = retracted(reader, last)
        return _Step(read_page(reader, kinds, 0 if stored is None else stored.version, last), skip, stored)

    def _take(self, step: _Step, last: int, progress: Watcher | None) -> bool:
        """Count what was read; return whether that was all up to entry ``last``."""
        run = self.run
        self._lost = True  # until all of it is counted
        if step.state is not None:
            run.restore(step.state, step.skip or ())
        elif step.skip is not None:
            run.begin_again(step.skip)
        run.feed(step.page, shown(progress, last))
        self._lost = False
        if len(step.page) < PAGE:
            run.version = last
        return run.version == last

    def figures(self) -> Figures:
        """Return the figures of the current run, computed if necessary. The lock has to be held."""
        run, known = self.run, self._figures
        if known is not None and known.counts == (run.retractions, run.order.told, run.order.released):
            return known
        began = time.monotonic()
        found = Figures.of(run)
        self._slow = found if time.monotonic() - began > _SLOW else None
        self._figures = found
        return found

    def worth_storing(self) -> list[Computed]:
        """Return what took long to compute and is not stored yet. The lock has to be held."""
        state = [self.run.state()] if self.run.worth_storing else []
        slow, self._slow = self._slow, None
        return state if slow is None else [*state, slow.computed()]

    def store_if_worth(self) -> None:
        """Store what was computed, if it took long; a failure does no harm."""
        computed = self.worth_storing()
        if computed:
            with suppress(StorageError):
                self.store(computed)

    def store(self, computed: list[Computed]) -> None:
        """Store what was computed, where it is newer than what is there."""
        with self.storage.write(self.name, known=True) as tx:
            for each in computed:
                tx.keep(each)


class _Step(NamedTuple):
    """Log entries, and where they begin: after this state, or at the beginning, without the tickets ``skip``; else where the run is."""

    page: list[Entry]
    skip: set[int] | None = None
    state: Computed | None = None


def read_page(reader: Reader, kinds: Sequence[str], after: int, last: int) -> list[Entry]:
    """Read some entries of these kinds that follow entry ``after``, up to entry ``last``; fewer than `PAGE` if these are all."""
    if after >= last:
        return []
    found = takewhile(lambda entry: entry.seq <= last, reader.entries(after, kinds))
    return list(islice(found, PAGE))


def advance(
    storage: Storage, name: str, run: Run, goal: int, progress: Watcher | None = None, last: int | None = None
) -> None:
    """Bring a run to entry ``goal``; ``last`` is the end for the progress that is shown."""
    while run.version < goal:
        with storage.read(name, known=True) as reader:
            page = read_page(reader, run.order.kinds, run.version, goal)
        run.feed(page, shown(progress, last or goal))
        if len(page) < PAGE:
            run.version = goal


def shown(progress: Watcher | None, last: int) -> Callable[[int], Any] | None:
    """Return a function that turns the number of an entry into progress."""
    if progress is None:
        return None
    return lambda seq: progress(seq / last, f"entry {seq:,} of {last:,}")
