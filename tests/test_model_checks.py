"""The evidence that the checks of the model catch what they should and are quiet otherwise."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import model_checks

ROOT = Path(__file__).parent.parent
DATA = json.loads((ROOT / "evidence" / "model_checks.json").read_text())


@pytest.mark.parametrize("name", model_checks.WRONG)
def test_caught_in_95_of_100_runs(name):
    runs, _, right = model_checks.counts(DATA[name], name)
    assert runs >= 100
    assert right >= 0.95 * runs


def test_false_alarms_are_at_most_one_in_a_hundred():
    assert len(model_checks.RIGHT) >= 10
    for name in model_checks.RIGHT:
        runs, alarms, _ = model_checks.counts(DATA[name], name)
        assert runs >= 300
        assert alarms <= 0.01 * runs


def test_some_runs_computed_again():
    rng = np.random.default_rng(3)
    for name in (*model_checks.WRONG, *model_checks.RIGHT):
        number = int(rng.integers(len(DATA[name])))
        assert model_checks.run(name, number) == DATA[name][number], (name, number)


def test_the_table_of_the_docs_is_the_evidence():
    assert model_checks.table(DATA) in (ROOT / "docs" / "check-the-model.md").read_text("utf-8")
