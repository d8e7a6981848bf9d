"""psi against the stored brute force of ``python -m evidence.psi_brute_force``, and a slice of it again."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from evidence.psi_brute_force import KINDS, draw, solve
from tests.oracles.library import to_library
from tests.oracles.psi_oracle import (
    cheap_alternative,
    margin,
    pair_brute,
    psi_brute,
    single_linkage,
    total_cost,
)
from tests.repeats import few, repeats

import linkarms as la

STORE = Path(__file__).parents[1] / "evidence" / "psi_brute_force.json"
INSTANCES = json.loads(STORE.read_text())["instances"]
RELATIVE = 1e-6
BOUNDS = {"bottleneck", "dominating", "duality"}


def small(row):
    return max(row["shape"]) <= 2


def solved_exactly(row):
    """Where the library promises the infimum: clusters of one or two arms, d = 1 or Gaussian arms."""
    return small(row) and (row["d"] == 1 or row["kind"].startswith("gaussian"))


def library_psi(row, refine=True):
    return la.psi(row["weights"], row["parameters"], row["K"], to_library(row["families"]), refine=refine)


@cache
def stored_psi(index, refine):
    return library_psi(INSTANCES[index], refine)


def complaints(row, psi):
    """Everything in which the library's answer disagrees with the brute force."""
    oracle, value = row["value"], psi.value
    cost = float(np.dot(row["weights"], psi.kl))
    if value > oracle * (1.0 + RELATIVE) + 1e-12:
        yield f"unsafe: {value!r} is above the cost {oracle!r} of a true alternative"
    if (psi.exact or solved_exactly(row)) and abs(value - oracle) > RELATIVE * oracle:
        yield f"{value!r} is not the infimum {oracle!r}"
    if not value > 0.0:
        yield f"{value!r} is not positive"
    if psi.ambiguous:
        yield "called ambiguous"
    if psi.exact:
        if psi.bound != "exact":
            yield f"exact, but the bound is called {psi.bound!r}"
        if abs(cost - value) > RELATIVE * value:
            yield f"the KL of the arms add up to {cost!r}, not to {value!r}"
        if (
            abs(total_cost(row["weights"], row["parameters"], psi.alternative, row["families"]) - cost)
            > 1e-6 * cost
        ):
            yield "the KL of the arms are not those of the alternative"
        if margin(psi.alternative, row["labels"]) < 1.0 - 1e-8:
            yield "called exact, but the alternative is none"
    elif solved_exactly(row):
        yield f"solved exactly, but the bound is called {psi.bound!r}"
    elif psi.bound not in BOUNDS:
        yield f"a lower bound, but it is called {psi.bound!r}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("refine", [True, False])
def test_psi_agrees_with_brute_force(kind, refine):
    rows = [row for row in INSTANCES if row["kind"] == kind]
    assert len(rows) >= 20
    found = [
        f"#{row['index']}: {text}"
        for row in rows
        for text in complaints(row, stored_psi(row["index"], refine))
    ]
    assert not found, "\n".join(found)


def test_lower_bounds_are_useful():
    ratios = {row["index"]: stored_psi(row["index"], False).value / row["value"] for row in INSTANCES}
    vector = [ratios[row["index"]] for row in INSTANCES if row["kind"] in ("categorical", "product")]
    others = [ratios[row["index"]] for row in INSTANCES if row["kind"] not in ("categorical", "product")]
    assert np.mean(np.array(others) > 1.0 - RELATIVE) > 0.9
    assert min(others) > 0.5
    assert np.median(vector) > 0.8


@pytest.mark.parametrize("concentration", [None, 0.3, 0.1])
def test_psi_is_below_a_simple_alternative_on_other_instances(concentration):
    """Other instances than the stored ones, also with very unequal weights: a value, and never a careless one."""
    found = []
    for index in range(len(INSTANCES), len(INSTANCES) + repeats(8, 15) * len(KINDS)):
        row = draw(index)
        if concentration is not None:
            raw = np.random.default_rng([3, index]).dirichlet(np.full(len(row["weights"]), concentration))
            row["weights"] = (np.maximum(raw, 1e-9) / np.maximum(raw, 1e-9).sum()).tolist()
        simple = cheap_alternative(row["weights"], row["parameters"], row["labels"], row["families"])
        try:
            value = library_psi(row).value
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            value = repr(error)
        if not (isinstance(value, float) and 0.0 <= value <= simple * (1.0 + RELATIVE)):
            found.append(f"#{index} {row['kind']} {row['shape']}: {value} against {simple}")
    assert not found, "\n".join(found)


def test_stored_instances_cover_the_ground():
    assert [row["index"] for row in INSTANCES] == list(range(len(INSTANCES)))
    assert len(INSTANCES) >= 320
    assert {row["d"] for row in INSTANCES} == {1, 2, 3, 5}
    assert {len(row["weights"]) for row in INSTANCES} == {3, 4, 5, 6, 7}
    assert Counter(max(row["shape"]) for row in INSTANCES).keys() == {2, 3, 4, 5}
    assert sum(small(row) for row in INSTANCES) >= 0.6 * len(INSTANCES)


def test_stored_values_are_costs_of_true_alternatives():
    for row in INSTANCES:
        cost = total_cost(row["weights"], row["parameters"], row["alternative"], row["families"])
        assert cost == pytest.approx(row["value"], rel=1e-9), row["index"]
        assert margin(row["alternative"], row["labels"]) >= 1.0 - 1e-10, row["index"]
        assert margin(row["parameters"], row["labels"]) < 1.0, row["index"]
        assert np.array_equal(single_linkage(row["parameters"], row["K"]), row["labels"]), row["index"]


def test_a_slice_computed_again_gives_the_stored_values():
    rng = np.random.default_rng(11)
    cheap = [row for row in INSTANCES if row["seconds"] < 3.0]
    for i in rng.choice(len(cheap), size=6, replace=False)[: repeats(3, 6)]:
        row = cheap[i]
        assert draw(row["index"])["parameters"] == row["parameters"]
        assert solve(row["index"], prune=True)["value"] == pytest.approx(row["value"], rel=RELATIVE), row[
            "index"
        ]


def test_the_brute_force_finds_the_published_value():
    theta = [(-1, -1), (-1, -2), (1, 1), (2, 2), (3, -3), (3.5, -3)]
    weights = [0.23919, 0.06737, 0.40565, 0.19893, 0.04553, 0.04332]
    found = psi_brute(weights, theta, single_linkage(theta, 3), {"name": "gaussian"})
    assert 1.0 / found["value"] == pytest.approx(19.070, abs=1e-3)


def test_the_brute_force_meets_the_hard_cases():
    # four Gaussian arms with covariance diag(9, 1): from every start of the alternating search 0.281
    theta = [(0.0, 0.0), (0.0, 0.5), (9.0, 0.0), (9.0, 2.0)]
    wide = {"name": "gaussian", "covariance": [9.0, 1.0]}
    found = pair_brute([1.0] * 4, theta, 0, 1, 2, 3, wide)
    assert found["value"] == pytest.approx(59 / 640, rel=1e-7)
    # exponential means: far beyond the inflection one arm moves alone, which a descent from theta misses
    weights, means = np.array([1e-3, 1.0, 1.0]), np.array([1.0, 1.1, 8.0])
    found = pair_brute(weights, means, 0, 1, 1, 2, {"name": "exponential", "parameter": "mean"})
    assert found["alternative"][0, 0] > 2.0 * means[0]
    assert found["value"] <= weights[0] * (np.log(8.0) + 1 / 8.0 - 1.0) * 1.001


def test_pruning_leaves_the_value_alone():
    for index in few((1, 26, 53, 54, 60, 95), every=2):
        row = INSTANCES[index]
        problem = row["weights"], row["parameters"], row["labels"], row["families"]
        fast, full = (psi_brute(*problem, starts=4, prune=prune) for prune in (True, False))
        assert fast["value"] == pytest.approx(full["value"], rel=1e-7), index
        assert fast["solved"] <= full["solved"]
