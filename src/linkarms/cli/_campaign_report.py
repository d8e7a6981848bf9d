"""``linkarms campaign status``, ``export``, ``doctor`` and ``backup``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkarms._progress import Progress
from linkarms.cli._campaign_options import Name, StorageUrl
from linkarms.cli._options import Json, Quiet, goal_words
from linkarms.cli._output import print_json
from linkarms.cli._wording import in_options
from linkarms.errors import InvalidInput

if TYPE_CHECKING:
    from linkarms.campaign import Campaign, Status

__all__ = ["backup", "doctor", "export", "one_line", "opened", "status", "storage_argument", "watch"]

File = Annotated[Path | None, typer.Argument(metavar="FILE", help="Where to write; stdout by default.")]
Format = Annotated[
    str | None,
    typer.Option(help="csv, json or parquet; by default what the name of the file ends with, otherwise csv."),
]

Copy = Annotated[Path, typer.Argument(metavar="FILE", help="The copy; a file that does not exist yet.")]
Wait = Annotated[
    bool, typer.Option(help="Count all samples first, or show at once what was counted last, with its age.")
]
Repair = Annotated[
    bool, typer.Option("--repair", help="Rebuild what differs from the log, if the log itself is intact.")
]


def storage_argument(storage: str | None) -> dict[str, Any]:
    """Return the storage as a keyword argument, or none for the library's default."""
    return {} if storage is None else {"storage": storage}


def opened(name: str, storage: str | None) -> Campaign:
    """Open the campaign; SQLAlchemy is loaded now."""
    from linkarms.campaign import Campaign

    return Campaign.open(name, **storage_argument(storage))


def watch(title: str, quiet: bool) -> Progress:
    """Progress on stderr."""
    return Progress(title, enabled=not quiet)


def one_line(found: Status) -> str:
    """A campaign in one line."""
    state = "stopped" if found.stopped else "done" if found.done else "running"
    return f"{found.name}\t{state}\t{found.samples} samples\t{found.tickets['open']} open tickets"


def status(
    name: Name,
    wait: Wait = True,
    storage: StorageUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show samples, tickets, evidence, clusters and the promise.

    The exit code is 0 whatever it shows.

    \b
    Examples:
      linkarms campaign status coffee
      linkarms campaign status coffee --json
      linkarms campaign status coffee --no-wait
    """
    from linkarms.result import would_stop_at

    with opened(name, storage) as run:
        found = run.status(wait=wait)
        warnings = [str(finding) for finding in run.check_model()] if wait else []
    if as_json:
        print_json(found.to_dict() | {"warnings": warnings})
        return
    tickets = ", ".join(f"{n} {state}" for state, n in found.tickets.items() if n) or "none"
    wanted = goal_words(found.n_clusters, found.distance_threshold, found.tolerance)
    print(f"{found.name}: {found.samples} samples, {len(found.arms)} arms, {wanted}")
    print(f"tickets: {tickets}" + (f"; told after the stop: {found.late}" if found.late else ""))
    if found.awaited is not None:
        held = ", ".join(f"{arm} {n}" for arm, n in found.held.items())
        print(
            f"{sum(found.held.values())} samples wait until ticket {found.awaited} is told or released: {held}"
        )
    if found.age:
        print(f"{found.waiting} samples are not counted yet; the rest is {found.age:,.0f} s old")
    if found.error_bound is not None and found.threshold is not None and not found.done:
        print(would_stop_at(found.error_bound))
    for label, arms in enumerate(found.clusters):
        print(f"  {label}: {', '.join(arms)}")
    print(in_options(found.promise))
    for text in warnings:
        print(f"warning: {in_options(text)}")


def export(
    name: Name,
    file: File = None,
    format: Format = None,
    storage: StorageUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write all tickets with their samples as a table.

    \b
    Examples:
      linkarms campaign export coffee samples.csv
      linkarms campaign export coffee --json
    """
    kind = format or (file.suffix.lstrip(".").lower() if file else "json" if as_json else "csv")
    if as_json and file is None and kind != "json":
        raise InvalidInput(f"--json and --format {kind} contradict each other; give one of them, or a file")
    with opened(name, storage) as run, watch("export", quiet) as progress:
        content = run.export(kind, file, progress=progress.update)
    if isinstance(content, bytes):
        sys.stdout.buffer.write(content)
    elif content is not None:
        print(content, end="" if content.endswith("\n") else "\n")
    elif as_json:
        print_json({"file": str(file), "format": kind})
    elif not quiet:
        print(f"{file} is written")


def doctor(
    name: Name,
    repair: Repair = False,
    storage: StorageUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Replay the log and compare it with what is stored, bit for bit.

    The exit code is 1 if anything differs, and 0 if all of it was repaired.

    \b
    Examples:
      linkarms campaign doctor coffee
      linkarms campaign doctor coffee --repair
    """
    from linkarms.campaign import Campaign, open_storage

    # not `opened`, which refuses a damaged campaign
    with (
        Campaign(name, open_storage(**storage_argument(storage))) as run,
        watch("doctor", quiet) as progress,
    ):
        found = run.doctor(repair=repair, progress=progress.update)
    if as_json:
        print_json(found.to_dict())
    elif found.repaired:
        print(
            f"{name} is repaired from its {found.entries} log entries; what differed first: {found.difference}"
        )
    elif found.ok:
        print(
            f"{name} is sound: {found.entries} log entries, {found.samples} samples, {found.tickets} tickets"
        )
    else:
        advice = "; this cannot be repaired from the log: restore a backup" if repair else ""
        print(f"{name} is NOT sound: {found.difference}{advice}")
    raise typer.Exit(0 if found.ok else 1)


def backup(file: Copy, storage: StorageUrl = None, as_json: Json = False, quiet: Quiet = False) -> None:
    """Copy all campaigns of an SQLite storage while it is in use.

    Copying the file itself would leave out what is in the write-ahead log next to it. For PostgreSQL use pg_dump.

    \b
    Examples:
      linkarms campaign backup monday.db --storage runs.db
    """
    from linkarms import campaign

    with watch("backup", quiet) as progress:
        names = campaign.backup(path=file, progress=progress.update, **storage_argument(storage))
    if as_json:
        print_json({"file": str(file), "campaigns": names})
    elif not quiet:
        print(f"{file} is written: {len(names)} campaigns")
