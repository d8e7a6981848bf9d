"""Checks before every request (host, origin, role), and the headers of every answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from linkarms.server._access import COOKIE, ROLES, Access
from linkarms.server._problems import problem

__all__ = ["Guard"]

_log = logging.getLogger("uvicorn.error")
_UNEXPECTED = "this should not have happened; the log of the service says more"
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: Paths that need no role: they reveal nothing.
_OPEN = ("/", "/openapi.json", "/healthz", "/api/v1/session")
_OPEN_UNDER = "/static/"


class Guard:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, access: Access, count: Callable[[Scope, int, float], None]) -> None:
        self.app, self.access, self.count = app, access, count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, started = time.perf_counter(), 500, False

        async def answer(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if "cache-control" not in headers:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        refusal = self._refuse(scope, Headers(scope=scope))
        # nobody else needs cookies, and FastAPI would parse them for every request
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"cookie"]
        try:
            if refusal is not None:
                await refusal(scope, receive, answer)
                return
            await self.app(scope, receive, answer)
        except Exception:
            if started:
                raise
            _log.exception("%s %s", scope["method"], scope["path"])
            await problem(500, _UNEXPECTED)(scope, receive, answer)
        finally:
            self.count(scope, status, time.perf_counter() - began)

    def _refuse(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "")
        if _name(f"//{host}") not in self.access.hosts:
            return problem(
                403,
                "this service does not answer under this Host; start it with --allow-host NAME",
                kind="foreign-host",
            )
        origin = headers.get("origin")
        foreign = origin is not None and not _same(origin, host)
        elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if foreign or (elsewhere and not _follows_a_link(scope, headers)):
            return problem(403, "requests from pages of other origins are refused", kind="foreign-origin")
        return self._refuse_role(scope, headers)

    def _refuse_role(self, scope: Scope, headers: Headers) -> Response | None:
        path = scope["path"]
        scope["linkarms.role"] = role = self._role(headers)
        if path in _OPEN or path.startswith(_OPEN_UNDER):
            return None
        if role is None:
            return problem(
                401,
                "give a token in the header `Authorization: Bearer TOKEN`, or log in on the page",
                {"WWW-Authenticate": "Bearer"},
            )
        needed = "read" if scope["method"] in ("GET", "HEAD") else "write"
        if ROLES.index(role) < ROLES.index(needed):
            return problem(
                403, f"this token may only {role}; use one with the role {needed}", kind="wrong-role"
            )
        return None

    def _role(self, headers: Headers) -> str | None:
        if not self.access.roles:
            return "write"
        given = headers.get("authorization")
        if given is not None:
            scheme, _, token = given.partition(" ")
            return self.access.role(token.strip()) if scheme.lower() == "bearer" else None
        cookie = _session_of(headers.get("cookie", ""))
        return None if cookie is None else self.access.role_of_cookie(cookie)


def _session_of(cookies: str) -> str | None:
    """Return the cookie of the session. It needs no quotes, which `http.cookies` of some Pythons takes seconds to remove from 64 KB."""
    found = None
    for cookie in cookies.split(";"):
        name, _, value = cookie.partition("=")
        if name.strip() == COOKIE:
            found = value.strip()
    return found


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _follows_a_link(scope: Scope, headers: Headers) -> bool:
    """Allow a click on a link to the page in a wiki or a mail: the browser shows the page, and the other site learns nothing."""
    goes = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return goes and scope["path"] == "/" and scope["method"] == "GET"


def _same(origin: str, host: str) -> bool:
    """Whether the page that sends the request came from this service: same name, same port."""
    scheme, _, place = origin.partition("://")
    return scheme in ("http", "https") and place.lower() == host.lower() and bool(host)
