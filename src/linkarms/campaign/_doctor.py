"""Replay the log and compare: what is stored must be what follows from it, bit for bit. What differs can be rebuilt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from linkarms._version import __version__
from linkarms.campaign._computer import advance
from linkarms.campaign._figures import Figures
from linkarms.campaign._ledger import DamagedLog, Ledger
from linkarms.campaign._records import Checkup
from linkarms.campaign._run import Run, Watcher
from linkarms.campaign._storage import FIGURES, STATE, Computed, Head, Reader, Storage, TicketRow
from linkarms.errors import LinkarmsError, StorageError

__all__ = ["examine"]

#: How often a repair starts again because somebody changed the campaign meanwhile.
_TRIES = 5
#: Errors that damaged data may raise.
_WRONG = (LinkarmsError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError)


@dataclass
class _Findings:
    """What an examination of a campaign found.

    ``broken`` is what cannot be rebuilt: the log or the database itself is damaged, or another version computed something else from an
    intact log. ``differs`` is what can be rebuilt. Each is the first thing of its kind.
    """

    head: Head
    ledger: Ledger
    computed: list[Computed]
    broken: str | None = None
    differs: str | None = None
    wrong: list[TicketRow] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    computed_by: str | None = None

    @property
    def difference(self) -> str | None:
        """The first thing that is wrong, with the versions involved."""
        found = self.broken or self.differs
        maker, did = (
            (self.computed_by, "computed it")
            if self.computed_by
            else (_maker(self.ledger.config), "created the campaign")
        )
        if found is None or maker in (None, __version__):
            return found
        return f"{found} (linkarms {maker} {did} and this is {__version__}; see Changed decisions in its changelog)"


def examine(name: str, storage: Storage, repair: bool = False, progress: Watcher | None = None) -> Checkup:
    """Check one campaign; repair it if that is requested, needed and possible.

    Parameters
    ----------
    name, storage : str, Storage
        The campaign.
    repair : bool
        Rebuild what differs from the log, if the log itself is intact.
    progress : callable, optional
        Called with the share that is done, and a text.
    """
    for _ in range(_TRIES):
        found, run = _findings(name, storage, progress)
        repaired = False
        if repair and run is not None and found.differs is not None and found.broken is None:
            repaired = _repair(name, storage, found, run)
            if not repaired:
                continue
        ledger = found.ledger
        ok = repaired or found.difference is None
        return Checkup(
            ok, ledger.entries, ledger.account.told, len(ledger.tickets), found.difference, repaired
        )
    raise StorageError(f"others keep changing the campaign {name!r}; stop them and repair it again")


def _findings(name: str, storage: Storage, progress: Watcher | None) -> tuple[_Findings, Run | None]:
    """Read everything in one transaction, then count the samples again."""
    fault = storage.check()
    ledger, run = Ledger(), None
    with storage.read(name) as reader:
        stored = [reader.computed(kind) for kind in (STATE, FIGURES)]
        kept = [computed for computed in stored if computed is not None]
        found = _Findings(reader.head, ledger, sorted(kept, key=lambda computed: computed.version))
        found.broken = None if fault is None else f"the database finds: {fault}"
        try:
            if found.broken is None:
                _read_log(reader, ledger, progress)
                _compare_head(found)
                _compare_tickets(reader, found)
        except DamagedLog as error:
            found.broken = str(error)
        except _WRONG as error:
            found.broken = _not_replayed(ledger.entries, error)
    if found.broken is None:
        try:
            run = _count_again(name, storage, found, progress)
        except _WRONG as error:
            found.broken = _not_replayed(ledger.entries, error)
    return found, run


def _read_log(reader: Reader, ledger: Ledger, progress: Watcher | None) -> None:
    last = max(reader.head.version, 1)
    for entry in reader.entries():
        ledger.take(entry)
        if progress is not None:
            progress(0.5 * entry.seq / last, f"entry {entry.seq:,} of {last:,}")
    ledger.close()


def _compare_head(found: _Findings) -> None:
    head, ledger = found.head, found.ledger
    for what, stored, follows in (
        ("the number of log entries", head.version, ledger.entries),
        ("the time of the last entry", head.at, ledger.at),
        ("the digest of the log", head.digest, ledger.digest),
    ):
        if stored != follows:
            raise DamagedLog(f"{what}: {stored} is stored, the log gives {follows}")
    if head.config != ledger.config:
        found.differs = "the settings differ from those in the first log entry"
    found.differs = found.differs or _account_differs(found)


def _account_differs(found: _Findings) -> str | None:
    follows = json.loads(found.ledger.account.to_json())
    earliest = follows.pop("next_expiry")
    try:
        stored = json.loads(found.head.account)
        bound = stored.pop("next_expiry")
    except _WRONG as error:
        return f"the account of the tickets cannot be read ({error})"
    difference = next(_unequal("account", stored, follows), None)
    # this bound only saves a search, and may be lower than necessary
    if difference is None and earliest is not None and (type(bound) is not int or bound > earliest):
        return f"account.next_expiry: {bound} is stored, and a ticket expires at {earliest}"
    return difference


def _compare_tickets(reader: Reader, found: _Findings) -> None:
    left, differs = dict(found.ledger.tickets), None
    for row in reader.tickets():
        expected = left.pop(row.ticket, None)
        if expected is None:
            found.unknown.append(row.ticket)
            differs = differs or f"ticket {row.ticket} is stored, and the log does not know it"
        elif row != expected:
            found.wrong.append(expected)
            name = next(n for n in row._fields if getattr(row, n) != getattr(expected, n))
            differs = differs or (
                f"ticket {row.ticket}, {name}: {getattr(row, name)!r} is stored, the log gives {getattr(expected, name)!r}"
            )
    for ticket, expected in left.items():
        found.wrong.append(expected)
        differs = differs or f"ticket {ticket} is in the log, and it is not stored"
    found.differs = found.differs or differs


def _count_again(name: str, storage: Storage, found: _Findings, progress: Watcher | None) -> Run:
    """Compute the run from the log, and compare what was computed before on the way."""
    ledger, last = found.ledger, found.head.version
    run = Run(ledger.config)
    run.begin_again(ledger.retracted)

    def second_half(part: float, text: str) -> None:
        if progress is not None:
            progress(0.5 + 0.5 * part, text)

    for computed in found.computed:
        if computed.retractions == run.retractions and run.version <= computed.version <= last:
            advance(storage, name, run, computed.version, second_half, last)
            _compare_computed(found, computed, run)
        elif computed.kind == STATE or computed.version > last:
            found.differs = found.differs or (
                f"the stored {computed.kind} of entry {computed.version} does not belong to this log"
            )
    advance(storage, name, run, last, second_half, last)
    second_half(1.0, f"entry {last:,} of {last:,}")
    return run


def _compare_computed(found: _Findings, stored: Computed, run: Run) -> None:
    try:
        body = json.loads(stored.body)
        maker = body.pop("linkarms")
    except _WRONG as error:
        found.differs = found.differs or f"the stored {stored.kind} cannot be read ({error})"
        return
    if stored.kind == FIGURES and maker != __version__:
        return  # nothing depends on them, and they are computed again with the next sample
    follows = run.state() if stored.kind == STATE else Figures.of(run).computed()
    expected = json.loads(follows.body)
    expected.pop("linkarms")
    difference = next(_unequal(stored.kind, body, expected), None)
    if difference is not None and maker != __version__:
        # a changed formula is not damage: what another version decided is kept
        found.broken = found.broken or difference
        found.computed_by = found.computed_by or str(maker)
    found.differs = found.differs or difference


def _repair(name: str, storage: Storage, found: _Findings, run: Run) -> bool:
    """Write what follows from the log; False if somebody has changed the campaign since it was read."""
    ledger = found.ledger
    state = run.state()
    with storage.write(name) as tx:
        if tx.head.version != found.head.version:
            return False
        tx.rebuild(ledger.config, ledger.account.to_json(), found.wrong, found.unknown)
        tx.keep(state)
    return True


def _not_replayed(entry: int, error: Exception) -> str:
    return f"log entry {entry} cannot be replayed ({type(error).__name__}: {error})"


def _maker(config: str) -> str | None:
    """Return which version created the campaign; a changed formula may explain a difference."""
    try:
        return str(json.loads(config)["linkarms"])
    except _WRONG:
        return None


def _unequal(where: str, stored: Any, follows: Any) -> Iterator[str]:
    """Yield the paths at which two JSON values differ, in order."""
    if isinstance(stored, dict) and isinstance(follows, dict) and stored.keys() == follows.keys():
        for key in follows:
            yield from _unequal(f"{where}.{key}", stored[key], follows[key])
    elif isinstance(stored, list) and isinstance(follows, list) and len(stored) == len(follows):
        for i, (a, b) in enumerate(zip(stored, follows, strict=True)):
            yield from _unequal(f"{where}[{i}]", a, b)
    elif stored != follows or type(stored) is not type(follows):
        yield f"{where}: {stored!r} is stored, the log gives {follows!r}"
