"""The service on a thread of this process, and an httpx client for it."""

import contextlib
import threading
import time

import httpx

from linkarms.server import create_app
from linkarms.server._server import Server


@contextlib.contextmanager
def local_service(storage, access=None, tls=None, **client):
    """An `httpx.Client` of a service on a free port; its ``storage`` is that of the service, its ``server`` the server."""
    server = Server(create_app(storage, access), "127.0.0.1", 0, **(tls or {}))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    try:
        # without certificates, which take longer to read than most answers
        options = {"timeout": 300, "verify": False, **client}
        with httpx.Client(base_url=server.url, **options) as made:
            made.storage, made.port, made.server = storage, server.port, server
            yield made
    finally:
        server.close_streams()
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
