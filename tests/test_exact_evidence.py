"""The exact psi against the stored brute force over all splits, a slice of it again, and the tables of the docs."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from evidence import exact_psi, exact_savings
from tests.oracles.library import to_library
from tests.oracles.psi_oracle import margin, single_linkage, total_cost

import linkarms as la

STORED = json.loads(exact_psi.STORE.read_text())
ROWS = STORED["instances"]
SAVINGS = json.loads(exact_savings.HERE.with_suffix(".json").read_text())["problems"]
PAGE = (Path(__file__).parents[1] / "docs" / "exact.md").read_text()
RELATIVE = 1e-6


@cache
def library(index, refine=True):
    row = ROWS[index]
    return la.psi(row["weights"], row["parameters"], row["K"], to_library(row["families"]), refine=refine)


def complaints(row):
    psi, quick, truth = library(row["index"]), library(row["index"], False), row["value"]
    if psi.value > truth * (1 + RELATIVE):
        yield f"unsafe: {psi.value!r} is above the cost {truth!r} of an alternative"
    if psi.exact and abs(psi.value - truth) > RELATIVE * truth:
        yield f"exact {psi.value!r} is not {truth!r}"
    if psi.value < quick.value * (1 - 1e-12):
        yield f"{psi.value!r} is below the bottleneck {quick.value!r}"
    cost = total_cost(row["weights"], row["parameters"], psi.alternative, row["families"])
    if margin(psi.alternative, row["labels"]) < 1.0 - 1e-9:
        yield "the alternative is none"
    if abs(cost - float(np.dot(row["weights"], psi.kl))) > RELATIVE * cost:
        yield "the KL of the arms are not those of the alternative"
    if row["d"] == 1 and row["kind"] != "exponential mean" and not psi.exact:
        yield f"one dimension, and not exact but {psi.bound}"


@pytest.mark.parametrize(("kind", "d"), [(kind, d) for kind, d, _ in exact_psi.KINDS])
def test_exact_psi_is_the_brute_force(kind, d):
    rows = [row for row in ROWS if (row["kind"], row["d"]) == (kind, d)]
    assert len(rows) == exact_psi.INSTANCES // len(exact_psi.KINDS)
    found = [f"#{row['index']}: {text}" for row in rows for text in complaints(row)]
    assert not found, "\n".join(found)


def test_stored_instances_cover_the_ground():
    assert [row["index"] for row in ROWS] == list(range(exact_psi.INSTANCES))
    assert len(ROWS) >= 200
    assert set(Counter(max(row["shape"]) for row in ROWS)) == {3, 4, 5, 6}
    assert {row["d"] for row in ROWS} == {1, 2, 3}
    # they are not trivial: the bottleneck alone leaves many of them open
    assert sum(not library(row["index"], False).exact for row in ROWS) >= len(ROWS) // 4
    for row in ROWS:
        cost = total_cost(row["weights"], row["parameters"], row["alternative"], row["families"])
        assert cost == pytest.approx(row["value"], rel=1e-9), row["index"]
        assert margin(row["alternative"], row["labels"]) >= 1.0 - 1e-10, row["index"]
        assert np.array_equal(single_linkage(row["parameters"], row["K"]), row["labels"]), row["index"]


QUICK = [row for row in ROWS if row["seconds"] < 2.0]
SLICE = [
    QUICK[i]["index"] for i in np.random.default_rng(8).choice(len(QUICK), size=8, replace=False).tolist()
]


@pytest.mark.parametrize("index", SLICE)
def test_a_slice_computed_again(index):
    again = exact_psi.solve(index)
    assert again["parameters"] == ROWS[index]["parameters"]
    assert again["value"] == pytest.approx(ROWS[index]["value"], rel=RELATIVE)


def test_how_often_it_is_exact_is_what_the_docs_say():
    counts = Counter()
    for row in ROWS:
        cell = row["d"], max(row["shape"])
        counts[cell, "all"] += 1
        counts[cell, "quick"] += library(row["index"], False).exact
        counts[cell, "exact"] += library(row["index"]).exact
    assert exact_psi.table(counts) in PAGE


def test_what_it_saves_is_what_the_docs_say():
    assert exact_savings.table(SAVINGS.values()) in PAGE
    assert all(
        row["equal"]["ratio"] >= 1 - 1e-9 and row["best"]["ratio"] >= 1 - 1e-9 for row in SAVINGS.values()
    )
    keys = [f"{n} {d} {i}" for n, d, count in exact_savings.CASES for i in range(count)]
    assert list(SAVINGS) == keys
    for key in np.random.default_rng(9).choice([k for k in keys if k[0] in "35"], size=3, replace=False):
        n, d, i = map(int, key.split())
        theta = exact_savings.draw(n, d, i)
        again = exact_savings.ratio(np.full(2 * n, 0.5 / n), theta)
        assert again["ratio"] == pytest.approx(SAVINGS[key]["equal"]["ratio"], rel=1e-6)
