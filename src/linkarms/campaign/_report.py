"""Reading a campaign: status, conditions of the promise, history."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from linkarms.campaign._records import Event, Status, moment
from linkarms.campaign._run import Run
from linkarms.campaign._storage import EXPIRED, OPEN, RETRACTED, Entry, Reader, TicketRow
from linkarms.result import Result

__all__ = ["CONDITIONAL", "condition", "events", "overdue", "result", "retracted", "status", "watched"]

#: How the conditions of a promise begin.
CONDITIONAL = "the promise is conditional: "


def overdue(run: Run, reader: Reader) -> list[TicketRow]:
    """Open tickets whose lease is over: they have expired, though nobody has written it down yet."""
    now, bound = max(reader.now, reader.head.at), run.account.next_expiry
    return [] if bound is None or now < bound else reader.overdue(now)


def condition(run: Run, just_expired: int) -> str | None:
    """On what the promise depends besides its usual conditions, in words; None if on nothing."""
    expired, retracted = run.account.expirations + just_expired, run.account.states[RETRACTED]
    parts = []
    if expired:
        parts.append(
            f"{expired} lease(s) expired, and it must not depend on its value whether a sample comes in time"
        )
    if retracted:
        parts.append(
            f"{retracted} sample(s) were retracted, and it must not depend on their values that they were"
        )
    return CONDITIONAL + "; ".join(parts) if parts else None


def status(run: Run, reader: Reader) -> Status:
    """How the campaign stands."""
    clusterer, head = run.clusterer, reader.head
    gone = overdue(run, reader)
    states = dict(run.account.states)
    states[OPEN] -= len(gone)
    states[EXPIRED] += len(gone)
    found = clusterer.result()
    depends = condition(run, len(gone))
    settings = json.loads(json.loads(head.config)["clusterer"])
    return Status(
        name=head.name,
        arms=run.arms,
        n_clusters=clusterer.n_clusters,
        n_features=clusterer.n_features,
        delta=clusterer.delta,
        sampling=str(settings["sampling"]["name"]),
        stopping=str(settings["stopping"]["name"]),
        version=head.version,
        created_at=moment(head.created_at),
        updated_at=moment(head.at),
        samples=clusterer.n_samples,
        pulls={name: int(n) for name, n in zip(run.arms, found.pulls, strict=True)},
        pending=run.pending_by_name(less=(row.arm for row in gone)),
        tickets=states,
        late=run.late,
        expirations=run.account.expirations + len(gone),
        done=clusterer.done,
        stopped=found.stopped,
        evidence=found.evidence if math.isfinite(found.evidence) else None,
        threshold=found.threshold if math.isfinite(found.threshold) else None,
        error_bound=found.error_bound,
        clusters=[[str(arm) for arm in group] for group in found.clusters],
        conditional=depends is not None,
        promise=found.reason if depends is None else f"{found.reason}; {depends}",
    )


def result(run: Run, reader: Reader) -> Result:
    """The clusters as they are known now, with the conditions in `Result.reason`."""
    found = run.clusterer.result()
    depends = condition(run, len(overdue(run, reader)))
    return found if depends is None else replace(found, reason=f"{found.reason}; {depends}")


def retracted(reader: Reader) -> set[int]:
    """The tickets whose samples were retracted."""
    return {int(json.loads(entry.body)["ticket"]) for entry in reader.entries(kinds=("retract",))}


def watched(
    entries: Iterable[Entry], last: int, progress: Callable[[float, str], None] | None
) -> Iterator[str]:
    """The bodies of entries, while ``progress`` is told how far they are."""
    for entry in entries:
        if progress is not None:
            progress(entry.seq / last, f"entry {entry.seq:,} of {last:,}")
        yield entry.body


def events(reader: Reader, after: int, limit: int | None) -> list[Event]:
    """The log in words that a user knows."""
    found: list[Event] = []
    for entry in reader.entries(after):
        if limit is not None and len(found) >= limit:
            break
        body = json.loads(entry.body)
        found.append(
            Event(
                entry.seq,
                moment(entry.at),
                entry.kind,
                entry.worker,
                entry.key,
                tuple(concerned(entry.kind, body)),
                body.get("reason"),
            )
        )
    return found


def concerned(kind: str, body: dict[str, Any]) -> list[int]:
    """The tickets that an entry is about."""
    if kind in ("tell", "add"):
        return [sample[0] for sample in body["samples"]]
    if kind == "ask":
        return [ticket for ticket, _ in body["tickets"]]
    if kind == "expire":
        return list(body["tickets"])
    return [body["ticket"]] if "ticket" in body else []
