"""Operations that need a computation: propose outside of the transaction, verify and commit inside."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from linkarms.campaign import _operations
from linkarms.campaign._computer import Computer, Standing, advance
from linkarms.campaign._records import Ticket
from linkarms.campaign._run import Run, Watcher, retracted
from linkarms.campaign._session import Session, check_same_request
from linkarms.campaign._storage import RETRACTED, TOLD, Entry, Reader, TicketRow
from linkarms.errors import Conflict

__all__ = ["ask_for_tickets", "retract_sample"]

Change = Callable[[], AbstractContextManager[Session]]

#: How often arms are chosen again because somebody else got tickets meanwhile; after that the last choice is used.
_TRIES = 5


def ask_for_tickets(
    computer: Computer, change: Change, n: int, worker: str | None, lease: float, key: str | None
) -> list[Ticket]:
    """Choose arms, and give out tickets for them.

    Arms are chosen for the campaign as one read saw it. They are given out if nobody else got tickets meanwhile. Samples that came
    meanwhile do not matter: the choice is the one that was right a moment ago, and any choice keeps the promise.
    """
    run, request = computer.run, _operations.ask_request(key, n, worker, lease)

    def look(reader: Reader, standing: Standing) -> Entry | None:
        before = None if key is None else reader.find_key(key)
        check_same_request(before, request)
        if before is None:
            _operations.check_open(standing.account, n)
        return before

    with computer.lock:
        for last in (False,) * (_TRIES - 1) + (True,):
            standing, before = computer.catch_up(look)
            if before is not None:
                return _operations.asked_before(before, run.arms)
            _operations.check_held(run.held)
            arms = run.choose(n, standing.account)
            if not arms and key is None:
                computer.store_if_worth()
                return []
            computed, tickets = computer.worth_storing(), None
            with change() as session:
                for each in computed:
                    session.tx.keep(each)
                before = session.earlier(key, request)
                if before is None and (last or not _any(session, "ask", standing.head.version)):
                    left = run.budget_left(session.account)
                    tickets = _operations.ask(session, arms[:left], worker, lease, key, request)
            if tickets is not None:
                if session.tx.head.version == run.version:
                    run.version = session.version  # no samples in between
                return tickets
            if before is not None:
                return _operations.asked_before(before, run.arms)
    raise AssertionError("the last try always returns")


def retract_sample(
    computer: Computer, change: Change, ticket: int, reason: str, progress: Watcher | None
) -> None:
    """Count everything again without one sample, then retract it; the new state is stored together with the retraction."""
    while True:
        with computer.storage.read(computer.name) as reader:
            row = _operations.find_ticket({r.ticket: r for r in reader.tickets([ticket])}, ticket)
            if _is_retracted(row):
                return
            head, skip = reader.head, {ticket, *retracted(reader, reader.head.version)}
        run = Run(head.config)
        run.begin_again(skip)
        advance(computer.storage, computer.name, run, head.version, progress)
        state = run.state()
        with change() as session:
            if not _any(session, "retract", head.version):
                _operations.retract(session, row, reason)
                session.tx.keep(state)
                return


def _any(session: Session, kind: str, after: int) -> bool:
    """Whether somebody logged an entry of this kind after that version."""
    if session.tx.head.version == after:
        return False
    return next(iter(session.tx.entries(after, (kind,))), None) is not None


def _is_retracted(row: TicketRow) -> bool:
    if row.state not in (TOLD, RETRACTED):
        raise Conflict(
            f"ticket {row.ticket} is {row.state} and has no sample to retract; release gives an open one back"
        )
    return row.state == RETRACTED
