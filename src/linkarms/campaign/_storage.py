"""The storage contract: what a campaign needs from a database, and the records that pass between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

__all__ = ["OPEN", "STATES", "Entry", "Head", "Reader", "Storage", "TicketRow", "Transaction"]

#: The states of a ticket.
STATES = ("open", "told", "released", "expired", "retracted")
OPEN, TOLD, RELEASED, EXPIRED, RETRACTED = STATES


class Head(NamedTuple):
    """A campaign as it stands.

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
        What never changes: JSON.
    snapshot : str
        What the log adds up to: JSON. Empty where the reader said that it knows this version.
    """

    name: str
    version: int
    at: int
    created_at: int
    digest: str
    config: str
    snapshot: str


class Entry(NamedTuple):
    """One entry of the log: what happened, never changed afterwards.

    Attributes
    ----------
    seq : int
        1, 2, 3, ... without a gap.
    at : int
        When, in microseconds since 1970 (UTC); never before the entry above it.
    kind : str
        create, ask, tell, add, release, expire or retract.
    worker, key, request : str or None
        Who asked; the idempotency key, unique in the campaign; a digest of the request that came with the key.
    body : str
        What happened: JSON.
    digest : str
        A digest of this entry and of the one before it.
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
    """A ticket as it stands. What is not known yet is None.

    Attributes
    ----------
    ticket, arm : int
        Its number, 1, 2, 3, ... in the campaign, and the index of its arm.
    worker : str or None
        Who has it.
    state : str
        One of `STATES`.
    expires_at : int or None
        End of the lease, in microseconds since 1970 (UTC); None for a sample that nobody asked for.
    value : str or None
        The sample: a JSON list of numbers.
    told_at, number : int or None
        When it was told, and as which sample of the campaign: 1, 2, 3, ...
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
    """One consistent view of one campaign: nothing that others commit meanwhile is seen."""

    head: Head
    #: The storage's clock, in microseconds since 1970 (UTC): one clock for all who share the storage.
    now: int

    @abstractmethod
    def entries(self, after: int = 0, kinds: Sequence[str] | None = None) -> Iterator[Entry]:
        """Log entries with ``seq > after``, of these kinds or of all, in order; not all in memory at once."""

    @abstractmethod
    def find_key(self, key: str) -> Entry | None:
        """The entry with this idempotency key."""

    @abstractmethod
    def tickets(self, numbers: Iterable[int] | None = None) -> Iterator[TicketRow]:
        """These tickets as far as they exist, or all; by number."""

    @abstractmethod
    def overdue(self, at: int) -> list[TicketRow]:
        """Open tickets with ``expires_at <= at``, by number."""

    @abstractmethod
    def next_expiry(self) -> int | None:
        """The earliest ``expires_at`` of an open ticket."""


class Transaction(Reader):
    """The only writer of one campaign: everything below happens at the commit, or nothing does."""

    @abstractmethod
    def append(self, entry: Entry) -> None:
        """Add to the log. A number or a key that is taken is a `Conflict`."""

    @abstractmethod
    def insert_tickets(self, rows: Sequence[TicketRow]) -> None:
        """Add new tickets."""

    @abstractmethod
    def update_tickets(self, rows: Sequence[TicketRow]) -> None:
        """Set state, value, told_at and number of tickets that exist; the rest never changes."""

    @abstractmethod
    def save(self, version: int, at: int, digest: str, snapshot: str) -> None:
        """Move the head on. It is a `StorageError` if the head is not at ``self.head.version`` any more."""


class Storage(ABC):
    """Keeps campaigns. Whoever writes one for another database keeps this contract, and `conformance.check_storage` tests it.

    1. **Atomic and durable.** What happens inside ``write`` is stored as a whole when the block ends, and on disk before it returns;
       if the block raises, or the process is killed in it, nothing of it is stored.
    2. **One writer a campaign.** A second ``write`` of the same campaign, by whatever thread, process or machine, waits until the first
       one has ended, 30 seconds or more, and then sees all that the first one wrote. Readers neither wait nor make others wait for long.
    3. **Consistent reads.** A ``read`` sees one committed state from its beginning to its end.
    4. **Append-only.** Log entries are never changed or removed. Numbers and keys are unique in a campaign.
    5. **Exact.** Texts come back as they went in, character for character, and integers of 64 bits exactly.
    6. **One clock.** ``now`` comes from one clock for all who share the storage.
    7. **Thread-safe.** One object may be used by several threads. After a fork the child may use it too.
    8. **Errors.** `NotFound` for a campaign that does not exist, `Conflict` for a name, number or key that is taken, `NewerSchema`
       for a database of a newer linkarms, `StorageError` for everything else; no password in any message.

    What the texts mean is not the storage's business.
    """

    @abstractmethod
    def now(self) -> int:
        """The clock, in microseconds since 1970 (UTC)."""

    @abstractmethod
    def create(self, name: str, config: str, snapshot: str, first: Entry) -> None:
        """A new campaign with the first entry of its log. A name that is taken is a `Conflict`."""

    @abstractmethod
    def names(self) -> list[str]:
        """The names of all campaigns, sorted."""

    @abstractmethod
    def read(self, name: str, known: int | None = None) -> AbstractContextManager[Reader]:
        """Look at a campaign. At version ``known`` the head comes without its snapshot."""

    @abstractmethod
    def write(self, name: str, known: int | None = None) -> AbstractContextManager[Transaction]:
        """Change a campaign. At version ``known`` the head comes without its snapshot."""

    @abstractmethod
    def check(self) -> str | None:
        """What the database itself finds wrong with its files, in words; None if nothing."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections. The object may be used again and then opens them anew."""
