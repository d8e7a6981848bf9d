"""What a newcomer types: the commands of the README and of the guide work as typed, one after the other, in an empty folder."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.pages import run_page

ROOT = Path(__file__).parents[1]
#: Commands that install something: CI does that in environments of its own.
INSTALLS = re.compile(r"^(pip|make) .*$", re.MULTILINE)


def commands_of(page, number=None):
    """The commands of a page, or of one of its blocks. Few trials show that a command works; 1 is an answer where the page says so."""
    blocks = re.findall(r"^```bash\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    script = INSTALLS.sub("", "\n".join(blocks) if number is None else blocks[number])
    script = re.sub(r"--trials \d+", "--trials 10", script)
    return re.sub(r"^(.*\S)( +# exit code 1: )", r"\1 || [ $? = 1 ]\2", script, flags=re.MULTILINE)


def sample_files(folder):
    """Files of the reader's own that commands of the guide name."""
    rng = np.random.default_rng(1)
    zones = {"airport": 0.1, "centre": 0.4, "docks": 3.0}
    trips = [(zone, gap) for zone, mean in zones.items() for gap in rng.exponential(mean, 300)]
    pd.DataFrame(trips, columns=["zone", "gap"]).to_csv(folder / "trips.csv", index=False)
    months = {
        name: rng.normal(mean, 1, 60)
        for name, mean in {"jan": 0.0, "feb": 0.5, "mar": 8.0, "apr": 9.0}.items()
    }
    pd.DataFrame(months).to_excel(folder / "months.xlsx", index=False)
    sensors = [
        (name, x)
        for name, mean in {"a": 0.0, "b": 20.0, "c": 21.0, "d": 60.0}.items()
        for x in rng.normal(mean, 1, 50)
    ]
    table = pd.DataFrame(sensors, columns=["sensor", "temperature"])
    table.loc[3, "temperature"] = None
    table.to_excel(folder / "measurements.xlsx", index=False)


def test_commands_see_what_users_have(tmp_path):
    """What only the tests need cannot be imported in the tests of commands, and what all users have can."""
    ran = run_page("python -c 'import pandas, matplotlib, sklearn; import polars'", tmp_path)
    assert ran.returncode == 1
    assert ran.stderr.strip().endswith("ModuleNotFoundError: No module named 'polars'")


@pytest.mark.parametrize(
    ("page", "number", "written"),
    [
        ("README.md", None, ["penguins.csv", "penguins.png"]),
        ("docs/start.md", None, ["penguins.png", "linkarms-demo.png"]),
        ("docs/data.md", None, ["zones.png"]),
    ],
)
def test_commands_work_as_typed(page, number, written, tmp_path):
    sample_files(tmp_path)
    ran = run_page(commands_of(page, number), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "wrong with probability at most 0.05" in ran.stdout
    for name in written:
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("page", "number", "said"),
    [
        ("docs/plan.md", None, "best shares: 0: 18.3%"),
        ("docs/anytime.md", None, "broken: more errors than delta"),
        ("docs/campaigns.md", 1, "monday.db is written: 3 campaigns"),
        ("docs/simulate.md", 0, "ebc-h"),
        ("docs/reproduce.md", 1, "ebc-h"),
    ],
)
def test_commands_of_the_guide_work_as_typed(page, number, said, tmp_path):
    ran = run_page(commands_of(page, number), tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert said in ran.stdout
