"""Centred mixtures against quadrature, and as martingales."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from linkarms.errors import InvalidInput
from linkarms.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gamma,
    Gaussian,
    Poisson,
    Product,
    ScalarFamily,
)

C = [0.5, 5.0, 40.0]


def mixture(loglik, prior, low, high, lam):
    """log of the integral of likelihood(theta) / likelihood(lam) times the prior's density, by quadrature."""

    def integrand(x):
        return math.exp(loglik(x) - loglik(lam)) * prior.pdf(x)

    points = [lam, prior.mean()]
    value, error = integrate.quad(integrand, low, high, points=points, limit=400, epsabs=0, epsrel=1e-10)
    assert error < 1e-6 * value
    return math.log(value)


def ends(prior):
    return prior.ppf(1e-15), prior.isf(1e-15)


@pytest.mark.parametrize("c", C)
def test_gaussian(c):
    v, lam = 2.0, 0.7
    x = np.random.default_rng(1).normal(0, math.sqrt(v), 12)
    prior = stats.norm(lam, math.sqrt(v / c))
    wanted = mixture(lambda t: stats.norm.logpdf(x, t, math.sqrt(v)).sum(), prior, lam - 12, lam + 12, lam)
    assert Gaussian(v).log_evidence(12, x.mean(), lam, c) == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("c", C)
@pytest.mark.parametrize("shape", [1.0, 2.5])
def test_gamma_by_rate_and_by_mean(shape, c):
    lam = 1.3
    x = np.random.default_rng(2).gamma(shape, 1 / 0.8, 9)
    prior = stats.gamma(shape * c + 1, scale=lam / (shape * c))
    wanted = mixture(lambda t: stats.gamma.logpdf(x, shape, scale=1 / t).sum(), prior, *ends(prior), lam)
    assert Gamma(shape).log_evidence(9, x.mean(), lam, c) == pytest.approx(wanted, abs=1e-8)
    assert Gamma(shape, "mean").log_evidence(9, x.mean(), shape / lam, c) == pytest.approx(wanted, abs=1e-8)
    if shape == 1.0:
        assert Exponential().log_evidence(9, x.mean(), lam, c) == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("c", C)
@pytest.mark.parametrize("total", [0, 1, 30])
def test_poisson(total, c):
    n, lam = 8, 2.2
    prior = stats.gamma(c * lam, scale=1 / c)
    wanted = mixture(lambda t: total * math.log(t) - n * t, prior, *ends(prior), lam)
    assert Poisson().log_evidence(n, total / n, lam, c) == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("c", C)
@pytest.mark.parametrize("ones", [0, 3, 10])
def test_bernoulli_and_two_categories(ones, c):
    n, lam = 10, 0.35
    lik = {
        k: stats.betabinom(n, c * lam, c * (1 - lam)).logpmf(k) - stats.binom(n, lam).logpmf(k)
        for k in range(n + 1)
    }
    assert Bernoulli().log_evidence(n, ones / n, lam, c) == pytest.approx(lik[ones], abs=1e-9)
    two = Categorical(2).log_evidence(n, [ones / n, 1 - ones / n], [lam, 1 - lam], c)
    assert two == pytest.approx(lik[ones], abs=1e-9)


@pytest.mark.parametrize("c", C)
def test_three_categories(c):
    lam, counts = np.array([0.2, 0.5, 0.3]), np.array([4, 1, 7])
    wanted = stats.dirichlet_multinomial(c * lam, 12).logpmf(counts) - stats.multinomial(12, lam).logpmf(
        counts
    )
    assert Categorical(3).log_evidence(12, counts / 12, lam, c) == pytest.approx(wanted, abs=1e-9)


def test_covariance_and_products_add_up():
    cov, mean, lam = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.3, -0.2]), np.array([0.0, 0.4])
    n, c = 15, 5.0
    # the samples' mean is N(lam, cov (1/n + 1/c)) under the mixture and N(lam, cov / n) under lam
    wide, narrow = (stats.multivariate_normal(lam, cov * s).logpdf(mean) for s in (1 / n + 1 / c, 1 / n))
    assert Gaussian(cov).log_evidence(n, mean, lam, c) == pytest.approx(wide - narrow, abs=1e-9)
    parts = Bernoulli().log_evidence(9, 1 / 3, 0.6) + Poisson().log_evidence(9, 2.0, 1.5)
    assert Product([Bernoulli(), Poisson()]).log_evidence(9, [1 / 3, 2.0], [0.6, 1.5]) == pytest.approx(parts)


@pytest.mark.parametrize(
    ("family", "lam"),
    [
        (Gaussian(), 0.3),
        (Exponential(), 2.0),
        (Exponential("mean"), 2.0),
        (Bernoulli(), 0.3),
        (Poisson(), 1.5),
    ],
)
def test_ville_holds_at_any_time(family, lam):
    # P(exp(l) ever reaches 10) <= 0.1 under the truth: an exact binomial bound, 400 runs of 60 samples
    rng = np.random.default_rng(5)
    runs, crossed = 400, 0
    for _ in range(runs):
        mean = np.cumsum(family.draw(rng, np.array([lam]), 60)[:, 0]) / np.arange(1, 61)
        crossed += any(family.log_evidence(n, mean[n - 1], lam) >= math.log(10) for n in range(1, 61))
    assert stats.binomtest(crossed, runs, 0.1, alternative="greater").pvalue > 0.001
    assert crossed > 0


def test_edges():
    for family in (Gaussian(), Exponential(), Bernoulli(), Poisson()):
        assert family.log_evidence(0, 0.5, 0.5) == 0.0
    assert Bernoulli().log_evidence(5, 0.4, 0.0) == math.inf
    # one success: at 0 the limit is taken, which is finite and so never too large
    near = Bernoulli().log_evidence(5, 0.2, 1e-12)
    assert Bernoulli().log_evidence(5, 0.2, 0.0) == pytest.approx(near, abs=1e-9)
    assert Bernoulli().log_evidence(5, 0.0, 0.0) == pytest.approx(0.0, abs=1e-12)
    assert Poisson().log_evidence(5, 0.0, 0.0) == 0.0
    assert math.isfinite(Gaussian().log_evidence(10**9, 0.5, 0.4))

    class Own(ScalarFamily):
        name = "own"

        @staticmethod
        def kl(theta, lam):
            return (theta - lam) ** 2

        @staticmethod
        def step(theta, slope):
            return theta + slope / 2

        @staticmethod
        def fisher(theta):
            return 2.0

        def draw(self, rng, theta, size):
            return rng.normal(theta[0], 0.5, (size, 1))

    with pytest.raises(InvalidInput, match="centred"):
        Own().log_evidence(3, 0.5, 0.4)
