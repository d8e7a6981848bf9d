"""Commands of ``linkarms`` in processes that are forked from one that has imported the libraries: most of a short command is importing.

Each command has a process, arguments, streams, environment and folder of its own. No module of linkarms is imported before. At its end
the libraries are not taken down again, which takes longer than most commands; tests/test_cli_process.py has whole processes. `Command`
starts one that can be killed; tests/service_process.py does so with services.
"""

import atexit
import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

#: What commands import from elsewhere.
COMMON = ("numpy", "pydantic.type_adapter", "rich.progress", "rich.table", "typer")
COMMON += ("sqlalchemy.dialects.postgresql", "sqlalchemy.dialects.sqlite")
LIBRARIES = (
    *COMMON,
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "narwhals",
    "pandas",
    "pyarrow.csv",
)
LIBRARIES += ("scipy.cluster.hierarchy", "scipy.optimize", "scipy.stats")
#: What services import.
SERVICES = (*COMMON, "fastapi.staticfiles", "uvicorn.protocols.http.h11_impl")
#: What is run if no other program is given.
MAIN = "from linkarms.cli import main; main()"

#: What the shell calls instead of the command: ``client SOCKET ARGUMENT...``. It needs nothing but the standard library.
CLIENT = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    request = json.dumps([None, sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(request).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(request)
    with server.makefile("rb") as answer:
        answer.read(4)
        sys.exit(int.from_bytes(answer.read(2) or b"\\xff", "big") % 256)
"""


class Command:
    """A command as a process that is not a child of this one, with what is needed of `subprocess.Popen`.

    ``server`` is the path of the socket, ``program`` the Python program that is run with the arguments.
    """

    def __init__(self, server, program, arguments, environment):
        reading, writing = os.pipe()
        self.stderr, self.returncode = os.fdopen(reading), None
        with socket.socket(socket.AF_UNIX) as here, os.fdopen(writing):
            here.connect(server)
            request = json.dumps([program, arguments, os.getcwd(), dict(environment)]).encode()
            socket.send_fds(here, [len(request).to_bytes(4, "big")], [0, 1, writing])
            here.sendall(request)
            self._answer = here.dup()
        self.pid = int.from_bytes(self._answer.recv(4), "big")
        assert self.pid > 1

    def wait(self, timeout=None):
        if self.returncode is None:
            self._answer.settimeout(timeout)
            try:
                self.returncode = int.from_bytes(self._answer.recv(2) or b"\xff", "big", signed=True)
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired("linkarms", timeout) from None
            self._answer.close()
        return self.returncode

    def poll(self):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout=None):
        self.wait(timeout)  # it says little: the pipe does not fill up
        with self.stderr:
            return None, self.stderr.read()


def start_server(path, libraries, environment):
    """Start the process that imports the libraries; it ends with this one."""
    process = subprocess.Popen(
        [sys.executable, __file__, path, *libraries], stdin=subprocess.PIPE, env=environment
    )
    atexit.register(process.communicate)
    while not os.path.exists(path):
        assert process.poll() is None
        time.sleep(0.01)


def serve(path, libraries):
    """Serve until standard input ends. A process that comes back from here is a command, and goes on to run it."""
    for name in libraries:
        __import__(name)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as here:
        here.bind(f"{path}.new")
        here.listen()
        os.rename(f"{path}.new", path)  # who waits for it can connect
        children = set()
        while here in select.select([here, sys.stdin], [], [])[0]:
            children -= {child for child in children if os.waitpid(child, os.WNOHANG)[0]}
            asked, _ = here.accept()
            child = os.fork()
            if child == 0:
                here.close()
                return take(asked)
            children.add(child)
            asked.close()
    for child in children:
        os.waitpid(child, 0)
    os._exit(0)


def take(asked):
    """Become the command that was asked for, and return its program; its parent waits for the exit code and sends it."""
    head, streams, _, _ = socket.recv_fds(asked, 4, 3)
    with asked.makefile("rb") as rest:
        program, arguments, folder, environment = json.loads(rest.read(int.from_bytes(head, "big")))
    command = os.fork()
    if command:
        for stream in streams:
            os.close(stream)
        asked.sendall(command.to_bytes(4, "big"))
        code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
        with contextlib.suppress(OSError):  # whoever asked may be gone
            asked.sendall(code.to_bytes(2, "big", signed=True))
        os._exit(0)
    asked.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["linkarms", *arguments]
    return program or MAIN


def run(program):
    """Run the command and leave with its exit code, with what it registered for that."""
    code = 0
    try:
        exec(program, {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):  # as Python does
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run(serve(sys.argv[1], sys.argv[2:]))
