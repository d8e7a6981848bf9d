"""The whole statistic against every candidate, and what the anytime rule remembers of the candidate that forbids a stop."""

import itertools
import math

import numpy as np
import pytest
from tests.oracles import evidence as oracle
from tests.repeats import repeats

import linkarms as la
from linkarms import _core
from linkarms.engine import Engine
from linkarms.families import resolve
from linkarms.sampling import resolve_sampling
from linkarms.stopping import Anytime

MEAN, UNKNOWN = la.families.Exponential("mean"), la.families.UnknownVariance()
#: family, K, parameters; the restless change their partition again and again
RUNS = {
    "gaussian": ("gaussian", 3, [0.0, 0.8, 1.6, 3.4, 4.1, 8.0]),
    "variances": ([la.families.Gaussian(v) for v in (0.5, 1.0, 2.0, 4.0)], 2, [0.0, 0.6, 3.4, 4.1]),
    "rates": ("exponential", 2, [0.4, 0.7, 4.0, 6.0]),
    "means": (MEAN, 2, [1.0, 1.6, 9.0, 12.0]),
    "poisson": ("poisson", 3, [1.0, 1.5, 5.0, 5.7, 12.0]),
    "bernoulli": ("bernoulli", 2, [0.05, 0.15, 0.25, 0.8, 0.9]),
    "mixed": (["gaussian", "exponential", "poisson", MEAN], 2, [0.5, 0.9, 4.0, 5.0]),
    "unknown variance": (UNKNOWN, 2, [0.0, 0.5, 3.0, 3.4]),
    "shared variance": (la.families.UnknownVariance(True), 2, [0.0, 0.5, 3.0, 3.4, 3.9]),
    "gaussian, restless": ("gaussian", 2, [0.0, 0.1, 0.2, 0.3, 0.4]),
    "poisson, restless": ("poisson", 2, [2.0, 3.0, 4.2, 5.5]),
}
DELTAS = (0.9, 1e-2, 0.3)
GRID = [0.2 * 5.0**j for j in range(8)]


def make(name, rule=None, delta=0.3):
    family, n_clusters, parameters = RUNS[name]
    families = resolve(family, len(parameters), 1)
    rule = Anytime() if rule is None else rule
    return Engine(families, n_clusters, resolve_sampling("ebc-h"), rule, delta, np.random.default_rng(0))


def steps(name, engine, seed, n):
    """Tell ``n`` samples, of arms that the rule chose and of others."""
    parameters, rng = RUNS[name][2], np.random.default_rng(seed)
    own = engine.families.families
    for t in range(n):
        m = int(rng.integers(len(parameters))) if rng.uniform() < 0.5 else engine.choose()
        engine.observe(m, own[m].statistics(own[m].draw(rng, np.array([parameters[m]]), 1))[0])
        yield t


def forgetful(name, engine, rule=None):
    fresh = make(name, rule)
    fresh.restore(engine.to_dict())
    return fresh


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("seed", range(repeats(1, 2)))
def test_answers_are_those_of_an_engine_that_remembers_nothing(name, seed):
    engine = make(name)
    partitions, answers = set(), set()
    for t in steps(name, engine, seed, 220):
        if not engine.ready or engine.ambiguous:
            continue
        delta = DELTAS[t % 3]
        fresh = forgetful(name, engine)
        exact = fresh.evidence()
        stops = engine.check(delta)
        assert stops == (exact >= fresh.threshold(delta))
        partitions.add(tuple(engine.core.labels))
        answers.add(stops)
        if t % 20 == 0:  # whoever asks is told the statistic itself
            assert engine.evidence() == exact
            assert engine.witness == fresh.witness
    assert len(partitions) > 1 or "restless" not in name
    assert False in answers


@pytest.mark.parametrize("seed", range(4))
def test_a_verdict_does_not_outlive_its_cluster(seed):
    """Every sample throws an arm somewhere else, and with it clusters change that have the same size and other arms."""
    rng, n = np.random.default_rng(seed), 6
    places, seen = 10.0 * np.arange(-6, 7), set()
    for _ in range(150):
        engine = told(3, np.ones(n, dtype=int), rng.choice(places, (n, 1)) + rng.normal(size=(n, 1)), 2)
        level = rng.choice([1.0, 5.0, 20.0])
        for _ in range(8):
            engine.observe(int(rng.integers(n)), 2.0 * rng.choice(places, 1) + rng.normal(size=1))
            if engine.ambiguous:
                continue
            now = engine.told()
            exact = told(3, np.array(now.counts), now.means, now.scale).evidence()
            assert engine.check(level - engine.threshold_base) == (exact >= level)
            seen.add(tuple(engine.labels))
    assert len(seen) > 40


@pytest.mark.parametrize("name", ["gaussian", "means", "bernoulli", "unknown variance"])
def test_a_weakened_rule_remembers_no_less(name):
    rule = la.stopping.weaken(Anytime(), 3.0)
    engine = make(name, rule)
    for _ in steps(name, engine, 5, 80):
        if engine.ready and not engine.ambiguous:
            fresh = forgetful(name, engine, rule)
            assert engine.check() == (fresh.evidence() >= fresh.threshold())


@pytest.mark.parametrize("name", RUNS)
def test_a_level_is_compared_with_the_evidence_itself(name):
    """`evidence_is_below` looks at points kept from earlier samples, and at bounds; it decides as the evidence does."""
    engine, asked = make(name), 0
    n = len(RUNS[name][2])
    for t in steps(name, engine, 3, 120):
        if not engine.ready or t % 3:
            continue
        for u, v, a, b in ((0, 1, n - 2, n - 1), (0, 1, 1, n - 1), (1, 2, 0, 1)):
            value = forgetful(name, engine).core.evidence_against((u, v, a, b))
            for level in (value + 1e-3, value - 1e-3, value + 5.0, value - 5.0, value + 0.3):
                if math.isfinite(level):
                    assert engine.core.evidence_is_below((u, v, a, b), level) == (value < level)
                    asked += 1
    assert asked > 100


def scattered(seed):
    """Gaussian arms in clusters of any size, with equal, uneven or few different numbers of samples; some means tie."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 19)), int(rng.integers(1, 4))
    k = int(rng.integers(2, min(6, n - 1)))
    gap = rng.choice([0.5, 2.0, 6.0])
    theta = 0.3 * rng.normal(size=(n, d)) + gap * rng.integers(0, k, (n, 1))
    counts = [
        np.full(n, int(rng.integers(1, 40))),
        np.maximum(1, (rng.integers(1, 60) * rng.lognormal(0.0, 1.2, n)).astype(int)),
        rng.integers(1, 3, n),
    ][seed % 3]
    means = theta + rng.normal(size=(n, d)) / np.sqrt(counts)[:, None]
    return k, counts, np.round(means, 1) if seed % 4 == 0 else means, int(rng.integers(len(GRID)))


def told(k, counts, means, scale, version=1):
    n, d = means.shape
    model = _core.Model([_core.Arm.coordinates([_core.gaussian(1.0)] * d)] * n, d)
    engine = _core.Engine(
        model, k, sampling=_core.EbcH(), stopping=_core.AnytimeStop(grid=GRID, version=version)
    )
    zeros = [0.0] * n
    engine.set_told(
        _core.Told(counts=counts, pending=[0] * n, means=means, weights=zeros, weight_sum=zeros, scale=scale)
    )
    return engine


@pytest.mark.parametrize("part", range(4))
def test_the_whole_statistic_is_that_of_every_candidate(part):
    compared = 0
    for seed in range(part, repeats(36, 60), 4):
        k, counts, means, scale = scattered(seed)
        engine = told(k, counts, means, scale)
        if engine.ambiguous:
            continue
        wanted = oracle.gaussian_statistic(means, counts.astype(float), GRID, np.array(engine.labels))
        got = engine.evidence()
        assert got == pytest.approx(wanted, rel=1e-11, abs=1e-11)
        u, v, a, b = engine.witness()
        assert engine.labels[u] == engine.labels[v]
        assert engine.labels[a] != engine.labels[b]
        assert engine.evidence_against((u, v, a, b)) == pytest.approx(wanted, rel=1e-11, abs=1e-11)
        # a question about a level rules out candidates in another way
        for level in (wanted - 1e-6 * abs(wanted) - 1e-9, wanted + 1e-6 * abs(wanted) + 1e-9):
            other = told(k, counts, means, (scale + 3) % 8)
            assert other.check(level - other.threshold_base) == (wanted >= level)
        compared += 1
    assert compared > repeats(5, 8)


@pytest.mark.parametrize(
    "name",
    [
        "exponential",
        "bernoulli",
        "covariance",
        "product",
        "unknown",
        "shared",
        "vectors",
        "coordinates",
        "shared vectors",
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_candidates_are_ruled_out_safely_for_every_kind(name, seed):
    """Against every candidate, by the evidence of each pair: which itself is compared with SLSQP elsewhere."""
    covariance = la.families.Gaussian([[2.0, 0.5], [0.5, 0.7]])
    product = la.families.Product([la.families.Bernoulli(), la.families.Poisson()])
    family, d = {
        "exponential": ("exponential", 1),
        "bernoulli": ("bernoulli", 1),
        "covariance": (covariance, 2),
        "product": (product, 2),
        "unknown": (UNKNOWN, 1),
        "shared": (la.families.UnknownVariance(True), 1),
        "vectors": ("gaussian-unknown", 2),
        "coordinates": ("gaussian-unknown:coordinate", 2),
        "shared vectors": ("gaussian-unknown:shared", 2),
    }[name]
    n, rng = (5 if name in ("product", "coordinates") else 8), np.random.default_rng(seed)
    families = resolve(family, n, d)
    engine = Engine(families, 3, resolve_sampling("ebc-h"), Anytime(), 0.1, rng)
    places = np.sort(rng.choice([0.2, 0.25, 0.6, 0.65, 0.9], n))
    for m in range(n):
        size = int(rng.integers(3, 25))
        for x in families.families[m].draw(rng, np.full(d, places[m]), size):
            engine.observe(m, families.families[m].statistics(x[None])[0])
    if engine.ambiguous:
        pytest.skip("equal edges at the cut: there is no statistic")
    edge = engine.core.evidence_against
    wanted = oracle.statistic(lambda *pairs: edge(pairs), engine.core.labels.tolist())
    assert engine.evidence() == pytest.approx(wanted, rel=1e-7, abs=1e-7)


def test_a_thousand_arms_are_weighed_quickly_and_alike_in_any_order():
    """Clusters of hundreds of arms, where early in a run nearly all candidates have the same evidence: the order of arms is no matter."""
    rng = np.random.default_rng(7)
    for k, size in itertools.product((2, 10), (1, 8)):
        means = 3.0 * rng.integers(0, k, (600, 1)) + 0.3 * rng.normal(size=(600, 1))
        counts = np.maximum(1, (size * rng.lognormal(0.0, 0.7, 600)).astype(int))
        order = rng.permutation(600)
        here, there = told(k, counts, means, 2), told(k, counts[order], means[order], 5)
        assert here.evidence() == pytest.approx(there.evidence(), rel=1e-12, abs=1e-15)


def test_the_same_scale_is_chosen_after_a_load():
    engine, other = make("poisson"), make("poisson")
    parameters, rng = RUNS["poisson"][2], np.random.default_rng(8)
    scales = set()
    for t in range(120):
        m = engine.choose()
        x = rng.poisson(parameters[m], 1).astype(float)
        engine.observe(m, x)
        other.observe(m, x)
        if engine.ready:
            engine.check()
        if t % 10 == 0:
            other.restore(other.to_dict())
        scales.add(engine.core.told().scale)
        assert engine.core.told().scale == other.core.told().scale
    assert len(scales) > 1
