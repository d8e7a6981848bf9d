"""The service as a process of its own, to be killed."""

import functools
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import httpx
from tests import forked
from tests.repeats import LONG

MAIN = "import sys; from linkarms.cli import main; sys.argv[0] = 'linkarms'; main()"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@functools.cache
def forks():
    """The socket of the process that services are forked from in the suite: they start in half the time."""
    path = f"{tempfile.mkdtemp(prefix='linkarms-services-')}/socket"
    forked.start_server(path, forked.SERVICES, os.environ)
    return path


class Service:
    """Start with ``with Service(storage) as service``; `kill` and `start` again as often as needed, on the same port.

    ``files`` limits the open files of the process, ``main`` is its program. ``other`` is the interpreter of another
    environment, with another linkarms.
    """

    def __init__(self, storage, *options, port=None, files=None, main=MAIN, other=None):
        self.port = port or free_port()
        self._environment = os.environ | {"LINKARMS_QUIET": "1"}
        python = sys.executable if other is None else other
        if other is not None:
            self._environment.pop("PYTHONPATH", None)
        limit = [] if files is None else ["sh", "-c", f'ulimit -n {files}; exec "$0" "$@"']
        self._command = [*limit, python, "-c", main, "serve", "--port", str(self.port)]
        self._command += ["--storage", str(storage), *options]
        self._forked = files is None and other is None and not LONG and "PYTEST_CURRENT_TEST" in os.environ
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self, wait=True):
        if self._forked:
            _, _, main, *arguments = self._command
            self.process = forked.Command(forks(), main, arguments, self._environment)
        else:
            self.process = subprocess.Popen(
                self._command, stderr=subprocess.PIPE, text=True, env=self._environment
            )
        if wait:
            line = self.process.stderr.readline()
            assert re.search(r"serving on http", line), line + self.process.stderr.read()
            end = time.monotonic() + 60
            # without certificates, which take longer to read than the answer
            while httpx.get(f"{self.url}/healthz", timeout=120, verify=False).status_code != 200:
                assert time.monotonic() < end
                time.sleep(0.02)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def stop(self, seconds=90, say=False):
        """Ask it to stop; returns its exit code, or all that it said if that is 0."""
        self.process.send_signal(signal.SIGTERM)
        _, said = self.process.communicate(timeout=seconds)
        return said if say and self.process.returncode == 0 else self.process.returncode

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
