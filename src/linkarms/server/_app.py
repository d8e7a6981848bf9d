"""The application put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

from linkarms._version import __version__
from linkarms.campaign._campaign import StorageLike
from linkarms.errors import LinkarmsError
from linkarms.server import _models as models
from linkarms.server._access import COOKIE, Access
from linkarms.server._choices import choices
from linkarms.server._guard import Guard
from linkarms.server._home import Home
from linkarms.server._live import Live
from linkarms.server._metrics import Metrics
from linkarms.server._problems import install, problem, responses
from linkarms.server._routes import campaign_routes

__all__ = ["create_app"]

_STATIC = Path(__file__).parent / "static"
_ABOUT = (
    "Campaigns of linkarms over HTTP. Errors are problem+json; tokens go into `Authorization: Bearer TOKEN`."
)


class _Files(StaticFiles):
    """Files of the page: a browser asks each time whether they have changed."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def create_app(storage: StorageLike = "sqlite:///linkarms.db", access: Access | None = None) -> FastAPI:
    """The service as an ASGI application, for whoever has a server of their own; `serve` is what the command line calls.

    Parameters
    ----------
    storage : str, path or Storage
        As for `linkarms.campaign.Campaign.create`.
    access : Access, optional
        Tokens and host names; by default everybody who reaches it on loopback may do everything.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkarms.server import create_app
    >>> app = create_app(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> "/api/v1/campaigns/{name}/ask" in app.openapi()["paths"]
    True
    """
    access = Access() if access is None else access
    home, metrics = Home(storage), Metrics()
    live = Live(home)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        live.closing = True
        home.close()

    app = FastAPI(
        title="linkarms",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    app.state.live, app.state.home = live, home
    install(app)
    app.include_router(campaign_routes(home, live))
    app.include_router(_service_routes(home, live, metrics, access))
    app.mount("/static", _Files(directory=_STATIC), name="static")
    app.add_middleware(Guard, access=access, count=metrics.count)
    _describe(app)
    return app


def _service_routes(home: Home, live: Live, metrics: Metrics, access: Access) -> APIRouter:
    routes = APIRouter()

    @routes.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(_STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    @routes.get("/healthz", response_class=PlainTextResponse, responses=responses(), tags=["service"])
    def health() -> Any:
        """``ok`` if the storage can be read. Everybody may ask, so that it says no more than that."""
        try:
            home.names()
        except LinkarmsError:
            return problem(503, "the storage cannot be read; GET /api/v1/campaigns says more")
        return "ok\n"

    @routes.get("/metrics", response_class=PlainTextResponse, responses=responses(), tags=["service"])
    def read_metrics() -> str:
        """Counters for Prometheus."""
        return metrics.text(
            {
                "linkarms_campaigns": ("Campaigns in the storage.", len(home.names())),
                "linkarms_streams": ("Pages that are watching.", live.streams),
            }
        )

    @routes.get("/api/v1/session", response_model=models.Session, responses=responses(), tags=["service"])
    def session(request: Request) -> Any:
        """What the sender may do."""
        return {"role": request.scope.get("linkarms.role"), "tokens": bool(access.roles)}

    @routes.get("/api/v1/choices", response_model=models.Choices, responses=responses(), tags=["service"])
    def choose() -> Any:
        """The rules that a new campaign can have, and those it gets if nothing is said."""
        return choices()

    @routes.post("/api/v1/session", response_model=models.Session, responses=responses(), tags=["service"])
    def log_in(body: models.Token, response: Response) -> Any:
        """Exchange a token for a cookie that no script can read; the page uses it, since server-sent events carry no header."""
        role = access.role(body.token)
        if role is None:
            return problem(
                401, "there is no such token; ask whoever runs the service", {"WWW-Authenticate": "Bearer"}
            )
        if access.roles:
            response.set_cookie(COOKIE, access.cookie(body.token), **access.cookie_settings)  # type: ignore[arg-type]
        return {"role": role, "tokens": bool(access.roles)}

    @routes.delete("/api/v1/session", status_code=204, responses=responses(), tags=["service"])
    def log_out(response: Response) -> None:
        """Forget the cookie."""
        response.delete_cookie(COOKIE, path="/")

    return routes


def _describe(app: FastAPI) -> None:
    """OpenAPI with the schema of problems, and without FastAPI's own errors, which are never sent."""
    make = app.openapi

    def described() -> dict[str, Any]:
        schema = make()
        parts = schema["components"]["schemas"]
        if "Problem" not in parts:
            parts["Problem"] = models.Problem.model_json_schema()
            for own in ("HTTPValidationError", "ValidationError"):
                parts.pop(own, None)
            schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{}, {"token": []}]
        return schema

    app.openapi = described  # type: ignore[method-assign]
