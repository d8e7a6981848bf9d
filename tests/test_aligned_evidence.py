"""Aligned evidence: what is kept of it is whole and says what it should, and some of it is computed again."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import aligned_audits as audits
from evidence import aligned_infima as infima
from evidence import aligned_processes as processes
from tests.repeats import few, repeats

ROOT = Path(__file__).parents[1]
INFIMA = json.loads((ROOT / "evidence" / "aligned_infima.json").read_text())["infima"]
AUDITS = json.loads((ROOT / "evidence" / "aligned_audits.json").read_text())["instances"]
CASES = json.loads((ROOT / "evidence" / "aligned_processes.json").read_text())["cases"]


@pytest.mark.parametrize("d", infima.DIMENSIONS)
def test_the_certificate_is_never_above_the_smallest_value_that_was_found(d):
    found = np.array(INFIMA[str(d)])
    assert len(found) == infima.PIECES
    some = few(range(len(found)), every=2)
    gap = found[some] - [infima.piece(d, i).bracket()[0] for i in some]
    assert gap.min() > -1e-6
    assert np.median(gap) < 0.02  # and it is not idle


@pytest.mark.parametrize("d", infima.DIMENSIONS)
def test_a_level_above_the_infimum_is_never_proved_and_one_well_below_nearly_always(d):
    found = few(enumerate(INFIMA[str(d)]), every=2)

    def is_proved(i, level):
        return infima.piece(d, i).bracket(enough=level, too_little=level)[0] >= level

    assert not any(is_proved(i, value + 1e-3) for i, value in found)
    assert np.mean([is_proved(i, value - 1.0) for i, value in found]) > 0.99


@pytest.mark.parametrize("d", infima.DIMENSIONS)
def test_some_infima_computed_again(d):
    i = int(np.random.default_rng([4, d]).integers(len(INFIMA[str(d)])))
    assert infima.brute_force(d, i) == pytest.approx(INFIMA[str(d)][i], abs=0.05)


def test_the_process_at_the_truth_is_a_supermartingale_whoever_samples():
    assert [(x["arms"], x["d"], x["truth"], x["adversary"]) for x in CASES] == processes.cases()
    for x in CASES:
        assert x["runs"] >= 1_000
        assert not processes.verdict(x["reached"], x["runs"]), x
        assert processes.verdict(x["bare"], x["runs"]), x
    # the mean at the stop, all cases together: 3 standard errors, each process being below some 15
    assert np.mean([x["mean"] for x in CASES]) < 1.0 + 3.0 * 2.0 / np.sqrt(sum(x["runs"] for x in CASES))


def test_some_of_the_processes_computed_again():
    rng = np.random.default_rng(6)
    for i in rng.choice(len(CASES), 2, replace=False):
        x = CASES[i]
        case = (x["arms"], x["d"], x["truth"], x["adversary"])
        runs = repeats(250, 500)
        reached, _ = processes.run(*case, range(10_000, 10_000 + runs))
        assert not processes.verdict(reached, runs)
        assert processes.verdict(processes.run(*case, range(200), priced=False)[0], 200)


@pytest.mark.parametrize("name", audits.INSTANCES)
def test_the_promise_is_kept_and_a_weakened_one_is_caught(name):
    assert audits.total(AUDITS[name]["rule"])[3] >= 750
    assert not any(audits.broken(AUDITS[name]["rule"]))
    assert audits.broken(AUDITS[name]["weakened"])[0]
    chunk = AUDITS[name]["rule"][0]
    errors, _, samples = audits.run(name, 1.0, 0, 10)
    assert max(errors) <= 5
    np.testing.assert_allclose(np.array(samples) / 10, np.array(chunk[2]) / audits.CHUNK, rtol=0.6)
