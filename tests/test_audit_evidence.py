"""The audits that are kept: complete, say what they should, and a slice of them computed again."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import audits, supermartingales
from evidence._audit_series import CHUNK, total
from tests.repeats import repeats

ROOT = Path(__file__).parents[1]
AUDITS = json.loads((ROOT / "evidence" / "audits.json").read_text())
PROCESSES = json.loads((ROOT / "evidence" / "supermartingales.json").read_text())
STOPS = json.loads((ROOT / "evidence" / "real_data" / "stops.json").read_text())


@pytest.mark.parametrize("name", audits.INSTANCES)
def test_the_promise_is_kept_and_a_weakened_one_is_caught(name):
    entry = AUDITS["instances"][name]
    _, unstopped, mean, n = total(entry["runs"]["1"])
    assert n >= audits.SERIES.wanted(name)
    assert audits.SERIES.broken(entry["runs"]["1"]) == [False, False]
    assert unstopped.tolist() == [0, 0]  # so that every run is an answer
    assert np.all(mean > entry["bound"])
    x = audits.SERIES.caught(entry)
    assert x in audits.SERIES.weaker
    assert total(entry["runs"][f"{x:g}"])[3] >= audits.SERIES.weak_trials


def test_there_are_enough_hard_instances():
    assert len(AUDITS["instances"]) == len(audits.INSTANCES) >= 10
    assert {audits.setting(name).n_features for name in audits.INSTANCES} >= {1, 2, 5}
    sizes = {int(np.bincount(audits.setting(name).labels).max()) for name in audits.INSTANCES}
    assert sizes >= {2, 3, 5}


#: A chunk of these takes half a second and more; the weakened rule stops sooner.
SLOW = ("unknown variance, one for each", "bernoulli", "exponential means", "poisson")


@pytest.mark.parametrize("name", audits.INSTANCES)
def test_some_of_the_audits_computed_again(name):
    entry = AUDITS["instances"][name]
    rng = np.random.default_rng([3, *map(ord, name)])
    for x in (1.0, audits.SERIES.caught(entry)):
        chunks = entry["runs"][f"{x:g}"]
        i = int(rng.integers(len(chunks)))
        trials = repeats(CHUNK // 5, CHUNK) if x == 1.0 and name in SLOW else CHUNK
        errors, unstopped, samples = audits.SERIES.run(name, x, i * CHUNK, trials)
        if trials < CHUNK:  # the chunk's sums alone are stored: the first of its runs add up to no more
            assert np.all(np.array(errors) <= np.array(chunks[i][0]) + 0.02 * CHUNK)
            assert not np.any(unstopped)
            np.testing.assert_allclose(np.divide(samples, trials), np.divide(chunks[i][2], CHUNK), rtol=0.15)
            continue
        # a rounding error on another processor may change a choice of arm, and a few runs with it
        assert np.abs(np.subtract(errors, chunks[i][0])).max() <= 0.02 * CHUNK
        assert unstopped == chunks[i][1]
        np.testing.assert_allclose(samples, chunks[i][2], rtol=0.02)


@pytest.mark.parametrize("name", supermartingales.FAMILIES)
def test_the_evidence_is_a_supermartingale(name):
    entry = PROCESSES["families"][name]
    assert entry["evidence"]["runs"] >= 500
    assert not supermartingales.verdict(entry["evidence"])
    assert supermartingales.verdict(entry["without the price"])
    # some of it again, and others: a false alarm in at most one of a hundred such tests
    again = supermartingales.summary(
        supermartingales.run(name, range(10_000, 10_000 + repeats(75, 150)), samples=80)
    )
    assert not supermartingales.verdict(again)
    bare = supermartingales.summary(supermartingales.run(name, range(40), priced=False, samples=80))
    assert supermartingales.verdict(bare)


def test_the_anytime_rule_needs_fewer_samples_on_real_data():
    for entry in STOPS["settings"].values():
        assert entry["anytime"]["trials"] == entry["anytime, version 1"]["trials"] >= 10
        assert "paper" not in entry or entry["anytime"]["mean"] < entry["paper"]["mean"]
    for name in ("MovieLens, bounded", "MovieLens, Gaussian of variance 1"):
        entry = STOPS["settings"][name]
        assert entry["anytime"]["mean"] < 0.7 * entry["anytime, version 1"]["mean"]
    for entry in STOPS["settings"].values():  # nowhere slower by more than 2%
        assert entry["anytime"]["mean"] <= 1.02 * entry["anytime, version 1"]["mean"]
    # no model, so that the promise holds on real records, too
    bounded = STOPS["settings"]["MovieLens, bounded"]["anytime"]
    assert bounded["errors"] <= 0.1 * bounded["trials"]
