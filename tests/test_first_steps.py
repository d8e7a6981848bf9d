"""What a newcomer types: the commands of the README and of the first page of the guide work as typed."""

import re
from pathlib import Path

import pytest
from tests.pages import run_page

ROOT = Path(__file__).parents[1]
#: Commands that install something: CI does that in environments of its own.
INSTALLS = re.compile(r"^(pip|make) .*$", re.MULTILINE)


def test_commands_see_what_users_have(tmp_path):
    """What only the tests need cannot be imported in the tests of commands, and what all users have can."""
    (tmp_path / "there").mkdir()
    ran = run_page("python -c 'import pandas, matplotlib, sklearn; import polars'", tmp_path / "there")
    assert ran.returncode == 1
    assert ran.stderr.strip().endswith("ModuleNotFoundError: No module named 'polars'")


@pytest.mark.parametrize(
    ("page", "written"),
    [
        ("README.md", ["penguins.csv", "penguins.png"]),
        ("docs/start.md", ["penguins.png", "linkarms-demo.png"]),
    ],
)
def test_commands_work_as_typed(page, written, tmp_path):
    text = (ROOT / page).read_text("utf-8")
    script = "\n".join(re.findall(r"^```bash\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    # a thousand trials take a while; ten show that the command works
    ran = run_page(INSTALLS.sub("", script).replace("--trials 1000", "--trials 10"), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "wrong with probability at most 0.05" in ran.stdout
    for name in written:
        assert (tmp_path / name).stat().st_size > 1000
