"""From the bytes of a request's body to a model, within limits and without holding up other requests."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from linkarms.errors import InvalidInput, TooLarge
from linkarms.server._limits import BODIES, JSON, TIMES
from linkarms.server._problems import TooSlow, Unsupported
from linkarms.server._workers import Workers

__all__ = ["Intake", "described", "parse"]

M = TypeVar("M", bound=BaseModel)
#: Validation errors that are named; the others are counted.
_NAMED = 3


class Intake:
    """Reads bodies: few large ones at the same time. All but the smallest are parsed on threads."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._large = asyncio.Semaphore(BODIES.large)

    def takes(self, model: type[M], limit: int) -> Callable[[Request], Awaitable[M]]:
        """Return a dependency that gives a route its body as a ``model``, of at most ``limit`` bytes."""

        async def body(request: Request) -> M:
            announced = _check_headers(request, limit)
            most = limit if announced is None else announced
            # small ones do not queue: otherwise a client without a token could block the queue with slow requests
            async with nullcontext() if most <= BODIES.command else self._large:
                content = await _read(request, limit)
                if len(content) <= BODIES.inline:
                    return parse(model, content)
                return await self._workers.run("parse", parse, model, content)

        return body


def described(model: type[BaseModel]) -> dict[str, Any]:
    """Return what a route says in OpenAPI about a body that `Intake` reads."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def parse(model: type[M], content: bytes) -> M:
    """Return the model that ``content`` describes.

    The number of values is bounded before anything is parsed, depth and members before validation, and a model stops at the first
    wrong element of a list: so no body makes this take long or collect millions of errors. The hooks are Python functions
    on purpose: at each call other threads get their turn.
    """
    if content.count(b",") >= JSON.values:
        raise TooLarge(f"the body holds more than {JSON.values} values; send smaller batches")
    try:
        data = json.loads(
            content,
            object_pairs_hook=_members,
            parse_float=_finite,
            parse_int=_integer,
            parse_constant=_not_finite,
        )
    except RecursionError:
        raise _too_deep() from None
    except InvalidInput:
        raise
    except ValueError:  # no JSON, or no UTF-8
        raise InvalidInput("the body is not JSON in UTF-8; see /openapi.json") from None
    if _is_deep(data):
        raise _too_deep()
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InvalidInput(_named(error)) from None


def _check_headers(request: Request, limit: int) -> int | None:
    """Return the announced length, if there is one; refuse a body that cannot be read before reading it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise InvalidInput(f"the body is {kind[:60] or 'of no type'}; send `Content-Type: application/json`")
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise Unsupported(f"the body is compressed ({encoding[:60]}); send it uncompressed")
    length = request.headers.get("content-length")
    if length is None:
        return None
    announced = int(length[:20]) if length.isdecimal() and length.isascii() else limit + 1
    if announced > limit:
        raise _too_long(limit)
    return announced


async def _read(request: Request, limit: int) -> bytes:
    """Return the whole body, if it arrives in time."""
    content = bytearray()
    began = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(began + TIMES.body) as patience:
            async for chunk in request.stream():
                content += chunk
                if len(content) > limit:
                    raise _too_long(limit)
                patience.reschedule(began + TIMES.body + len(content) / TIMES.rate)
    except TimeoutError:
        raise TooSlow(
            f"the body came too slowly, {len(content)} bytes so far; send at least {TIMES.rate} bytes per second"
        ) from None
    return bytes(content)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > JSON.members:
        raise InvalidInput(f"an object in the body has {len(pairs)} members; at most {JSON.members} are read")
    return dict(pairs)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise InvalidInput(f"the body holds the number {text[:40]}, which is not finite; leave it out")
    return value


def _integer(text: str) -> int:
    if len(text) > 400:
        raise InvalidInput(f"the body holds an integer of {len(text)} digits; send at most 400")
    return int(text)


def _not_finite(text: str) -> float:
    raise InvalidInput(f"the body holds {text}, which is not finite; leave it out")


def _is_deep(data: Any) -> bool:
    level = [data] if isinstance(data, (dict, list)) else []
    for _ in range(JSON.depth):
        inner = (part for box in level for part in (box.values() if isinstance(box, dict) else box))
        level = [part for part in inner if isinstance(part, (dict, list))]
    return bool(level)


def _named(error: ValidationError) -> str:
    """Return the first errors in words, without what was sent, which may be long."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    words = []
    for entry in found[:_NAMED]:
        where = ".".join(str(part)[:60] for part in entry["loc"])[:200] or "the body"
        words.append(f"{where}: {entry['msg']}")
    more = f" (and {len(found) - _NAMED} more)" if len(found) > _NAMED else ""
    return f"{'; '.join(words)}{more}; see /openapi.json"


def _too_deep() -> InvalidInput:
    return InvalidInput(f"the body is nested more than {JSON.depth} levels deep; see /openapi.json")


def _too_long(limit: int) -> TooLarge:
    return TooLarge(f"the body is larger than {limit} bytes; send smaller batches")
