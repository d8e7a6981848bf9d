"""The one-dimensional formulas against decimal arithmetic, minimisers and grids."""

import decimal
import math

import numpy as np
import pytest
from scipy import optimize
from scipy.special import kl_div, lambertw, rel_entr

import linkarms as la
from linkarms.alternatives._dominating import dominating_variance
from linkarms.families import Bernoulli, Categorical, Exponential, Gamma, Gaussian, Poisson, Product, resolve
from linkarms.families import _scalar as scalar
from linkarms.families._vector import arm_estimate, arm_fisher, arm_shift_kl, bernoulli_upper, kl_interval

NONE = 0  # the table of a user's own functions
# code, known parameter, some parameters
ROWS = {
    "gaussian": (scalar.GAUSSIAN, 2.5, [-3.0, 0.0, 4.0]),
    "gamma-rate": (scalar.GAMMA_RATE, 2.5, [0.03, 1.0, 40.0]),
    "gamma-mean": (scalar.GAMMA_MEAN, 2.5, [0.03, 1.0, 40.0]),
    "bernoulli": (scalar.BERNOULLI, 1.0, [0.0, 0.01, 0.3, 0.9, 1.0]),
    "poisson": (scalar.POISSON, 1.0, [0.0, 0.05, 1.0, 60.0]),
}


def log_kl(name, par, theta, x):
    """The divergences in the textbook form, for arguments far enough from theta."""
    if name == "gaussian":
        return (x - theta) ** 2 / (2 * par)
    if name == "bernoulli":
        return rel_entr(theta, x) + rel_entr(1 - theta, 1 - x)
    if name == "poisson":
        return kl_div(theta, x)
    x, t = np.log(x), math.log(theta)
    return (
        par * np.expm1(x - t) - par * (x - t)
        if name == "gamma-rate"
        else par * np.expm1(t - x) - par * (t - x)
    )


def decimal_kl(family, theta, lam):
    t, x, one = decimal.Decimal(theta), decimal.Decimal(lam), decimal.Decimal(1)
    if isinstance(family, Bernoulli):
        return t * (t / x).ln() + (one - t) * ((one - t) / (one - x)).ln()
    if isinstance(family, Poisson):
        return x - t + t * (t / x).ln()
    r = x / t if family.parameter == "rate" else t / x
    return decimal.Decimal(family.shape) * (r - one - r.ln())


@pytest.mark.parametrize("family", [Exponential(), Gamma(2.5, "mean"), Bernoulli(), Poisson()])
@pytest.mark.parametrize("distance", ["near", "far"])
def test_kl_keeps_its_precision(family, distance):
    near = [1 + s * 10.0**-k for k in (1, 1.9, 2, 2.1, 3, 4, 6, 8, 9) for s in (1, -1)]
    far = [10.0 ** (s * k) for k in (1, 3, 6, 9, 12, 15, 17, 30) for s in (1, -1)]
    binary = isinstance(family, Bernoulli)
    with decimal.localcontext(decimal.Context(prec=90)):
        for theta in (0.3, 0.5) if binary else (0.02, 1.0, 37.0):
            values = [theta * r for r in (near if distance == "near" else far)]
            values += [1 - x for x in values if binary]
            for lam in (x for x in values if 0 < x < (1 if binary else math.inf)):
                wanted = float(decimal_kl(family, theta, lam))
                assert family.kl(theta, lam) == pytest.approx(
                    wanted, rel=1e-12 if distance == "near" else 1e-9
                ), lam


def test_kl_at_the_edges():
    b, p, c = Bernoulli(), Poisson(), Categorical(3)
    assert b.kl(0, 0) == b.kl(1, 1) == p.kl(0, 0) == 0.0
    assert b.kl(0, 0.3) == pytest.approx(-math.log(0.7), rel=1e-15)
    assert b.kl(1, 0.3) == pytest.approx(-math.log(0.3), rel=1e-15)
    assert b.kl(0.3, 0) == b.kl(0.3, 1) == b.kl(0, 1) == b.kl(1, 0) == math.inf
    assert b.kl(0.3, -0.1) == b.kl(0.3, 1.1) == p.kl(2, 0) == p.kl(2, -1) == p.kl(0, -1) == math.inf
    assert p.kl(0, 2.5) == 2.5
    assert c.kl([0.5, 0.5, 0.0], [0.2, 0.5, 0.3]) == pytest.approx(0.5 * math.log(2.5), rel=1e-14)
    assert c.kl([0.2, 0.5, 0.3], [0.5, 0.5, 0.0]) == math.inf
    assert c.kl([1.0, 0.0, 0.0], [0.25, 0.5, 0.25]) == pytest.approx(math.log(4.0), rel=1e-14)
    assert Exponential().kl(1.0, 0.0) == Exponential("mean").kl(1.0, -1.0) == math.inf
    assert min(b.information(0.0), b.information(1.0), p.information(0.0)) > 1e50


def test_categorical_kl_of_a_tiny_move():
    # binary fractions, so that the moves are exact: sum s_i^2 / (2 p_i) and a third order that cancels here
    p, s = np.array([0.25, 0.25, 0.5]), 2.0**-30 * np.array([1.0, -1.0, 0.0])
    assert Categorical(3).kl(p, p + s) == pytest.approx(4 * 2.0**-60, rel=1e-14)


def minimiser(f, grid):
    i = int(np.argmin(f(grid)))
    low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
    options = {"xatol": 1e-12 * max(abs(low), abs(high))}
    return optimize.minimize_scalar(f, bounds=(low, high), method="bounded", options=options).x


@pytest.mark.parametrize("name", ROWS)
def test_step_minimises_and_gain_is_its_slope(name):
    code, par, thetas = ROWS[name]
    for theta in thetas:
        row = (code, par, NONE, theta)
        limit, cap = scalar.scalar_slope_limit(*row), scalar.scalar_inflection(*row)
        unit = par / theta if name.startswith("gamma") else 2.0
        grid = np.linspace(*((-400, 400) if name == "gaussian" else (0, 1)), 4001)
        if name not in ("gaussian", "bernoulli"):
            grid = np.append(0.0 if theta == 0.0 else 1e-9, np.geomspace(1e-8, min(1e6, cap), 4001))
        for slope in unit * np.array([-50.0, -3.0, -0.4, -1e-3, 1e-3, 0.2, 0.24, 0.7, 0.99, 3.0]):
            lam = scalar.scalar_step(*row, slope)
            if slope >= limit:
                assert lam == math.inf
                continue
            found = minimiser(lambda x, t=theta, s=slope: log_kl(name, par, t, x) - s * x, grid)
            assert lam == pytest.approx(found, rel=1e-6, abs=1e-6 * abs(theta) + 1e-9), (theta, slope)
            h = 1e-5 * abs(slope)
            above, below = (scalar.scalar_step(*row, slope + s * h) for s in (1, -1))
            if below < above < cap:  # neither at the edge of the domain nor held at the inflection
                gain = scalar.scalar_gain(*row, slope, lam)
                assert gain == pytest.approx((above - below) / (2 * h), rel=1e-4), (theta, slope)
        assert scalar.scalar_step(*row, 0.0) == theta
        if (
            limit < math.inf and theta > 0.0
        ):  # finite below the limit; from it on the objective falls for ever
            assert 100 * theta < scalar.scalar_step(*row, limit * (1 - 1e-3)) < math.inf
            far = np.array([1e6, 1e7, 1e8]) * theta
            assert np.all(np.diff(log_kl(name, par, theta, far) - limit * far) < 0.0)


@pytest.mark.parametrize("name", ["gamma-rate", "gamma-mean", "bernoulli", "poisson"])
def test_inflection_is_where_the_curvature_changes_sign(name):
    code, par, thetas = ROWS[name]
    for theta in (t for t in thetas if 0.0 < t < 1.0 or (t > 0.0 and name != "bernoulli")):
        cap = scalar.scalar_inflection(code, par, NONE, theta)
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
    code, par, thetas = ROWS[name]
    for theta in thetas:
        v = dominating_variance(code, par, NONE, theta, level, tolerance)
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


@pytest.mark.parametrize("light", [1.0, 0.03])
def test_psi_stays_safe_where_one_arm_is_light(light):
    # if the first arm alone moves from 1 to 4, it is as far from the second as the third from the fourth
    family = Product([Exponential("mean"), Gaussian()])
    theta = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 100.0], [1.0, 103.0]])
    assert la.psi([light, 1e3, 1e3, 1e3], theta, 3, family).value <= light * (math.log(4) + 1 / 4 - 1)


@pytest.mark.parametrize("weights", [[60, 40, 1], [1, 1, 1], [1, 40, 900]])
def test_psi_of_uneven_vectors_is_found(weights):
    means = Product([Exponential("mean"), Exponential("mean")])
    for family, rows in (
        (Product([Bernoulli(), Exponential()]), [[0.3, 1.0], [0.425, 0.937], [0.9, 2.26]]),
        (Categorical(3), [[0.2, 0.32, 0.48], [0.2, 0.3, 0.5], [0.01, 0.01, 0.98]]),
        (means, [[1.48, 0.68], [0.89, 1.41], [0.06, 0.11]]),
        (means, [[0.06, 0.11], [0.89, 1.41], [1.48, 0.68]]),
        (means, [[0.3, 1.22], [0.18, 1.22], [0.97, 0.03]]),
    ):
        theta = np.array(rows)
        found = la.psi(weights, theta, 2, family)
        # an alternative: one arm moves onto another
        assert 0.0 < found.value <= max(weights) * max(family.kl(x, y) for x in theta for y in theta)


@pytest.mark.parametrize("tolerance", [0.02, 1e-10])
def test_where_phi_reaches_a_level(tolerance):
    # x - log(1 + x) = c  where  -(1 + x) exp(-(1 + x)) = -exp(-1 - c)
    for level in np.geomspace(1e-5, 600.0, 60):
        x = -1.0 - lambertw(-math.exp(-1.0 - level), -1).real
        assert x * (1.0 - 1e-9) <= scalar.phi_reach(level, tolerance) <= x * (1.0 + tolerance + 1e-9)
    for level in (1e-300, 1e-30, 1e-12):
        assert scalar.phi_reach(level, tolerance) == pytest.approx(math.sqrt(2.0 * level), rel=1e-5)
    for level in (1e3, 1e99, 1e101):
        assert level < scalar.phi_reach(level, tolerance) <= 2.0 * level
    assert scalar.phi_reach(0.0, tolerance) == 0.0
    assert scalar.phi_reach(math.inf, tolerance) == math.inf


@pytest.mark.parametrize("name", ROWS)
def test_interval_ends(name):
    code, par, thetas = ROWS[name]
    for theta in thetas:
        for level in (1e-6, 0.01, 1.0, 20.0):
            for side in (-1, 1):
                end = kl_interval(code, par, NONE, theta, level, side, 1e-9)
                assert side * (end - theta) >= 0.0
                if name == "gaussian" or 0.0 < end < (1.0 if name == "bernoulli" else math.inf):
                    inner, outer = (theta + (end - theta) * (1 + s * 1e-6) for s in (-1, 1))
                    assert log_kl(name, par, theta, inner) <= level * (1 + 1e-7)
                    assert log_kl(name, par, theta, outer) >= level * (1 - 1e-7)
                else:  # the divergence does not reach the level before the domain ends
                    inner = {-1: 1e-9 * theta, 1: 1 - 1e-9 * (1 - theta)}[side]
                    assert log_kl(name, par, theta, inner) < level
    for p, level in [(p, level) for p in (0.0, 0.2, 0.97) for level in (1e-4, 0.1, 3.0)]:
        upper = bernoulli_upper(p, level)
        below = log_kl("bernoulli", 1.0, p, p + (upper - p) * (1 - 1e-6))
        assert below <= level <= log_kl("bernoulli", 1.0, p, upper) * (1 + 1e-9)
    assert bernoulli_upper(1.0, 0.5) == 1.0


def test_categorical_in_its_chart():
    rng = np.random.default_rng(5)
    for c in (2, 3, 6):
        model = resolve(Categorical(c), 1, c).model
        for p in rng.dirichlet(np.ones(c), 20):
            fisher = np.diag(1 / p[:-1]) + 1 / p[-1]
            assert arm_fisher(model, 0, p) == pytest.approx(np.linalg.eigvalsh(fisher)[-1], rel=1e-9)
            eps = 0.3 * p.min()
            chart = np.vstack([np.eye(c - 1), -np.ones(c - 1)]) * eps
            shifted = [[rel_entr(p, p + s * x).sum() for s in (1, -1)] for x in chart.T]
            assert arm_shift_kl(model, 0, p, eps) == pytest.approx(sum(map(max, shifted)), rel=1e-9)
            assert arm_shift_kl(model, 0, p, 1.01 * p[[0, -1]].min()) == math.inf
    model = resolve(Categorical(4), 1, 4).model
    box, out = np.array([[0.1, 0.8], [0.1, 0.5], [0.05, 0.9], [0.0, 0.7]]), np.empty(4)
    for p in (*rng.dirichlet(np.full(4, 0.3), 20), np.eye(4)[0], np.eye(4)[3]):
        arm_estimate(model, 0, p, box, out)
        nearest = optimize.minimize(
            lambda x: np.sum((x - p) ** 2),  # noqa: B023
            box.mean(axis=1) / box.mean(axis=1).sum(),
            bounds=box,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            tol=1e-14,
        )
        assert out == pytest.approx(nearest.x, abs=1e-5)
        assert out.sum() == pytest.approx(1.0, abs=1e-12)


def test_shift_of_other_vectors():
    eps, full = 0.1, np.array([[2.0, 0.6], [0.6, 0.5]])
    wanted = eps**2 / 2 * np.trace(np.linalg.inv(full))
    assert arm_shift_kl(resolve(Gaussian(full), 1, 2).model, 0, np.zeros(2), eps) == pytest.approx(
        wanted, rel=1e-12
    )
    model = resolve(Product([Exponential("mean"), Bernoulli(), Poisson()]), 1, 3).model
    theta = np.array([2.0, 0.3, 0.7])
    wanted = math.log(1.9 / 2) + 2 / 1.9 - 1  # the mean's divergence is larger below
    wanted += max(rel_entr(0.3, q) + rel_entr(0.7, 1 - q) for q in (0.2, 0.4)) + max(kl_div(0.7, [0.6, 0.8]))
    assert arm_shift_kl(model, 0, theta, eps) == pytest.approx(wanted, rel=1e-10)
