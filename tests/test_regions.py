"""Confidence regions: against closed forms and root searches that share no code with them, and by how often they miss."""

import math

import numpy as np
import pytest
from scipy import optimize, stats
from tests.repeats import repeats

import linkarms as la
from linkarms.families import resolve
from linkarms.regions import confidence_radii

C = 5.0


def test_gaussian_intervals_have_a_closed_form():
    counts, delta = np.array([1, 7, 400]), 0.05
    radii = confidence_radii(
        resolve("gaussian", 3, 1), counts, [[0.0], [1.0], [-2.0]], [[1.0], [-1.0]], delta
    )
    expected = np.sqrt(2 * (counts + C) / counts**2 * (np.log(3 / delta) + 0.5 * np.log1p(counts / C)))
    np.testing.assert_allclose(radii, np.column_stack([expected, expected]), rtol=1e-9)


def test_ellipses_follow_the_covariance():
    sigma = np.array([[2.0, 0.6], [0.6, 0.5]])
    families = resolve(la.families.Gaussian(sigma), 2, 2)
    angles = np.linspace(0, 2 * np.pi, 9)
    steps = np.column_stack([np.cos(angles), np.sin(angles)])
    n = 30
    radii = confidence_radii(families, [n, 0], [[1.0, 2.0], [0.0, 0.0]], steps, 0.1)
    square = 2 * (n + C) / n**2 * (math.log(2 / 0.1) + math.log1p(n / C))
    expected = np.sqrt(square / np.einsum("ki,ij,kj->k", steps, np.linalg.inv(sigma), steps))
    np.testing.assert_allclose(radii[0], expected, rtol=1e-9)
    assert np.isnan(radii[1]).all()


def beta_binomial(lam, n, s):
    """log of the marginal likelihood ratio of s successes in n, prior Beta(c lam, c (1 - lam)), by SciPy's distributions."""
    mixture = stats.betabinom.logpmf(s, n, C * lam, C * (1 - lam))
    return mixture - stats.binom.logpmf(s, n, lam)


def gamma_poisson(lam, n, s):
    shape = C * lam
    mixture = stats.nbinom.logpmf(s, shape, C / (C + n)) - stats.poisson.logpmf(s, n * lam)
    return mixture


@pytest.mark.parametrize(
    ("family", "evidence", "n", "s", "ends"),
    [
        ("bernoulli", beta_binomial, 40, 11, (1e-9, 1 - 1e-9)),
        ("poisson", gamma_poisson, 12, 30, (1e-9, 100.0)),
    ],
)
def test_counts_against_scipy(family, evidence, n, s, ends):
    level = math.log(2 / 0.05)
    down, up = confidence_radii(resolve(family, 2, 1), [n, n], [[s / n], [s / n]], [[-1.0], [1.0]], 0.05)[0]
    low = optimize.brentq(lambda x: evidence(x, n, s) - level, ends[0], s / n)
    high = optimize.brentq(lambda x: evidence(x, n, s) - level, s / n, ends[1])
    assert s / n - down == pytest.approx(low, rel=1e-6)
    assert s / n + up == pytest.approx(high, rel=1e-6)


def test_regions_end_at_the_domain_and_follow_the_simplex():
    # no success at all: nothing below zero
    radii = confidence_radii(resolve("bernoulli", 2, 1), [9, 9], [[0.0], [1.0]], [[-1.0], [1.0]], 0.05)
    assert radii[0, 0] == 0.0
    assert radii[1, 1] == 0.0
    assert 0 < radii[0, 1] <= 1
    # two categories are one coin
    families = resolve(la.families.Categorical(2), 2, 2)
    coin = confidence_radii(resolve("bernoulli", 2, 1), [40, 40], [[0.3], [0.3]], [[1.0], [-1.0]], 0.05)
    pair = confidence_radii(
        families, [40, 40], [[0.3, 0.7]] * 2, [[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]], 0.05
    )
    np.testing.assert_allclose(pair[0], [coin[0, 0], coin[0, 1], 0.0], rtol=1e-6)


def test_waiting_times_by_rate_and_by_mean_are_the_same_region():
    by_rate = confidence_radii(resolve("exponential", 2, 1), [20, 20], [[0.5], [0.5]], [[1.0], [-1.0]], 0.05)[
        0
    ]
    mean = la.families.Exponential("mean")
    by_mean = confidence_radii(resolve(mean, 2, 1), [20, 20], [[0.5], [0.5]], [[1.0], [-1.0]], 0.05)[0]
    assert 1 / (2.0 + by_rate[0]) == pytest.approx(0.5 - by_mean[1], rel=1e-6)
    assert 1 / (2.0 - by_rate[1]) == pytest.approx(0.5 + by_mean[0], rel=1e-6)


def test_they_miss_no_more_often_than_promised():
    """All arms, at every moment of adaptively sampled runs: at most delta; the bound fails by chance once in a thousand times."""
    delta, trials, misses = 0.2, repeats(100, 200), 0
    truth = np.array([0.0, 0.3, 2.0, 2.2])
    for seed in range(trials):
        rng = np.random.default_rng([5, seed])
        c = la.BanditClusterer(2, 4, stopping=la.stopping.Paper(theta=(-9, 9)), delta=1e-9, family="gaussian")
        missed = False
        for _ in range(120):
            (arm,) = c.ask()
            c.tell(arm, rng.normal(truth[arm]))
            radii = confidence_radii(c.families, c._engine.core.counts, c.means, [[1.0]], delta)[:, 0]
            missed |= bool(np.nanmax(np.abs(c.means[:, 0] - truth) - radii) > 0)
        misses += missed
    assert misses <= stats.binom.ppf(0.999, trials, delta)
