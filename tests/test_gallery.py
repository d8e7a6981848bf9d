"""The gallery: its examples answer questions, and their notebooks run in a kernel as they are downloaded."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from tests.test_site import SITE, pytestmark  # noqa: F401

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 10


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_page_has_the_pictures_of_its_example(example):
    shown = list((SITE / "_images").glob(f"sphx_glr_{example.stem}_0*.png"))
    assert len(shown) == example.read_text("utf-8").count("plt.show()") >= 1


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """A kernel that keeps running: to start one takes longer than most notebooks."""
    home = tmp_path_factory.mktemp("kernel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(home))
        patch.setenv("LINKARMS_QUIET", "1")
        client = NotebookClient(nbformat.v4.new_notebook(), timeout=120, kernel_name="python3")
        client.execute(cleanup_kc=False, cwd=str(home))
    yield client
    client._cleanup_kernel()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_notebook_runs_in_a_kernel(example, kernel, tmp_path):
    """All cells of the downloaded notebook, in a kernel without variables and an empty directory; no warning appears below a cell."""
    (found,) = (SITE / "_downloads").rglob(f"{example.stem}.ipynb")
    notebook = nbformat.read(found, as_version=4)
    assert re.search(r"^# .+", "".join(cell.source for cell in notebook.cells[:2]), re.MULTILINE), "no title"
    empty = nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {tmp_path}")
    notebook.cells.insert(0, empty)
    kernel.nb = notebook
    kernel.execute(cleanup_kc=False)
    code = [cell for cell in notebook.cells[1:] if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    said = [part.text for cell in code for part in cell.outputs if part.get("name") == "stderr"]
    assert said == []
    assert any(cell.outputs for cell in code)
