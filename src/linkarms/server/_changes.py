"""Requests that change campaigns, on threads: for each campaign one change and one ask at a time."""

# no `from __future__ import annotations`: FastAPI reads the dependencies of these functions, which are made here, off their annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends
from pydantic import BaseModel
from starlette.responses import Response

from linkarms.campaign import Campaign, Receipt
from linkarms.server import _models as models
from linkarms.server._answers import json_answer
from linkarms.server._body import Intake, described
from linkarms.server._limits import BODIES
from linkarms.server._problems import responses
from linkarms.server._reading import Name
from linkarms.server._served import ServedCampaigns
from linkarms.server._settings import settings_of
from linkarms.server._workers import Kind

__all__ = ["changing_routes"]

F = TypeVar("F", bound=Callable[..., Any])


def changing_routes(served: ServedCampaigns, intake: Intake) -> APIRouter:
    """Return the routes under ``/api/v1`` that change something."""
    routes = APIRouter(prefix="/api/v1")

    def post(path: str, takes: type[BaseModel], gives: type[BaseModel]) -> Callable[[F], F]:
        return routes.post(
            f"/campaigns/{{name}}/{path}",
            response_model=gives,
            responses=responses(404, 408, 409, 415),
            openapi_extra=described(takes),
            tags=["samples"],
        )

    def changed(
        name: str, change: Callable[[Campaign], dict[str, Any]], kind: Kind = "change"
    ) -> Awaitable[Response]:
        return served.workers.in_turn(kind, name, lambda: json_answer(change(served.campaign(name))))

    @routes.post(
        "/campaigns",
        status_code=201,
        response_model=models.Status,
        responses=responses(408, 409, 415),
        openapi_extra=described(models.Create),
        tags=["campaigns"],
    )
    async def create(
        body: Annotated[models.Create, Depends(intake.takes(models.Create, BODIES.campaign))],
    ) -> Response:
        """Start a campaign."""

        def made() -> Response:
            settings = settings_of(body)
            new = Campaign.create(body.name, body.arms, body.n_clusters, storage=served.storage, **settings)
            return json_answer(new.status().to_dict(), 201)

        return await served.workers.in_turn("change", body.name, made)

    @post("ask", models.Ask, models.Tickets)
    async def ask(
        name: Name, body: Annotated[models.Ask, Depends(intake.takes(models.Ask, BODIES.command))]
    ) -> Response:
        """Which arms to measure next."""

        def change(campaign: Campaign) -> dict[str, Any]:
            tickets = campaign.ask(body.n, body.worker, lease=body.lease, key=body.key)
            return {"tickets": [ticket.to_dict() for ticket in tickets]}

        return await changed(name, change, "ask")

    @post("tell", models.Tell, models.Receipts)
    async def tell(
        name: Name, body: Annotated[models.Tell, Depends(intake.takes(models.Tell, BODIES.samples))]
    ) -> Response:
        """Store the samples of tickets. The same again is answered the same, and counted once."""

        def change(campaign: Campaign) -> dict[str, Any]:
            tickets, values = [s.ticket for s in body.samples], [s.value for s in body.samples]
            return _receipts(campaign.tell_many(tickets, values, key=body.key))

        return await changed(name, change)

    @post("add", models.Add, models.Receipts)
    async def add(
        name: Name, body: Annotated[models.Add, Depends(intake.takes(models.Add, BODIES.samples))]
    ) -> Response:
        """Store samples that were not asked for. Give a key, so that they can be sent again."""

        def change(campaign: Campaign) -> dict[str, Any]:
            arms, values = [s.arm for s in body.samples], [s.value for s in body.samples]
            return _receipts(campaign.add_many(arms, values, worker=body.worker, key=body.key))

        return await changed(name, change)

    @post("release", models.Release, models.Done)
    async def release(
        name: Name, body: Annotated[models.Release, Depends(intake.takes(models.Release, BODIES.command))]
    ) -> Response:
        """Give a ticket back that will not be measured."""

        def change(campaign: Campaign) -> dict[str, Any]:
            campaign.release(body.ticket)
            return {"ticket": body.ticket}

        return await changed(name, change)

    @post("retract", models.Retract, models.Done)
    async def retract(
        name: Name, body: Annotated[models.Retract, Depends(intake.takes(models.Retract, BODIES.command))]
    ) -> Response:
        """Take a sample out, as if it had never been told. It takes as long as a replay of the log."""

        def taken_out() -> Response:
            served.open_separately(name).retract(body.ticket, body.reason)
            return json_answer({"ticket": body.ticket})

        return await served.workers.in_turn("long", name, taken_out)

    return routes


def _receipts(receipts: Sequence[Receipt]) -> dict[str, Any]:
    return {"receipts": [receipt.to_dict() for receipt in receipts]}
