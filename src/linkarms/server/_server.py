"""The server under the application: uvicorn with limits on connections and on the time to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from linkarms.errors import InvalidInput
from linkarms.server._connections import Connection, OpenConnections, connection_limit, listen
from linkarms.server._limits import TIMES
from linkarms.server._logs import limit_logs

__all__ = ["Server"]

_log = logging.getLogger("uvicorn.error")
#: Seconds between two looks at the connections.
_EVERY = 1.0
#: Seconds after the grace in which the rest of the stop has to be done.
_LAST = 5.0


class Server(uvicorn.Server):
    """Serves an application of `create_app` until it is told to stop.

    Parameters
    ----------
    app : FastAPI
        What to serve.
    host, port : str, int
        Where to listen; port 0 takes a free one.
    cert, key : str, optional
        Certificate and key in PEM.
    started : callable, optional
        Is called with the address once the service listens.
    """

    def __init__(
        self,
        app: FastAPI,
        host: str,
        port: int,
        cert: str | None = None,
        key: str | None = None,
        started: Callable[[str], object] | None = None,
    ) -> None:
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=int(TIMES.grace),
            timeout_keep_alive=int(TIMES.idle),
            ssl_certfile=cert,
            ssl_keyfile=key,
            proxy_headers=False,
            loop="asyncio",  # `LimitedSocket` is for this loop
            ws="none",
        )
        super().__init__(config)
        limit_logs()
        self._app, self._host, self._told = app, host, started
        self.open_connections, self._signalled = OpenConnections(connection_limit()), False
        try:
            self._sockets = listen(host, port, self.open_connections)
        except OSError as error:
            raise InvalidInput(
                f"the service cannot listen on {host}:{port} ({error.strerror or error}); choose another --port"
            ) from error

    @property
    def url(self) -> str:
        """The address."""
        scheme = "https" if self.config.is_ssl else "http"
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{scheme}://{host}:{self.port}"

    @property
    def port(self) -> int:
        """The port, also where a free one was taken."""
        return int(self._sockets[0].getsockname()[1])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start the application, and listen."""
        await super().startup([])
        loop = asyncio.get_running_loop()
        tls, patience = (self.config.ssl, TIMES.request) if self.config.is_ssl else (None, None)
        for listening in self._sockets:
            self.servers.append(
                await loop.create_server(
                    self._connect, sock=listening, ssl=tls, ssl_handshake_timeout=patience
                )
            )
        self._watch = asyncio.create_task(self._look_after_connections())
        if self._told is not None:
            self._told(self.url)

    def _connect(self) -> Connection:
        return Connection(
            self.open_connections,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )

    async def _look_after_connections(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            now = time.monotonic()
            for connection in list(self.server_state.connections):
                if isinstance(connection, Connection):
                    connection.look_after(now)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: streams end at once, since they would not end by themselves; requests under way get their grace."""
        self.close_streams()
        # uvicorn would end the process by the same signal afterwards; a graceful stop is a success
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        if not self._signalled:
            self._signalled = True
            last = threading.Timer(TIMES.grace + _LAST, _leave)
            last.daemon = True
            last.start()
        self.should_exit = True

    def close_streams(self) -> None:
        """Let live streams end."""
        self._app.state.live.closing = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, without waiting for computations that nobody needs any more."""
        await super().shutdown(sockets)
        self._watch.cancel()
        running = self._app.state.served.workers.running
        if running and self._signalled:
            _log.warning(
                "%d operations were cut off; what was acknowledged is stored, and nothing else", running
            )
            _leave()


def _leave() -> None:
    """End the process, whatever its threads do. All that was acknowledged is on disk, so nothing is lost."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
