"""What each request does to a campaign, inside one session."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from linkarms.campaign._limits import LIMITS
from linkarms.campaign._records import Receipt, Ticket, moment
from linkarms.campaign._session import Session, request_digest, to_json
from linkarms.campaign._storage import EXPIRED, OPEN, RELEASED, RETRACTED, TOLD, TicketRow
from linkarms.errors import Conflict, NotFound, StorageError, TooLarge

__all__ = ["add", "ask", "find_ticket", "release", "retract", "tell"]


def find_ticket(found: dict[int, TicketRow], ticket: int) -> TicketRow:
    """The row of a ticket, or `NotFound`."""
    try:
        return found[ticket]
    except KeyError:
        raise NotFound(f"there is no ticket {ticket} in this campaign; use one that ask gave") from None


def ask(session: Session, n: int, worker: str | None, lease: float, key: str | None) -> list[Ticket]:
    """New tickets, or those that the key got before."""
    request = request_digest(key, "ask", n, worker, lease)
    run, account = session.run, session.run.account
    before = session.earlier(key, request)
    if before is not None:
        body = json.loads(before.body)
        expires = moment(body["expires"])
        return [Ticket(i, run.arms[m], worker, expires) for i, m in body["tickets"]]
    if account.states[OPEN] + n > LIMITS.open_tickets:
        raise TooLarge(
            f"{account.states[OPEN]} tickets are open and {n} more are asked for; at most {LIMITS.open_tickets} may be open: "
            "tell or release some first"
        )
    arms = run.choose(n)
    if not arms and key is None:
        return []
    end = session.at + round(lease * 1e6)
    numbers = account.issue(arms, OPEN)
    body = {"tickets": list(zip(numbers, arms, strict=True)), "expires": end}
    session.log("ask", body, worker, key, request)
    if arms:
        session.tx.insert_tickets(
            [TicketRow(i, m, worker, OPEN, end) for i, m in zip(numbers, arms, strict=True)]
        )
        account.next_expiry = end if account.next_expiry is None else min(end, account.next_expiry)
    return [Ticket(i, run.arms[m], worker, moment(end)) for i, m in zip(numbers, arms, strict=True)]


def tell(session: Session, tickets: Sequence[int], values: Sequence[Any], key: str | None) -> list[Receipt]:
    """Store the samples of tickets; what was stored before is answered as before."""
    run = session.run
    found = {row.ticket: row for row in session.tx.tickets(tickets)}
    rows = [find_ticket(found, ticket) for ticket in tickets]
    _, checked = run.clusterer.check_samples([run.clusterer.arms[row.arm] for row in rows], values)
    samples = checked.tolist()
    request = request_digest(key, "tell", list(tickets), samples)
    if session.earlier(key, request) is not None:
        return [_receipt(session, row) for row in rows]
    new: dict[int, TicketRow] = {}
    fresh: list[list[float]] = []
    for row, sample in zip(rows, samples, strict=True):
        known = new.get(row.ticket, row)
        if known.value is None:
            new[row.ticket] = _told(session, known, sample, len(new))
            fresh.append(sample)
        elif json.loads(known.value) != sample:
            raise Conflict(
                f"ticket {row.ticket} was told with another value, {_shown(known.value)}; it keeps that one: retract it if it is "
                "wrong, and add the right one"
            )
    if new or key:
        _store(session, "tell", list(new.values()), fresh, None, key, request)
    if new:
        for ticket in new:
            run.account.move(found[ticket].arm, found[ticket].state, TOLD)
        session.tx.update_tickets(list(new.values()))
    return [_receipt(session, new.get(row.ticket, row)) for row in rows]


def add(
    session: Session, arms: Sequence[Any], values: Sequence[Any], worker: str | None, key: str | None
) -> list[Receipt]:
    """Store samples that nobody asked for."""
    run = session.run
    indices, checked = run.clusterer.check_samples(arms, values)
    samples = checked.tolist()
    request = request_digest(key, "add", indices, samples, worker)
    before = session.earlier(key, request)
    if before is not None:
        numbers = [sample[0] for sample in json.loads(before.body)["samples"]]
        found = {row.ticket: row for row in session.tx.tickets(numbers)}
        return [_receipt(session, find_ticket(found, i)) for i in numbers]
    tickets = run.account.issue(indices, TOLD)
    new = [
        _told(session, TicketRow(i, m, worker, TOLD, None), sample, k)
        for k, (i, m, sample) in enumerate(zip(tickets, indices, samples, strict=True))
    ]
    _store(session, "add", new, samples, worker, key, request)
    session.tx.insert_tickets(new)
    return [_receipt(session, row) for row in new]


def release(session: Session, ticket: int) -> None:
    """Give a pull back."""
    row = find_ticket({r.ticket: r for r in session.tx.tickets([ticket])}, ticket)
    if row.state in (RELEASED, EXPIRED):
        return  # it counts no longer; there is nothing to give back
    if row.state != OPEN:
        raise Conflict(f"ticket {ticket} is {row.state} and cannot be released; a wrong sample is retracted")
    session.log("release", {"ticket": ticket})
    session.tx.update_tickets([row._replace(state=RELEASED)])
    session.run.account.move(row.arm, OPEN, RELEASED)


def retract(session: Session, row: TicketRow, reason: str) -> None:
    """Mark a told sample as retracted. The clusterer of the session has to be one that never saw it."""
    session.log("retract", {"ticket": row.ticket, "reason": reason})
    session.tx.update_tickets([row._replace(state=RETRACTED)])
    session.run.account.move(row.arm, TOLD, RETRACTED)


def _told(session: Session, row: TicketRow, sample: list[float], k: int) -> TicketRow:
    """The ticket with its sample, as the ``k``-th new one of the batch."""
    if row.state == RELEASED:
        raise Conflict(f"ticket {row.ticket} was released, so that it takes no sample; ask for a new one")
    number = session.run.account.told + k + 1
    return row._replace(state=TOLD, value=to_json(sample), told_at=session.at, number=number)


def _store(
    session: Session,
    kind: str,
    new: list[TicketRow],
    samples: list[list[float]],
    worker: str | None,
    key: str | None,
    request: str | None,
) -> None:
    """Log new samples and show them to the clusterer."""
    arms = [row.arm for row in new]
    body = {"samples": list(zip((row.ticket for row in new), arms, samples, strict=True))}
    session.log(kind, body, worker, key, request)
    session.run.feed(arms, samples)
    session.run.account.told += len(new)


def _receipt(session: Session, row: TicketRow) -> Receipt:
    if row.number is None or row.told_at is None:
        raise StorageError(
            f"ticket {row.ticket} is {row.state} and has no sample; run `linkarms campaign doctor`"
        )
    return Receipt(row.ticket, session.run.arms[row.arm], row.number, moment(row.told_at))


def _shown(value: str) -> str:
    numbers = json.loads(value)
    return str(numbers[0] if len(numbers) == 1 else numbers)
