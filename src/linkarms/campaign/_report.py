"""Reading a campaign: status, conditions of the promise, history."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from linkarms.campaign._account import Account
from linkarms.campaign._computer import Standing
from linkarms.campaign._figures import Figures
from linkarms.campaign._order import Held
from linkarms.campaign._records import Event, Status, moment
from linkarms.campaign._run import Run
from linkarms.campaign._storage import RELEASED, Reader
from linkarms.result import Result

__all__ = ["CONDITIONAL", "condition", "events", "result", "status"]

#: How the conditions of a promise begin.
CONDITIONAL = "the promise is conditional: "


def condition(account: Account, in_order: bool) -> str | None:
    """Return what the promise depends on besides its usual conditions, in words; None if on nothing."""
    parts = []
    if in_order:  # later samples wait for an expired ticket, so it leaves nothing out until it is released
        if account.expirations and account.states[RELEASED]:
            parts.append(
                f"{account.expirations} lease(s) expired; it holds only if none of these tickets was released because its sample took long"
            )
    elif account.expirations:
        parts.append(
            f"{account.expirations} lease(s) expired; it holds only if whether a sample came in time did not depend on its value"
        )
    if account.retractions:
        parts.append(
            f"{account.retractions} sample(s) were retracted; it holds only if that was not because of their values"
        )
    return CONDITIONAL + "; ".join(parts) if parts else None


def status(run: Run, standing: Standing, figures: Figures) -> Status:
    """Return the state of the campaign; if the figures are older than the rest, it says so."""
    clusterer, head, account, found = run.clusterer, standing.head, standing.account, figures.result
    depends, in_order = condition(account, run.order.in_order), run.order.in_order
    promise = "; ".join(_reasons(run, account, figures))
    current = figures.counts == (
        account.retractions,
        account.told,
        account.states[RELEASED] if in_order else 0,
    )
    held = figures.held or Held([0] * len(run.arms), None, 0)
    return Status(
        name=head.name,
        arms=run.arms,
        n_clusters=clusterer.n_clusters,
        distance_threshold=clusterer.distance_threshold,
        tolerance=clusterer.tolerance,
        clip=None if run.clip is None else (run.clip.low, run.clip.high),
        in_order=in_order,
        n_features=clusterer.n_features,
        delta=clusterer.delta,
        sampling=run.sampling,
        stopping=run.stopping,
        version=head.version,
        created_at=moment(head.created_at),
        updated_at=moment(head.at),
        samples=found.samples,
        pulls={name: int(n) for name, n in zip(run.arms, found.pulls, strict=True)},
        pending=account.by_name(run.arms),
        held={name: n for name, n in zip(run.arms, held.pulls, strict=True) if n},
        awaited=held.awaited,
        tickets=dict(account.states),
        late=figures.late,
        expirations=account.expirations,
        done=figures.done,
        stopped=found.stopped,
        evidence=found.evidence if math.isfinite(found.evidence) else None,
        threshold=found.threshold if math.isfinite(found.threshold) else None,
        error_bound=found.error_bound,
        clusters=[[str(arm) for arm in group] for group in found.clusters],
        conditional=depends is not None,
        promise=promise,
        computed_version=head.version if current else figures.version,
        counted_until=moment(figures.at) if figures.at else None,
        age=0.0 if current else max(standing.now - (figures.at or head.created_at), 1) / 1e6,
        waiting=max(account.told - figures.told, 0),
    )


def result(run: Run, account: Account, figures: Figures) -> Result:
    """Return the clusters of these figures, with the conditions in `Result.reason`."""
    return replace(figures.result, reason="; ".join(_reasons(run, account, figures)))


def _reasons(run: Run, account: Account, figures: Figures) -> list[str]:
    """Return why the run stopped or has not, what clipping means for the clusters, and the conditions of the promise."""
    parts = [
        figures.result.reason,
        run.clip.remark if run.clip else None,
        condition(account, run.order.in_order),
    ]
    return [part for part in parts if part is not None]


def events(reader: Reader, after: int, limit: int | None) -> list[Event]:
    """Return the log as events."""
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
                tuple(_concerned(entry.kind, body)),
                body.get("reason"),
            )
        )
    return found


def _concerned(kind: str, body: dict[str, Any]) -> list[int]:
    """Return the tickets that an entry is about."""
    if kind in ("tell", "add"):
        return [sample[0] for sample in body["samples"]]
    if kind == "ask":
        return [ticket for ticket, _ in body["tickets"]]
    if kind == "expire":
        return list(body["tickets"])
    return [body["ticket"]] if "ticket" in body else []
