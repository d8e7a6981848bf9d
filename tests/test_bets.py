"""Bounded samples bet on their means (math.md, section 6.1): a martingale, a safe finite state, the pair problem, dumps."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from tests.oracles import betting as oracle

import linkarms as la
from linkarms._core import testing as core
from linkarms.errors import InvalidDump

V1 = la.stopping.Anytime(version=1)


def told(samples, low=0.0, high=1.0, **more):
    run = la.BanditClusterer(
        more.pop("n_clusters", 2),
        len(samples),
        family=la.families.bounded(low, high),
        **({"delta": 1e-80} | more),
    )
    for m, x in enumerate(samples):
        run.tell_many([m] * len(x), x)
    return run


@pytest.mark.parametrize(
    ("points", "chances"),
    [
        ([0.0, 1.0], [0.9, 0.1]),
        ([0.2, 0.25], [0.5, 0.5]),
        ([0.0, 0.1, 1.0], [0.7, 0.27, 0.03]),
        ([0.0123, 0.7, 0.9999], [0.6, 0.3, 0.1]),  # not on knots
    ],
)
def test_the_mean_at_the_truth_is_at_most_one(points, chances):
    mean, total = float(np.dot(points, chances)), 0.0
    for outcome in itertools.product(range(len(points)), repeat=6):
        x = np.array([points[i] for i in outcome])
        total += math.prod(chances[i] for i in outcome) * math.exp(core.bets(0.0, 1.0, x).log_evidence(mean))
    assert total <= 1.0 + 1e-12
    if all(abs(360 * x - round(360 * x)) < 1e-9 for x in points):
        assert total == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("n", [1, 7, 60, 3000])
@pytest.mark.parametrize("shape", [(0.5, 2.0), (30.0, 60.0), (0.05, 0.2), (2.0, 2.0)])
def test_knots_never_add_evidence_and_lose_little(shape, n):
    rng = np.random.default_rng([n, int(100 * shape[0])])
    x = -3.0 + 7.0 * rng.beta(*shape, n)
    bets = core.bets(-3.0, 4.0, x)
    for m in (0.02, 0.1, 0.3, 0.5, 0.8, 0.97):
        ours, raw = bets.log_evidence(-3.0 + 7.0 * m), oracle.log_evidence(x, -3.0 + 7.0 * m, -3.0, 4.0)
        assert ours <= raw + 1e-9 * (1.0 + abs(raw))
        lost = 0.02 if 0.1 <= m <= 0.9 else 0.1  # next to an end the distance of two knots is not small
        assert ours >= raw - lost * (1.0 + abs(raw))


@pytest.mark.parametrize("low", [0.5, 0.0])
def test_values_of_a_scale_are_exact(low):
    rng = np.random.default_rng(4)
    x = rng.choice(np.arange(low, 5.25, 0.5), 400)
    bets = core.bets(low, 5.0, x)
    for lam in (low + 0.1, 2.0, 3.3, 4.9):
        assert bets.log_evidence(lam) == pytest.approx(oracle.log_evidence(x, lam, low, 5.0), rel=1e-11)


@pytest.mark.parametrize("x", [[0.3], [0.0, 0.0], [1.0], [0.0, 1.0], [0.2, 0.25, 0.9, 0.31] * 20])
def test_the_cost_of_one_number(x):
    bets = core.bets(0.0, 1.0, np.array(x))
    assert bets.inflection == bets.slope_limit == math.inf
    assert bets.minimum <= 0.0
    for slope in (0.0, -30.0, 5.0, 60.0):
        options = {"xatol": 1e-12}
        best = minimize_scalar(
            lambda lam, s=slope: oracle.log_evidence(x, lam) - s * lam,
            bounds=(1e-12, 1.0 - 1e-12),
            method="bounded",
            options=options,
        )
        at = bets.step(slope)
        assert bets.log_evidence(at) - slope * at <= best.fun + 1e-7
        assert bets.rise(at) == pytest.approx(bets.log_evidence(at) - bets.minimum, abs=1e-12)
    assert bets.rise(-0.1) == bets.rise(1.1) == math.inf


@pytest.mark.parametrize(
    "x", [[0.0] * 16, [0.0] * 29 + [1.0], [0.0] * 400 + [0.5], [1.0] * 29 + [0.0], [1e-3] * 50]
)
def test_the_cost_where_nearly_all_samples_are_at_one_end(x):
    bets = core.bets(0.0, 1.0, np.array(x))
    near_0 = np.geomspace(1e-25, 0.5, 300)
    places = np.concatenate([near_0, 1.0 - near_0[near_0 > 1e-12]])
    values = np.array([bets.log_evidence(z) for z in places])
    raw = np.array([oracle.log_evidence(x, z) for z in places])
    assert (values <= raw + 1e-9 * (1.0 + np.abs(raw))).all()
    if x[0] in (0.0, 1.0):  # on knots
        assert values == pytest.approx(raw, rel=1e-9, abs=1e-9)
    for slope in (0.0, *(sign * 10.0**k for k in range(0, 22, 3) for sign in (1.0, -1.0))):
        if abs(slope) > 1e9 and (slope > 0.0 or x[0] == 1.0):
            continue  # so near to 1 that the distance from it is lost in rounding
        at = bets.step(slope)
        least = (values - slope * places).min()
        assert bets.log_evidence(at) - slope * at <= least + 1e-6 * (1.0 + abs(least))
    assert bets.minimum <= values.min() + 1e-6


def grid_least(samples, pairs, places):
    """The least sum of the oracle over means on a grid; three arms."""
    u, v, a, b = pairs
    x, y, z = np.meshgrid(places, places, places, indexing="ij")
    far = {0: x, 1: y, 2: z}
    costs = [np.array([oracle.log_evidence(own, m) for m in places]) for own in samples]
    total = costs[0][:, None, None] + costs[1][None, :, None] + costs[2][None, None, :]
    return float(total[np.abs(far[u] - far[v]) >= np.abs(far[a] - far[b])].min())


@pytest.mark.parametrize(
    ("ones", "zeros"),
    [
        ((0, 1, 0), (16, 14, 16)),
        ((0, 5, 0), (30, 25, 25)),
        ((0, 1, 1), (16, 14, 15)),
        ((16, 14, 16), (0, 1, 0)),
    ],
)
def test_rare_values_give_no_more_evidence_than_a_grid(ones, zeros):
    samples = [np.repeat([1.0, 0.0], counts) for counts in zip(ones, zeros, strict=True)]
    core_run = told(samples)._engine.core
    near_0 = np.geomspace(1e-9, 0.5, 40)
    places = np.concatenate([near_0, 1.0 - near_0])
    for pairs in itertools.product(range(3), repeat=4):
        if len(set(pairs)) == 3 and pairs[0] == pairs[2] and pairs[1] != pairs[3]:
            assert core_run.evidence_against(pairs) <= grid_least(samples, pairs, places) + 1e-9


def brute_force(samples, pairs, low, high):
    """The least sum over means that satisfy the constraint: a convex problem for each pair of signs."""
    u, v, a, b = pairs
    arms = sorted(set(pairs))
    place = {m: i for i, m in enumerate(arms)}
    start = np.array([np.mean(samples[m]) for m in arms])

    def total(z):
        return sum(oracle.log_evidence(samples[m], z[i], low, high) for i, m in enumerate(arms))

    values = []
    for s, sigma in itertools.product([1.0, -1.0], repeat=2):

        def room(z, s=s, sigma=sigma):
            return s * (z[place[u]] - z[place[v]]) - sigma * (z[place[a]] - z[place[b]])

        def sign(z, sigma=sigma):
            return sigma * (z[place[a]] - z[place[b]])

        ends = [(low + 1e-3 * (high - low), high - 1e-3 * (high - low))] * len(arms)
        for shift in (0.0, 0.05, -0.05):
            found = minimize(
                total,
                np.clip(start + shift * (high - low), *ends[0]),
                bounds=ends,
                constraints=[{"type": "ineq", "fun": room}, {"type": "ineq", "fun": sign}],
                options={"maxiter": 300, "ftol": 1e-10},
            )
            if room(found.x) > -1e-6 and sign(found.x) > -1e-6:
                values.append(found.fun)
    return min(values)


@pytest.mark.parametrize("pairs", [(0, 1, 2, 3), (0, 1, 1, 2)])
@pytest.mark.parametrize("kind", ["stars", "skewed", "two points"])
def test_the_pair_problem(kind, pairs):
    rng = np.random.default_rng([len(kind), *pairs])
    draw = {
        "stars": lambda m: np.round(rng.beta(6 * m, 6 * (1 - m), 60) * 9) / 9,
        "skewed": lambda m: rng.beta(0.5 * m, 0.5 * (1 - m), 60),
        "two points": lambda m: (rng.random(60) < m).astype(float),
    }[kind]
    samples = [2.0 + 3.0 * draw(m) for m in (0.2, 0.26, 0.6, 0.68)]
    ours = told(samples, low=2.0, high=5.0)._engine.core.evidence_against(pairs)
    best = brute_force(samples, pairs, 2.0, 5.0)
    assert ours <= best + 1e-5
    assert ours >= best - (1e-3 if kind != "skewed" else 0.1)  # nothing is lost where values are on knots


def test_fewer_samples_than_by_the_range_and_old_runs_keep_that():
    rng = np.random.default_rng(5)
    stars = {
        name: np.clip(np.round(rng.normal(m, 0.8, 4000) * 2) / 2, 0.5, 5.0)
        for name, m in zip("abcd", (2.0, 2.2, 3.4, 3.5), strict=True)
    }
    found = [
        la.cluster(stars, 2, family="bounded:0.5:5", stopping=rule, seed=1, max_samples=None)
        for rule in (V1, "anytime")
    ]
    assert [r.labels.tolist() for r in found if r.stopped] == [[0, 0, 1, 1]] * 2
    assert found[1].samples < 0.25 * found[0].samples


def test_with_a_distance_threshold_and_with_a_tolerance():
    rng = np.random.default_rng(8)
    load = {
        name: np.clip(rng.normal(m, 4.0, 2000), 0.0, 100.0)
        for name, m in zip("abc", (20, 30, 60), strict=True)
    }
    by_distance = la.cluster(
        load, distance_threshold=20.0, family="bounded:0:100", seed=1, max_samples=20_000
    )
    tolerant = la.cluster(load, 2, tolerance=5.0, family="bounded:0:100", seed=1, max_samples=20_000)
    by_range = la.cluster(load, distance_threshold=20.0, family="gaussian:2500", seed=1, max_samples=20_000)
    assert by_distance.stopped
    assert tolerant.stopped
    assert by_distance.labels.tolist() == tolerant.labels.tolist() == [0, 0, 1]
    assert by_distance.samples < 0.5 * by_range.samples


def test_beside_arms_of_other_families():
    families = ["bounded:0:1", "bernoulli", "gaussian:0.01"]
    rng = np.random.default_rng(2)
    run = la.BanditClusterer(2, 3, family=families, seed=0, max_samples=20_000)
    while not run.done:
        arm = run.ask(1)[0]
        draw = (rng.beta(2, 8), float(rng.random() < 0.25), 0.9 + 0.1 * rng.standard_normal())
        run.tell(arm, draw[arm])
    assert run.result().stopped
    assert run.result().labels.tolist() == [0, 0, 1]


def test_dumps_hold_the_samples_on_knots():
    rng = np.random.default_rng(3)
    run = told([rng.random(50), 0.5 * rng.random(30), rng.random(20)])
    blob = run.dump()
    again = la.BanditClusterer.load(blob)
    assert again.dump() == blob
    assert again.result().evidence == run.result().evidence
    for spoil in (
        lambda knots: knots[0][0].__setitem__(1, knots[0][0][1] + 1.0),
        lambda knots: knots[0].reverse(),
        lambda knots: knots[1].pop(),
        lambda knots: knots.pop(),
        lambda knots: knots[2][0].__setitem__(0, 361),
    ):
        damaged = json.loads(blob)
        spoil(damaged["state"]["knots"])
        with pytest.raises(InvalidDump):
            la.BanditClusterer.load(json.dumps(damaged))
    without = json.loads(blob)
    del without["state"]["knots"]
    with pytest.raises(InvalidDump, match="missing"):
        la.BanditClusterer.load(json.dumps(without))


@pytest.mark.parametrize("rule", [V1, la.stopping.Paper((0.0, 1.0), 0.05)])
def test_other_rules_keep_no_samples(rule):
    run = told([[0.2, 0.3], [0.5, 0.6], [0.9, 1.0]], stopping=rule)
    assert "knots" not in json.loads(run.dump())["state"]
    assert la.BanditClusterer.load(run.dump()).dump() == run.dump()


def test_a_retracted_sample_leaves_no_trace():
    rng = np.random.default_rng(6)
    x = [rng.random(12) for _ in range(3)]
    one, two = told(x), told(x)
    saved = one._engine.core.save()
    one.tell(1, 0.77)
    one._engine.core.restore(saved)
    assert one._engine.core.told().knots == two._engine.core.told().knots
    assert one._engine.core.evidence() == two._engine.core.evidence()


def test_arms_of_other_families_have_no_knots():
    run = la.BanditClusterer(2, 3, family="bernoulli")
    run.tell_many([0, 1, 2], [0, 1, 1])
    assert run._engine.core.told().knots == []
