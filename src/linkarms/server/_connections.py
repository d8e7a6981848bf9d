"""Connections: how many there are, and how long each may take to send a request and to take its answer."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections import OrderedDict
from typing import Any
from weakref import WeakSet

from uvicorn.protocols.http.h11_impl import H11Protocol

from linkarms.server._limits import CONNECTIONS, TIMES

__all__ = ["Connection", "LimitedSocket", "OpenConnections", "connection_limit", "listen"]

#: Open files of the process besides connections: the database, libraries, sockets of the event loop.
_OTHER_FILES = 200
#: Connections that the system keeps until they are accepted.
_BACKLOG = 512
#: Bytes of one connection that are read before others get their turn: 256 KiB of chunks of one byte take seconds to parse.
_READ = 4 * 1024
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class OpenConnections:
    """The connections of a process: how many there are, and from which a request is expected.

    Parameters
    ----------
    most : int
        Connections at the same time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._inside: WeakSet[socket.socket] = WeakSet()
        #: Since when each has waited, the one that has been silent longest first.
        self._waiting: OrderedDict[Connection, float] = OrderedDict()

    @property
    def inside(self) -> int:
        """Number of open connections, including those with an unfinished TLS handshake."""
        return sum(connection.fileno() >= 0 for connection in self._inside)

    def enter(self, connection: socket.socket) -> bool:
        """Accept a new connection, if necessary in place of the one that has waited longest; False if all are busy."""
        if len(self._inside) >= self._most and self.inside >= self._most and not self.give_up_one():
            return False
        self._inside.add(connection)
        return True

    def wait(self, connection: Connection) -> None:
        """A connection begins to wait; if it does already, nothing changes."""
        self._waiting.setdefault(connection, time.monotonic())

    def stop_waiting(self, connection: Connection) -> None:
        """The connection has its request, or is lost."""
        self._waiting.pop(connection, None)

    def give_up_one(self) -> bool:
        """Close the connection that has waited longest; False if none waits."""
        if not self._waiting:
            return False
        connection, _ = self._waiting.popitem(last=False)
        connection.transport.abort()
        return True


class Connection(H11Protocol):
    """A connection of uvicorn that does not wait forever.

    uvicorn forgets its timer for idle connections at the first byte of a request, and has none for the rest of it, nor for answers that
    nobody takes; `look_after`, called every second, knows both. Bodies are timed where they are read, in `_body`.
    """

    def __init__(self, connections: OpenConnections, **settings: Any) -> None:
        super().__init__(**settings)
        self._open_connections = connections
        #: Since when: the first byte of a request that is not complete, or the connection itself.
        self._begun: float | None = None
        #: An answer that the client does not read: since when, and how many bytes at most.
        self._unread: tuple[float, int] | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        if hasattr(transport, "max_size"):  # of one read, in asyncio's own transport
            transport.max_size = _READ
        self._begun = time.monotonic()
        self._open_connections.wait(self)

    def data_received(self, data: bytes) -> None:
        """Note when a request begins, and when its headers are complete."""
        if not self._is_at_work() and self._begun is None:
            self._begun = time.monotonic()
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._open_connections.stop_waiting(self)
        super().connection_lost(exc)

    def look_after(self, now: float) -> None:
        """Close what has taken too long."""
        late = self._begun is not None and now - self._begun > TIMES.request
        if late and not self._is_at_work():
            self.transport.abort()
        size = self.transport.get_write_buffer_size()
        if not size:
            self._unread = None
            return
        since, most = self._unread or (now, 0)
        self._unread = since, max(most, size)
        if now - since > TIMES.unread + most / TIMES.rate:
            self.transport.abort()

    def _is_at_work(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _note(self) -> None:
        if self._is_at_work():
            self._begun = None
            self._open_connections.stop_waiting(self)
        elif not self.transport.is_closing():
            self._open_connections.wait(self)


class LimitedSocket(socket.socket):
    """A listening socket for asyncio's own event loop that accepts no more connections than the limit.

    At the limit, the connection that has waited longest for a request is closed; if all are busy, the new one is closed. So a
    process never runs out of files, which asyncio would answer with thousands of tracebacks per second.
    """

    def admit(self, connections: OpenConnections) -> None:
        """Accept as many as ``connections`` allows."""
        self._open_connections = connections
        self._reserve = os.open(os.devnull, os.O_RDONLY)

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection; ``BlockingIOError`` if there is none, or the limit is reached."""
        try:
            connection, address = super().accept()
        except OSError as error:
            if error.errno in _EXHAUSTED:
                self._reject()
                raise BlockingIOError from error
            raise
        if not self._open_connections.enter(connection):
            connection.close()
            raise BlockingIOError
        return connection, address

    def close(self) -> None:
        """Close the socket and the file that is kept in reserve."""
        if self.fileno() >= 0:
            os.close(self._reserve)
        super().close()

    def _reject(self) -> None:
        """Close the file in reserve, accept the connection and close it: otherwise the system would offer it forever."""
        self._open_connections.give_up_one()
        os.close(self._reserve)
        try:
            super().accept()[0].close()
        except OSError:
            pass
        finally:
            self._reserve = os.open(os.devnull, os.O_RDONLY)


def listen(host: str, port: int, connections: OpenConnections) -> list[LimitedSocket]:
    """Return sockets that listen at all addresses of ``host``, at one port; 0 takes a free one."""
    sockets: list[LimitedSocket] = []
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, kind, proto, _, address in dict.fromkeys(found):
        listening = LimitedSocket(family, kind, proto)
        listening.admit(connections)
        try:
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            taken = sockets[0].getsockname()[1] if sockets else port
            listening.bind((address[0], taken, *address[2:]))
            listening.listen(_BACKLOG)
        except OSError:
            listening.close()
            if not sockets:
                raise
        else:
            sockets.append(listening)
    return sockets


def connection_limit() -> int:
    """Return how many connections there may be, with as many open files as the system allows."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return CONNECTIONS
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CONNECTIONS + _OTHER_FILES
    if allowed < wanted and (most == resource.RLIM_INFINITY or allowed < most):
        allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    if allowed == resource.RLIM_INFINITY:
        return CONNECTIONS
    return min(CONNECTIONS, max(allowed - _OTHER_FILES, 16))
