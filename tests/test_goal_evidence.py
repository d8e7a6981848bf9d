"""The audits of thresholds and tolerances that are kept: complete, say what they should, and a slice of them computed again."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import goals
from evidence._audit_series import CHUNK, total
from tests.repeats import repeats

ROOT = Path(__file__).parents[1]
AUDITS = json.loads((ROOT / "evidence" / "goals.json").read_text())


@pytest.mark.parametrize("name", goals.INSTANCES)
def test_the_promise_is_kept_and_every_run_ends(name):
    runs = AUDITS["instances"][name]["runs"]["1"]
    _, unstopped, _, n = total(runs)
    assert n >= goals.SERIES.wanted(name)
    assert goals.SERIES.broken(runs) == [False, False]
    assert unstopped.tolist() == [0, 0]


def test_weakened_rules_are_caught():
    found = {name: goals.SERIES.caught(AUDITS["instances"][name]) for name in goals.INSTANCES}
    for kind, least in (("threshold", 4), ("tolerance", 2)):
        assert sum(x is not None for name, x in found.items() if name.startswith(kind)) >= least


def test_there_are_enough_hard_instances():
    kinds = [goals.setting(name) for name in goals.INSTANCES]
    thresholds = [p for p in kinds if p.distance_threshold is not None and p.tolerance == 0.0]
    assert len(thresholds) >= 4
    assert max(np.bincount(p.labels).max() for p in thresholds if p.n_features == 2) >= 5
    assert sum(p.ambiguous for p in kinds if p.tolerance > 0.0) >= 4


#: A chunk of these takes two seconds and more; each is the only one of its family under its goal.
SLOW = (
    "threshold, products",
    "threshold, bernoulli",
    "threshold, unknown covariance, d=2",
    "tolerance, unknown covariance, d=2",
)


@pytest.mark.parametrize("name", goals.INSTANCES)
def test_a_slice_computed_again(name):
    chunks = AUDITS["instances"][name]["runs"]["1"]
    i = len(name) % len(chunks)
    trials = repeats(CHUNK // 5, CHUNK) if name in SLOW else CHUNK
    errors, unstopped, samples = goals.SERIES.run(name, 1.0, i * CHUNK, trials)
    if trials < CHUNK:  # the chunk's sums alone are stored: the first of its runs add up to no more
        assert np.all(np.array(errors) <= np.array(chunks[i][0]) + 0.02 * CHUNK)
        assert unstopped == chunks[i][1] == [0, 0]
        np.testing.assert_allclose(np.divide(samples, trials), np.divide(chunks[i][2], CHUNK), rtol=0.15)
        return
    # a rounding error on another processor may change a choice of arm, and a few runs with it
    assert np.abs(np.subtract(errors, chunks[i][0])).max() <= 0.02 * CHUNK
    assert unstopped == chunks[i][1]
    np.testing.assert_allclose(samples, chunks[i][2], rtol=0.02)


def test_the_table_of_the_docs_is_the_evidence():
    text = (ROOT / "docs" / "it-does-not-stop.md").read_text()
    assert text.split("<!-- table: goals -->\n")[1].split("\n<!-- /table -->")[0] == goals.SERIES.table(
        AUDITS
    )
