"""The command line: ``linkarms demo``, ``linkarms cluster``, ``linkarms plan``, ``linkarms bound``, ``linkarms simulate``,
``linkarms audit``, ``linkarms reproduce``, ``linkarms bench``, ``linkarms campaign``, ``linkarms serve``.

Exit codes: 0; 1 if it ran and the answer is no (a budget ran out, a target was missed); 2 for bad input, with one line on stderr.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper

__all__ = ["main"]


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    from linkarms.errors import MissingDependency, require

    try:
        for module in ("typer", "rich"):
            require(module, "cli")
    except MissingDependency as error:
        print(f"linkarms: {error}", file=sys.stderr)
        sys.exit(2)
    from linkarms.cli._app import run

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a screen or file that cannot show a name is no reason to fail
    sys.exit(run(sys.argv[1:]))
