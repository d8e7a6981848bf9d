"""What the anytime rule remembers of the candidate that forbids a stop: the answers are those of an engine that remembers nothing."""

import math

import numpy as np
import pytest

import linkarms as la
from linkarms.engine import Engine
from linkarms.families import resolve
from linkarms.sampling import resolve_sampling
from linkarms.state import AT, BLOCKER, SCALE, TAKEN, TERMS
from linkarms.stopping import Anytime
from linkarms.stopping._statistic import fill_clusters

MEAN = la.families.Exponential("mean")
UNKNOWN = la.families.UnknownVariance()
#: family, clusters, and the arms' parameters: two, three and four arms in a cluster; the partition of restless ones changes
RUNS = {
    "gaussian": ("gaussian", 2, [0.0, 0.9, 3.2, 4.0]),
    "gaussian, three arms": ("gaussian", 2, [0.0, 0.8, 1.6, 3.4, 4.1]),
    "rates": ("exponential", 2, [0.4, 0.7, 4.0, 6.0]),
    "means": (MEAN, 2, [1.0, 1.6, 9.0, 12.0]),
    "poisson": ("poisson", 3, [1.0, 1.5, 5.0, 5.7, 12.0]),
    "bernoulli": ("bernoulli", 2, [0.05, 0.15, 0.25, 0.8, 0.9]),
    "bernoulli, four arms": ("bernoulli", 2, [0.05, 0.1, 0.2, 0.25, 0.9]),
    "unknown variance": (UNKNOWN, 2, [0.0, 0.5, 3.0, 3.4]),
    "gaussian, restless": ("gaussian", 2, [0.0, 1.0, 2.0, 3.1, 4.0]),
    "poisson, restless": ("poisson", 2, [2.0, 3.0, 4.2, 5.5]),
}
DELTAS = (0.9, 1e-2, 0.3)


def make(name, rule=None, delta=0.3):
    family, n_clusters, parameters = RUNS[name]
    families = resolve(family, len(parameters), 1)
    rule = Anytime() if rule is None else rule
    return Engine(families, n_clusters, resolve_sampling("ebc-h"), rule, delta, np.random.default_rng(0))


def samples(name, seed):
    """Endless arms, some by the rule and some at random, with a sample each: ``(None, draw)`` where the rule chooses."""
    family, _, parameters = RUNS[name]
    rng = np.random.default_rng(seed)
    own = resolve(family, len(parameters), 1).families

    def draw(m):
        return own[m].statistics(own[m].draw(rng, np.array([parameters[m]]), 1))[0]

    while True:
        yield (int(rng.integers(len(parameters))) if rng.uniform() < 0.5 else None), draw


def forgetful(name, engine, rule=None):
    fresh = make(name, rule)
    fresh.restore(engine.to_dict())
    return fresh


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("seed", range(2))
def test_answers_are_those_of_an_engine_that_remembers_nothing(name, seed):
    engine = make(name)
    partitions, answers, kept = set(), set(), 0
    for t, (arm, draw) in zip(range(220), samples(name, seed), strict=False):
        m = engine.choose() if arm is None else arm
        before = engine.state.blocker[BLOCKER:].tolist()
        engine.observe(m, draw(m))
        if not engine.ready or engine.ambiguous:
            continue
        delta = DELTAS[t % 3]
        fresh = forgetful(name, engine)
        exact = fresh.evidence()
        stops = engine.check(delta)
        assert stops == (exact >= fresh.threshold(delta))
        kept += not stops and engine.state.blocker[BLOCKER:].tolist() == before
        partitions.add(tuple(engine.state.labels))
        answers.add(stops)
        if t % 20 == 0:  # whoever asks is told the statistic itself
            assert engine.evidence() == exact
            assert engine.witness == fresh.witness
    assert kept > 5
    assert len(partitions) > 1 or "restless" not in name
    assert False in answers


@pytest.mark.parametrize("name", ["gaussian", "means", "bernoulli"])
def test_a_weakened_rule_remembers_no_less(name):
    rule = la.stopping.weaken(Anytime(), 3.0)
    engine = make(name, rule)
    for _, (arm, draw) in zip(range(80), samples(name, 5), strict=False):
        m = engine.choose() if arm is None else arm
        engine.observe(m, draw(m))
        if engine.ready and not engine.ambiguous:
            fresh = forgetful(name, engine, rule)
            assert engine.check() == (fresh.evidence() >= fresh.threshold())


@pytest.mark.parametrize("name", ["rates", "means", "poisson", "bernoulli", "bernoulli, four arms"])
def test_points_obey_their_constraint_and_bound_the_evidence(name):
    """Each point, with arms in the order u, v, b, a: allowed, and with the terms that its arms have there."""
    engine = make(name)
    state, grid, found = engine.state, engine.plan.grid, 0
    for _, (arm, draw) in zip(range(150), samples(name, 3), strict=False):
        m = engine.choose() if arm is None else arm
        engine.observe(m, draw(m))
        if not engine.ready or engine.ambiguous or engine.check(1e-9):
            continue
        u, _, a, b = (int(x) for x in state.blocker[BLOCKER:])
        arms = np.flatnonzero(state.labels == state.labels[u])
        for i in range(min(len(arms), 4)):
            for j in range(i + 1, min(len(arms), 4)):
                point = state.points[j * (j - 1) // 2 + i]
                if math.isnan(point[0, AT]):
                    continue
                x, y, z, w = point[:, AT]
                assert abs(x - y) >= abs(w - z) - 1e-12 * (abs(w) + abs(z))
                found += 1
                if arms[i] in (a, b) or arms[j] in (a, b):
                    continue
                for row, k in enumerate((arms[i], arms[j], b, a)):
                    if point[row, TAKEN] != state.counts[k]:
                        continue
                    own = engine.families.families[k]
                    n, mean, lam = int(state.counts[k]), state.means[k], point[row, AT]
                    for s in (0, len(grid) - 1):
                        wanted = own.log_evidence(n, mean, np.array([lam]), grid[s])
                        assert point[row, TERMS + s] == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert found > 20


def test_the_same_scale_is_chosen_after_a_load():
    engine = make("poisson")
    other = make("poisson")
    for t, (arm, draw) in zip(range(120), samples("poisson", 8), strict=False):
        m = engine.choose() if arm is None else arm
        x = draw(m)
        engine.observe(m, x)
        other.observe(m, x)
        if engine.ready:
            engine.check()
        if t % 10 == 0:
            other.restore(other.to_dict())
        assert engine.state.blocker[SCALE] == other.state.blocker[SCALE]


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_listed_in_order(seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.concatenate([np.arange(4), rng.integers(0, 4, size=7)]))
    members, start = np.empty(11, dtype=np.int64), np.zeros(5, dtype=np.int64)
    fill_clusters(labels, members, start)
    for k in range(4):
        assert members[start[k] : start[k + 1]].tolist() == np.flatnonzero(labels == k).tolist()
