"""Clusters of one and two arms: the list of cheap candidates is complete, and its costs are right, after every sample."""

import numpy as np
import pytest
from tests.oracles.plain import all_cases, pair_costs, tolerance
from tests.oracles.runs import CASES, Samples, make_arms, make_engine
from tests.test_incremental import assert_same, check, restored

from linkarms.alternatives._cache import COUNTS_SIDE, EXACT, LISTED, LISTED_TO, MANY
from linkarms.state import EVIDENCE

ALONE = [m for m in range(10) if m not in (4, 9)]


def pairs_of_arms(name, rng, alone):
    """An engine for pairs of arms in a row, of which some have one arm only, and their samples."""
    d = CASES[name][0][-1]
    n, k = (8, 5) if alone else (10, 5)
    arms = make_arms(name, rng, n, d)
    place = (np.repeat(np.linspace(0.05, 0.95, k), 2) + np.tile([-0.02, 0.02], k))[: 2 * k]
    place = place[ALONE if alone else slice(None)][:, None] + rng.normal(0.0, 0.004, (n, d))
    truth = np.array([[c.truth for c in CASES[name][2](m, d)] for m in range(n)])
    arms = arms._replace(theta=truth[..., 0] + place * (truth[..., 1] - truth[..., 0]))
    return make_engine(arms, k, "ebc-h", clipped=True), Samples(arms, "honest", rng)


def check_list(engine):
    """All candidates up to the level are listed, each once; known costs are the costs, others are below them."""
    cache, state = engine._cache, engine.state
    count, level = cache.flags[COUNTS_SIDE, LISTED], cache.levels[LISTED_TO + COUNTS_SIDE]
    listed, worth = cache.listed[COUNTS_SIDE, :, :count], cache.worth[COUNTS_SIDE, :count]
    names = [tuple(column) for column in listed[:4].T.tolist()]
    assert len(set(names)) == count
    cases = [(*edge, *ab) for edges, ab in all_cases(state.labels.tolist()) for edge in edges]
    costs = dict(zip(cases, pair_costs(engine.families, state.theta, state.counts, cases)[0], strict=True))
    room = tolerance(engine.families)
    assert {name for name, cost in costs.items() if cost <= level * (1.0 - room)} <= set(names)
    for name, value, exact in zip(names, worth, listed[EXACT], strict=True):
        assert value <= costs[name] * (1.0 + room)
        assert not exact or value >= costs[name] * (1.0 - room)
    assert state.values[EVIDENCE] == pytest.approx(min(costs.values()), rel=room, abs=0.0)
    return count


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    "name",
    ["gaussian", "variances", "covariances", "rate", "gamma mean", "poisson", "bernoulli", "geometric"],
)
def test_the_list_is_complete_after_every_sample(name, alone):
    engine, samples = pairs_of_arms(name, np.random.default_rng(len(name)), alone)
    n, counts = len(engine.state.counts), []
    for m in 400 * list(range(n)):
        engine.observe(m, samples(m))
    for _ in range(120):
        arm = engine.choose()
        engine.observe(arm, samples(arm))
        assert_same(engine, restored(engine))
        if engine._cache.flags[COUNTS_SIDE, LISTED] >= 0:
            assert not engine._cache.flags[COUNTS_SIDE, MANY]
            counts.append(check_list(engine))
    assert len(counts) > 60
    assert max(counts) > 1 or name != "gaussian"


def test_too_many_candidates_for_a_list():
    # equal arms, two at each of ten places that are equally far from each other: hundreds of candidates cost the same
    arms = make_arms("gaussian", np.random.default_rng(0), 20, 10)
    engine = make_engine(arms, 10, "ebc-h", clipped=False)
    place = np.repeat(np.eye(10), 2, axis=0)
    for m in range(20):
        engine.observe(m, place[m])
    assert engine._cache.flags[COUNTS_SIDE, LISTED] == -1
    check(engine)
    for m in (3, 17, 4, 12):
        engine.observe(m, 1.1 * place[m])
        check(engine)
        assert_same(engine, restored(engine))
