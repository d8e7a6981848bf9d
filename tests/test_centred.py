"""The evidence of one arm as a cost: special functions, minimisers, steps and the price of a fixed prior, against SciPy."""

import math

import numpy as np
import pytest
from scipy import integrate, special

from linkarms.families import _centred as centred
from linkarms.families import _scalar as scalar
from linkarms.families._prior import prior_mass_below, scalar_regret
from linkarms.families._special import digamma, trigamma


def test_digamma_and_trigamma():
    x = np.concatenate([10.0 ** np.arange(-6, 9.5, 0.37), np.arange(0.5, 12, 0.5)])
    assert [digamma(float(v)) for v in x] == pytest.approx(special.digamma(x), rel=1e-13, abs=1e-14)
    assert [trigamma(float(v)) for v in x] == pytest.approx(special.polygamma(1, x), rel=1e-13)


def evidence(code, k, n, total, c, x):
    """The formulas of docs/anytime.md, as they are printed there."""
    lg = special.gammaln
    if code == scalar.POISSON:
        value = n * x + c * x * math.log(c) - (c * x + total) * math.log(c + n)
        return value + (lg(c * x + total) - lg(c * x) - total * math.log(x) if total else 0.0)
    if code == scalar.BERNOULLI:
        up = lg(total + c * x) - lg(c * x) - total * math.log(x) if total else 0.0
        rest = n - total
        down = lg(rest + c * (1 - x)) - lg(c * (1 - x)) - rest * math.log(1 - x) if rest else 0.0
        return up + down - lg(n + c) + lg(c)
    y = total * x if code == scalar.GAMMA_RATE else total * k / x
    a = k * (n + c) + 1
    return y - a * math.log(k * c + y) + (k * c + 1) * math.log(k * c) + lg(a) - lg(k * c + 1)


CASES = [
    (scalar.GAMMA_RATE, 1.0, 7, 9.3),
    (scalar.GAMMA_RATE, 2.5, 40, 130.0),
    (scalar.GAMMA_MEAN, 1.0, 7, 9.3),
    (scalar.GAMMA_MEAN, 2.5, 40, 130.0),
    (scalar.POISSON, 1.0, 5, 14.0),
    (scalar.POISSON, 1.0, 900, 30.0),
    (scalar.BERNOULLI, 1.0, 12, 5.0),
    (scalar.BERNOULLI, 1.0, 700, 2.0),
    (scalar.BERNOULLI, 1.0, 700, 698.0),
]
IDS = [f"{row[0]}-{row[2]}" for row in CASES]


def inside(code):
    return (1e-9, 1 - 1e-9) if code == scalar.BERNOULLI else (1e-9, 1e3)


@pytest.mark.parametrize("c", [0.2, 5.0, 3125.0])
@pytest.mark.parametrize(("code", "k", "n", "total"), CASES, ids=IDS)
def test_minimiser_and_rise(code, k, n, total, c):
    low, high = inside(code)
    x = centred.centred_minimiser(code, k, n, total / n, c)
    logs = np.linspace(math.log(low), math.log(high), 4001)
    grid = np.exp(logs) if code != scalar.BERNOULLI else np.linspace(low, high, 4001)
    values = [evidence(code, k, n, total, c, v) for v in grid]
    here = evidence(code, k, n, total, c, x)
    assert here <= min(values) + 1e-9
    for v in grid[::400]:
        rise = centred.centred_rise(code, k, n, total / n, c, x, v)
        assert rise == pytest.approx(evidence(code, k, n, total, c, v) - here, rel=1e-8, abs=1e-8)
    assert centred.centred_rise(code, k, n, total / n, c, x, -0.5) == math.inf


@pytest.mark.parametrize("c", [0.2, 5.0, 3125.0])
@pytest.mark.parametrize(("code", "k", "n", "total"), CASES, ids=IDS)
def test_step_is_where_the_slope_is(code, k, n, total, c):
    limit = centred.centred_slope_limit(code, k, n, total / n, c)
    start = centred.centred_minimiser(code, k, n, total / n, c)
    edge = centred.centred_inflection(code, k, n, total / n, c)
    scale = min(limit, n) if limit < math.inf else n
    for share in (-5.0, -0.3, -0.01, 0.01, 0.2, 0.6):
        slope = share * scale / (start if code == scalar.GAMMA_MEAN else 1.0)
        x = centred.centred_step(code, k, n, total / n, c, slope)
        if x >= edge or x <= 0.0 or (code == scalar.BERNOULLI and x >= 1.0):
            continue

        def slanted(v, slope=slope):
            return evidence(code, k, n, total, c, v) - slope * v

        # it is a minimum of the slanted evidence: moving either way costs
        h = 1e-4 * min(x, 1 - x) if code == scalar.BERNOULLI else 1e-4 * x
        assert slanted(x) <= min(slanted(x - h), slanted(x + h)) + 1e-9
        derivative = (evidence(code, k, n, total, c, x + h) - evidence(code, k, n, total, c, x - h)) / (2 * h)
        assert derivative == pytest.approx(slope, rel=2e-4, abs=2e-5 * scale)
        if centred.centred_gain(code, k, n, total / n, c, x) > 0.0:
            ahead = centred.centred_step(code, k, n, total / n, c, slope + 1e-4 * abs(slope))
            gain = (ahead - x) / (1e-4 * abs(slope))
            assert centred.centred_gain(code, k, n, total / n, c, x) == pytest.approx(gain, rel=1e-2)
    if limit < math.inf:
        assert centred.centred_step(code, k, n, total / n, c, limit * 1.01) == math.inf


@pytest.mark.parametrize("k", [1.0, 2.5])
@pytest.mark.parametrize("c", [0.2, 5.0, 3125.0])
@pytest.mark.parametrize("n", [1, 7, 4000])
def test_inflection_of_the_mean(n, c, k):
    total = 1.7 * n
    x = centred.centred_inflection(scalar.GAMMA_MEAN, k, n, total / n, c)

    def bend(v):
        f, h = (lambda u: evidence(scalar.GAMMA_MEAN, k, n, total, c, u)), 1e-3 * v
        return f(v + h) - 2 * f(v) + f(v - h)

    assert bend(0.97 * x) > 0 > bend(1.03 * x)


@pytest.mark.parametrize(
    ("code", "n", "total"), [(scalar.BERNOULLI, 1, 0), (scalar.BERNOULLI, 1, 1), (scalar.POISSON, 3, 1)]
)
def test_one_sample_says_nothing_special_at_the_edge(code, n, total):
    # with at most one success the evidence is finite at 0: its limit
    c = 5.0
    x = centred.centred_minimiser(code, 1.0, n, total / n, c)
    assert x == 0.0
    rise = centred.centred_rise(code, 1.0, n, total / n, c, 0.0, 1e-9)
    assert rise == pytest.approx(0.0, abs=1e-6)
    assert math.isfinite(evidence(code, 1.0, n, total, c, 1e-9))


@pytest.mark.parametrize("n", [1, 5, 400])
@pytest.mark.parametrize(
    ("code", "par", "theta", "low", "high"),
    [
        (scalar.GAUSSIAN, 2.0, 3.1, -math.inf, math.inf),
        (scalar.GAUSSIAN, 2.0, 0.0, -math.inf, math.inf),
        (scalar.GAMMA_RATE, 1.0, 0.2, 0.0, math.inf),
        (scalar.GAMMA_MEAN, 2.5, 40.0, 0.0, math.inf),
        (scalar.POISSON, 1.0, 0.0, 0.0, math.inf),
        (scalar.POISSON, 1.0, 6.0, 0.0, math.inf),
        (scalar.BERNOULLI, 1.0, 0.0, 0.0, 1.0),
        (scalar.BERNOULLI, 1.0, 0.4, 0.0, 1.0),
    ],
)
def test_regret_is_rounded_up(code, par, theta, low, high, n):
    # by quadrature over the prior's own quantiles, so that its density is not needed
    domain = 2 if code == scalar.BERNOULLI else 0 if code == scalar.GAUSSIAN else 1

    def quantile(p):
        if domain == 2:
            return p
        if domain == 0:
            return math.copysign(quantile_half(abs(2 * p - 1)), p - 0.5) if p != 0.5 else 0.0
        return quantile_half(p)

    def quantile_half(p):
        return math.exp(min(max(3.0 * math.tan(math.pi * (p - 0.5)), -600), 600))

    def value(p):
        return math.exp(-min(n * scalar.scalar_kl(code, par, 0, theta, quantile(p)), 700))

    middle = prior_mass_below(domain, theta)
    total = sum(
        integrate.quad(value, a, b, limit=2000, epsabs=0, epsrel=1e-6)[0]
        for a, b in ((1e-9, middle), (middle, 1 - 1e-9))
        if b > a
    )
    regret = scalar_regret(code, par, 0, n, theta)
    assert -math.log(total) - 1e-4 <= regret <= -math.log(total) + 0.35


def test_no_samples_cost_nothing():
    assert scalar_regret(scalar.POISSON, 1.0, 0, 0, 0.0) == 0.0
