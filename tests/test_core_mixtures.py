"""The native core's evidence of one arm: special functions, mixtures as costs, the price of a fixed prior, against SciPy."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from linkarms import _core
from linkarms._core import testing as core


def test_log_gamma_and_its_derivatives():
    x = np.concatenate([10.0 ** np.arange(-6, 9.5, 0.37), np.arange(0.5, 12, 0.5)])
    assert [core.log_gamma(v) for v in x] == pytest.approx(special.gammaln(x), rel=2e-15, abs=1e-15)
    assert [core.digamma(v) for v in x] == pytest.approx(special.digamma(x), rel=1e-13, abs=1e-14)
    assert [core.trigamma(v) for v in x] == pytest.approx(special.polygamma(1, x), rel=1e-13)


def evidence(name, k, n, total, c, x):
    """The formulas of docs/anytime.md, as they are printed there."""
    lg = special.gammaln
    if name == "poisson":
        value = n * x + c * x * math.log(c) - (c * x + total) * math.log(c + n)
        return value + (lg(c * x + total) - lg(c * x) - total * math.log(x) if total else 0.0)
    if name == "bernoulli":
        up = lg(total + c * x) - lg(c * x) - total * math.log(x) if total else 0.0
        rest = n - total
        down = lg(rest + c * (1 - x)) - lg(c * (1 - x)) - rest * math.log(1 - x) if rest else 0.0
        return up + down - lg(n + c) + lg(c)
    y = total * x if name == "gamma-rate" else total * k / x
    a = k * (n + c) + 1
    return y - a * math.log(k * c + y) + (k * c + 1) * math.log(k * c) + lg(a) - lg(k * c + 1)


def family(name, k):
    if name.startswith("gamma"):
        return (_core.gamma_rate if name == "gamma-rate" else _core.gamma_mean)(k)
    return _core.bernoulli() if name == "bernoulli" else _core.poisson()


CASES = [
    ("gamma-rate", 1.0, 7, 9.3),
    ("gamma-rate", 2.5, 40, 130.0),
    ("gamma-mean", 1.0, 7, 9.3),
    ("gamma-mean", 2.5, 40, 130.0),
    ("poisson", 1.0, 5, 14.0),
    ("poisson", 1.0, 900, 30.0),
    ("bernoulli", 1.0, 12, 5.0),
    ("bernoulli", 1.0, 700, 2.0),
    ("bernoulli", 1.0, 700, 698.0),
]
IDS = [f"{row[0]}-{row[2]}-{row[3]:g}" for row in CASES]


@pytest.mark.parametrize("c", [0.2, 5.0, 3125.0])
@pytest.mark.parametrize(("name", "k", "n", "total"), CASES, ids=IDS)
def test_minimiser_and_rise(name, k, n, total, c):
    mixture = core.Mixture(family(name, k), n, total / n, c)
    grid = np.linspace(1e-9, 1 - 1e-9, 4001) if name == "bernoulli" else np.geomspace(1e-9, 1e3, 4001)
    values = [evidence(name, k, n, total, c, v) for v in grid]
    here = evidence(name, k, n, total, c, mixture.minimiser)
    assert here <= min(values) + 1e-9
    assert mixture.minimum == pytest.approx(here, rel=1e-8, abs=1e-8)
    for v in grid[::400]:
        wanted = evidence(name, k, n, total, c, v)
        assert mixture.rise(v) == pytest.approx(wanted - here, rel=1e-8, abs=1e-8)
        assert mixture.log_evidence(v) == pytest.approx(wanted, rel=1e-8, abs=1e-8)
    assert mixture.rise(-0.5) == math.inf


@pytest.mark.parametrize("c", [0.2, 5.0, 3125.0])
@pytest.mark.parametrize(("name", "k", "n", "total"), CASES, ids=IDS)
def test_step_is_where_the_slope_is(name, k, n, total, c):
    mixture = core.Mixture(family(name, k), n, total / n, c)
    limit = mixture.slope_limit
    scale = min(limit, n) if limit < math.inf else n
    checked = 0
    for share in (-5.0, -0.3, -0.01, 0.01, 0.2, 0.6):
        slope = share * scale / (mixture.minimiser if name == "gamma-mean" else 1.0)
        x = mixture.step(slope)
        if x >= mixture.inflection or x <= 0.0 or (name == "bernoulli" and x >= 1.0):
            continue

        def slanted(v, slope=slope):
            return evidence(name, k, n, total, c, v) - slope * v

        # it is a minimum of the slanted evidence: moving either way costs
        h = 1e-4 * min(x, 1 - x) if name == "bernoulli" else 1e-4 * x
        assert slanted(x) <= min(slanted(x - h), slanted(x + h)) + 1e-9
        derivative = (evidence(name, k, n, total, c, x + h) - evidence(name, k, n, total, c, x - h)) / (2 * h)
        assert derivative == pytest.approx(slope, rel=2e-4, abs=2e-5 * scale)
        if mixture.gain(x) > 0.0:
            gain = (mixture.step(slope + 1e-4 * abs(slope)) - x) / (1e-4 * abs(slope))
            assert mixture.gain(x) == pytest.approx(gain, rel=1e-2)
            checked += 1
    assert checked >= 2
    if limit < math.inf:
        assert mixture.step(limit * 1.01) == math.inf
        assert mixture.step(limit * (1 - 1e-6)) < math.inf


@pytest.mark.parametrize("k", [1.0, 2.5])
@pytest.mark.parametrize("c", [0.2, 5.0, 3125.0])
@pytest.mark.parametrize("n", [1, 7, 4000])
def test_inflection_of_the_mean(n, c, k):
    total = 1.7 * n
    mixture = core.Mixture(_core.gamma_mean(k), n, total / n, c)

    def bend(v):
        f, h = (lambda u: evidence("gamma-mean", k, n, total, c, u)), 1e-3 * v
        return f(v + h) - 2 * f(v) + f(v - h)

    x = mixture.inflection
    assert bend(0.97 * x) > 0 > bend(1.03 * x)
    assert mixture.step(1e9) == x


@pytest.mark.parametrize(
    ("name", "n", "total"), [("bernoulli", 1, 0), ("bernoulli", 1, 1), ("poisson", 3, 1)]
)
def test_one_sample_at_the_edge(name, n, total):
    # with at most one success the evidence is finite at 0: its limit
    mixture = core.Mixture(family(name, 1.0), n, total / n, 5.0)
    assert mixture.minimiser == 0.0
    assert mixture.rise(1e-9) == pytest.approx(0.0, abs=1e-6)
    assert mixture.minimum == pytest.approx(evidence(name, 1.0, n, total, 5.0, 1e-9), abs=1e-6)


@pytest.mark.parametrize("given", [_core.gaussian(1.0), _core.user_family(kl=pow, step=pow, fisher=abs)])
def test_no_mixture(given):
    with pytest.raises(ValueError, match="; use "):
        core.Mixture(given, 3, 0.5, 5.0)


PRIOR = [
    (_core.gaussian(2.0), "line", 3.1),
    (_core.gaussian(2.0), "line", 0.0),
    (_core.gamma_rate(1.0), "half-line", 0.2),
    (_core.gamma_mean(2.5), "half-line", 40.0),
    (_core.poisson(), "half-line", 0.0),
    (_core.poisson(), "half-line", 6.0),
    (_core.bernoulli(), "unit", 0.0),
    (_core.bernoulli(), "unit", 0.4),
]


def quantile(domain, p):
    """Of the prior: uniform, or with a logarithm that is three times Cauchy."""
    if domain == "unit":
        return p
    if domain == "line":
        return math.copysign(quantile("half-line", abs(2 * p - 1)), p - 0.5) if p != 0.5 else 0.0
    return math.exp(min(max(3.0 * math.tan(math.pi * (p - 0.5)), -600), 600))


@pytest.mark.parametrize("n", [1, 5, 400])
@pytest.mark.parametrize(("given", "domain", "theta"), PRIOR)
def test_regret_is_rounded_up(given, domain, theta, n):
    # by quadrature over the prior's own quantiles, so that its density is not needed
    def value(p):
        return math.exp(-min(n * given.kl(theta, quantile(domain, p)), 700))

    middle = core.prior_mass_below(domain, theta)
    total = sum(
        integrate.quad(value, a, b, limit=2000, epsabs=0, epsrel=1e-6)[0]
        for a, b in ((1e-9, middle), (middle, 1 - 1e-9))
        if b > a
    )
    regret = core.regret(given, n, theta)
    assert -math.log(total) - 1e-4 <= regret <= -math.log(total) + 0.35
    assert core.regret(given, 0, theta) == 0.0


@pytest.mark.parametrize("domain", ["line", "half-line", "unit"])
def test_prior_mass_inverts_the_quantiles(domain):
    for p in (0.02, 0.3, 0.5, 0.77, 0.99):
        assert core.prior_mass_below(domain, quantile(domain, p)) == pytest.approx(p, rel=1e-12)
    assert core.prior_mass_below(domain, -1e300) < 0.01


def mixture_by_quadrature(loglik, prior, lam):
    """log of the integral of likelihood(theta) / likelihood(lam) times the prior's density."""

    def integrand(x):
        return math.exp(loglik(x) - loglik(lam)) * prior.pdf(x)

    ends = prior.ppf(1e-15), prior.isf(1e-15)
    points = [lam, prior.mean()]
    value, error = integrate.quad(integrand, *ends, points=points, limit=400, epsabs=0, epsrel=1e-10)
    assert error < 1e-6 * value
    return math.log(value)


@pytest.mark.parametrize("c", [0.5, 5.0, 40.0])
def test_log_evidence_against_quadrature(c):
    rng = np.random.default_rng(1)
    x = rng.normal(0, math.sqrt(2.0), 12)
    wanted = mixture_by_quadrature(
        lambda t: stats.norm.logpdf(x, t, math.sqrt(2.0)).sum(), stats.norm(0.7, math.sqrt(2.0 / c)), 0.7
    )
    assert core.log_evidence(_core.gaussian(2.0), 12, x.mean(), 0.7, c) == pytest.approx(wanted, abs=1e-8)
    for shape in (1.0, 2.5):
        y = rng.gamma(shape, 1 / 0.8, 9)
        prior = stats.gamma(shape * c + 1, scale=1.3 / (shape * c))
        wanted = mixture_by_quadrature(
            lambda t, y=y, k=shape: stats.gamma.logpdf(y, k, scale=1 / t).sum(), prior, 1.3
        )
        by_rate = core.log_evidence(_core.gamma_rate(shape), 9, y.mean(), 1.3, c)
        by_mean = core.log_evidence(_core.gamma_mean(shape), 9, y.mean(), shape / 1.3, c)
        assert [by_rate, by_mean] == pytest.approx([wanted] * 2, abs=1e-8)
    for total in (0, 1, 30):
        prior = stats.gamma(c * 2.2, scale=1 / c)
        wanted = mixture_by_quadrature(lambda t, s=total: s * math.log(t) - 8 * t, prior, 2.2)
        assert core.log_evidence(_core.poisson(), 8, total / 8, 2.2, c) == pytest.approx(wanted, abs=1e-7)
    for ones in (0, 3, 10):
        wanted = stats.betabinom(10, c * 0.35, c * 0.65).logpmf(ones) - stats.binom(10, 0.35).logpmf(ones)
        assert core.log_evidence(_core.bernoulli(), 10, ones / 10, 0.35, c) == pytest.approx(wanted, abs=1e-9)


def test_log_evidence_at_the_edges():
    b, p = _core.bernoulli(), _core.poisson()
    for given in (_core.gaussian(1.0), _core.gamma_rate(1.0), b, p):
        assert core.log_evidence(given, 0, 0.5, 0.5, 5.0) == 0.0
    assert core.log_evidence(b, 5, 0.4, 0.0, 5.0) == math.inf
    # one success: at 0 the limit is taken, which is finite and so never too large
    near = core.log_evidence(b, 5, 0.2, 1e-12, 5.0)
    assert core.log_evidence(b, 5, 0.2, 0.0, 5.0) == pytest.approx(near, abs=1e-9)
    assert core.log_evidence(b, 5, 0.0, 0.0, 5.0) == pytest.approx(0.0, abs=1e-12)
    assert core.log_evidence(p, 5, 0.0, 0.0, 5.0) == 0.0
    assert core.log_evidence(p, 5, 0.2, -0.1, 5.0) == math.inf
