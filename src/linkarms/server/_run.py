"""Start the service, and stop it gracefully."""

from __future__ import annotations

import gc
import ipaddress
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from linkarms.campaign._open import StorageLike
from linkarms.errors import InvalidInput
from linkarms.server._access import LOOPBACK, Access, read_tokens
from linkarms.server._app import create_app
from linkarms.server._limits import COLLECTIONS, TIMES
from linkarms.server._server import Server

__all__ = ["say_where", "serve"]


def say_where(url: str) -> None:
    """A line on stderr."""
    print(f"linkarms: serving on {url} (Ctrl-C stops)", file=sys.stderr, flush=True)


def serve(
    storage: StorageLike = "sqlite:///linkarms.db",
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    token_file: str | os.PathLike[str] | None = None,
    tls_cert: str | os.PathLike[str] | None = None,
    tls_key: str | os.PathLike[str] | None = None,
    behind_proxy: bool = False,
    allow_hosts: Iterable[str] = (),
    started: Callable[[str], object] = say_where,
) -> None:
    """Serve campaigns over HTTP until the process is told to stop.

    Parameters
    ----------
    storage : str, path or Storage
        As for `linkarms.campaign.Campaign.create`.
    host, port : str, int
        Where to listen; port 0 takes a free one.
    token_file : path, optional
        Lines ``read TOKEN`` and ``write TOKEN``. Needed off loopback.
    tls_cert, tls_key : path, optional
        Certificate and key in PEM. Off loopback these, or `behind_proxy`, are needed.
    behind_proxy : bool
        A proxy in front of the service handles TLS. Tokens are then needed on loopback, too: clients come through the proxy.
    allow_hosts : iterable of str
        Names under which browsers and clients reach the service, besides loopback and `host`.
    started : callable
        Called with the address once the service listens; by default a line on stderr shows it.

    Examples
    --------
    >>> from linkarms.server import serve
    >>> serve("runs.db", host="0.0.0.0")
    Traceback (most recent call last):
        ...
    linkarms.errors.InvalidInput: --host 0.0.0.0 lets others in; give --token-file FILE, or listen on 127.0.0.1
    """
    local, names = _is_loopback(host), list(allow_hosts)
    if (tls_cert is None) != (tls_key is None):
        raise InvalidInput("TLS needs a certificate and a key; give --tls-cert and --tls-key together")
    if not local and token_file is None:
        raise InvalidInput(f"--host {host} lets others in; give --token-file FILE, or listen on 127.0.0.1")
    if token_file is None and (behind_proxy or any(name.lower() not in LOOPBACK for name in names)):
        raise InvalidInput(
            "--behind-proxy and --allow-host let others in by way of a proxy; give --token-file FILE"
        )
    if not local and tls_cert is None and not behind_proxy:
        raise InvalidInput(
            f"--host {host} would send tokens in the clear; give --tls-cert and --tls-key, or --behind-proxy if a proxy handles TLS"
        )
    for path in (tls_cert, tls_key):
        if path is not None and not os.access(path, os.R_OK):
            raise InvalidInput(f"{path}: the file cannot be read; give certificate and key in PEM")
    if not 0 <= port <= 65_535:
        raise InvalidInput(f"--port {port} is not a port; give 0 to 65535")
    hosts = {*LOOPBACK, *names} | ({host} if not _is_any(host) else set())
    tokens = {} if token_file is None else read_tokens(token_file)
    secure = tls_cert is not None or behind_proxy
    app = create_app(storage, Access.from_tokens(tokens, hosts, secure))
    cert, key = (None if path is None else os.fspath(path) for path in (tls_cert, tls_key))
    with _short_pauses():
        Server(app, host, port, cert, key, started).run()


@contextmanager
def _short_pauses() -> Iterator[None]:
    """Let no request wait long for Python itself: threads take short turns, and collections of garbage leave out what stays anyway.

    With Python's own settings a service of twenty campaigns spends an eighth of its time in collections, and the long ones stop it for
    0.2 s each: ``/healthz`` then has a p99 of 0.2 s, with these 0.07 s.
    """
    turn, collections = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(TIMES.turn)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
    try:
        yield
    finally:
        sys.setswitchinterval(turn)
        gc.unfreeze()
        gc.set_threshold(*collections)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
