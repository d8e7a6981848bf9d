"""Bets on bounded samples: what the committed runs say, and some of them again."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import bounded
from evidence._audit_series import total

ROOT = Path(__file__).parent.parent
DATA = json.loads((ROOT / "evidence" / "bounded.json").read_text())


def test_the_figures_of_the_design():
    mean = np.mean(DATA["figures"], axis=0)
    assert mean == pytest.approx(list(bounded.FIGURES.values()), rel=0.08)
    assert bounded.figures(3, 2) == DATA["figures"][3:5]


@pytest.mark.parametrize("name", DATA["real"])
def test_at_most_half_of_the_samples_on_real_data(name):
    entry = DATA["real"][name]
    (one,), (two,) = (entry[version][2] for version in ("1", "2"))
    assert two <= 0.5 * one
    assert entry["1"][0] == entry["2"][0] == [0]


@pytest.mark.parametrize("name", bounded.AUDITS)
def test_the_promise_holds_on_two_point_and_skewed_samples(name):
    chunks = DATA["audits"][name]
    assert len(chunks) * bounded.CHUNK >= 1_000
    assert bounded.broken(chunks) == [False] * len(bounded.DELTAS)
    assert total(chunks)[1].sum() == 0  # unstopped


def test_a_weakened_rule_is_caught():
    assert any(bounded.broken(DATA["weakened"]))


def test_some_runs_again():
    name = "rare large values"
    parts = np.array([bounded.audit(name, 1.0, first, 10) for first in (0, 10)]).sum(axis=0)
    assert np.array_equal(parts, bounded.audit(name, 1.0, 0, 20))
    assert not parts[0].any()  # errors


def test_the_table_of_the_docs_is_the_evidence():
    assert bounded.table(DATA) in (ROOT / "docs" / "families.md").read_text("utf-8")
    assert bounded.audit_table(DATA) in (ROOT / "docs" / "anytime.md").read_text("utf-8")
