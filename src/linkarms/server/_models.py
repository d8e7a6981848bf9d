"""What requests and answers look like; OpenAPI is made of this."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from linkarms._family_syntax import DEFAULT, SYNTAX
from linkarms.campaign import LIMITS

__all__ = ["REQUESTS", "Add", "Ask", "Create", "Problem", "Release", "Retract", "Tell", "Token"]

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
# lists stop at their first wrong element: a million errors would help nobody, and take long
Value = Number | Annotated[list[Number], Field(min_length=1, max_length=LIMITS.features, fail_fast=True)]
TicketNumber = Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)]
Text = Annotated[str, Field(strict=True, min_length=1, max_length=LIMITS.text)]
#: The characters of a campaign's name, also in an address.
NAME = r"^[A-Za-z0-9][A-Za-z0-9._\-]{0,99}$"
Seconds = Annotated[float, Field(strict=True, gt=0, le=LIMITS.lease, allow_inf_nan=False)]


def _request(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"example": example})


class Problem(BaseModel):
    """What was wrong, where, and what to do (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class Create(BaseModel):
    """A new campaign; what is left out has the library's default."""

    model_config = _request(
        {
            "name": "coffee",
            "arms": ["ada", "ben", "cy", "dot"],
            "n_clusters": 2,
            "family": "gaussian",
            "delta": 0.05,
            "stopping": {"name": "paper", "theta": [-10, 10]},
        }
    )
    name: Annotated[str, Field(pattern=NAME, description="Letters, digits, '.', '-' and '_'.")]
    arms: Annotated[list[Text], Field(min_length=1, fail_fast=True, description="The names of the arms.")]
    n_clusters: Annotated[
        int | None,
        Field(
            strict=True,
            ge=1,
            description="K. Without it, and without a distance threshold: the cut with the largest gap.",
        ),
    ] = None
    distance_threshold: Annotated[
        float | None,
        Field(strict=True, gt=0, allow_inf_nan=False, description="Join arms that are closer than this."),
    ] = None
    tolerance: Annotated[
        float,
        Field(
            strict=True,
            ge=0,
            allow_inf_nan=False,
            description="Smaller differences of distances do not matter.",
        ),
    ] = 0.0
    clip: Annotated[
        list[float] | None,
        Field(
            min_length=2,
            max_length=2,
            description="Clip samples to [LOW, HIGH] before they are counted; the default family is then bounded.",
        ),
    ] = None
    n_features: Annotated[int, Field(strict=True, ge=1, description="Numbers in one sample.")] = 1
    family: Annotated[
        str | dict[str, Any] | Annotated[list[str | dict[str, Any]], Field(fail_fast=True)] | None,
        Field(
            description=f"Sample distribution: {SYNTAX}; with commas, one per number of a sample. Or an object, "
            '{"name": "gamma", "shape": 2}, or a list with one per arm.'
        ),
    ] = DEFAULT
    delta: Annotated[float, Field(strict=True, gt=0, lt=1, description="The promised error probability.")] = (
        0.05
    )
    sampling: Annotated[
        str | dict[str, Any] | None,
        Field(description='Which arm next: "ebc-h", or {"name": "ebc", "step": 0.5}.'),
    ] = None
    stopping: Annotated[
        str | dict[str, Any] | None,
        Field(
            description='When to stop: a name, or {"name": "paper", "theta": [low, high], "epsilon": 0.01}; '
            "null: the sampling rule's own stop."
        ),
    ] = None
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)] = 0
    max_samples: Annotated[int | None, Field(strict=True, ge=1, le=2**53)] = None
    costs: Annotated[
        dict[str, float] | list[float] | None,
        Field(description="What a sample of each arm costs: by name, or one number per arm. 1 by default."),
    ] = None
    lease: Annotated[Seconds | None, Field(description="Seconds until a ticket expires.")] = None
    in_order: Annotated[
        bool,
        Field(
            strict=True,
            description="Count samples in the order of asking: an early one counts when every earlier ticket is told or released.",
        ),
    ] = False

    @field_validator("family", "sampling", "stopping", "costs", "clip")
    @classmethod
    def _only_finite(cls, value: Any) -> Any:
        stack = [value]
        while stack:
            part = stack.pop()
            if isinstance(part, float) and not math.isfinite(part):
                raise ValueError("numbers must be finite")
            stack += part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
        return value


class Ask(BaseModel):
    """A request for tickets."""

    model_config = _request({"n": 4, "worker": "bench 1", "key": "monday-1"})
    n: Annotated[int, Field(strict=True, ge=1, description="How many.")] = 1
    worker: Annotated[Text | None, Field(description="Who will measure.")] = None
    lease: Annotated[Seconds | None, Field(description="Seconds until they expire.")] = None
    key: Annotated[
        Text | None, Field(description="Idempotency key: the same again gets the same tickets.")
    ] = None


class Told(BaseModel):
    """The sample of a ticket."""

    model_config = ConfigDict(extra="forbid")
    ticket: TicketNumber
    value: Value


class Tell(BaseModel):
    """The samples of tickets: all are stored or none."""

    model_config = _request({"samples": [{"ticket": 1, "value": 0.25}, {"ticket": 2, "value": 5.5}]})
    samples: Annotated[list[Told], Field(min_length=1, fail_fast=True)]
    key: Text | None = None


class Unasked(BaseModel):
    """A sample that was not asked for."""

    model_config = ConfigDict(extra="forbid")
    arm: Text
    value: Value


class Add(BaseModel):
    """Samples that were not asked for: all are stored or none."""

    model_config = _request({"samples": [{"arm": "ada", "value": 0.25}], "key": "notebook, page 7"})
    samples: Annotated[list[Unasked], Field(min_length=1, fail_fast=True)]
    worker: Text | None = None
    key: Text | None = None


class Release(BaseModel):
    """Give a ticket back."""

    model_config = _request({"ticket": 2})
    ticket: TicketNumber


class Retract(BaseModel):
    """Take a sample out."""

    model_config = _request({"ticket": 1, "reason": "the scale was not levelled"})
    ticket: TicketNumber
    reason: Annotated[str, Field(strict=True, min_length=1, max_length=LIMITS.reason)]


class Token(BaseModel):
    """A token, to be exchanged for a cookie."""

    model_config = ConfigDict(extra="forbid")
    token: Annotated[str, Field(strict=True, min_length=1, max_length=200)]


#: What bodies hold; `linkarms.server._body` reads them.
REQUESTS = (Create, Ask, Tell, Add, Release, Retract, Token)


class Session(BaseModel):
    """What the sender of the request may do."""

    role: Literal["read", "write"] | None
    tokens: Annotated[bool, Field(description="Whether this service asks for tokens.")]


class Rule(BaseModel):
    """A rule that a campaign can have."""

    name: str
    about: Annotated[str, Field(description="In one line.")]
    parameters: Annotated[list[str], Field(description="What can be set.")]
    required: Annotated[list[str], Field(description="What has to be.")]


class Defaults(BaseModel):
    """The defaults of a campaign; null where the library has none."""

    sampling: str | None
    stopping: str | None


class Choices(BaseModel):
    """The rules of the library, with baselines listed separately."""

    sampling: list[Rule]
    stopping: list[Rule]
    defaults: Defaults


class Ticket(BaseModel):
    """One pull, given to one worker until the lease ends."""

    id: int
    arm: str
    worker: str | None
    expires_at: datetime


class Tickets(BaseModel):
    """Tickets; none once the campaign is done."""

    tickets: list[Ticket]


class Receipt(BaseModel):
    """A sample is stored."""

    ticket: int
    arm: str
    number: int
    told_at: datetime


class Receipts(BaseModel):
    """One per sample, in the order of the request."""

    receipts: list[Receipt]


class Done(BaseModel):
    """It is done."""

    ticket: int


class Status(BaseModel):
    """The status of a campaign; the fields are those of `linkarms.campaign.Status`."""

    name: str
    arms: list[str]
    n_clusters: int | None
    distance_threshold: float | None
    tolerance: float
    clip: list[float] | None
    in_order: bool
    n_features: int
    delta: float
    sampling: str
    stopping: str
    version: int
    created_at: datetime
    updated_at: datetime
    samples: int
    pulls: dict[str, int]
    pending: dict[str, int]
    held: dict[str, int]
    awaited: int | None
    tickets: dict[str, int]
    late: int
    expirations: int
    done: bool
    stopped: bool
    evidence: float | None
    threshold: float | None
    error_bound: float | None
    clusters: list[list[str]]
    conditional: bool
    promise: str
    computed_version: int
    counted_until: datetime | None
    age: float
    waiting: int


class Listed(Status):
    """A campaign in the list."""

    progress: Annotated[float, Field(ge=0, le=1, description="Evidence over threshold; 1 if done.")]


class Campaigns(BaseModel):
    """All campaigns."""

    campaigns: list[Listed]


class Event(BaseModel):
    """One entry of the log."""

    seq: int
    at: datetime
    kind: str
    worker: str | None
    key: str | None
    tickets: list[int]
    reason: str | None


class Events(BaseModel):
    """Entries of the log."""

    events: list[Event]


class Checkup(BaseModel):
    """What a replay of the log found."""

    ok: bool
    entries: int
    samples: int
    tickets: int
    difference: str | None
    repaired: bool
