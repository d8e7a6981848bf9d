"""The service: campaigns over HTTP, and a page to watch them. It needs the extra ``serve``."""

from __future__ import annotations

from typing import Any

__all__ = ["Access", "create_app", "serve"]


def __getattr__(name: str) -> Any:
    from linkarms.errors import require

    if name not in __all__:
        raise AttributeError(f"module 'linkarms.server' has no attribute {name!r}")
    require("fastapi", "serve")
    require("uvicorn", "serve")
    from linkarms.server._access import Access
    from linkarms.server._app import create_app
    from linkarms.server._run import serve

    globals().update(Access=Access, create_app=create_app, serve=serve)
    return globals()[name]
