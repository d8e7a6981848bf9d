"""The application put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from linkarms._version import __version__
from linkarms.campaign._open import StorageLike
from linkarms.server import _models as models
from linkarms.server._access import Access
from linkarms.server._body import Intake
from linkarms.server._changes import changing_routes
from linkarms.server._guard import Guard
from linkarms.server._live import Live
from linkarms.server._metrics import Metrics
from linkarms.server._problems import install
from linkarms.server._reading import reading_routes
from linkarms.server._served import ServedCampaigns
from linkarms.server._service import STATIC, service_routes
from linkarms.server._workers import Workers

__all__ = ["create_app"]

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
    """Return the service as an ASGI application, for users with a server of their own; `serve` is what the command line calls.

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
    workers, metrics = Workers(), Metrics()
    served, intake = ServedCampaigns(storage, workers), Intake(workers)
    live = Live(served)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        live.closing = True
        served.close()

    app = FastAPI(
        title="linkarms",
        version=__version__,
        description=_ABOUT,
        openapi_url=None,  # `_service` sends it, from bytes that are made once
        lifespan=life,
    )
    app.state.live, app.state.served = live, served
    install(app)
    app.include_router(reading_routes(served, live))
    app.include_router(changing_routes(served, intake))
    app.include_router(service_routes(served, live, intake, metrics, access))
    app.mount("/static", _Files(directory=STATIC), name="static")
    app.add_middleware(Guard, access=access, count=metrics.count)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """OpenAPI with the schemas of problems and of bodies, and without FastAPI's own errors, which are never sent."""
    make = app.openapi

    def described() -> dict[str, Any]:
        schema = make()
        parts = schema["components"]["schemas"]
        if "Problem" not in parts:
            for model in (models.Problem, *models.REQUESTS):
                whole = model.model_json_schema(ref_template="#/components/schemas/{model}")
                parts |= whole.pop("$defs", {}) | {model.__name__: whole}
            for own in ("HTTPValidationError", "ValidationError"):
                parts.pop(own, None)
            schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{}, {"token": []}]
        return schema

    app.openapi = described  # type: ignore[method-assign]
