"""The storage contract: what a campaign needs from a database, and the records that pass between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

__all__ = [
    "FIGURES",
    "OPEN",
    "STATE",
    "STATES",
    "Computed",
    "Entry",
    "Head",
    "Reader",
    "Storage",
    "TicketRow",
    "Transaction",
]

#: The states of a ticket.
STATES = ("open", "told", "released", "expired", "retracted")
OPEN, TOLD, RELEASED, EXPIRED, RETRACTED = STATES
#: What is computed from the log: the state of the clusterer, and the figures that reports show.
STATE, FIGURES = "state", "figures"


class Head(NamedTuple):
    """The head of a campaign: its current version.

    Attributes
    ----------
    name : str
        Its name, unique in the storage.
    version : int
        The number of its last log entry.
    at, created_at : int
        Time of the last entry and of the first, in microseconds since 1970 (UTC).
    digest : str
        The last link of the log's chain of digests.
    config : str
        What never changes: JSON. Empty where the reader said that it knows the campaign.
    account : str
        How many tickets there are and in which states, at this version: JSON.
    state_version, figures_version : int
        The last log entries that the stored `Computed` of these kinds include; 0 where there is none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=storage)
    >>> with storage.read("lab") as reader:
    ...     reader.head.name, reader.head.version
    ('lab', 1)
    """

    name: str
    version: int
    at: int
    created_at: int
    digest: str
    config: str
    account: str
    state_version: int
    figures_version: int


class Computed(NamedTuple):
    """A result that takes long to compute from the log. It may be older than the head, or missing.

    Attributes
    ----------
    kind : str
        `STATE` or `FIGURES`.
    retractions, version : int
        It includes the log entries up to ``version``, without the samples of the first ``retractions`` retractions. One result is
        newer than another if this pair is larger.
    at : int
        The time of the last of these samples, in microseconds since 1970 (UTC).
    body : str
        JSON.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=storage)
    >>> status = lab.compute()
    >>> with storage.read("lab") as reader:
    ...     reader.computed("figures").version
    1
    """

    kind: str
    retractions: int
    version: int
    at: int
    body: str


class Entry(NamedTuple):
    """One entry of the log: what happened, never changed afterwards.

    Attributes
    ----------
    seq : int
        1, 2, 3, ... without a gap.
    at : int
        When, in microseconds since 1970 (UTC); never before the entry above it, unless it is of the kind clock.
    kind : str
        create, ask, tell, add, release, expire, retract or clock.
    worker, key, request : str or None
        Who asked; the idempotency key, unique in the campaign; a digest of the request that came with the key.
    body : str
        What happened: JSON.
    digest : str
        A digest of this entry and of the one before it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=storage)
    >>> with storage.read("lab") as reader:
    ...     [(entry.seq, entry.kind) for entry in reader.entries()]
    [(1, 'create')]
    """

    seq: int
    at: int
    kind: str
    worker: str | None
    key: str | None
    request: str | None
    body: str
    digest: str


class TicketRow(NamedTuple):
    """A ticket in its current state. What is not known yet is None.

    Attributes
    ----------
    ticket, arm : int
        Its number, 1, 2, 3, ... in the campaign, and the index of its arm.
    worker : str or None
        Who has it.
    state : str
        One of `STATES`.
    expires_at : int or None
        End of the lease, in microseconds since 1970 (UTC); None for a sample that was not asked for.
    value : str or None
        The sample: a JSON list of numbers.
    told_at, number : int or None
        When it was told, and as which sample of the campaign: 1, 2, 3, ...

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=storage)
    >>> receipt = lab.add("ben", 0.25)
    >>> with storage.read("lab") as reader:
    ...     [(row.ticket, row.arm, row.state, row.value) for row in reader.tickets()]
    [(1, 1, 'told', '[0.25]')]
    """

    ticket: int
    arm: int
    worker: str | None
    state: str
    expires_at: int | None
    value: str | None = None
    told_at: int | None = None
    number: int | None = None


class Reader(ABC):
    """One consistent view of one campaign: nothing that others commit meanwhile is seen.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=storage)
    >>> tickets = lab.ask(2)
    >>> with storage.read("lab") as reader:
    ...     len(list(reader.entries())), [row.state for row in reader.tickets()]
    (2, ['open', 'open'])
    """

    head: Head
    #: The storage's clock, in microseconds since 1970 (UTC): one clock for all who share the storage.
    now: int

    @abstractmethod
    def entries(self, after: int = 0, kinds: Sequence[str] | None = None) -> Iterator[Entry]:
        """Yield log entries with ``seq > after``, of these kinds or of all, in order; not all in memory at once."""

    @abstractmethod
    def find_key(self, key: str) -> Entry | None:
        """Return the entry with this idempotency key."""

    @abstractmethod
    def tickets(self, numbers: Iterable[int] | None = None) -> Iterator[TicketRow]:
        """Return these tickets as far as they exist, or all; by number."""

    @abstractmethod
    def overdue(self, at: int) -> list[TicketRow]:
        """Open tickets with ``expires_at <= at``, by number."""

    @abstractmethod
    def next_expiry(self) -> int | None:
        """Return the earliest ``expires_at`` of an open ticket."""

    @abstractmethod
    def computed(self, kind: str) -> Computed | None:
        """Return what was last computed of this kind."""


class Transaction(Reader):
    """The only writer of one campaign: everything below happens at the commit, or nothing does.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=storage)
    >>> with storage.write("lab") as transaction:
    ...     transaction.head.version, transaction.next_expiry()
    (1, None)
    """

    @abstractmethod
    def append(self, entry: Entry) -> None:
        """Add to the log. A number or a key that is taken is a `Conflict`."""

    @abstractmethod
    def insert_tickets(self, rows: Sequence[TicketRow]) -> None:
        """Add new tickets."""

    @abstractmethod
    def update_tickets(self, rows: Sequence[TicketRow]) -> None:
        """Set state, value, told_at and number of tickets that exist; the rest does not change here."""

    @abstractmethod
    def shift_leases(self, by: int) -> None:
        """Add so many microseconds to ``expires_at`` of every open ticket: a clock was set."""

    @abstractmethod
    def save(self, version: int, at: int, digest: str, account: str) -> None:
        """Move the head on. It is a `StorageError` if the head is not at ``self.head.version`` any more."""

    @abstractmethod
    def keep(self, computed: Computed) -> bool:
        """Store what was computed, unless what is stored of this kind is as new or newer; say whether it was stored."""

    @abstractmethod
    def rebuild(self, config: str, account: str, rows: Sequence[TicketRow], unknown: Sequence[int]) -> None:
        """Replace config, account and these tickets, remove the tickets ``unknown`` and everything computed: a repair from the log."""


class Storage(ABC):
    """Stores campaigns. A storage for another database fulfils this contract, and `conformance.check_storage` tests it.

    1. **Atomic and durable.** What happens inside ``write`` is stored as a whole when the block ends, and on disk before it returns;
       if the block raises, or the process is killed in it, nothing of it is stored.
    2. **One writer per campaign.** A second ``write`` of the same campaign, by whatever thread, process or machine, waits until the first
       one has ended, 30 seconds or more, and then sees all that the first one wrote. Readers neither wait nor make others wait for long.
    3. **Short transactions.** linkarms computes nothing inside ``write``: no estimate, no evidence, no choice of an arm. A storage may
       therefore end the transaction of a client that has been silent for some seconds, and should where clients are on other machines.
    4. **Consistent reads.** A ``read`` sees one committed state from its beginning to its end.
    5. **Append-only.** Log entries are never changed or removed. Numbers and keys are unique in a campaign.
    6. **Computed texts never go back.** ``keep`` stores what is newer than what is there, and nothing else. It may be missing, or
       older than the head: it follows from the log, and is computed again where it is not there.
    7. **Exact.** Texts come back as they went in, character for character, and integers of 64 bits exactly.
    8. **One clock.** ``now`` comes from one clock for all who share the storage. It may be set: campaigns notice.
    9. **Thread-safe.** One object may be used by several threads. After a fork the child may use it too.
    10. **Errors.** `NotFound` for a campaign that does not exist, `Conflict` for a name, number or key that is taken, `NewerSchema`
        for a database of a newer linkarms, `StorageError` for everything else; no password in any message.

    What the texts mean is not the storage's business.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=storage)
    >>> isinstance(storage, la.campaign.Storage), storage.names(), storage.check()
    (True, ['lab'], None)
    >>> storage.close()
    """

    @abstractmethod
    def now(self) -> int:
        """Return the clock, in microseconds since 1970 (UTC)."""

    @abstractmethod
    def create(self, name: str, config: str, account: str, first: Entry) -> None:
        """Store a new campaign with the first entry of its log. A name that is taken is a `Conflict`."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of all campaigns, sorted."""

    @abstractmethod
    def read(self, name: str, known: bool = False) -> AbstractContextManager[Reader]:
        """Read a campaign; if its config is ``known``, the head comes without it."""

    @abstractmethod
    def write(self, name: str, known: bool = False) -> AbstractContextManager[Transaction]:
        """Change a campaign; ``known`` as for `read`."""

    @abstractmethod
    def check(self) -> str | None:
        """Return what the database itself finds wrong with its files, in words; None if nothing."""

    @abstractmethod
    def close(self) -> None:
        """Close files and connections. If the object is used again, it opens them again."""
