"""Bets on bounded samples: what the committed runs say, and some of them again."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import bounded, bounded_audits
from evidence._audit_series import total

ROOT = Path(__file__).parent.parent
DATA, AUDITS = (
    json.loads((ROOT / "evidence" / f"{name}.json").read_text()) for name in ("bounded", "bounded_audits")
)
SERIES = bounded_audits.SERIES


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


@pytest.mark.parametrize("name", bounded_audits.INSTANCES)
def test_the_promise_is_kept_on_two_point_and_skewed_samples_and_a_weakened_one_is_caught(name):
    entry = AUDITS["instances"][name]
    _, unstopped, _, n = total(entry["runs"]["1"])
    assert n >= 2_500
    assert not any(SERIES.broken(entry["runs"]["1"]))
    assert not unstopped.any()
    assert SERIES.caught(entry) is not None


def test_some_runs_again():
    name = "0 or 1, three arms"
    parts = np.array([SERIES.run(name, 1.0, first, 10) for first in (0, 10)]).sum(axis=0)
    assert np.array_equal(parts, SERIES.run(name, 1.0, 0, 20))
    assert not parts[0].any()  # errors
