"""psi, T* and pair problems of every goal against the stored brute force of ``python -m evidence.goals_brute_force``, and a slice again."""

import json

import numpy as np
import pytest
from evidence import goals_brute_force as brute
from tests.oracles.library import to_library
from tests.repeats import few, repeats

import linkarms as la

STORED = json.loads(brute.HERE.with_suffix(".json").read_text())
INSTANCES = STORED["instances"]
#: Of exact values; T* is asked for within 1e-4, and its brute force is within 1e-5.
RELATIVE = {"pair problem": 1e-6, "psi": 1e-6, "1/T*": 2e-4}


def test_every_goal_and_family_is_there():
    for goal in brute.GOALS:
        assert sorted(map(int, INSTANCES[goal])) == list(range(brute.n_instances(goal)))
    assert {row["what"] for row in STORED["summary"]} == set(RELATIVE)


@pytest.mark.parametrize("goal", brute.GOALS)
def test_the_library_is_never_above_and_exact_where_it_says_so(goal):
    found = brute.summary({goal: INSTANCES[goal]}, every=repeats(21, 7))
    assert [row["what"] for row in found] == ["pair problem", "psi", "1/T*"]
    for row in found:
        assert row["above"] <= RELATIVE[row["what"]], row
        assert row["largest"] is None or row["largest"] <= RELATIVE[row["what"]], row
        if goal in ("threshold", "threshold and tolerance", "costs"):
            assert row["exact"] >= 0.4 * row["count"], row


def test_the_stored_summary_says_the_same():
    for row in STORED["summary"]:
        assert row["largest"] is None or row["largest"] <= RELATIVE[row["what"]]
        assert row["above"] <= RELATIVE[row["what"]]
        assert row["count"] >= brute.n_instances(row["goal"])


def test_a_slice_computed_again():
    rng = np.random.default_rng(3)
    for goal in brute.GOALS:
        seconds = {key: row["seconds"] for key, row in INSTANCES[goal].items()}
        quick = [key for key, took in seconds.items() if took < max(0.8, 1.2 * min(seconds.values()))]
        key = quick[rng.integers(len(quick))]
        again = brute.solve(goal, int(key))
        for name in set(again) - {"gap", "rounds", "seconds"}:
            assert again[name] == pytest.approx(INSTANCES[goal][key][name], rel=2e-5, abs=1e-12), (
                goal,
                key,
                name,
            )


@pytest.mark.parametrize("index", few(range(0, brute.VECTOR_INSTANCES, 5), every=2))
def test_the_lower_end_for_vectors_is_below(index):
    """Where psi is only bounded, what proves the lower end has to be an alternative."""
    row = brute.draw("threshold, vectors", index)
    bound = la.lower_bound(row["parameters"], family=to_library(row["families"]), gap=1e-3, **row["goal"])
    T = INSTANCES["threshold, vectors"][str(index)]["T"]
    assert 0.0 < bound.lower <= T * (1.0 + 2e-5)
    assert bound.upper >= T * (1.0 - 2e-5)
