"""Many arms: every step equals the plain loop over all pairs of pairs, and what a loaded run finds is the same bit for bit."""

import json

import numpy as np
import pytest

from linkarms.alternatives._cache import LARGE
from linkarms.bench import _settings
from linkarms.bench._loop import Loop, _plain_psi
from linkarms.bench._ours import Ours
from linkarms.engine import Engine
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
        if step % 5 == 0:
            other = loaded(engine)
            assert other.state.values[EVIDENCE] == value
            for row in (KL, W):
                assert np.array_equal(other.state.vectors[row], engine.state.vectors[row])
            assert other.witness == engine.witness
            assert other.choose() == engine.choose()
    assert changes > 5 or kind == "well"


def test_nearest_arms_are_kept_by_class_from_so_many_arms_on():
    few, many = (Ours(_settings.clusters(n, "well", 0), "ebc-h", 0).engine for n in (LARGE - 4, LARGE + 6))
    assert few._cache.near.shape[1] == 2
    assert many._cache.near.shape[1] > 5


def test_a_thousand_arms_own_less_than_a_hundred_megabytes():
    engine = Ours(_settings.clusters(1000, "well", 0), "ebc-h", 0).engine
    assert engine.nbytes < 100e6
