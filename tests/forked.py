"""Commands of ``linkarms`` in processes that are forked from one that has imported the libraries: most of a short command is importing.

Each command has a process, arguments, streams, environment and folder of its own. No module of linkarms is imported before. At its end
the libraries are not taken down again, which takes longer than most commands; tests/test_cli_process.py has whole processes.
"""

import atexit
import gc
import json
import os
import select
import socket
import sys
import traceback

#: What commands import from elsewhere.
LIBRARIES = ("matplotlib.figure", "numpy", "pandas", "rich", "scipy.optimize", "sqlalchemy", "typer")

#: What the shell calls instead of the command: ``client SOCKET ARGUMENT...``. It needs nothing but the standard library.
CLIENT = """
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1])
    request = json.dumps([sys.argv[2:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(request).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(request)
    sys.exit((server.recv(1) or b"\\xff")[0])
"""


def serve(path):
    """Serve until standard input ends. A process that comes back from here is a command, and goes on to run it."""
    for name in LIBRARIES:
        __import__(name)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as here:
        here.bind(path)
        here.listen()
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
    """Become the command that was asked for; its parent waits for the exit code and sends it."""
    head, streams, _, _ = socket.recv_fds(asked, 4, 3)
    with asked.makefile("rb") as rest:
        arguments, folder, environment = json.loads(rest.read(int.from_bytes(head, "big")))
    command = os.fork()
    if command:
        for stream in streams:
            os.close(stream)
        asked.sendall(bytes([os.waitstatus_to_exitcode(os.waitpid(command, 0)[1]) % 256]))
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


def run():
    """Run the command and leave with its exit code, with what it registered for that."""
    from linkarms.cli import main

    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):  # as Python does
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1])
    run()
