"""The arguments and options that several commands of ``linkarms campaign`` have."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["InOrder", "Key", "Lease", "Name", "StorageUrl", "Ticket", "Worker"]

Name = Annotated[str, typer.Argument(metavar="NAME", help="The campaign.")]
Ticket = Annotated[int, typer.Argument(metavar="TICKET", help="The ticket.")]
StorageUrl = Annotated[
    str | None,
    typer.Option(
        "--storage",
        envvar="LINKARMS_STORAGE",
        metavar="URL",
        help="A path, sqlite:///PATH or postgresql+psycopg://USER@HOST/DATABASE.  [default: linkarms.db]",
    ),
]
Worker = Annotated[str | None, typer.Option(help="Who measures.")]
Lease = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="How long a ticket is held: 90 (seconds), 30m, 12h, 7d. A day unless create says otherwise.",
    ),
]
InOrder = Annotated[
    bool,
    typer.Option(
        "--in-order",
        help="Count samples in the order of asking, for samples whose values decide how long they take: one that is told early "
        "counts when every earlier ticket is told or released.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        help="Idempotency key: a request repeated with the same key is done once and gets the same answer."
    ),
]
