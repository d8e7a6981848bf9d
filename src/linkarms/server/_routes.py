"""Every operation of a campaign as a request."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response, StreamingResponse

from linkarms.campaign import Campaign
from linkarms.server import _models as models
from linkarms.server._home import Home
from linkarms.server._live import Live
from linkarms.server._problems import responses
from linkarms.server._settings import settings_of
from linkarms.server._view import campaign_view, progress_of

__all__ = ["campaign_routes"]

Name = Annotated[str, Path(pattern=models.NAME, description="The campaign.", examples=["coffee"])]
_ONE = responses(404)
_CHANGE = responses(404, 409)
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


def campaign_routes(home: Home, live: Live) -> APIRouter:
    """The routes under ``/api/v1``."""
    routes = APIRouter(prefix="/api/v1")

    @routes.get("/campaigns", response_model=models.Campaigns, responses=responses(), tags=["campaigns"])
    def list_campaigns() -> Any:
        """All campaigns, with how far they are."""
        found = [home.campaign(name).status() for name in home.names()]
        return {"campaigns": [{**status.to_dict(), "progress": progress_of(status)} for status in found]}

    @routes.post(
        "/campaigns",
        status_code=201,
        response_model=models.Status,
        responses=responses(409),
        tags=["campaigns"],
    )
    def create(body: models.Create) -> Any:
        """Start a campaign."""
        made = Campaign.create(
            body.name, body.arms, body.n_clusters, storage=home.storage, **settings_of(body)
        )
        return made.status().to_dict()

    @routes.get("/campaigns/{name}", response_model=models.Status, responses=_ONE, tags=["campaigns"])
    def status(name: Name) -> Any:
        """How a campaign stands."""
        return home.campaign(name).status().to_dict()

    @routes.get("/campaigns/{name}/result", responses=_ONE, tags=["campaigns"])
    def result(name: Name) -> dict[str, Any]:
        """The clusters as they are known now: the fields of `linkarms.Result`."""
        return home.campaign(name).result().to_dict()

    @routes.post("/campaigns/{name}/ask", response_model=models.Tickets, responses=_CHANGE, tags=["samples"])
    def ask(name: Name, body: models.Ask) -> Any:
        """Which arms to measure next."""
        tickets = home.campaign(name).ask(body.n, body.worker, lease=body.lease, key=body.key)
        return {"tickets": [ticket.to_dict() for ticket in tickets]}

    @routes.post(
        "/campaigns/{name}/tell", response_model=models.Receipts, responses=_CHANGE, tags=["samples"]
    )
    def tell(name: Name, body: models.Tell) -> Any:
        """Store the samples of tickets. The same again is answered the same, and counted once."""
        tickets, values = [s.ticket for s in body.samples], [s.value for s in body.samples]
        receipts = home.campaign(name).tell_many(tickets, values, key=body.key)
        return {"receipts": [receipt.to_dict() for receipt in receipts]}

    @routes.post("/campaigns/{name}/add", response_model=models.Receipts, responses=_CHANGE, tags=["samples"])
    def add(name: Name, body: models.Add) -> Any:
        """Store samples that nobody asked for. Give a key, so that they can be sent again."""
        arms, values = [s.arm for s in body.samples], [s.value for s in body.samples]
        receipts = home.campaign(name).add_many(arms, values, worker=body.worker, key=body.key)
        return {"receipts": [receipt.to_dict() for receipt in receipts]}

    @routes.post("/campaigns/{name}/release", response_model=models.Done, responses=_CHANGE, tags=["samples"])
    def release(name: Name, body: models.Release) -> Any:
        """Give a ticket back that will not be measured."""
        home.campaign(name).release(body.ticket)
        return {"ticket": body.ticket}

    @routes.post("/campaigns/{name}/retract", response_model=models.Done, responses=_CHANGE, tags=["samples"])
    def retract(name: Name, body: models.Retract) -> Any:
        """Take a sample out, as if it had never been told. It takes as long as a replay of the log."""
        home.apart(name).retract(body.ticket, body.reason)
        return {"ticket": body.ticket}

    @routes.get("/campaigns/{name}/history", response_model=models.Events, responses=_ONE, tags=["campaigns"])
    def history(
        name: Name,
        after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    ) -> Any:
        """Entries of the log from ``after + 1`` on."""
        return {"events": [event.to_dict() for event in home.campaign(name).history(after, limit)]}

    @routes.get(
        "/campaigns/{name}/export",
        response_class=Response,
        responses={**_ONE, **_EXPORTED},
        tags=["campaigns"],
    )
    def export(name: Name, format: Literal["csv", "json", "parquet"] = "csv") -> Response:
        """All tickets and samples as a table."""
        content = home.apart(name).export(format)
        shown = {"Content-Disposition": f'attachment; filename="{name}.{format}"'}
        return Response(content, media_type=_MEDIA[format], headers=shown)

    @routes.post(
        "/campaigns/{name}/doctor", response_model=models.Checkup, responses=_ONE, tags=["campaigns"]
    )
    def doctor(name: Name) -> Any:
        """Replay the log and compare it with what is stored, bit for bit."""
        return home.apart(name).doctor().to_dict()

    @routes.get("/campaigns/{name}/view", responses=_ONE, tags=["page"])
    def view(name: Name) -> dict[str, Any]:
        """What the page shows: words, estimates with confidence regions, dendrogram, evidence and forecast."""
        return campaign_view(home.campaign(name), home.trace(name))

    @routes.get("/events", response_class=StreamingResponse, responses={**_ONE, **_STREAM}, tags=["page"])
    def events(
        request: Request,
        campaign: Annotated[str | None, Query(pattern=models.NAME, description="Only this campaign.")] = None,
    ) -> StreamingResponse:
        """Server-sent events: ``version`` whenever a campaign, or any campaign, has changed."""
        if campaign is not None:
            home.campaign(campaign)
        live.check_room()
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingResponse(live.stream(campaign), media_type="text/event-stream", headers=headers)

    return routes
