"""``linkarms campaign``: a run in a database, from the shell."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkarms._family_syntax import DEFAULT
from linkarms.cli import _campaign_report as report
from linkarms.cli._campaign_options import InOrder, Key, Lease, Name, StorageUrl, Ticket, Worker
from linkarms.cli._options import (
    Clip,
    Costs,
    Delta,
    DistanceThreshold,
    Epsilon,
    Json,
    MaxSamples,
    NClusters,
    Quiet,
    Seed,
    Stopping,
    Theta,
    Tolerance,
    goal_words,
)
from linkarms.cli._output import print_json
from linkarms.cli._parse import (
    FAMILY_HELP,
    parse_clip,
    parse_costs,
    parse_duration,
    parse_list,
    parse_n_clusters,
    parse_stopping,
)
from linkarms.cli._wording import in_options
from linkarms.errors import InvalidInput, InvalidSample

if TYPE_CHECKING:
    from linkarms.campaign import Receipt

__all__ = ["campaign"]

campaign = typer.Typer(
    name="campaign",
    help="""Runs in a database, for long measurements by many workers.

    Create a campaign, then repeat: ask which arms to measure, tell the values. The status shows when it is done.

    \b
      linkarms campaign create coffee --arms ada,ben,cy,dot -k 2
      linkarms campaign ask coffee -n 3
      linkarms campaign tell coffee 1 0.25
      linkarms campaign status coffee
    """,
    rich_markup_mode=None,
    no_args_is_help=True,
)

Arms = Annotated[str, typer.Option(metavar="NAME,NAME", help="The names of the arms.")]
Features = Annotated[int, typer.Option("--features", metavar="D", help="Numbers in one sample.")]
Family = Annotated[str | None, typer.Option(metavar="NAME", help=FAMILY_HELP)]
Sampling = Annotated[
    str | None,
    typer.Option(metavar="RULE", help="Which arm next: ebc, ebc-h, round-robin.  [default: ebc-h]"),
]
Number = Annotated[int, typer.Option("-n", "--number", help="How many tickets.")]
TicketOrDash = Annotated[str, typer.Argument(metavar="TICKET|-", help="The ticket, or - for lines on stdin.")]
ArmOrDash = Annotated[str, typer.Argument(metavar="ARM|-", help="The arm, or - for lines on stdin.")]
Values = Annotated[list[str] | None, typer.Argument(metavar="VALUE...", help="The numbers of the sample.")]
Reason = Annotated[str, typer.Option(help="Why; it is kept with the log.")]

#: Otherwise ``-0.5`` would be taken for an option.
_NEGATIVE = {"ignore_unknown_options": True}


@campaign.command()
def create(
    name: Name,
    arms: Arms,
    n_clusters: NClusters = None,
    distance_threshold: DistanceThreshold = None,
    tolerance: Tolerance = 0.0,
    features: Features = 1,
    clip: Clip = None,
    family: Family = None,
    delta: Delta = 0.05,
    sampling: Sampling = None,
    stopping: Stopping = None,
    theta: Theta = None,
    epsilon: Epsilon = None,
    max_samples: MaxSamples = None,
    costs: Costs = None,
    lease: Lease = None,
    in_order: InOrder = False,
    seed: Seed = 0,
    storage: StorageUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Start a campaign.

    \b
    Examples:
      linkarms campaign create coffee --arms ada,ben,cy,dot -k 2
      linkarms campaign create sensors --arms n1,n2,n3 --distance-threshold 0.5 \\
          --tolerance 0.05
      linkarms campaign create gaps --arms docks,hills,port -k 2 \\
          --family exponential --lease 2h --storage runs.db
      linkarms campaign create delays --arms jfk,lga,ewr -k 2 --clip=-30:120
      linkarms campaign create lamps --arms led,neon,arc -k 2 \\
          --family exponential --in-order
    """
    from linkarms.campaign import Campaign

    settings: dict[str, Any] = {"n_features": features, "family": family, "delta": delta}
    settings |= {"seed": seed, "max_samples": max_samples, "costs": parse_costs(costs)}
    settings |= {"distance_threshold": distance_threshold, "tolerance": tolerance, "in_order": in_order}
    settings["clip"] = None if clip is None else parse_clip(clip)
    settings["stopping"] = parse_stopping(stopping, theta, epsilon)
    if sampling is not None:
        settings["sampling"] = sampling
    if lease is not None:
        settings["lease"] = parse_duration(lease, "--lease")
    names, k = parse_list(arms, "--arms"), parse_n_clusters(n_clusters)
    with Campaign.create(name, names, k, **report.storage_argument(storage), **settings) as made:
        if as_json:
            print_json(made.status().to_dict())
        elif not quiet:
            wanted = goal_words(k, distance_threshold, tolerance)
            print(f"campaign {name}: {len(names)} arms, {wanted}, delta={delta:g}")
            if in_order:
                print("samples count in the order of asking")
            if settings["clip"] is not None:
                low, high = settings["clip"]
                print(f"samples are clipped to {low:g} .. {high:g} before they are counted")
            elif family is None:
                print(
                    f"samples are taken as {DEFAULT} (real numbers of unknown variance); for 0 and 1 give --family bernoulli, "
                    "for counts --family poisson"
                )


@campaign.command("list")
def list_campaigns(storage: StorageUrl = None, as_json: Json = False, quiet: Quiet = False) -> None:
    """List the campaigns of a storage.

    \b
    Examples:
      linkarms campaign list --storage runs.db
    """
    from linkarms.campaign import Campaign

    found = []
    for name in Campaign.names(**report.storage_argument(storage)):
        with report.opened(name, storage) as run:
            found.append(run.status())
    if as_json:
        print_json({"campaigns": [status.to_dict() for status in found]})
        return
    for status in found:
        print(status.name if quiet else report.one_line(status))


@campaign.command()
def ask(
    name: Name,
    number: Number = 1,
    worker: Worker = None,
    lease: Lease = None,
    key: Key = None,
    storage: StorageUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Get tickets: which arms to measure next.

    Each line has the ticket, a tab and the arm. The exit code is 1 if there is nothing to measure: the campaign is done, or open
    tickets use up its budget.

    \b
    Examples:
      linkarms campaign ask coffee
      linkarms campaign ask coffee -n 8 --worker bench-2 --lease 3h --json
    """
    with report.opened(name, storage) as run:
        seconds = None if lease is None else parse_duration(lease, "--lease")
        tickets = run.ask(number, worker, lease=seconds, key=key)
        if as_json:
            print_json({"tickets": [ticket.to_dict() for ticket in tickets]})
        else:
            print("".join(f"{ticket.id}\t{ticket.arm}\n" for ticket in tickets), end="")
        if not tickets and not quiet:
            print(f"linkarms: nothing to measure: {in_options(run.status().promise)}", file=sys.stderr)
    raise typer.Exit(0 if tickets else 1)


@campaign.command(context_settings=_NEGATIVE)
def tell(
    name: Name,
    ticket: TicketOrDash,
    values: Values = None,
    key: Key = None,
    storage: StorageUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Store the sample of a ticket, or of many from stdin.

    With - in place of the ticket, each line of stdin has a ticket and its numbers; all lines are stored, or none. A sample that is told
    twice is counted once.

    \b
    Examples:
      linkarms campaign tell coffee 17 0.25
      linkarms campaign tell coffee - --key monday-morning
    """
    rows = _lines(ticket, values)
    tickets = [_whole(words[0]) for words in rows]
    samples = [_numbers(words) for words in rows]
    with report.opened(name, storage) as run:
        _acknowledge(run.tell_many(tickets, samples, key=key), as_json, quiet)


@campaign.command(context_settings=_NEGATIVE)
def add(
    name: Name,
    arm: ArmOrDash,
    values: Values = None,
    worker: Worker = None,
    key: Key = None,
    storage: StorageUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Store a sample that was not asked for, or many from stdin.

    With - in place of the arm, each line of stdin has an arm and its numbers; all lines are stored, or none. Such samples count, as
    long as nobody chose to report them because of their values. A campaign created with --in-order refuses them.

    \b
    Examples:
      linkarms campaign add coffee ada 0.25 --key notebook-page-7
    """
    rows = _lines(arm, values)
    samples = [_numbers(words) for words in rows]
    with report.opened(name, storage) as run:
        receipts = run.add_many([words[0] for words in rows], samples, worker=worker, key=key)
        _acknowledge(receipts, as_json, quiet)


@campaign.command()
def release(
    name: Name, ticket: Ticket, storage: StorageUrl = None, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Give back a ticket that will not be measured.

    The reason must have nothing to do with the value; in a campaign created with --in-order, not with the time it took either.

    \b
    Examples:
      linkarms campaign release coffee 17
    """
    with report.opened(name, storage) as run:
        run.release(ticket)
    _say({"released": ticket}, f"ticket {ticket} is given back", as_json, quiet)


@campaign.command()
def retract(
    name: Name,
    ticket: Ticket,
    reason: Reason,
    storage: StorageUrl = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Remove a sample, as if it had never been told. The promise becomes conditional.

    \b
    Examples:
      linkarms campaign retract coffee 17 --reason "the scale was not levelled"
    """
    with report.opened(name, storage) as run, report.watch("retract", quiet) as progress:
        run.retract(ticket, reason, progress=progress.update)
    _say({"retracted": ticket}, f"the sample of ticket {ticket} is taken out", as_json, quiet)


for _command in (report.status, report.export, report.doctor, report.backup):
    campaign.command()(_command)


def _lines(first: str, values: list[str] | None) -> list[list[str]]:
    """The words of each sample: from the command line, or with ``-`` from stdin (commas, tabs or spaces between them)."""
    if first != "-":
        return [[first, *(values or [])]]
    if values:
        raise InvalidInput("with - the samples come on stdin; leave out the values")
    return list(_split(sys.stdin))


def _split(lines: Iterable[str]) -> Iterable[list[str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        text = line.strip()
        words = next(csv.reader([text])) if "," in text or '"' in text else text.split()
        if len(words) < 2:
            raise InvalidInput(
                f"line {number} of stdin, {text[:40]!r}, has no value; write TICKET,VALUE or ARM,VALUE"
            )
        yield [word.strip() for word in words]


def _whole(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", word):
        raise InvalidInput(f"{word!r} is not a ticket; give the number that ask printed")
    return int(word)


def _numbers(words: list[str]) -> list[float]:
    if len(words) < 2:
        raise InvalidInput(f"there is no value for {words[0]!r}; give its numbers")
    try:
        return [float(word) for word in words[1:]]
    except ValueError:
        bad = next(word for word in words[1:] if not _is_number(word))
        raise InvalidSample(
            f"the sample {bad!r} of {words[0]!r} is not a number; write it like 0.25"
        ) from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _acknowledge(receipts: list[Receipt], as_json: bool, quiet: bool) -> None:
    last = receipts[-1]
    text = f"ticket {last.ticket} is stored as sample {last.number}, arm {last.arm}"
    if len(receipts) > 1:
        text = f"{len(receipts)} samples are stored"
    _say({"receipts": [receipt.to_dict() for receipt in receipts]}, text, as_json, quiet)


def _say(data: dict[str, Any], text: str, as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json(data)
    elif not quiet:
        print(text)
