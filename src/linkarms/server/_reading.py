"""Requests that read campaigns. States are computed on threads, once for all who ask; see `_current`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response, StreamingResponse

from linkarms.campaign import Campaign
from linkarms.server import _models as models
from linkarms.server._answers import STATE_HEADERS, add_age, json_answer, sent, state_answer
from linkarms.server._limits import TIMES
from linkarms.server._live import Live
from linkarms.server._problems import responses
from linkarms.server._served import ServedCampaigns

__all__ = ["Name", "reading_routes"]

Name = Annotated[str, Path(pattern=models.NAME, description="The campaign.", examples=["coffee"])]
Wait = Annotated[
    float,
    Query(
        ge=0,
        le=600,
        description="Seconds to wait until all samples are counted; then what was counted last is sent, with its `Age`.",
    ),
]
Known = Annotated[str | None, Header(alias="If-None-Match", description="The ETag of what the sender has.")]
_ONE = responses(404)
_STATE: dict[int | str, dict[str, Any]] = {
    **_ONE,
    200: {"description": "The state of the campaign.", "headers": STATE_HEADERS},
    304: {"description": "It is what the sender has.", "headers": STATE_HEADERS},
}
_MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The table.",
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
            "application/vnd.apache.parquet": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
#: Tickets that one page of the history names, besides those of its last entry; and entries that are read at once.
_TICKETS, _ENTRIES = 100_000, 100


def reading_routes(served: ServedCampaigns, live: Live) -> APIRouter:
    """Return the routes under ``/api/v1`` that change nothing."""
    routes = APIRouter(prefix="/api/v1")
    run, in_turn = served.workers.run, served.workers.in_turn

    @routes.get("/campaigns", response_model=models.Campaigns, responses=responses(), tags=["campaigns"])
    async def list_campaigns(wait: Wait = TIMES.wait) -> Response:
        """All campaigns, with how far they are."""
        names = await run("look", served.names)
        found = await asyncio.gather(*(served.watched(name).state.get(wait) for name in names))
        answer = sent(b'{"campaigns":[%s]}' % b",".join(state.bodies["listed"] for state in found))
        add_age(answer, max((state.age for state in found), default=0.0))
        return answer

    @routes.get("/campaigns/{name}", response_model=models.Status, responses=_STATE, tags=["campaigns"])
    async def status(name: Name, wait: Wait = TIMES.wait, known: Known = None) -> Response:
        """Return the status of a campaign."""
        return state_answer(await served.watched(name).state.get(wait), "status", known)

    @routes.get("/campaigns/{name}/result", responses=_STATE, tags=["campaigns"])
    async def result(name: Name, wait: Wait = TIMES.wait, known: Known = None) -> Response:
        """The clusters as they are known now: the fields of `linkarms.Result`."""
        return state_answer(await served.watched(name).state.get(wait), "result", known)

    @routes.get("/campaigns/{name}/view", responses=_STATE, tags=["page"])
    async def view(name: Name, wait: Wait = TIMES.wait, known: Known = None) -> Response:
        """What the page shows: words, estimates with confidence regions, dendrogram, evidence and forecast."""
        return state_answer(await served.watched(name).view.get(wait), "view", known)

    @routes.get("/campaigns/{name}/history", response_model=models.Events, responses=_ONE, tags=["campaigns"])
    async def history(
        name: Name,
        after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    ) -> Response:
        """Entries of the log from ``after + 1`` on: fewer than ``limit`` if they concern very many tickets, none at the end."""
        return await in_turn("long", name, lambda: json_answer(_history(served, name, after, limit)))

    @routes.get(
        "/campaigns/{name}/export",
        response_class=Response,
        responses={**_ONE, **_EXPORTED},
        tags=["campaigns"],
    )
    async def export(name: Name, format: Literal["csv", "json", "parquet"] = "csv") -> Response:
        """All tickets and samples as a table."""

        def table() -> Response:
            shown = {"Content-Disposition": f'attachment; filename="{name}.{format}"'}
            return Response(
                served.open_separately(name).export(format), media_type=_MEDIA[format], headers=shown
            )

        return await in_turn("long", name, table)

    @routes.post(
        "/campaigns/{name}/doctor", response_model=models.Checkup, responses=_ONE, tags=["campaigns"]
    )
    async def doctor(name: Name) -> Response:
        """Replay the log and compare it with what is stored, bit for bit."""
        return await in_turn(
            "long", name, lambda: json_answer(served.open_separately(name).doctor().to_dict())
        )

    @routes.get("/events", response_class=StreamingResponse, responses={**_ONE, **_STREAM}, tags=["page"])
    async def events(
        campaign: Annotated[str | None, Query(pattern=models.NAME, description="Only this campaign.")] = None,
    ) -> Response:
        """Server-sent events: ``version`` whenever a campaign, or any campaign, has changed."""
        if campaign is not None:
            await served.watched(campaign).glance()
        return live.response(campaign)

    return routes


def _history(served: ServedCampaigns, name: str, after: int, limit: int) -> dict[str, Any]:
    """A page of the log that ends early where it gets long: one entry may concern ten thousand tickets."""
    campaign, tickets = Campaign(name, served.storage), 0
    events: list[dict[str, Any]] = []
    while len(events) < limit and tickets < _TICKETS:
        some = campaign.history(after, min(_ENTRIES, limit - len(events)))
        if not some:
            break
        for event in some:
            events.append(event.to_dict())
            tickets += len(event.tickets)
            after = event.seq
            if tickets >= _TICKETS:
                break
    return {"events": events}
