"""A client of the service: the methods of `linkarms.campaign.Campaign`, over HTTP. It needs nothing besides the core."""

from __future__ import annotations

import dataclasses
import http.client
import json
import os
import socket
import ssl
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NoReturn, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import numpy as np
from numpy.typing import ArrayLike

from linkarms import errors
from linkarms._samples import as_sample
from linkarms.campaign._export import check_target, written_whole
from linkarms.campaign._records import Checkup, Event, Receipt, Status, Ticket
from linkarms.errors import InvalidInput, LinkarmsError, ServiceError
from linkarms.result import Result

__all__ = ["Client"]

_URL = "http://127.0.0.1:8000"
#: Statuses after which the same request may succeed.
_AGAIN = (502, 503, 504)
_KINDS = {
    "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-"): getattr(errors, name)
    for name in errors.__all__
    if name[0].isupper()
}
_PAGE = 10_000
T = TypeVar("T")


class Client:
    """A campaign behind a service. Use `create` or `open`; the methods are those of `linkarms.campaign.Campaign`.

    A request that gets no answer (the service restarts, the network fails) is sent again until ``patience`` seconds are over. `ask`,
    `add`, `add_many` and `tell_many` carry an idempotency key, so nothing is done twice.

    Parameters
    ----------
    name : str
        The campaign.
    url : str, default "http://127.0.0.1:8000"
        The service.
    token : str, optional
        By default the variable ``LINKARMS_TOKEN``.
    patience : float, default 60
        Seconds during which a failed request is repeated.
    timeout : float, default 120
        Seconds that one answer may take.

    Examples
    --------
    >>> import pathlib, queue, tempfile, threading
    >>> from linkarms.client import Client
    >>> from linkarms.server import serve
    >>> address, path = queue.Queue(), pathlib.Path(tempfile.mkdtemp()) / "runs.db"
    >>> threading.Thread(target=serve, args=(path,), kwargs={"port": 0, "started": address.put}, daemon=True).start()
    >>> with Client.create("lab", ["ada", "ben", "cy"], 2, url=address.get()) as lab:
    ...     receipt = lab.tell(lab.ask()[0], 0.25)
    ...     lab.status().samples
    1
    """

    def __init__(
        self,
        name: str,
        url: str = _URL,
        *,
        token: str | None = None,
        patience: float = 60.0,
        timeout: float = 120.0,
    ) -> None:
        self.name, self.url, self.patience, self.timeout = name, _address(url), patience, timeout
        self._token = _header_of(os.environ.get("LINKARMS_TOKEN") if token is None else token)
        self._local = threading.local()

    def __getstate__(self) -> NoReturn:
        raise LinkarmsError(
            "a Client holds connections and perhaps a token; make another one of its name and url"
        )

    @classmethod
    def create(
        cls,
        name: str,
        arms: Sequence[str],
        n_clusters: int | None = None,
        *,
        url: str = _URL,
        token: str | None = None,
        **settings: Any,
    ) -> Client:
        """Start a campaign; ``settings`` as for `linkarms.campaign.Campaign.create`, families and rules as names or objects."""
        self = cls(name, url, token=token)
        body: dict[str, Any] = {"name": name, "arms": _plain(arms), "n_clusters": n_clusters}
        body |= {key: _plain(value) for key, value in settings.items()}
        return self._first(lambda: self._request("POST", "/campaigns", body, dict, once=True))

    @classmethod
    def open(cls, name: str, url: str = _URL, *, token: str | None = None) -> Client:
        """Open an existing campaign; `NotFound` if there is none of this name."""
        self = cls(name, url, token=token)
        return self._first(self.status)

    def _first(self, request: Callable[[], object]) -> Client:
        """Return itself if the first request succeeds; otherwise close the connection."""
        try:
            request()
        except BaseException:
            self.close()
            raise
        return self

    @staticmethod
    def names(url: str = _URL, *, token: str | None = None) -> list[str]:
        """Return the names of the campaigns."""
        with Client("any", url, token=token) as client:
            return client._request(
                "GET", "/campaigns", None, lambda found: [str(one["name"]) for one in found["campaigns"]]
            )

    def close(self) -> None:
        """Close this thread's connection; the object may be used again."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
        self._local.connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.name!r}, {self.url!r})"

    def ask(
        self, n: int = 1, worker: str | None = None, *, lease: float | None = None, key: str | None = None
    ) -> list[Ticket]:
        """Return tickets for the next ``n`` pulls; none once the campaign is done."""
        body = {"n": n, "worker": worker, "lease": lease, "key": key or _new_key()}
        return self._campaign(
            "POST", "/ask", body, lambda found: [_record(Ticket, ticket) for ticket in found["tickets"]]
        )

    def tell(self, ticket: Ticket | int, value: ArrayLike) -> Receipt:
        """Store the sample of a ticket; the same again is counted once."""
        return self.tell_many([ticket], [value])[0]

    def tell_many(
        self, tickets: Sequence[Ticket | int], values: Sequence[ArrayLike], *, key: str | None = None
    ) -> list[Receipt]:
        """Store the samples of several tickets: all of them or none."""
        numbers = [t.id if isinstance(t, Ticket) else t for t in tickets]
        if len(numbers) != len(values):
            raise InvalidInput(
                f"there are {len(numbers)} tickets and {len(values)} values; give one value for each"
            )
        samples = [{"ticket": t, "value": _value(v)} for t, v in zip(numbers, values, strict=True)]
        return self._receipts("/tell", {"samples": samples, "key": key})

    def add(
        self, arm: str, value: ArrayLike, *, worker: str | None = None, key: str | None = None
    ) -> Receipt:
        """Store a sample that was not asked for."""
        return self.add_many([arm], [value], worker=worker, key=key)[0]

    def add_many(
        self,
        arms: Sequence[str],
        values: Sequence[ArrayLike],
        *,
        worker: str | None = None,
        key: str | None = None,
    ) -> list[Receipt]:
        """Store samples that were not asked for: all of them or none."""
        if len(arms) != len(values):
            raise InvalidInput(
                f"there are {len(arms)} arms and {len(values)} values; give one value for each"
            )
        samples = [{"arm": arm, "value": _value(v)} for arm, v in zip(arms, values, strict=True)]
        return self._receipts("/add", {"samples": samples, "worker": worker, "key": key or _new_key()})

    def release(self, ticket: Ticket | int) -> None:
        """Give back a ticket."""
        self._campaign(
            "POST", "/release", {"ticket": ticket.id if isinstance(ticket, Ticket) else ticket}, dict
        )

    def retract(self, ticket: Ticket | int, reason: str) -> None:
        """Remove a sample, as if it had never been told."""
        number = ticket.id if isinstance(ticket, Ticket) else ticket
        self._campaign("POST", "/retract", {"ticket": number, "reason": reason}, dict)

    def status(self, *, wait: bool = True) -> Status:
        """Return the state of the campaign; with ``wait=False``, without samples that are not counted yet."""
        return self._campaign(
            "GET",
            self._waiting("", wait),
            None,
            lambda found: _record(Status, found | {"arms": tuple(found["arms"])}),
        )

    def result(self, *, wait: bool = True) -> Result:
        """Return the clusters as they are known now; ``wait`` as for `status`."""
        return self._campaign("GET", self._waiting("/result", wait), None, Result.from_dict)

    def history(self, after: int = 0, limit: int | None = None) -> list[Event]:
        """Return the log from entry ``after + 1`` on, at most ``limit`` entries."""

        def page(found: Any) -> list[Event]:
            return [_record(Event, event | {"tickets": tuple(event["tickets"])}) for event in found["events"]]

        events: list[Event] = []
        while limit is None or len(events) < limit:
            wanted = _PAGE if limit is None else min(_PAGE, limit - len(events))
            query = urlencode({"after": after, "limit": wanted})
            more = self._campaign("GET", f"/history?{query}", None, page)
            if not more:
                break
            events += more
            after = events[-1].seq
        return events

    def export(self, format: str, path: str | os.PathLike[str] | None = None) -> str | bytes | None:
        """Return all tickets as ``csv``, ``json`` or ``parquet``, or write them to ``path``."""
        target = None if path is None else check_target(path)
        content = self._campaign("GET", f"/export?{urlencode({'format': format})}", None, bytes)
        if target is None:
            return content if format == "parquet" else content.decode()
        with written_whole(target) as scratch:
            scratch.write_bytes(content)
        return None

    def doctor(self) -> Checkup:
        """Ask the service to replay the log and compare it with what is stored."""
        return self._campaign("POST", "/doctor", {}, lambda found: _record(Checkup, found))

    def _waiting(self, path: str, wait: bool) -> str:
        """A path with the time for which to wait until all samples are counted."""
        return f"{path}?{urlencode({'wait': min(self.timeout / 2, 600.0) if wait else 0})}"

    def _receipts(self, path: str, body: dict[str, Any]) -> list[Receipt]:
        return self._campaign(
            "POST", path, body, lambda found: [_record(Receipt, receipt) for receipt in found["receipts"]]
        )

    def _campaign(self, method: str, path: str, body: Any, read: Callable[[Any], T]) -> T:
        return self._request(method, f"/campaigns/{quote(self.name, safe='')}{path}", body, read)

    def _request(
        self, method: str, path: str, body: Any, read: Callable[[Any], T], *, once: bool = False
    ) -> T:
        """Send a request, again and again if need be, and return what ``read`` makes of the JSON of the answer; `bytes`: of the answer.

        ``once``: not again after it may have arrived.
        """
        try:
            content = None if body is None else json.dumps(body, allow_nan=False, default=_builtin).encode()
        except TypeError as error:
            raise InvalidInput(f"{error}; nothing was sent") from error
        except ValueError as error:
            raise errors.InvalidSample(f"a number is not finite ({error}); nothing was sent") from error
        end, pause = time.monotonic() + self.patience, 0.05
        while True:
            try:
                status, answer = self._send(method, f"/api/v1{path}", content)
                if status < 300:
                    return _understood(answer, read, self.url)
                problem: LinkarmsError = _error(status, answer)
                again = status in _AGAIN
            except (OSError, http.client.HTTPException, ssl.SSLError) as error:
                self.close()
                problem = ServiceError(
                    f"{self.url}: the service cannot be reached ({error}); start it, or correct the address"
                )
                problem.__cause__ = error
                again = not once or isinstance(error, (ConnectionRefusedError, socket.gaierror))
            if not again or time.monotonic() + pause > end:
                raise problem
            time.sleep(pause)
            pause = min(2 * pause, 1.0)

    def _send(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            parts = urlsplit(self.url)
            kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
            connection = self._local.connection = kind(str(parts.hostname), parts.port, timeout=self.timeout)
            connection.connect()
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        headers = {} if self._token is None else {"Authorization": self._token}
        if content is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, urlsplit(self.url).path + path, content, headers)
        answer = connection.getresponse()
        found = answer.status, answer.read()
        if answer.will_close:
            self.close()
        return found


def _address(url: Any) -> str:
    """The address of a service, without a slash at its end."""
    try:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and url.isprintable():
            return str(url).rstrip("/")
    except (ValueError, TypeError, AttributeError):  # a port of 99999, half of an IPv6 address, no text
        pass
    raise InvalidInput(f"url={url!r} is not the address of a service; write it like {_URL}")


def _header_of(token: Any) -> str | None:
    """The header that carries a token."""
    if token is None:
        return None
    words = token.strip() if isinstance(token, str) else ""
    if not words or not words.isascii() or not words.isprintable():
        raise InvalidInput("the token is not printable ASCII; give it as it is in the token file")
    return f"Bearer {words}"


def _understood(answer: bytes, read: Callable[[Any], T], url: str) -> T:
    try:
        return read(answer if read is bytes else json.loads(answer))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        why = " ".join(str(error).split())[:200]
        raise ServiceError(
            f"{url}: the answer is not that of a linkarms service ({type(error).__name__}: {why}); correct the address"
        ) from error


def _new_key() -> str:
    return f"client-{uuid.uuid4().hex}"


def _value(value: ArrayLike) -> Any:
    return as_sample(value, "").tolist()


def _builtin(value: Any) -> Any:
    """A number or an array of NumPy as Python has it; `json` calls this for what it does not know."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} of type {type(value).__name__} cannot be sent as JSON")


def _plain(value: Any) -> Any:
    """A family or a rule as what describes it; lists of them too."""
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def _record(kind: type[T], data: dict[str, Any]) -> T:
    """A record of the library from its JSON; times come back as datetimes."""
    times = ("expires_at", "told_at", "created_at", "updated_at", "counted_until", "at")
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    missing = [name for name in names if name not in data]
    if missing:
        raise ServiceError(
            f"the service is of another version: its answer has no {', '.join(missing)}; install the same version of linkarms on both sides"
        )
    known = {name: data[name] for name in names}
    return kind(**{k: datetime.fromisoformat(v) if k in times and v else v for k, v in known.items()})


def _error(status: int, answer: bytes) -> LinkarmsError:
    try:
        problem = json.loads(answer)
        kind, detail = str(problem["type"]).rpartition(":")[2], str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        kind, detail = "", f"the service answers {status}; is this the right address?"
    by_status = {404: errors.NotFound, 409: errors.Conflict, 413: errors.TooLarge, 422: InvalidInput}
    found = _KINDS.get(kind, by_status.get(status, ServiceError))
    return found(detail)  # type: ignore[no-any-return]
