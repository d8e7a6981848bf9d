"""Commands of the documentation, run as they stand there."""

import functools
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from tests import forked

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]


def wanted_by(extra):
    """The packages that an extra of linkarms brings, by the names under which they are imported."""
    found = set()
    for line in PROJECT["optional-dependencies"][extra]:
        name, extras = re.match(r"([\w.-]+)(?:\[(.*?)\])?", line).groups()
        if name == "linkarms":
            found |= set().union(*(wanted_by(part) for part in extras.split(",")))
        else:
            found.add({"scikit-learn": "sklearn"}.get(name, name.replace("-", "_")))
    return found


#: Makes an environment of tests look like one after ``pip install 'linkarms[all]'``: what only tests and the site need cannot be imported.
AS_INSTALLED = f"""
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in {sorted(set().union(*map(wanted_by, ("test", "docs", "lint"))) - wanted_by("all"))!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


@functools.cache
def tools():
    """A folder with ``linkarms`` and ``python`` for the shell."""
    folder = Path(tempfile.mkdtemp(prefix="linkarms-tools-"))
    (folder / "sitecustomize.py").write_text(AS_INSTALLED)
    (folder / "client").write_text(forked.CLIENT)
    real = f"{sys.executable} -c 'from linkarms.cli import main; main()'"
    (folder / "linkarms").write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = serve ]; then exec {real} "$@"; fi\n'  # gets signals
        f'exec {sys.executable} -I -S {folder}/client {folder}/socket "$@"\n'
    )
    (folder / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for name in ("linkarms", "python"):
        (folder / name).chmod(0o755)
    return folder


@functools.cache
def start_forks():
    """Start the process that commands are forked from."""
    folder = tools()
    forked.start_server(
        f"{folder}/socket", forked.LIBRARIES, os.environ | {"PYTHONPATH": python_path(folder)}
    )


def python_path(folder):
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def run_page(script, tmp_path):
    """Run commands in a real shell, with ``linkarms`` and ``python`` of this environment, as a user has them who installed all extras."""
    folder = tools()
    if re.search(r"linkarms (?!serve)", script):
        start_forks()
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{folder}:{os.environ['PATH']}",
            "PYTHONPATH": python_path(folder),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
