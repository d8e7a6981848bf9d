"""Requests about the service itself: the page, sessions, health, metrics."""

# no `from __future__ import annotations`: FastAPI reads the dependencies of these functions, which are made here, off their annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from linkarms.errors import LinkarmsError
from linkarms.server import _models as models
from linkarms.server._access import COOKIE, Access
from linkarms.server._answers import json_answer, sent, to_json
from linkarms.server._body import Intake, described
from linkarms.server._choices import choices
from linkarms.server._limits import BODIES
from linkarms.server._live import Live
from linkarms.server._metrics import Metrics
from linkarms.server._problems import problem, responses
from linkarms.server._served import ServedCampaigns

__all__ = ["STATIC", "service_routes"]

STATIC = Path(__file__).parent / "static"
_PAGE = {"Cache-Control": "no-cache"}


def service_routes(
    served: ServedCampaigns, live: Live, intake: Intake, metrics: Metrics, access: Access
) -> APIRouter:
    """Return the routes that have no campaign in their address."""
    routes = APIRouter()
    run = served.workers.run

    @routes.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers=_PAGE)

    @routes.get("/openapi.json", include_in_schema=False)
    async def openapi(request: Request) -> Response:
        """What this file describes, in OpenAPI."""
        app = request.app
        if not hasattr(app.state, "schema"):
            app.state.schema = await run("parse", lambda: to_json(app.openapi()))
        return sent(app.state.schema)

    @routes.get("/healthz", response_class=PlainTextResponse, responses=responses(), tags=["service"])
    async def health() -> Response:
        """``ok`` if the storage could be read within the last five seconds. Everybody may ask, so it says no more."""
        try:
            await served.health.check()
        except (LinkarmsError, TimeoutError):
            return problem(503, "the storage cannot be read; GET /api/v1/campaigns says more")
        return PlainTextResponse("ok\n")

    @routes.get("/metrics", response_class=PlainTextResponse, responses=responses(), tags=["service"])
    async def read_metrics() -> Response:
        """Counters for Prometheus."""
        gauges = {
            "linkarms_campaigns": ("Campaigns in the storage.", len(await run("look", served.names))),
            "linkarms_streams": ("Pages that are watching.", live.streams),
            "linkarms_threads_running": ("Threads that are at work.", served.workers.running),
        }
        return PlainTextResponse(metrics.text(gauges))

    @routes.get("/api/v1/choices", response_model=models.Choices, responses=responses(), tags=["service"])
    async def choose() -> Response:
        """The rules that a new campaign can have, and its defaults."""
        return await run("parse", lambda: json_answer(choices()))

    @routes.get("/api/v1/session", response_model=models.Session, responses=responses(), tags=["service"])
    async def session(request: Request) -> Response:
        """What the sender may do."""
        return json_answer({"role": request.scope.get("linkarms.role"), "tokens": bool(access.roles)})

    @routes.post(
        "/api/v1/session",
        response_model=models.Session,
        responses=responses(408, 415),
        openapi_extra=described(models.Token),
        tags=["service"],
    )
    async def log_in(
        body: Annotated[models.Token, Depends(intake.takes(models.Token, BODIES.token))],
    ) -> Response:
        """Exchange a token for a cookie that no script can read; the page uses it, since server-sent events carry no header."""
        role = access.role(body.token)
        if role is None:
            return problem(
                401,
                "there is no such token; ask the person who runs the service",
                {"WWW-Authenticate": "Bearer"},
            )
        answer = json_answer({"role": role, "tokens": bool(access.roles)})
        if access.roles:
            settings: Any = access.cookie_settings
            answer.set_cookie(COOKIE, access.cookie(body.token), **settings)
        return answer

    @routes.delete("/api/v1/session", status_code=204, responses=responses(), tags=["service"])
    async def log_out() -> Response:
        """Forget the cookie."""
        answer = Response(status_code=204)
        answer.delete_cookie(COOKIE, path="/")
        return answer

    return routes
