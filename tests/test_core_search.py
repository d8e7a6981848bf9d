"""The incremental search: what it keeps is true after every step, and its answers do not depend on it."""

import math

import numpy as np
import pytest
from tests.oracles.plain import plain_psi
from tests.oracles.runs import CASES, Samples, make_arms
from tests.oracles.search import (
    NO_LIST,
    SMALL,
    MeanWalk,
    Walk,
    assert_same,
    check_answer,
    check_memory,
    walk_of,
)
from tests.repeats import repeats

from linkarms import _core
from linkarms._core import testing

SOLVED = ("gaussian", "variances", "covariances", "rate", "gamma mean", "bernoulli", "geometric")


@pytest.mark.parametrize("limits", [{}, SMALL, NO_LIST], ids=["usual", "small", "no list"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", SOLVED)
def test_what_is_kept_is_true_after_every_step(name, seed, limits):
    n, k = [(7, 3), (8, 2), (6, 4), (8, 5)][seed]
    walk, samples, rng = walk_of(name, seed, n, k, **limits)
    kept = set()
    for step in range(repeats(18, 30)):
        m = int(rng.integers(n))
        walk.step(m, samples(m))
        check_answer(walk)
        kept |= check_memory(walk)
        if step % 4 == 0:
            assert_same(walk.search, walk.fresh())
    assert kept


@pytest.mark.parametrize("kind", ["isotropic", "covariance", "product"])
@pytest.mark.parametrize("grid", [2, 3])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_ties_but_for_rounding(d, grid, kind):
    """Estimates on a grid: many distances differ by rounding only, cuts are ambiguous, and psi is 0 or nearly so."""
    ambiguous = 0
    for seed in range(24):
        rng = np.random.default_rng([seed, d, grid])
        n = int(rng.integers(4, 9))
        k, variance = int(rng.integers(2, n)), float(rng.choice([1.0, 0.25, 1 / 12]))
        widths = [variance] * d if kind == "isotropic" else [variance, *[2.0 * variance] * (d - 1)]
        if kind == "covariance":
            arm = _core.Arm.covariance(np.diag(widths))
        else:
            arm = _core.Arm.coordinates([_core.gaussian(x) for x in widths])
        model = _core.Model([arm] * n, d)
        limits = [{}, SMALL, NO_LIST][seed % 3]
        walk = Walk(model, rng.integers(0, grid, (n, d)) / (grid - 1.0), k, **limits)
        for _ in range(repeats(20, 40)):
            m = int(rng.integers(n))
            walk.step(m, rng.integers(0, grid, d) / (grid - 1.0))
            fresh = walk.fresh()
            if np.array_equal(fresh.labels, walk.search.labels):  # an ambiguous cut has several partitions
                assert_same(walk.search, fresh)
            check_memory(walk)
            ambiguous += walk.search.ambiguous
    assert ambiguous > repeats(30, 50)


@pytest.mark.parametrize("name", ["gaussian", "covariance", "rate"])
def test_copies_and_what_is_forgotten(name):
    """A copy goes on like the original and leaves it alone; a search that has forgotten finds the same."""
    walk, samples, rng = walk_of(name, 3, 9, 3, **SMALL)
    for step in range(40):
        copy = walk.search.clone()
        before = (copy.value, copy.witness, copy.costs_evaluated)
        if step % 3 == 0:
            copy.forget()
        m = int(rng.integers(9))
        walk.step(m, samples(m))
        assert (copy.value, copy.witness, copy.costs_evaluated) == before
        copy.step(m, walk.theta[m].copy(), walk.weights[m])
        assert_same(copy, walk.search)
        if step % 5 == 0:
            walk.search.forget()
            walk.search.find()
            assert_same(copy, walk.search)


@pytest.mark.parametrize("limits", [{}, NO_LIST], ids=["usual", "no list"])
@pytest.mark.parametrize("name", ["gaussian", "covariances", "rate", "poisson"])
def test_other_weights_in_between(name, limits):
    """Any weights, of which some are zero, and back: as for EBC, whose weights change all at once."""
    walk, samples, rng = walk_of(name, 1, 8, 3, **limits)
    free = zeros = 0
    for step in range(40):
        m = int(rng.integers(8))
        walk.step(m, samples(m))
        if step % 3 == 0:
            kept = walk.weights
            walk.weights = rng.dirichlet(np.ones(8)) * (rng.random(8) < 0.9)
            if walk.weights.max() > 0.0:
                walk.search.weigh(walk.weights)
                plain = plain_psi(walk.model, walk.theta, walk.weights, walk.search.labels.tolist())
                at_zero = min(walk.weights[list(plain.witness)]) == 0.0
                assert walk.search.witness == plain.witness
                assert walk.search.value == (0.0 if at_zero else plain.value)
                free, zeros = free + 1, zeros + at_zero
            walk.weights = kept
            walk.search.weigh(kept)
        check_answer(walk)
    assert 0 < zeros < free


def test_a_weight_that_is_nearly_zero_is_raised_when_others_grow():
    """Weights are at least 1e-12 of the largest; where one that moves changes what that is, all are assigned again."""
    rng = np.random.default_rng(0)
    walk = Walk(gaussian_model(6, 2), rng.normal(size=(6, 2)), 3)
    for weight in (1e5, 1e14, 1e5, 1e13, 3.0, 1.0):
        walk.weights[2] = weight
        walk.search.step(2, walk.theta[2].copy(), weight)
        assert_same(walk.search, walk.fresh())
        check_answer(walk)


@pytest.mark.parametrize("n", [5, 8])
def test_spreads_near_the_smallest_number(n):
    """Bernoulli arms that have only failed: spreads are so small that their reciprocal is infinite."""
    model, rng = _core.Model([_core.Arm.coordinates([_core.bernoulli()])] * n, 1), np.random.default_rng(n)
    run = testing.SearchRun(model, np.zeros((n, 1)), rng.dirichlet(np.ones(n)), 2, **NO_LIST)
    for _ in range(20):
        assert run.weigh(rng.dirichlet(np.ones(n))) == 0.0


def gaussian_model(n, d):
    """Gaussian arms of unit variance."""
    return _core.Model([_core.Arm.coordinates([_core.gaussian(1.0)] * d)] * n, d)


def clusters(n, k, d, apart, seed):
    """Arms in ``k`` groups of equal size, a distance of about ``apart`` from each other, in turns."""
    rng = np.random.default_rng([seed, n, k])
    return (apart * rng.normal(size=(k, d)))[np.arange(n) % k] + rng.uniform(-0.5, 0.5, (n, d)), rng


@pytest.mark.parametrize("apart", [1.0, 8.0])
@pytest.mark.parametrize("limits", [{}, {"most_slots": 3, "classes_from": 2}], ids=["usual", "small"])
@pytest.mark.parametrize("n", [40, 90])
def test_many_arms(n, limits, apart):
    """The plain loop in the core, which shares only the pair costs with the search, after every few steps."""
    means, rng = clusters(n, 5, 3, apart, 0)
    walk = Walk(gaussian_model(n, 3), means + rng.normal(size=means.shape), 5, **limits)
    labels, changes = walk.search.labels, 0
    for step in range(repeats(120, 240)):
        m = int(np.argmax(walk.search.kl)) if step % 3 else int(rng.integers(n))
        walk.step(m, means[m] + rng.normal(size=3))
        changes += not np.array_equal(labels, walk.search.labels)
        labels = walk.search.labels
        if step % 8 == 0:
            value, witness = testing.plain_psi(walk.theta, 1.0 / walk.weights, labels, 5)
            assert walk.search.value == value
            assert (set(walk.search.witness[:2]), set(walk.search.witness[2:])) == (
                set(witness[:2]),
                set(witness[2:]),
            )
            assert_same(walk.search, walk.fresh())
            assert check_memory(walk) == {"attached"}
    assert changes > 5 or apart > 5.0


def test_the_order_of_arms_costs_nothing():
    """A candidate is evaluated once, also where the arms of several clusters take turns."""
    rng = np.random.default_rng(3)
    means = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.5]], 8, axis=0) + 0.3 * rng.normal(size=(24, 2))
    noise, costs = rng.normal(size=(40, 24, 2)), {}
    for order in ("together", "in turn"):
        at = np.arange(24) if order == "together" else np.arange(24).reshape(3, 8).T.ravel()
        walk = Walk(gaussian_model(24, 2), means[at] + noise[0][at], 3)
        for block in noise[1:]:
            for m in range(24):
                walk.step(m, means[at[m]] + block[at[m]])
        costs[order] = walk.search.costs_evaluated
    assert costs["in turn"] < 1.3 * costs["together"]


def two_clusters(n):
    """Two clusters of equal size, well separated, 6 apart in each coordinate."""
    rng = np.random.default_rng(n)
    means = np.repeat([[0.0, 0.0, 0.0], [6.0, 6.0, 6.0]], n // 2, axis=0)
    return means + rng.uniform(-0.5, 0.5, means.shape), rng


def test_large_clusters_take_a_few_costs_per_arm_and_step():
    means, rng = two_clusters(600)
    walk = Walk(gaussian_model(600, 3), means + rng.normal(size=means.shape), 2)
    for step in range(1800):
        if step == 900:
            before = walk.search.costs_evaluated
        # forced exploration, then the arm that moves most
        fewest = int(np.argmin(walk.weights))
        behind = walk.weights[fewest] < math.sqrt(walk.weights.sum() / 600)
        m = fewest if behind else int(np.argmax(walk.search.kl))
        walk.step(m, means[m] + rng.normal(size=3))
    assert walk.search.costs_evaluated - before < 15 * 600 * 900
    assert_same(walk.search, walk.fresh())


def test_slots_that_are_no_longer_used_are_used_again():
    """Two slots per arm, against three foreign arms: attachments come and go, and some arms have no slot to spare."""
    rng = np.random.default_rng(5)
    means = np.where(np.arange(30)[:, None] < 3, 6.0, 0.0) + rng.uniform(-0.5, 0.5, (30, 2))
    walk = Walk(gaussian_model(30, 2), means, 2, most_slots=2)
    seen, full = [set() for _ in range(30)], 0
    for _ in range(400):
        m = int(rng.integers(30))
        walk.theta[m] = means[m] + 0.7 * rng.normal(size=2)
        walk.search.step(m, walk.theta[m].copy(), 1.0)
        assert_same(walk.search, walk.fresh())
        check_memory(walk)
        attached = walk.search.memory()["attached"].astype(int)
        for u in range(3, 30):
            used = set(attached[u][attached[u] >= 0].tolist())
            assert len(used) <= 2 or max(walk.search.labels[3:]) != min(walk.search.labels[3:])
            seen[u] |= used
            full += len(used) == 2
    assert full > 100
    assert max(map(len, seen)) > 4


def test_a_thousand_arms_own_less_than_a_hundred_megabytes():
    means, _ = clusters(1000, 10, 5, 10.0, 0)
    run = testing.SearchRun(gaussian_model(1000, 5), means, np.ones(1000), 10)
    assert 8e6 < run.nbytes < 30e6
    # pairs of arms have lists, and no table of attachments
    pairs = np.repeat(40.0 * np.arange(50.0), 2)[:, None] + np.tile([0.0, 1.0], 50)[:, None]
    assert testing.SearchRun(gaussian_model(100, 1), pairs, np.ones(100), 50).nbytes < 60e3


def pairs_of_arms(name, rng, alone):
    """A walk of pairs of arms in a row, of which some have one arm only, and their samples."""
    d = CASES[name][0][-1]
    n, k = (8, 5) if alone else (10, 5)
    arms = make_arms(name, rng, n, d)
    place = np.repeat(np.linspace(0.05, 0.95, k), 2) + np.tile([-0.02, 0.02], k)
    place = place[[m for m in range(10) if not alone or m not in (4, 9)]][:, None] + rng.normal(
        0.0, 0.004, (n, d)
    )
    truth = np.array([[c.truth for c in CASES[name][2](m, d)] for m in range(n)])
    arms = arms._replace(theta=truth[..., 0] + place * (truth[..., 1] - truth[..., 0]))
    samples, box = Samples(arms, "honest", rng), np.array(arms.box)
    means = [np.mean([samples(m) for _ in range(400)], axis=0) for m in range(n)]
    model = arms.families.model
    walk = MeanWalk(model, means, k, lambda m, mean: model.estimate(m, mean, box), {})
    walk.weights[:] = 400.0
    walk.search = walk.fresh()
    return walk, samples


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    "name",
    ["gaussian", "variances", "covariances", "rate", "gamma mean", "poisson", "bernoulli", "geometric"],
)
def test_the_list_is_complete_after_every_sample(name, alone):
    rng = np.random.default_rng(len(name))
    walk, samples = pairs_of_arms(name, rng, alone)
    listed = []
    for _ in range(repeats(30 if name == "geometric" else 60, 100)):  # a family in Python is slow
        m = int(np.argmax(walk.search.kl)) if rng.random() < 0.8 else int(rng.integers(len(walk.weights)))
        walk.step(m, samples(m))
        assert_same(walk.search, walk.fresh())
        check_answer(walk)
        if check_memory(walk) == {"listed"}:
            listed.append(len(walk.search.memory()["listed"]))
    assert len(listed) > repeats(20, 50)
    assert max(listed) > 1 or alone or name != "gaussian"


def test_too_many_candidates_for_a_list():
    # two equal arms at each of ten places that are equally far from each other: hundreds of candidates cost the same
    place = np.repeat(np.eye(10), 2, axis=0)
    walk = Walk(gaussian_model(20, 10), place, 10)
    assert "listed" not in walk.search.memory()
    check_answer(walk)
    for m in (3, 17, 4, 12):
        walk.step(m, 1.1 * place[m])
        check_answer(walk)
        check_memory(walk)
        assert_same(walk.search, walk.fresh())


class Failing:
    """A geometric family one of whose calls fails."""

    def __init__(self):
        self.left = math.inf

    def __call__(self, function):
        def call(*arguments):
            self.left -= 1
            if self.left == 0:
                raise ZeroDivisionError("not now")
            return function(*arguments)

        return call


@pytest.mark.parametrize("k", [2, 3])
def test_after_an_error_in_a_function_of_the_user(k):
    """Wherever it comes, it is raised as it was, and the next search finds what one that knows nothing does."""
    fail, rng, failures = Failing(), np.random.default_rng(k), 0
    # exponential samples by the rate, as a user would write them
    family = _core.user_family(
        kl=fail(lambda theta, lam: lam / theta - 1.0 - math.log(lam / theta) if lam > 0.0 else math.inf),
        step=fail(lambda theta, slope: 1.0 / (1.0 / theta - slope) if slope < 1.0 / theta else math.inf),
        fisher=fail(lambda theta: 1.0 / (theta * theta)),
        slope_limit=fail(lambda theta: 1.0 / theta),
        domain="half-line",
    )
    model = _core.Model([_core.Arm.coordinates([family])] * 5, 1)
    walk = Walk(model, rng.uniform(0.5, 6.0, (5, 1)), k)
    for _ in range(30):
        m = int(rng.integers(5))
        value = walk.theta[m] * rng.uniform(0.5, 2.0)
        fail.left = 1 + rng.geometric(0.004)
        try:
            walk.step(m, value)
        except ZeroDivisionError:
            failures += 1
            fail.left = math.inf
            walk.search.find() if rng.random() < 0.5 else walk.search.step(
                m, walk.theta[m].copy(), walk.weights[m]
            )
        fail.left = math.inf
        assert_same(walk.search, walk.fresh())
    assert failures >= 5
