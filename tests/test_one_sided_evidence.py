"""One-sided evidence: what is kept of it is whole and says what it should, and some of it is computed again."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import one_sided_audits as audits
from evidence import one_sided_infima as infima
from evidence import one_sided_processes as processes
from evidence._audit_series import CHUNK, total

from linkarms import stopping
from linkarms.engine import Engine
from linkarms.families import resolve
from linkarms.sampling import resolve_sampling

EVIDENCE = Path(__file__).parents[1] / "evidence"
INFIMA, CASES, AUDITS = (
    json.loads((EVIDENCE / f"one_sided_{name}.json").read_text())
    for name in ("infima", "processes", "audits")
)


@pytest.mark.parametrize("name", infima.FAMILIES)
def test_the_certificate_is_never_above_the_smallest_value_that_was_found(name):
    found, gap = np.array(INFIMA["infima"][name]), infima.gaps(INFIMA, name)
    assert len(found) == infima.PIECES
    assert gap.min() > -1e-6
    assert np.quantile(gap[found > 1.0], 0.95) < 0.05  # where a stop may be near
    i = int(np.random.default_rng(len(name)).integers(len(found)))
    assert infima.brute_force(name, i) == pytest.approx(found[i], abs=0.05)


def test_the_process_at_the_truth_is_a_supermartingale_whoever_samples():
    cases = CASES["cases"]
    assert [(x["family"], x["arms"], x["adversary"]) for x in cases] == processes.cases()
    for x in cases:
        assert not processes.verdict(x["reached"], x["runs"]), x
        assert processes.verdict(x["bare"], x["runs"]), x
    # the mean at the stop, all cases together: 3 standard errors, each process being below some 15
    assert np.mean([x["mean"] for x in cases]) < 1.0 + 3.0 * 2.0 / np.sqrt(sum(x["runs"] for x in cases))
    name, arms, adversary = processes.cases()[9]
    assert not processes.verdict(processes.run(name, arms, adversary, range(10_000, 10_500))[0], 500)
    assert processes.verdict(processes.run(name, arms, adversary, range(300), priced=False)[0], 300)


def test_the_process_is_that_of_the_core():
    """At parameters on the edge of a piece the core's evidence is at most the process of the oracle there."""
    for name in infima.FAMILIES:
        for arms, theta in processes.TRUTHS.items():
            rng = np.random.default_rng([arms, 2])
            counts = np.round(rng.uniform(20, 60, size=arms))
            sums = infima.FAMILIES[name][2](rng, counts, theta)
            rule = stopping.Anytime(infima.GRID, version=2)
            families = resolve(infima.FAMILIES[name][1], arms, 1)
            engine = Engine(families, 2, resolve_sampling("ebc-h"), rule, 0.1, rng)
            state = {"counts": counts.astype(int).tolist(), "means": (sums / counts)[:, None].tolist()}
            engine.restore({**engine.to_dict(), **state})
            height = processes.Process(name, arms).height(counts[None], sums[None])[0]
            assert engine.core.evidence_against((0, 1, 0 if arms == 3 else 3, 2)) <= height + 1e-9


@pytest.mark.parametrize("name", audits.INSTANCES)
def test_the_promise_is_kept_and_a_weakened_one_is_caught(name):
    entry = AUDITS["instances"][name]
    assert total(entry["runs"]["1"])[3] >= audits.SERIES.wanted(name)
    assert not any(audits.SERIES.broken(entry["runs"]["1"]))
    assert audits.SERIES.caught(entry) is not None
    errors, _, samples = audits.SERIES.run(name, 1.0, 0, 10)
    assert max(errors) <= 5
    np.testing.assert_allclose(np.array(samples) / 10, np.array(entry["runs"]["1"][0][2]) / CHUNK, rtol=0.7)


def test_a_blocked_piece_is_below_and_a_proved_one_is_not():
    """What is kept of a piece does not change its answer, also after its inter pair has turned round."""
    rng = np.random.default_rng(4)
    families = resolve("poisson", 4, 1)
    made = [
        Engine(families, 2, resolve_sampling("ebc-h"), stopping.Anytime(version=2), 0.1, rng)
        for _ in range(2)
    ]
    pieces = [(0, 1, 1, 2), (2, 3, 0, 3), (0, 1, 2, 3), (1, 0, 1, 3)]
    for t in range(240):
        m = t % 4
        x = np.array([float(rng.poisson([1.0, 1.5, 1.6, 6.0][m]))])
        for engine in made:
            engine.observe(m, x)
        if t < 8:
            continue
        fresh = Engine(families, 2, resolve_sampling("ebc-h"), stopping.Anytime(version=2), 0.1, rng)
        fresh.restore(made[0].to_dict())
        for piece in pieces:
            for level in (-1.0, 1.0, 4.0):
                below = made[1].core.evidence_is_below(piece, level)
                value = fresh.core.evidence_against(piece)
                assert below == (value < level) or abs(value - level) < 1e-4
