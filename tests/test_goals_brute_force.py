"""psi, T* and pair problems of every goal against the stored brute force of ``python -m evidence.goals_brute_force``, and a slice again."""

import json

import numpy as np
import pytest
from evidence import goals_brute_force as brute

STORED = json.loads(brute.HERE.with_suffix(".json").read_text())
INSTANCES = STORED["instances"]
#: Of exact values; T* is asked for within 1e-4, and its brute force is within 1e-5.
RELATIVE = {"pair problem": 1e-6, "psi": 1e-6, "1/T*": 2e-4}


def test_every_goal_and_family_is_there():
    for goal in brute.GOALS:
        assert sorted(map(int, INSTANCES[goal])) == list(range(brute.INSTANCES))
    assert {row["what"] for row in STORED["summary"]} == set(RELATIVE)


@pytest.mark.parametrize("goal", brute.GOALS)
def test_the_library_is_never_above_and_exact_where_it_says_so(goal):
    found = brute.summary({goal: INSTANCES[goal]}, every=7)
    assert [row["what"] for row in found] == ["pair problem", "psi", "1/T*"]
    for row in found:
        assert row["above"] <= RELATIVE[row["what"]], row
        assert row["largest"] is None or row["largest"] <= RELATIVE[row["what"]], row
        if goal != "tolerance":
            assert row["exact"] >= 0.4 * row["count"], row


def test_the_stored_summary_says_the_same():
    for row in STORED["summary"]:
        assert row["largest"] is None or row["largest"] <= RELATIVE[row["what"]]
        assert row["above"] <= RELATIVE[row["what"]]
        assert row["count"] >= brute.INSTANCES


def test_a_slice_computed_again():
    rng = np.random.default_rng(3)
    for goal in brute.GOALS:
        quick = [key for key, row in INSTANCES[goal].items() if row["seconds"] < 0.8]
        key = quick[rng.integers(len(quick))]
        again = brute.solve(goal, int(key))
        for name in set(again) - {"gap", "rounds", "seconds"}:
            assert again[name] == pytest.approx(INSTANCES[goal][key][name], rel=2e-5, abs=1e-12), (
                goal,
                key,
                name,
            )
