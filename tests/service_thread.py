"""The service on a thread of this process, and an httpx client for it."""

import contextlib
import threading
import time

import httpx
import uvicorn

from linkarms.server import create_app


@contextlib.contextmanager
def local_service(storage, access=None, **client):
    """An `httpx.Client` of a service on a free port; its ``storage`` is that of the service."""
    app = create_app(storage, access)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=5))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=300, **client) as made:
            made.storage, made.port = storage, port
            yield made
    finally:
        app.state.live.closing = True
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()
