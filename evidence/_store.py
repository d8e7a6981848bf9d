"""A JSON file that grows: what is done is kept when a run is interrupted."""

import json
import os
from pathlib import Path


class Store:
    """A dict in a file, written whole (and atomically) at each `save`."""

    def __init__(self, path: Path, command: str):
        self.path = path
        self.data = json.loads(path.read_text()) if path.exists() else {"command": command}

    def save(self):
        scratch = self.path.with_suffix(".partial")
        scratch.write_text(json.dumps(self.data, indent=1) + "\n")
        os.replace(scratch, self.path)
