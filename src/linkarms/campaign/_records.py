"""The objects that a campaign returns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

__all__ = ["Checkup", "Event", "Receipt", "Status", "Ticket", "moment"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=64)  # the samples of a batch have one time
def moment(microseconds: int) -> datetime:
    """Return a time of the log as a datetime in UTC; exact."""
    return _EPOCH + timedelta(microseconds=microseconds)


def _plain(value: Any) -> Any:
    """A copy of a field as plain data; `dataclasses.asdict` copies each of a thousand names on its own, which takes ten times as long."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return dict(value)
    return [_plain(part) for part in value] if isinstance(value, list) else value


class _Record:
    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; times as ISO 8601 in UTC."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class Ticket(_Record):
    """One pull, given to one worker until the lease ends.

    Attributes
    ----------
    id : int
        What `Campaign.tell` is given with the value.
    arm : str
        The arm to sample.
    worker : str or None
        Who has it.
    expires_at : datetime
        The end of the lease, in UTC. A later answer is still taken, once.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=path)
    >>> (ticket,) = lab.ask(1, worker="bench 1")
    >>> ticket.id, ticket.arm, ticket.worker
    (1, 'ada', 'bench 1')
    """

    id: int
    arm: str
    worker: str | None
    expires_at: datetime


@dataclass(frozen=True)
class Receipt(_Record):
    """A sample is stored. The same ticket with the same value gets the same receipt again.

    Attributes
    ----------
    ticket : int
        The ticket.
    arm : str
        Its arm.
    number : int
        Its number among the samples of the campaign: 1, 2, 3, ...
    told_at : datetime
        When it was stored, in UTC.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=path)
    >>> receipt = lab.add("ben", 0.25)
    >>> receipt.arm, receipt.number
    ('ben', 1)
    """

    ticket: int
    arm: str
    number: int
    told_at: datetime


@dataclass(frozen=True)
class Event(_Record):
    """One entry of the log.

    Attributes
    ----------
    seq : int
        Its number.
    at : datetime
        When, in UTC.
    kind : str
        create, ask, tell, add, release, expire, retract or clock (it was set back).
    worker, key : str or None
        Who, and the idempotency key.
    tickets : tuple of int
        The tickets concerned.
    reason : str or None
        Of a retraction.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=path)
    >>> receipt = lab.tell(lab.ask(1)[0], 0.25)
    >>> [(event.seq, event.kind) for event in lab.history()]
    [(1, 'create'), (2, 'ask'), (3, 'tell')]
    """

    seq: int
    at: datetime
    kind: str
    worker: str | None
    key: str | None
    tickets: tuple[int, ...]
    reason: str | None


@dataclass(frozen=True)
class Status(_Record):
    """The state of a campaign.

    Tickets, `pending` and `expirations` are current as of `version`. What is computed from the samples may be older with
    ``wait=False``: the last four fields say how old.

    Attributes
    ----------
    name : str
        The campaign.
    arms : tuple of str
        Its arms.
    n_clusters : int or None
        K as it was given; None under a distance threshold and, where that is None as well, for the cut with the largest gap.
    distance_threshold : float or None
        Arms closer than this are joined; None if there is no such threshold.
    tolerance : float
        Differences of distances below this do not matter.
    clip : tuple of float or None
        The range to which samples are clipped before they are counted; None where they are not.
    in_order : bool
        Samples count in the order of asking.
    n_features : int
        Numbers per sample.
    delta : float
        The promised error probability.
    sampling, stopping : str
        The names of the rules.
    version : int
        Entries of the log.
    created_at, updated_at : datetime
        First and last entry, in UTC.
    samples : int
        N: the samples that are counted in the estimates and the evidence.
    pulls : dict
        The same by arm.
    pending : dict
        Open tickets by arm, where there are any.
    held : dict
        Samples by arm, where there are any, that are stored and count when earlier tickets are told or released: with ``in_order``.
    awaited : int or None
        The ticket that all of them wait for: the first one that is neither told nor released; None if no sample waits.
    tickets : dict
        Tickets in each state: open, told, released, expired, retracted.
    late : int
        Samples told after the stop: stored, but not counted.
    expirations : int
        Leases that ended without an answer, including those that were answered late.
    done, stopped : bool
        Nothing more to ask; the stopping rule fired.
    evidence, threshold : float or None
        The statistic of the stopping rule and the level it has to reach; None where infinite.
    error_bound : float or None
        The smallest delta at which the rule would stop now, as in `linkarms.Result`.
    clusters : list of lists
        The clusters as they are known now; empty before every arm has a sample.
    conditional : bool
        A lease expired or a sample was retracted; with ``in_order`` an expired lease alone changes nothing.
    promise : str
        What is promised, and on what condition, in words.
    computed_version : int
        The last log entry that is counted in samples, pulls, held, awaited, late, done, stopped, evidence, threshold, clusters and promise.
    counted_until : datetime or None
        The time of the last sample that is counted in them, in UTC; with ``in_order`` the last one stored or ticket released.
    age : float
        Seconds since then, or 0.0 if nothing has been told or retracted since: then they are current.
    waiting : int
        Samples that are stored and not counted yet, because they came since the last computation; those in `held` are separate.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=path)
    >>> receipts = lab.add_many(["ada", "ben", "cy"], [0.1, 0.2, 5.0])
    >>> status = lab.status()
    >>> status.samples, status.clusters, status.done
    (3, [['ada', 'ben'], ['cy']], False)
    """

    name: str
    arms: tuple[str, ...]
    n_clusters: int | None
    distance_threshold: float | None
    tolerance: float
    clip: tuple[float, float] | None
    in_order: bool
    n_features: int
    delta: float
    sampling: str
    stopping: str
    version: int
    created_at: datetime
    updated_at: datetime
    samples: int
    pulls: dict[str, int]
    pending: dict[str, int]
    held: dict[str, int]
    awaited: int | None
    tickets: dict[str, int]
    late: int
    expirations: int
    done: bool
    stopped: bool
    evidence: float | None
    threshold: float | None
    error_bound: float | None
    clusters: list[list[str]]
    conditional: bool
    promise: str
    computed_version: int
    counted_until: datetime | None
    age: float
    waiting: int


@dataclass(frozen=True)
class Checkup(_Record):
    """What `Campaign.doctor` found.

    Attributes
    ----------
    ok : bool
        The log is intact, and replaying it gives the stored state bit for bit.
    entries, samples, tickets : int
        How many were checked.
    difference : str or None
        The first thing that differs, in words; if it was repaired, what differed.
    repaired : bool
        Something differed and was rebuilt from the log.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=path)
    >>> receipt = lab.add("ada", 0.25)
    >>> checkup = lab.doctor()
    >>> checkup.ok, checkup.entries, checkup.samples
    (True, 2, 1)
    """

    ok: bool
    entries: int
    samples: int
    tickets: int
    difference: str | None
    repaired: bool = False
