"""What a page shows of a campaign, all of the same moment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkarms.campaign._computer import Standing
from linkarms.campaign._figures import Figures
from linkarms.campaign._order import SAMPLES
from linkarms.campaign._records import Status, Ticket, _Record, moment
from linkarms.campaign._report import result, status
from linkarms.campaign._run import Run
from linkarms.campaign._storage import OPEN, Reader
from linkarms.families import ArmFamilies
from linkarms.result import Result

__all__ = ["Overview", "Sample", "Seen", "overview", "see"]

#: Log entries that are searched for the newest samples; more if these do not hold enough.
_ENTRIES = (20, 200)
#: With more open tickets than this, none are listed: all would have to be loaded, and nobody reads so many.
_MANY = 5_000
_FOREVER = 2**62


@dataclass(frozen=True)
class Sample(_Record):
    """A sample that was told.

    Attributes
    ----------
    ticket : int
        Its ticket.
    arm : str
        Its arm.
    value : tuple of float
        The numbers.
    worker : str or None
        Who measured it.
    told_at : datetime
        When it was stored, in UTC.
    number : int
        Its number among the samples of the campaign: 1, 2, 3, ...
    state : str
        ``told`` or ``retracted``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=path)
    >>> receipt = lab.add("cy", 5.0, worker="bench 1")
    >>> (sample,) = lab.overview().recent
    >>> sample.arm, sample.value, sample.worker
    ('cy', (5.0,), 'bench 1')
    """

    ticket: int
    arm: str
    value: tuple[float, ...]
    worker: str | None
    told_at: datetime
    number: int
    state: str


@dataclass(frozen=True)
class Overview:
    """What a page shows of a campaign.

    Attributes
    ----------
    status : Status
        As `Campaign.status`.
    result : Result
        As `Campaign.result`.
    recent : tuple of Sample
        The newest samples, the last one first.
    open_tickets : tuple of Ticket
        The open tickets whose leases end first.
    families : ArmFamilies
        The families of the arms.
    means : ndarray, shape (M, d)
        Means of the sufficient statistics: with the pulls all that confidence regions need (`linkarms.regions`).
    moments : ndarray
        What they need besides where the variance is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import linkarms as la
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, storage=path)
    >>> tickets = lab.ask(2)
    >>> overview = lab.overview()
    >>> overview.status.samples, len(overview.open_tickets), overview.recent
    (0, 2, ())
    """

    status: Status
    result: Result
    recent: tuple[Sample, ...]
    open_tickets: tuple[Ticket, ...]
    families: ArmFamilies
    means: NDArray[np.float64]
    moments: NDArray[np.float64]


class Seen(NamedTuple):
    """The part of an overview that is read, not computed."""

    recent: tuple[Sample, ...]
    open_tickets: tuple[Ticket, ...]


def see(run: Run, reader: Reader, standing: Standing, recent: int, tickets: int) -> Seen:
    """Read the newest samples and the open tickets."""
    return Seen(_recent(run, reader, recent), _open(run, reader, standing, tickets))


def overview(run: Run, standing: Standing, figures: Figures, seen: Seen) -> Overview:
    """Put together everything that a page shows."""
    return Overview(
        status=status(run, standing, figures),
        result=result(run, standing.account, figures),
        recent=seen.recent,
        open_tickets=seen.open_tickets,
        families=run.clusterer.families,
        means=figures.means,
        moments=figures.moments,
    )


def _recent(run: Run, reader: Reader, limit: int) -> tuple[Sample, ...]:
    numbers: list[int] = []
    for span in _ENTRIES:
        entries = reader.entries(max(reader.head.version - span, 0), SAMPLES)
        numbers = [ticket for entry in entries for ticket, _, _ in json.loads(entry.body)["samples"]]
        if len(numbers) >= limit:
            break
    rows = [row for row in reader.tickets(numbers[-limit:] if limit else []) if row.value is not None]
    rows.sort(key=lambda row: -(row.number or 0))
    return tuple(
        Sample(
            row.ticket,
            run.arms[row.arm],
            tuple(json.loads(row.value or "[]")),
            row.worker,
            moment(row.told_at or 0),
            row.number or 0,
            row.state,
        )
        for row in rows
    )


def _open(run: Run, reader: Reader, standing: Standing, limit: int) -> tuple[Ticket, ...]:
    if standing.account.states[OPEN] > _MANY:
        return ()
    gone = {row.ticket for row in standing.overdue}
    rows = [row for row in reader.overdue(_FOREVER) if row.ticket not in gone]
    rows.sort(key=lambda row: (row.expires_at or 0, row.ticket))
    return tuple(Ticket(r.ticket, run.arms[r.arm], r.worker, moment(r.expires_at or 0)) for r in rows[:limit])
