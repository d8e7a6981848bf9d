"""How much the service takes at once, and how long it waits. Every limit of the service is stated here."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BODIES", "COLLECTIONS", "JSON", "TIMES", "Bodies", "Json", "Times"]

KIB = 1024


class Bodies(NamedTuple):
    """Bytes of a request's body, by what it holds.

    Attributes
    ----------
    token : int
        A sign-in, for which no token is needed.
    command : int
        A request with a few fields: ask, release, retract.
    campaign : int
        A new campaign: a thousand arms with names and families.
    samples : int
        A batch of samples.
    inline : int
        Up to here a body is parsed at once: this takes less time than handing it to a thread.
    large : int
        So many bodies above `command` are read and parsed at the same time; others wait.
    """

    token: int = 2 * KIB
    command: int = 16 * KIB
    campaign: int = 2 * KIB * KIB
    samples: int = 8 * KIB * KIB
    inline: int = 2 * KIB
    large: int = 8


class Json(NamedTuple):
    """What the JSON of a body may look like, checked before it is compared with a model.

    Attributes
    ----------
    values : int
        Numbers, strings and containers in all.
    members : int
        Members of one object.
    depth : int
        Levels of lists and objects.
    """

    values: int = 200_000
    members: int = 64
    depth: int = 16


class Times(NamedTuple):
    """Seconds.

    Attributes
    ----------
    request : float
        From the first byte of a request, or from the beginning of a connection, to the end of the headers.
    body : float
        For a body, besides the time that it takes at `rate`.
    rate : int
        Bytes per second that a client has to send or take at least.
    idle : float
        Between two requests of a connection. Measuring takes time, and a new connection with TLS costs more than an open one.
    unread : float
        For an answer that the client does not take, besides the time that it takes at `rate`.
    wait : float
        Until a state is sent in which not all samples are counted, unless the client says otherwise.
    health : float
        Until a storage that does not answer is called unavailable.
    recent : float
        For which a storage that has answered is not looked at again.
    grace : float
        For requests under way when the service stops.
    turn : float
        For which one thread runs Python while others wait to. Every answer takes a few turns, and as many threads as compute may be
        before it each time: with Python's own 0.005 it waits five times as long.
    """

    request: float = 10.0
    body: float = 20.0
    rate: int = 32 * KIB
    idle: float = 75.0
    unread: float = 30.0
    wait: float = 1.0
    health: float = 5.0
    recent: float = 1.0
    grace: float = 20.0
    turn: float = 0.001


BODIES, JSON, TIMES = Bodies(), Json(), Times()
#: How rarely garbage is collected (`gc.set_threshold`): almost all memory is free as soon as nothing refers to it.
COLLECTIONS = (20_000, 20, 50)
#: Connections at the same time, where the system allows as many open files.
CONNECTIONS = 1_000
#: Event streams at the same time; they are connections, too.
STREAMS = 500
#: Requests that wait for their turn at one campaign; more are told to come back.
QUEUE = 500
