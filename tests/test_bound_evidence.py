"""The brackets against the optimum of an independent solver on every instance of evidence/lower_bound.json."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import lower_bound
from evidence.psi_brute_force import draw
from tests.oracles.library import to_library
from tests.oracles.psi_oracle import psi_brute
from tests.repeats import repeats

import linkarms as la

STORED = json.loads((Path(lower_bound.__file__).with_suffix(".json")).read_text())["instances"]
ROWS = [STORED[key] for key in sorted(STORED, key=int)]
#: How well the solver's own starts agree.
SAME = 1e-6


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['index']} {row['kind']}")
def test_the_bracket_contains_the_optimum(row):
    problem = draw(row["index"])
    vector = row["kind"] in ("categorical", "product")
    # psi of these takes up to half a second, and a wider bracket fewer of them
    gap = 1e-2 if vector else 1e-4
    b = la.lower_bound(problem["parameters"], problem["K"], to_library(problem["families"]), gap=gap)
    assert b.lower <= row["T"] * (1 + SAME)
    assert row["T"] <= b.upper * (1 + SAME)
    if max(row["shape"]) <= 2 and not vector:
        assert b.closed
        assert b.gap <= 1e-4


def test_stored_optima_cover_the_ground():
    assert [row["index"] for row in ROWS] == lower_bound.choose_instances()
    assert sum(max(row["shape"]) <= 2 for row in ROWS) >= 50
    assert sum(max(row["shape"]) == 3 for row in ROWS) >= 5
    assert {row["kind"] for row in ROWS} == set(lower_bound.KINDS)
    assert max(row["spread"] for row in ROWS) <= SAME


def test_a_slice_computed_again():
    quick = [row for row in ROWS if row["seconds"] < 2.0]
    for i in np.random.default_rng(5).choice(len(quick), size=4, replace=False)[: repeats(2, 4)]:
        again = lower_bound.solve(quick[i]["index"])
        assert again["T"] == pytest.approx(quick[i]["T"], rel=SAME)


def test_the_stored_weights_attain_the_stored_optimum():
    for row in ROWS[::12]:
        problem = draw(row["index"])
        value = psi_brute(row["weights"], problem["parameters"], problem["labels"], problem["families"])[
            "value"
        ]
        assert 1.0 / value == pytest.approx(row["T"], rel=SAME)
