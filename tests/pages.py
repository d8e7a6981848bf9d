"""Commands of the documentation, run as they stand there."""

import os
import subprocess
import sys


def run_page(script, tmp_path):
    """Run commands in a real shell, with ``linkarms`` and ``python`` of this environment."""
    tool = tmp_path / "bin"
    tool.mkdir()
    (tool / "linkarms").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from linkarms.cli import main; main()' \"$@\"\n"
    )
    (tool / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for name in ("linkarms", "python"):
        (tool / name).chmod(0o755)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tool}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
