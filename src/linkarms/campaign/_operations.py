"""What each request does to a campaign, inside one session. All computations were done before."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms.campaign._account import Account
from linkarms.campaign._limits import LIMITS
from linkarms.campaign._order import Held
from linkarms.campaign._records import Receipt, Ticket, moment
from linkarms.campaign._session import Session, request_digest, to_json
from linkarms.campaign._storage import EXPIRED, OPEN, RELEASED, RETRACTED, TOLD, Entry, TicketRow
from linkarms.errors import Conflict, NotFound, StorageError, TooLarge

__all__ = [
    "add",
    "ask",
    "ask_request",
    "asked_before",
    "check_held",
    "check_open",
    "find_ticket",
    "release",
    "retract",
    "tell",
]

#: As `Run.check_samples`.
Check = Callable[[Sequence[Any], Sequence[Any]], tuple[list[int], NDArray[np.float64]]]


def find_ticket(found: dict[int, TicketRow], ticket: int) -> TicketRow:
    """Return the row of a ticket, or raise `NotFound`."""
    try:
        return found[ticket]
    except KeyError:
        raise NotFound(f"there is no ticket {ticket} in this campaign; use one that ask gave") from None


def ask_request(key: str | None, n: int, worker: str | None, lease: float) -> str | None:
    """Return the digest of a request for tickets."""
    return request_digest(key, "ask", n, worker, lease)


def asked_before(entry: Entry, arms: tuple[str, ...]) -> list[Ticket]:
    """Return the tickets that an entry of the log gave out."""
    body = json.loads(entry.body)
    expires = moment(body["expires"])
    return [Ticket(i, arms[m], entry.worker, expires) for i, m in body["tickets"]]


def check_open(account: Account, n: int) -> None:
    """Refuse more open tickets than the limit allows."""
    if account.states[OPEN] + n > LIMITS.open_tickets:
        raise TooLarge(
            f"{account.states[OPEN]} tickets are open and {n} more are requested; at most {LIMITS.open_tickets} may be open: "
            "tell or release some first"
        )


def check_held(held: Held) -> None:
    """Refuse tickets while too many samples wait for one that nobody tells or releases."""
    if sum(held.pulls) > LIMITS.open_tickets:
        raise TooLarge(
            f"{sum(held.pulls)} samples wait for ticket {held.awaited}; at most {LIMITS.open_tickets} may wait: tell or release it first"
        )


def ask(
    session: Session,
    arms: Sequence[int],
    worker: str | None,
    lease: float,
    key: str | None,
    request: str | None,
) -> list[Ticket]:
    """Give out tickets for these arms."""
    account = session.account
    check_open(account, len(arms))
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
    return [Ticket(i, session.arms[m], worker, moment(end)) for i, m in zip(numbers, arms, strict=True)]


def tell(
    session: Session, check: Check, tickets: Sequence[int], values: Sequence[Any], key: str | None
) -> list[Receipt]:
    """Store the samples of tickets; a repeated request gets the same answer."""
    found = {row.ticket: row for row in session.tx.tickets(tickets)}
    rows = [find_ticket(found, ticket) for ticket in tickets]
    samples = check([session.arms[row.arm] for row in rows], values)[1].tolist()
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
                + ("wrong" if session.in_order else "wrong, and add the right one")
            )
    if new or key:
        _store(session, "tell", list(new.values()), fresh, None, key, request)
    if new:
        for ticket in new:
            session.account.move(found[ticket].arm, found[ticket].state, TOLD)
        session.tx.update_tickets(list(new.values()))
    return [_receipt(session, new.get(row.ticket, row)) for row in rows]


def add(
    session: Session,
    arms: Sequence[int],
    samples: list[list[float]],
    worker: str | None,
    key: str | None,
) -> list[Receipt]:
    """Store samples that were not asked for."""
    if session.in_order:
        raise Conflict(
            "this campaign counts samples in the order of asking, where a sample that was not asked for has no place; "
            "ask for a ticket and tell its sample"
        )
    request = request_digest(key, "add", list(arms), samples, worker)
    before = session.earlier(key, request)
    if before is not None:
        numbers = [sample[0] for sample in json.loads(before.body)["samples"]]
        found = {row.ticket: row for row in session.tx.tickets(numbers)}
        return [_receipt(session, find_ticket(found, i)) for i in numbers]
    tickets = session.account.issue(arms, TOLD)
    new = [
        _told(session, TicketRow(i, m, worker, TOLD, None), sample, k)
        for k, (i, m, sample) in enumerate(zip(tickets, arms, samples, strict=True))
    ]
    _store(session, "add", new, samples, worker, key, request)
    session.tx.insert_tickets(new)
    return [_receipt(session, row) for row in new]


def release(session: Session, ticket: int) -> None:
    """Give back a ticket."""
    row = find_ticket({r.ticket: r for r in session.tx.tickets([ticket])}, ticket)
    if row.state == RELEASED or (row.state == EXPIRED and not session.in_order):
        return  # an expired ticket no longer counts; there is nothing to give back, unless later samples wait for it
    if row.state not in (OPEN, EXPIRED):
        raise Conflict(f"ticket {ticket} is {row.state} and cannot be released; a wrong sample is retracted")
    session.log("release", {"ticket": ticket})
    session.tx.update_tickets([row._replace(state=RELEASED)])
    session.account.move(row.arm, row.state, RELEASED)


def retract(session: Session, row: TicketRow, reason: str) -> None:
    """Mark a told sample as retracted."""
    session.log("retract", {"ticket": row.ticket, "reason": reason})
    session.tx.update_tickets([row._replace(state=RETRACTED)])
    session.account.move(row.arm, TOLD, RETRACTED)


def _told(session: Session, row: TicketRow, sample: list[float], k: int) -> TicketRow:
    """Return the ticket with its sample, as the ``k``-th new one of the batch."""
    if row.state == RELEASED:
        raise Conflict(f"ticket {row.ticket} was released and takes no sample; ask for a new one")
    number = session.account.told + k + 1
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
    """Log new samples."""
    arms = [row.arm for row in new]
    body = {"samples": list(zip((row.ticket for row in new), arms, samples, strict=True))}
    session.log(kind, body, worker, key, request)
    session.account.told += len(new)


def _receipt(session: Session, row: TicketRow) -> Receipt:
    if row.number is None or row.told_at is None:
        raise StorageError(
            f"ticket {row.ticket} is {row.state} and has no sample; run `linkarms campaign doctor`"
        )
    return Receipt(row.ticket, session.arms[row.arm], row.number, moment(row.told_at))


def _shown(value: str) -> str:
    numbers = json.loads(value)
    return str(numbers[0] if len(numbers) == 1 else numbers)
