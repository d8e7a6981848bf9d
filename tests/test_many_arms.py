"""Many arms: every step equals the plain loop over all pairs of pairs, and what a loaded run finds is the same bit for bit."""

import json

import numpy as np
import pytest

from linkarms.alternatives._cache import (
    BLOCK,
    COUNTS_SIDE,
    FILLED,
    LARGE,
    LEAST,
    N_SLOTS,
    SLOT_LENGTH,
    SLOTS,
)
from linkarms.bench import _settings
from linkarms.bench._loop import Loop, _plain_psi
from linkarms.bench._ours import Ours
from linkarms.engine import Engine
from linkarms.problem import Problem
from linkarms.state import EVIDENCE, KL, W


def plain(engine, weights):
    """psi by looking at everything; it shares only the formula of a shared arm with the search."""
    state, n = engine.state, len(engine.state.counts)
    nothing, inv = np.zeros(n), 1.0 / weights
    loop = Loop(
        state.counts,
        state.means,
        state.theta,
        state.theta.copy(),
        state.dist,
        state.labels,
        np.zeros((2, n)),
        nothing,
        inv,
        nothing.copy(),
        engine.plan.box,
    )
    return _plain_psi(engine.families.model, loop, engine.n_clusters, inv, loop.kl)


def loaded(engine):
    """Another engine with the dump of this one."""
    rng = np.random.default_rng(99)
    other = Engine(engine.families, engine.n_clusters, engine.sampling, engine.stopping, engine.delta, rng)
    other.restore(json.loads(json.dumps(engine.to_dict())))
    return other


def check_attachments(engine):
    """Each arm is attached to one of its cluster, and what is kept as a bound of the cost is one, by the formula of docs/benchmarks.md."""
    cache, labels, dist = engine._cache, engine.state.labels, engine.state.dist
    assert cache.flags[COUNTS_SIDE, FILLED] == 1
    inv = 1.0 / engine.state.counts
    u, b = np.nonzero(labels[:, None] != labels)
    several = np.bincount(labels)[labels[u]] > 1
    u, b = u[several], b[several]
    slot = cache.attach[COUNTS_SIDE, u, b]
    v = cache.trees[COUNTS_SIDE, SLOTS + slot, u]
    assert np.array_equal(labels[v], labels[u])
    assert np.array_equal(cache.arms[COUNTS_SIDE, SLOT_LENGTH + slot, u], dist[u, v])
    p, q, r = dist[u, v], dist[u, b], dist[v, b]
    j = inv[v] + inv[b]
    f = inv[u] + 0.5 * (j + np.sqrt(j * (j + 4.0 * inv[u])))
    c, product = inv[u] / f, 0.5 * (p**2 + q**2 - r**2)
    length = [np.sqrt(np.maximum(x**2 - 2.0 * c * product + (c * y) ** 2, 0.0)) for x, y in ((p, q), (q, p))]
    cost = np.where(q > p, ((q**2 - p**2) / np.add(*length)) ** 2 / (2.0 * f), 0.0)
    shared = cache.shared[COUNTS_SIDE]
    assert np.all(shared[u, b] <= cost * (1.0 + 1e-9) + 1e-12)
    # and so are the bounds of blocks and rows
    assert np.all(cache.floors[COUNTS_SIDE, u, b // BLOCK] <= shared[u, b])
    assert np.all(cache.arms[COUNTS_SIDE, LEAST, u] <= shared[u, b])


@pytest.mark.parametrize("rule", ["ebc-h", "ebc"])
@pytest.mark.parametrize("kind", ["well", "badly"])
@pytest.mark.parametrize("n_arms", [40, 70, 100])
def test_every_step_equals_the_plain_loop(n_arms, kind, rule):
    run = Ours(_settings.clusters(n_arms, kind, 1), rule, 2)
    engine = run.engine
    run.advance(n_arms)
    changes, labels = 0, engine.state.labels.copy()
    for step in range(50):
        run.advance(1 + step % 4)  # also what several samples leave behind
        changes += not np.array_equal(labels, engine.state.labels)
        labels[:] = engine.state.labels
        value = engine.state.values[EVIDENCE]
        assert value == pytest.approx(plain(engine, engine.state.counts.astype(float)), rel=1e-9, abs=0.0)
        check_attachments(engine)
        if step % 5 == 0:
            other = loaded(engine)
            assert other.state.values[EVIDENCE] == value
            for row in (KL, W):
                assert np.array_equal(other.state.vectors[row], engine.state.vectors[row])
            assert other.witness == engine.witness
            assert other.choose() == engine.choose()
    assert changes > 5 or kind == "well"


def two_clusters(n_arms):
    """Two clusters of equal size, well separated, 6 apart in each coordinate."""
    rng = np.random.default_rng(n_arms)
    means = np.repeat([[0.0, 0.0, 0.0], [6.0, 6.0, 6.0]], n_arms // 2, axis=0)
    return _settings.gaussian("two clusters", Problem(means + rng.uniform(-0.5, 0.5, means.shape), 2))


def same_as_from_scratch(engine):
    """Whether a loaded run, which has to search with nothing known, finds what this one has."""
    other = loaded(engine)
    return (
        other.state.values[EVIDENCE] == engine.state.values[EVIDENCE]
        and np.array_equal(other.state.vectors[KL], engine.state.vectors[KL])
        and other.witness == engine.witness
        and other.choose() == engine.choose()
    )


def test_clusters_of_a_hundred_and_fifty_arms():
    run = Ours(two_clusters(300), "ebc-h", 0)
    for _ in range(30):  # to seven samples of each arm
        run.advance(70)
        assert same_as_from_scratch(run.engine)
    engine = run.engine
    assert engine.state.values[EVIDENCE] > 1.0  # one of a few, not the value for no evidence
    weights = engine.state.counts.astype(float)
    assert engine.state.values[EVIDENCE] == pytest.approx(plain(engine, weights), rel=1e-9, abs=0.0)


def test_large_clusters_take_a_few_costs_an_arm_and_step():
    run = Ours(two_clusters(600), "ebc-h", 0, ahead=16)
    run.advance(1200)
    before = run.costs_evaluated
    run.advance(1200)
    # 8 when this was written; 34 where edges with more than 4,000 in their cut, or arms with 16 attachments, are given up
    assert run.costs_evaluated - before < 15 * 600 * 1200


def test_an_arm_may_be_attached_to_as_many_arms_as_it_has_slots():
    run = Ours(two_clusters(200), "ebc-h", 0)
    run.advance(900)
    engine, rng = run.engine, np.random.default_rng(0)
    cache, labels, dist = engine._cache, engine.state.labels, engine.state.dist
    # any arms of the cluster are attachments, and zero is a bound of what they cost
    for u in np.flatnonzero(labels == 0):
        others, foreign = np.flatnonzero((labels == 0) & (np.arange(200) != u)), np.flatnonzero(labels == 1)
        chosen = rng.choice(others, N_SLOTS, replace=False)
        cache.trees[COUNTS_SIDE, SLOTS : SLOTS + N_SLOTS, u] = chosen
        cache.arms[COUNTS_SIDE, SLOT_LENGTH : SLOT_LENGTH + N_SLOTS, u] = dist[u, chosen]
        cache.attach[COUNTS_SIDE, u, foreign] = np.arange(len(foreign)) % N_SLOTS
        cache.shared[COUNTS_SIDE, u, foreign] = 0.0
        cache.floors[COUNTS_SIDE, u] = 0.0
        cache.arms[COUNTS_SIDE, LEAST, u] = 0.0
    full = cache.trees[COUNTS_SIDE, SLOTS : SLOTS + N_SLOTS].copy()
    for _ in range(60):
        run.advance(1)
        assert same_as_from_scratch(engine)
        check_attachments(engine)
    now = cache.trees[COUNTS_SIDE, SLOTS : SLOTS + N_SLOTS]
    arms = np.flatnonzero(full[-1, :-1] >= 0)
    assert (now[:, arms] != full[:, arms]).any()  # slots that were no longer used have other arms
    used = [len(np.unique(cache.attach[COUNTS_SIDE, u, labels != labels[u]])) for u in arms]
    assert max(used) == N_SLOTS  # and there are arms that have none to spare


def test_nearest_arms_are_kept_by_class_from_so_many_arms_on():
    few, many = (Ours(_settings.clusters(n, "well", 0), "ebc-h", 0).engine for n in (LARGE - 4, LARGE + 6))
    assert few._cache.near.shape[1] == 2
    assert many._cache.near.shape[1] > 5


def test_a_thousand_arms_own_less_than_a_hundred_megabytes():
    engine = Ours(_settings.clusters(1000, "well", 0), "ebc-h", 0).engine
    assert engine.nbytes < 100e6
