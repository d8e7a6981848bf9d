"""The gallery: its examples answer questions, and their notebooks run as they are downloaded."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.test_site import SITE, pytestmark  # noqa: F401

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
#: The prompt stays free of windows, and the working directory of stray files.
QUIET = {"MPLBACKEND": "agg", "LINKARMS_QUIET": "1"}


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_notebook_runs(example, tmp_path):
    """The cells of the downloaded notebook run in order, in an empty directory, with warnings as errors."""
    (found,) = (SITE / "_downloads").rglob(f"{example.stem}.ipynb")
    cells = json.loads(found.read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert re.search(r"^# .+", "".join(cells[0]["source"]) + "".join(cells[1]["source"]), re.MULTILINE), (
        "no title"
    )
    script = tmp_path / "notebook.py"
    script.write_text("\n\n".join(code), "utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "error", script.name],
        cwd=tmp_path,
        env=os.environ | QUIET,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
