"""The service as a process of its own, to be killed."""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import httpx

MAIN = "import sys; from linkarms.cli import main; sys.argv[0] = 'linkarms'; main()"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    """Start with ``with Service(storage) as service``; `kill` and `start` again as often as needed, on the same port."""

    def __init__(self, storage, *options, port=None):
        self.port = port or free_port()
        self._command = [sys.executable, "-c", MAIN, "serve", "--port", str(self.port)]
        self._command += ["--storage", str(storage), *options]
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self, wait=True):
        self.process = subprocess.Popen(
            self._command, stderr=subprocess.PIPE, text=True, env=os.environ | {"LINKARMS_QUIET": "1"}
        )
        if wait:
            line = self.process.stderr.readline()
            assert re.search(r"serving on http", line), line + self.process.stderr.read()
            end = time.monotonic() + 60
            while httpx.get(f"{self.url}/healthz", timeout=120).status_code != 200:
                assert time.monotonic() < end
                time.sleep(0.1)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def stop(self, seconds=90):
        """Ask it to stop; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(seconds)
        self.process.stderr.close()
        return code

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
