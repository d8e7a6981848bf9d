"""The native core's one-dimensional formulas against decimal arithmetic, minimisers and grids."""

import decimal
import math

import numpy as np
import pytest
from scipy import optimize
from scipy.special import kl_div, lambertw, rel_entr

from linkarms import _core
from linkarms._core import testing as core

# the family, its known parameter, some parameters
ROWS = {
    "gaussian": (_core.gaussian(2.5), 2.5, [-3.0, 0.0, 4.0]),
    "gamma-rate": (_core.gamma_rate(2.5), 2.5, [0.03, 1.0, 40.0]),
    "gamma-mean": (_core.gamma_mean(2.5), 2.5, [0.03, 1.0, 40.0]),
    "bernoulli": (_core.bernoulli(), 1.0, [0.0, 0.01, 0.3, 0.9, 1.0]),
    "poisson": (_core.poisson(), 1.0, [0.0, 0.05, 1.0, 60.0]),
}


def log_kl(name, par, theta, x):
    """The divergences in the textbook form, for arguments far enough from theta."""
    if name == "gaussian":
        return (x - theta) ** 2 / (2 * par)
    if name == "bernoulli":
        return rel_entr(theta, x) + rel_entr(1 - theta, 1 - x)
    if name == "poisson":
        return kl_div(theta, x)
    away = (np.log(x) - math.log(theta)) * (1 if name == "gamma-rate" else -1)
    return par * np.expm1(away) - par * away


def decimal_kl(name, theta, lam):
    t, x, one = decimal.Decimal(theta), decimal.Decimal(lam), decimal.Decimal(1)
    if name == "bernoulli":
        return t * (t / x).ln() + (one - t) * ((one - t) / (one - x)).ln()
    if name == "poisson":
        return x - t + t * (t / x).ln()
    r = x / t if name == "gamma-rate" else t / x
    return decimal.Decimal("2.5") * (r - one - r.ln())


@pytest.mark.parametrize("name", ["gamma-rate", "gamma-mean", "bernoulli", "poisson"])
@pytest.mark.parametrize("distance", ["near", "far"])
def test_kl_keeps_its_precision(name, distance):
    near = [1 + s * 10.0**-k for k in (1, 1.9, 2, 2.1, 3, 4, 6, 8, 9) for s in (1, -1)]
    far = [10.0 ** (s * k) for k in (1, 3, 6, 9, 12, 15, 17, 30) for s in (1, -1)]
    binary = name == "bernoulli"
    with decimal.localcontext(decimal.Context(prec=90)):
        for theta in (0.3, 0.5) if binary else (0.02, 1.0, 37.0):
            values = [theta * r for r in (near if distance == "near" else far)]
            values += [1 - x for x in values if binary]
            for lam in (x for x in values if 0 < x < (1 if binary else math.inf)):
                wanted = float(decimal_kl(name, theta, lam))
                assert ROWS[name][0].kl(theta, lam) == pytest.approx(
                    wanted, rel=1e-12 if distance == "near" else 1e-9
                ), lam


def test_kl_at_the_edges():
    b, p = ROWS["bernoulli"][0], ROWS["poisson"][0]
    assert b.kl(0, 0) == b.kl(1, 1) == p.kl(0, 0) == 0.0
    assert b.kl(0, 0.3) == pytest.approx(-math.log(0.7), rel=1e-15)
    assert b.kl(1, 0.3) == pytest.approx(-math.log(0.3), rel=1e-15)
    assert [b.kl(t, x) for t, x in ((0.3, 0), (0.3, 1), (0, 1), (1, 0))] == [math.inf] * 4
    assert [b.kl(0.3, x) for x in (-0.1, 1.1)] == [math.inf] * 2
    assert [p.kl(t, x) for t, x in ((2, 0), (2, -1), (0, -1))] == [math.inf] * 3
    assert p.kl(0, 2.5) == 2.5
    assert _core.gamma_rate(1).kl(1.0, 0.0) == _core.gamma_mean(1).kl(1.0, -1.0) == math.inf
    assert min(b.fisher(0.0), b.fisher(1.0), p.fisher(0.0)) > 1e50


@pytest.mark.parametrize("name", ROWS)
def test_fisher_is_the_curvature_and_estimates_maximise(name):
    family, par, thetas = ROWS[name]
    for theta in (t for t in thetas if name == "gaussian" or t > 0.0):
        if name == "bernoulli" and theta == 1.0:
            continue
        h = 1e-3 * (abs(theta) + (name == "gaussian")) * (1 - theta if name == "bernoulli" else 1)
        bend = (log_kl(name, par, theta, theta + h) + log_kl(name, par, theta, theta - h)) / h**2
        assert family.fisher(theta) == pytest.approx(bend, rel=1e-4)
        # the estimate from the mean of a statistic that the parameter expects is the parameter
        mean = par / theta if name == "gamma-rate" else theta
        assert family.estimate(mean) == pytest.approx(theta, rel=1e-14)
    if name.startswith("gamma"):  # samples that are all zero
        assert 0.0 < family.estimate(0.0) < math.inf


def minimiser(f, grid):
    i = int(np.argmin(f(grid)))
    low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
    options = {"xatol": 1e-12 * max(abs(low), abs(high))}
    return optimize.minimize_scalar(f, bounds=(low, high), method="bounded", options=options).x


@pytest.mark.parametrize("name", ROWS)
def test_step_minimises_and_gain_is_its_slope(name):
    family, par, thetas = ROWS[name]
    for theta in thetas:
        limit, cap = family.slope_limit(theta), family.inflection(theta)
        unit = par / theta if name.startswith("gamma") else 2.0
        grid = np.linspace(*((-400, 400) if name == "gaussian" else (0, 1)), 4001)
        if name not in ("gaussian", "bernoulli"):
            grid = np.append(0.0 if theta == 0.0 else 1e-9, np.geomspace(1e-8, min(1e6, cap), 4001))
        for slope in unit * np.array([-50.0, -3.0, -0.4, -1e-3, 1e-3, 0.2, 0.24, 0.7, 0.99, 3.0]):
            lam = family.step(theta, slope)
            if slope >= limit:
                assert lam == math.inf
                continue
            found = minimiser(lambda x, t=theta, s=slope: log_kl(name, par, t, x) - s * x, grid)
            assert lam == pytest.approx(found, rel=1e-6, abs=1e-6 * abs(theta) + 1e-9), (theta, slope)
            h = 1e-5 * abs(slope)
            above, below = (family.step(theta, slope + s * h) for s in (1, -1))
            if below < above < cap:  # neither at the edge of the domain nor held at the inflection
                gain = core.gain(family, theta, slope, lam)
                assert gain == pytest.approx((above - below) / (2 * h), rel=1e-4), (theta, slope)
        assert family.step(theta, 0.0) == theta
        if limit < math.inf and theta > 0.0:
            # finite below the limit; from it on the objective falls for ever
            assert 100 * theta < family.step(theta, limit * (1 - 1e-3)) < math.inf
            far = np.array([1e6, 1e7, 1e8]) * theta
            assert np.all(np.diff(log_kl(name, par, theta, far) - limit * far) < 0.0)


@pytest.mark.parametrize("name", ["gamma-rate", "gamma-mean", "bernoulli", "poisson"])
def test_inflection_is_where_the_curvature_changes_sign(name):
    family, par, thetas = ROWS[name]
    for theta in (t for t in thetas if 0.0 < t < 1.0 or (t > 0.0 and name != "bernoulli")):
        cap = family.inflection(theta)
        top = 0.999 if name == "bernoulli" else 5 * theta
        for x in np.linspace(0.05 * theta, top, 40):
            h = 1e-3 * min(x, 1 - x if name == "bernoulli" else x)
            second = log_kl(name, par, theta, np.array([x - h, x, x + h])) @ np.array([1.0, -2.0, 1.0])
            assert (second > 0.0) == (x < cap) or abs(x - cap) < 0.01 * theta


LEVELS = [1e-6, 1e-3, 0.1, 2.0, 30.0, 45.0, 200.0, 650.0, 5e3, 1e9]


@pytest.mark.parametrize("name", ["gamma-rate", "gamma-mean", "bernoulli", "poisson"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("tolerance", [1e-10, 0.02])
def test_dominating_variance_dominates(name, level, tolerance):
    family, par, thetas = ROWS[name]
    for theta in thetas:
        v = core.dominating_variance(family, theta, level, tolerance)
        x = np.linspace(0, 1, 20_001)
        if name != "bernoulli":
            near = max(theta, 1e-9) * np.geomspace(1 / 30, 30, 20_001)
            x = np.append(near, np.geomspace(1e-150, 1e150, 20_001))
        x = x[np.abs(x - theta) > 1e-4 * max(theta, 1e-3)]
        kl = log_kl(name, par, theta, x)
        inside = kl <= level * (1 - 1e-9)
        needed = (x[inside] - theta) ** 2 / (2 * np.maximum(kl[inside], 1e-300))
        assert np.all(needed <= v * (1 + 1e-6)), (theta, v, needed.max())
        if name == "bernoulli":
            assert v <= 0.25
        elif name != "gamma-mean" and theta > 0.0 and 1e-2 < level < 1e4:  # and it is no larger than needed
            assert v <= needed.max() * 1.05
    assert core.dominating_variance(_core.gaussian(2.5), 0.0, level, tolerance) == 2.5


@pytest.mark.parametrize("tolerance", [0.02, 1e-10])
def test_where_phi_reaches_a_level(tolerance):
    # x - log(1 + x) = c  where  -(1 + x) exp(-(1 + x)) = -exp(-1 - c)
    for level in np.geomspace(1e-5, 600.0, 60):
        x = -1.0 - lambertw(-math.exp(-1.0 - level), -1).real
        assert x * (1.0 - 1e-9) <= core.phi_reach(level, tolerance) <= x * (1.0 + tolerance + 1e-9)
    for level in (1e-300, 1e-30, 1e-12):
        assert core.phi_reach(level, tolerance) == pytest.approx(math.sqrt(2.0 * level), rel=1e-5)
    for level in (1e3, 1e99, 1e101):
        assert level < core.phi_reach(level, tolerance) <= 2.0 * level
    assert core.phi_reach(0.0, tolerance) == 0.0
    assert core.phi_reach(math.inf, tolerance) == math.inf


@pytest.mark.parametrize("name", ROWS)
def test_interval_ends(name):
    family, par, thetas = ROWS[name]
    for theta in thetas:
        for level in (1e-6, 0.01, 1.0, 20.0):
            for side, sign in (("below", -1), ("above", 1)):
                end = core.kl_interval(family, theta, level, side, 1e-9)
                assert sign * (end - theta) >= 0.0
                if name == "gaussian" or 0.0 < end < (1.0 if name == "bernoulli" else math.inf):
                    inner, outer = (theta + (end - theta) * (1 + s * 1e-6) for s in (-1, 1))
                    assert log_kl(name, par, theta, inner) <= level * (1 + 1e-7)
                    assert log_kl(name, par, theta, outer) >= level * (1 - 1e-7)
                else:  # the divergence does not reach the level before the domain ends
                    inner = {-1: 1e-9 * theta, 1: 1 - 1e-9 * (1 - theta)}[sign]
                    assert log_kl(name, par, theta, inner) < level


def test_largest_probability_within_a_divergence():
    for p, level in [(p, level) for p in (0.0, 0.2, 0.97) for level in (1e-4, 0.1, 3.0)]:
        upper = core.bernoulli_upper(p, level)
        below = log_kl("bernoulli", 1.0, p, p + (upper - p) * (1 - 1e-6))
        assert below <= level <= log_kl("bernoulli", 1.0, p, upper) * (1 + 1e-9)
    assert core.bernoulli_upper(1.0, 0.5) == 1.0
