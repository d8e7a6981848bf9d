"""Answers as bytes of JSON; large ones are made on a thread."""

from __future__ import annotations

import json
import math
from typing import Any

from starlette.responses import Response

from linkarms.server._current import Computed

__all__ = ["STATE_HEADERS", "add_age", "json_answer", "sent", "state_answer", "to_json"]

#: The headers of a state in OpenAPI.
STATE_HEADERS = {
    "ETag": {"schema": {"type": "string"}, "description": "Changes with the content."},
    "Age": {
        "schema": {"type": "integer"},
        "description": "Only if samples wait to be counted: seconds since all were.",
    },
    "Linkarms-Version": {"schema": {"type": "integer"}, "description": "Entries of the log."},
}


def to_json(data: Any) -> bytes:
    """Return compact JSON; never NaN or infinity."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).encode()


def sent(content: bytes, status: int = 200) -> Response:
    """Return an answer with JSON that is there already."""
    return Response(content, status, media_type="application/json")


def json_answer(data: Any, status: int = 200) -> Response:
    """Return an answer with plain data as JSON."""
    return sent(to_json(data), status)


def state_answer(state: Computed, body: str, known: str | None) -> Response:
    """Return a state, or 304 if the sender has it already."""
    content, tag = state.bodies[body], state.tags[body]
    same = known is not None and tag in (part.strip().removeprefix("W/") for part in known.split(","))
    found = Response(status_code=304) if same else sent(content)
    found.headers["ETag"] = tag
    found.headers["Cache-Control"] = "private, no-cache"
    found.headers["Linkarms-Version"] = str(state.version)
    add_age(found, state.age)
    return found


def add_age(answer: Response, age: float) -> None:
    """Say how old what was computed is, if it is not current."""
    if age > 0.0:
        answer.headers["Age"] = str(math.ceil(age))
