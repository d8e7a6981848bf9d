"""Audits of unknown variances, of the largest gap, and of what a run shows on its way: whole, and some computed again."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from evidence import gap_audits, variance_audits, watched_runs
from evidence._audit_series import CHUNK, total
from tests.repeats import repeats

ROOT = Path(__file__).parents[1]
SERIES = {"variance_audits": variance_audits, "gap_audits": gap_audits}
CASES = [(kind, name) for kind, module in SERIES.items() for name in module.INSTANCES]
LOOKS = json.loads((ROOT / "evidence" / "watched_runs.json").read_text())


@cache
def kept(kind):
    return json.loads((ROOT / "evidence" / f"{kind}.json").read_text())


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_the_promise_is_kept_and_a_weakened_one_is_caught(kind, name):
    series, entry = SERIES[kind].SERIES, kept(kind)["instances"][name]
    _, unstopped, _, n = total(entry["runs"]["1"])
    assert n >= series.wanted(name)
    assert series.broken(entry["runs"]["1"]) == [False, False]
    assert unstopped.tolist() == [0, 0]
    assert series.caught(entry) is not None


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_some_of_the_audits_computed_again(kind, name):
    series, chunks = SERIES[kind].SERIES, kept(kind)["instances"][name]["runs"]
    weak = f"{series.caught(kept(kind)['instances'][name]):g}"
    errors, unstopped, samples = series.run(name, float(weak), 0, CHUNK)
    # a rounding error on another processor may change a choice of arm, and a few runs with it
    assert np.abs(np.subtract(errors, chunks[weak][0][0])).max() <= 0.02 * CHUNK
    assert unstopped == chunks[weak][0][1]
    np.testing.assert_allclose(samples, chunks[weak][0][2], rtol=0.05)
    trials = repeats(2, 4)
    errors, unstopped, samples = series.run(name, 1.0, 0, trials)
    assert max(errors) + max(unstopped) <= trials // 2
    np.testing.assert_allclose(np.divide(samples, trials), np.divide(chunks["1"][0][2], CHUNK), rtol=0.6)


def test_every_kind_of_variance_is_there():
    kinds = {(kind, d) for kind, d, _ in variance_audits.INSTANCES.values()}
    assert kinds >= {(kind, d) for kind in ("isotropic", "shared") for d in (1, 2, 4)}
    assert kinds >= {("coordinate", 2), ("coordinate", 4), ("full", 2), ("full", 3), ("full", 4)}
    assert sum(gap_audits.setting(name).goal.largest_gap for name in gap_audits.INSTANCES) >= 4


@pytest.mark.parametrize("name", watched_runs.INSTANCES)
def test_bounds_and_cuts_are_wrong_in_no_more_than_a_share_delta_of_the_runs(name):
    entry = LOOKS["instances"][name]
    _, n = watched_runs.total(entry["1"])
    assert n >= watched_runs.TRIALS
    assert not np.any(watched_runs.broken(entry["1"]))


def test_weakened_bounds_and_cuts_are_caught():
    caught = [np.all(watched_runs.broken(e[f"{watched_runs.WEAKER:g}"])) for e in LOOKS["instances"].values()]
    assert sum(caught) >= 4


def test_some_of_the_looks_computed_again():
    name = next(iter(watched_runs.INSTANCES))
    assert (
        watched_runs.run(name, watched_runs.WEAKER, 0, watched_runs.CHUNK)
        == LOOKS["instances"][name][f"{watched_runs.WEAKER:g}"][0]
    )
