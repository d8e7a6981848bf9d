"""What the conformance checks share, and those about what is computed from the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from linkarms.campaign._storage import (
    FIGURES,
    OPEN,
    RELEASED,
    STATE,
    Computed,
    Entry,
    Storage,
    TicketRow,
    Transaction,
)
from linkarms.errors import LinkarmsError

__all__ = [
    "BIG",
    "TEXT",
    "Make",
    "NotConforming",
    "a_repair_replaces_what_it_should",
    "advance",
    "computed_texts_never_go_back",
    "create",
    "demand",
    "entry",
    "leases_are_shifted",
    "refused",
]

Make = Callable[[], Storage]

#: Texts and numbers that must come back as they went in.
TEXT = "tab\t, quote ', double \", back\\slash, newline\n, αβγ, 🍐, 0.1000000000000000055"
BIG = 2**62 + 1


class NotConforming(LinkarmsError, AssertionError):
    """A storage that does not keep the contract; the message says which part.

    Examples
    --------
    >>> from linkarms.campaign.conformance import NotConforming
    >>> issubclass(NotConforming, AssertionError)
    True
    """


def demand(true: bool, what: str) -> None:
    """Fail with this message unless the condition is true."""
    if not true:
        raise NotConforming(what)


@contextmanager
def refused(kind: type[Exception], what: str) -> Iterator[None]:
    """Fail unless the block raises this error."""
    try:
        yield
    except kind:
        return
    raise NotConforming(f"{what} was not refused with {kind.__name__}")


def entry(seq: int, key: str | None = None, kind: str = "tell") -> Entry:
    """Return an entry of the log."""
    return Entry(seq, 1_000 + seq, kind, None, key, None, "{}", f"d{seq}")


def create(storage: Storage, name: str) -> None:
    """Create a campaign."""
    storage.create(name, "config", "account 1", entry(1, kind="create"))


def advance(tx: Transaction, key: str | None = None) -> int:
    """Add one more entry, as every change of a campaign does."""
    seq = tx.head.version + 1
    tx.append(entry(seq, key))
    tx.save(seq, 1_000 + seq, f"d{seq}", f"account {seq}")
    return seq


def computed_texts_never_go_back(make: Make) -> None:
    """What is computed is only replaced by something newer."""
    storage = make()
    for name in ("computed", "computed-2"):
        create(storage, name)
    with storage.read("computed") as reader:
        demand(reader.computed(STATE) is None, "something is computed in a new campaign")
        demand(reader.head.state_version == 0 == reader.head.figures_version, "a version is not 0")
    steps = (
        (0, 5, True),
        (0, 5, False),
        (0, 4, False),
        (0, 9, True),
        (1, 3, True),
        (0, 99, False),
        (1, 4, True),
    )
    for i, (retractions, version, newer) in enumerate(steps):
        given = Computed(STATE, retractions, version, BIG, f"{TEXT} {i}")
        with storage.write("computed", True) as tx:
            demand(tx.keep(given) is newer, f"keep says {not newer} for {retractions}, {version}")
        with make().read("computed") as reader:
            demand(
                (reader.computed(STATE) == given) is newer, f"keep is wrong about {retractions}, {version}"
            )
    with storage.read("computed") as reader:
        demand(reader.head[-2:] == (4, 0), "the versions of what is computed are wrong")
        demand(reader.computed(FIGURES) is None, "one kind stands for another")
    with storage.read("computed-2") as reader:
        demand(reader.computed(STATE) is None, "one campaign has what another one computed")
    with refused(ZeroDivisionError, "an error"), storage.write("computed") as tx:
        tx.keep(Computed(FIGURES, 1, 9, 0, "x"))
        raise ZeroDivisionError
    with storage.read("computed") as reader:
        demand(reader.computed(FIGURES) is None, "a failed transaction left something computed behind")


def leases_are_shifted(make: Make) -> None:
    """Only the open leases of one campaign move."""
    storage = make()
    for name in ("leases", "leases-2"):
        create(storage, name)
        with storage.write(name) as tx:
            tx.insert_tickets([TicketRow(1, 0, None, OPEN, BIG), TicketRow(2, 0, None, RELEASED, BIG)])
    with storage.write("leases") as tx:
        tx.shift_leases(-7)
    for name, end in (("leases", BIG - 7), ("leases-2", BIG)):
        with make().read(name) as reader:
            ends = [row.expires_at for row in reader.tickets()]
            demand(ends == [end, BIG], f"shift_leases gives {ends}")


def a_repair_replaces_what_it_should(make: Make) -> None:
    """A repair replaces what it is given, and nothing else."""
    storage = make()
    rows = [TicketRow(i, i % 3, None, OPEN, 10 * i) for i in range(1, 6)]
    for name in ("repair", "repair-2"):
        create(storage, name)
        with storage.write(name) as tx:
            tx.insert_tickets(rows)
            tx.keep(Computed(STATE, 0, 1, 5, "damaged"))
    right = [rows[1]._replace(arm=9, worker=TEXT, expires_at=3), TicketRow(7, 0, None, OPEN, 70)]
    with storage.write("repair") as tx:
        tx.rebuild("config 2", "account 2", right, [3, 4])
    with make().read("repair") as reader:
        head = reader.head
        demand((head.version, head.config, head.account) == (1, "config 2", "account 2"), "the head is wrong")
        demand(reader.computed(STATE) is None, "what was computed is still there")
        demand(list(reader.tickets()) == [rows[0], right[0], rows[4], right[1]], "the tickets are wrong")
        demand(len(list(reader.entries())) == 1, "the log was changed")
    with make().read("repair-2") as reader:
        demand(list(reader.tickets()) == rows, "another campaign was changed")
        demand(reader.computed(STATE) is not None, "another campaign was changed")
