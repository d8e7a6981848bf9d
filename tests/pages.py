"""Commands of the documentation, run as they stand there."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

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


def run_page(script, tmp_path):
    """Run commands in a real shell, with ``linkarms`` and ``python`` of this environment, as a user has them who installed all extras."""
    tool = tmp_path / "bin"
    tool.mkdir()
    (tool / "linkarms").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from linkarms.cli import main; main()' \"$@\"\n"
    )
    (tool / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tool / "sitecustomize.py").write_text(AS_INSTALLED)
    for name in ("linkarms", "python"):
        (tool / name).chmod(0o755)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{tool}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(tool), os.environ.get("PYTHONPATH")])),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
