"""The paper's rule with the exact psi: never later, and what the committed runs say."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import exact_stops

import linkarms as la
from linkarms.errors import InvalidInput

ROOT = Path(__file__).parent.parent
DATA = json.loads((ROOT / "evidence" / "exact_stops.json").read_text())


@pytest.mark.parametrize("name", exact_stops.INSTANCES)
def test_the_exact_psi_never_stops_later(name):
    rows = np.array(DATA[name])
    assert len(rows) >= exact_stops.TRIALS
    assert (rows > 0).all()
    assert (rows[:, 1] <= rows[:, 0]).all()
    assert (rows[:, 1] < rows[:, 0]).any()


def test_a_trial_computed_again():
    name = "two clusters of 3 on a line"
    trial = int(np.random.default_rng(4).integers(len(DATA[name])))
    (again,) = exact_stops.run(name, [trial])
    np.testing.assert_allclose(again, DATA[name][trial], rtol=0.1)


def test_the_table_of_the_docs_is_the_evidence():
    assert exact_stops.table(DATA) in (ROOT / "docs" / "exact.md").read_text()


def test_it_is_dumped_and_checked():
    rule = la.stopping.Paper(theta=(-5, 5), exact=True)
    c = la.BanditClusterer(n_clusters=2, arms=5, stopping=rule, seed=1, family="gaussian")
    for arm, x in enumerate([0.0, 0.3, 0.6, 4.0, 4.2]):
        c.tell(arm, x)
    again = la.BanditClusterer.load(c.dump())
    assert again.result().evidence == c.result().evidence
    assert "exact=True" in repr(rule)
    with pytest.raises(InvalidInput, match="neither True nor False"):
        la.stopping.Paper(theta=(-5, 5), exact=1)
