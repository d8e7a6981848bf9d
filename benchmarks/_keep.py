"""The file of a benchmark: the command, the machine, and the rows."""

import json

from linkarms._machine import machine

__all__ = ["keep"]


def keep(path, command, rows):
    """Write what was measured."""
    path.write_text(json.dumps({"command": command, "machine": machine(), "rows": rows}, indent=1) + "\n")
