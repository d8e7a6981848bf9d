"""Errors as problem+json (RFC 9457), with the library's own words."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from linkarms.errors import Conflict, LinkarmsError, MissingDependency, NotFound, StorageError, TooLarge

__all__ = ["MEDIA", "Busy", "TooSlow", "Unsupported", "install", "problem", "responses", "status_of"]

MEDIA = "application/problem+json"
_TITLES = {
    400: "Bad request",
    401: "Not logged in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    415: "Unsupported encoding",
    422: "Invalid input",
    500: "Internal error",
    503: "Unavailable",
}


class Busy(LinkarmsError):
    """The service is busy; the same request may succeed later."""


class TooSlow(LinkarmsError):
    """A body that did not come in time."""


class Unsupported(LinkarmsError):
    """A body in an encoding that the service does not read."""


_STATUS: tuple[tuple[type[LinkarmsError], int], ...] = (
    (Busy, 503),
    (TooSlow, 408),
    (Unsupported, 415),
    (NotFound, 404),
    (Conflict, 409),
    (TooLarge, 413),
    (StorageError, 503),
    (MissingDependency, 503),
    (LinkarmsError, 422),
)


#: A refused body is still read, for a while, and discarded, so its sender can read the reason: closing at once would reset the
#: connection. The service does not wait for a body that is late.
_HEADERS = {408: {"Connection": "close"}, 503: {"Retry-After": "1"}}


def status_of(error: LinkarmsError) -> int:
    """The HTTP status of an error of the library."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def problem(
    status: int, detail: str, headers: dict[str, str] | None = None, kind: str | None = None
) -> Response:
    """A response that says what was wrong, where, and what to do."""
    title = _TITLES.get(status, "Error")
    name = kind or title.lower().replace(" ", "-")
    body = {"type": f"urn:linkarms:{name}", "title": title, "status": status, "detail": detail}
    # ASCII: half of a surrogate pair in somebody's text must not break the answer
    return Response(json.dumps(body), status, media_type=MEDIA, headers=headers)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How these statuses are described in OpenAPI."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": _TITLES[status], "content": {MEDIA: {"schema": schema}}}
        for status in sorted({401, 403, 413, 422, 503, *statuses})
    }


def install(app: FastAPI) -> None:
    """Answer every error with a problem."""

    # coroutines: Starlette would call functions on a thread of its own pool
    @app.exception_handler(LinkarmsError)
    async def _ours(request: Request, error: LinkarmsError) -> Response:
        status = status_of(error)
        return problem(status, str(error), _HEADERS.get(status), kind=_dashed(type(error).__name__))

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        # of the path or the query; bodies are read by `_body`
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return problem(422, f"{where[:200]}: {first['msg']}; see /openapi.json", kind="invalid-input")

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers) if error.headers else None
        if error.status_code == 404:
            return problem(404, "there is nothing at this address; see /openapi.json", headers)
        return problem(error.status_code, str(error.detail), headers)


def _dashed(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
