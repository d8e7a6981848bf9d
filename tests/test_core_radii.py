"""Confidence radii of the native core: against closed forms and root searches that share no code with them."""

import math

import numpy as np
import pytest
from scipy import optimize, stats
from tests.oracles import unknown_variance

from linkarms import _core

C = 5.0


def model(*arms):
    return _core.Model(list(arms), arms[0].n_features)


def line(family):
    return _core.Arm.coordinates([family])


def radii(of, counts, means, steps, delta, **options):
    arrays = (np.array(x, dtype=float) for x in (means, steps))
    return _core.confidence_radii(of, np.array(counts), *arrays, delta, **options)


BOTH = [[1.0], [-1.0]]


def test_gaussian_intervals_have_a_closed_form():
    counts, delta = np.array([1, 7, 400]), 0.05
    found = radii(model(*[line(_core.gaussian(1.0))] * 3), counts, [[0.0], [1.0], [-2.0]], BOTH, delta)
    expected = np.sqrt(2 * (counts + C) / counts**2 * (np.log(3 / delta) + 0.5 * np.log1p(counts / C)))
    np.testing.assert_allclose(found, np.column_stack([expected, expected]), rtol=1e-9)


def test_ellipses_follow_the_covariance():
    sigma = np.array([[2.0, 0.6], [0.6, 0.5]])
    angles = np.linspace(0, 2 * np.pi, 9)
    steps = np.column_stack([np.cos(angles), np.sin(angles)])
    n = 30
    found = radii(model(*[_core.Arm.covariance(sigma)] * 2), [n, 0], [[1.0, 2.0], [0.0, 0.0]], steps, 0.1)
    square = 2 * (n + C) / n**2 * (math.log(2 / 0.1) + math.log1p(n / C))
    expected = np.sqrt(square / np.einsum("ki,ij,kj->k", steps, np.linalg.inv(sigma), steps))
    np.testing.assert_allclose(found[0], expected, rtol=1e-9)
    assert np.isnan(found[1]).all()


def beta_binomial(lam, n, s):
    """log of the marginal likelihood ratio of s successes in n, prior Beta(c lam, c (1 - lam)), by SciPy's distributions."""
    return stats.betabinom.logpmf(s, n, C * lam, C * (1 - lam)) - stats.binom.logpmf(s, n, lam)


def gamma_poisson(lam, n, s):
    return stats.nbinom.logpmf(s, C * lam, C / (C + n)) - stats.poisson.logpmf(s, n * lam)


@pytest.mark.parametrize(
    ("family", "evidence", "n", "s", "ends"),
    [
        (_core.bernoulli(), beta_binomial, 40, 11, (1e-9, 1 - 1e-9)),
        (_core.poisson(), gamma_poisson, 12, 30, (1e-9, 100.0)),
    ],
)
def test_counts_against_scipy(family, evidence, n, s, ends):
    level = math.log(2 / 0.05)
    up, down = radii(model(*[line(family)] * 2), [n, n], [[s / n], [s / n]], BOTH, 0.05)[0]
    low = optimize.brentq(lambda x: evidence(x, n, s) - level, ends[0], s / n)
    high = optimize.brentq(lambda x: evidence(x, n, s) - level, s / n, ends[1])
    assert s / n - down == pytest.approx(low, rel=1e-6)
    assert s / n + up == pytest.approx(high, rel=1e-6)


def test_regions_end_at_the_domain_and_follow_the_simplex():
    coins = model(*[line(_core.bernoulli())] * 2)
    # no success at all: nothing below zero
    found = radii(coins, [9, 9], [[0.0], [1.0]], BOTH, 0.05)
    assert found[0, 1] == found[1, 0] == 0.0
    assert 0 < found[0, 0] <= 1
    # two categories are one coin
    coin = radii(coins, [40, 40], [[0.3], [0.3]], BOTH, 0.05)
    steps = [[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]
    pair = radii(model(*[_core.Arm.categories(2)] * 2), [40, 40], [[0.3, 0.7]] * 2, steps, 0.05)
    np.testing.assert_allclose(pair[0], [coin[0, 0], coin[0, 1], 0.0], rtol=1e-6)


def test_waiting_times_by_rate_and_by_mean_are_the_same_region():
    by_rate, by_mean = (
        radii(model(*[line(f(1.0))] * 2), [20, 20], [[0.5], [0.5]], BOTH, 0.05)[0]
        for f in (_core.gamma_rate, _core.gamma_mean)
    )
    assert 1 / (2.0 + by_rate[0]) == pytest.approx(0.5 - by_mean[1], rel=1e-6)
    assert 1 / (2.0 - by_rate[1]) == pytest.approx(0.5 + by_mean[0], rel=1e-6)


@pytest.mark.parametrize("kind", ["separate", "coordinate", "full"])
def test_unknown_variance(kind):
    arms = [_core.Arm.coordinates([_core.gaussian(1.0)] * 2)] * 3
    unknown = _core.Model(arms, 2, kind)
    x = np.random.default_rng(3).normal(1.0, 0.7, (40, 2))
    samples = _core.testing.Samples(unknown, np.array([[-np.inf, np.inf]] * 2))
    for row in x:
        samples.add(0, row)
    moments = [samples.moments(m) for m in range(3)]
    means = np.vstack([x.mean(axis=0), [0, 0], [0, 0]])
    steps = [[0.6, 0.8], [0.0, 2.0]]
    found = radii(unknown, [40, 1, 0], means, steps, 0.1, moments=moments)
    assert found[1].tolist() == [math.inf] * 2
    assert np.isnan(found[2]).all()
    # it ends where the evidence against a mean, for the variance that suits it best, reaches the level
    name = "isotropic" if kind == "separate" else kind
    for radius, step in zip(found[0], steps, strict=True):
        edge = x.mean(axis=0) + radius * np.array(step)
        inside = x.mean(axis=0) + 0.99 * radius * np.array(step)
        level, priors = math.log(3 * 3 / 0.1), (0.2, 1.0, 5.0)
        assert max(unknown_variance.least(name, x, inside, c) for c in priors) < level
        assert max(unknown_variance.least(name, x, edge, c) for c in priors) >= level - 1e-9
    assert radii(unknown, [40, 1, 0], means, steps, 0.1)[0].tolist() == [math.inf] * 2


def test_what_has_no_region():
    own = _core.user_family(kl=pow, step=pow, fisher=abs)
    with pytest.raises(ValueError, match="; use a family"):
        radii(model(line(own)), [3], [[0.5]], BOTH, 0.05)
    with pytest.raises(ValueError, match="shape"):
        radii(model(line(_core.poisson())), [3, 3], [[0.5]], BOTH, 0.05)
