"""Numbers under one linear constraint in the core: poles in 150 digits, costs of every kind against searches of the primal."""

import decimal
import math
from decimal import Decimal

import numpy as np
import pytest
from scipy import optimize

from linkarms import _core

testing = _core.testing
Number = testing.Number
#: Family, and what multiplies ``x - log(1 + x)`` in its KL, ``x`` the relative change.
POLES = {
    "exponential": (_core.gamma_rate(1.0), lambda theta: 1.0),
    "gamma": (_core.gamma_rate(2.5), lambda theta: 2.5),
    "poisson": (_core.poisson(), lambda theta: theta),
}
#: The constraints of two pairs: with a shared arm that stays, with one that counts twice, and of four different arms.
CONSTRAINTS = {"stays": (0, -1, 1), "twice": (2, -1, -1), "minus": (-2, 1, 1), "four": (1, -1, 1, -1)}


def numbers(family, theta, w, kappa):
    return [Number.divergence(family, *row) for row in zip(theta, w, kappa, strict=True)]


def exact(scale, theta, w, kappa, fixed=0.0):
    """The minimum and the minimiser, by bisection of the stationarity condition in 150 digits.

    The constraint is ``kappa @ lam + fixed >= 0``.
    """
    with decimal.localcontext() as context:
        context.prec = 150
        factor = [Decimal(float(y)) * Decimal(float(scale(x))) for x, y in zip(theta, w, strict=True)]
        theta, kappa = [Decimal(float(x)) for x in theta], [Decimal(float(x)) for x in kappa]
        # factor (1/theta - 1/lam) = mu kappa
        inverse = [(1 / x, k / s) for x, k, s in zip(theta, kappa, factor, strict=True)]
        low, high = Decimal(0), min(i / r for i, r in inverse if r > 0)
        for _ in range(450):
            mu = (low + high) / 2
            lam = [1 / (i - mu * r) for i, r in inverse]
            if sum(k * x for k, x in zip(kappa, lam, strict=True)) + Decimal(float(fixed)) > 0:
                high = mu
            else:
                low = mu
        ratios = [x / y for x, y in zip(lam, theta, strict=True)]
        cost = sum(s * (r - 1 - r.ln()) for s, r in zip(factor, ratios, strict=True))
        return float(cost), np.array([float(x) for x in lam])


def instances(constraint, seed, spread=1.0):
    """Random positive parameters whose constraint does not hold at the start."""
    rng = np.random.default_rng(seed)
    kappa = np.array(CONSTRAINTS[constraint], dtype=float)
    while True:
        theta = np.exp(spread * rng.normal(size=len(kappa)))
        if kappa @ theta < 0.0:
            yield theta, rng.uniform(0.05, 30.0, len(kappa)), kappa


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("name", POLES)
def test_poles_in_many_digits(name, constraint):
    family, scale = POLES[name]
    problems = instances(constraint, 1, spread=1.5)
    for _ in range(10):
        theta, w, kappa = next(problems)
        posed = numbers(family, theta, w, kappa)
        assert testing.has_poles(posed)
        cost, lam = exact(scale, theta, w, kappa)
        gap = abs(kappa @ theta) / (abs(kappa) @ theta)
        value, found = testing.linear_cost(posed)
        assert value == pytest.approx(cost, rel=1e-14 / gap + 1e-13)
        np.testing.assert_allclose(found, lam, rtol=1e-11)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["apart", "together"])
@pytest.mark.parametrize("name", POLES)
def test_poles_beside_a_number_that_stays(name, sign):
    """Two arms that have to be ``r`` apart, or no more than ``r``: the problems of a distance threshold."""
    family, scale = POLES[name]
    rng, solved = np.random.default_rng(7), 0
    while solved < 30:
        theta, w, r = np.exp(1.5 * rng.normal(size=2)), rng.uniform(0.05, 30.0, 2), np.exp(rng.normal())
        kappa = sign * np.array([1.0, -1.0])
        lack = sign * r - kappa @ theta
        if lack <= 0.0:
            continue
        posed = [*numbers(family, theta, w, kappa), Number.fixed(r, -sign)]
        assert testing.has_poles(posed)
        cost, lam = exact(scale, theta, w, kappa, -sign * r)
        value, found = testing.linear_cost(posed)
        assert value == pytest.approx(cost, rel=1e-14 * (theta.sum() + r) / lack + 1e-13)
        np.testing.assert_allclose(found, [*lam, r], rtol=1e-11)
        solved += 1


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_a_value_up_to_the_level_does_not_depend_on_it(constraint):
    problems = instances(constraint, 3)
    for _ in range(50):
        theta, w, kappa = next(problems)
        posed = numbers(_core.gamma_rate(1.0), theta, w, kappa)
        value, _ = testing.linear_cost(posed)
        for factor in (1.0, 1.0 + 1e-13, 1.001, 2.0, 50.0):
            assert testing.linear_cost(posed, value * factor)[0] == value
        for factor in (1.0 - 1e-9, 0.99, 0.5, 1e-3):
            bound, lam = testing.linear_cost(posed, value * factor)
            assert value * factor < bound <= value * (1.0 + 1e-14)
            # with a point near the minimiser, or at it
            assert abs(kappa @ lam) <= 0.5 * abs(kappa @ theta)


@pytest.mark.parametrize(
    ("theta", "w"),
    [
        ([1e-100, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]),
        ([1e100, 1.0, 1.0, 2e100], [3.0, 1.0, 1.0, 1.0]),
        ([1.0, 3.0, 1.0, 3.0], [1e-12, 1.0, 1e-12, 1e3]),
        ([1.0, 3.0, 1.0, 3.0], [1.0, 1e-12, 1e3, 1e-12]),
        ([1e-8, 3.0, 1e-9, 9.0], [1e4, 1.0, 1e-3, 1e2]),
        ([1.0, 2.0, 3.0, 2.0 * (1.0 + 1e-9)], [1.0, 2.0, 3.0, 4.0]),
        ([1.0, 1.0 + 1e-15, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]),
    ],
)
def test_poles_far_from_ordinary_numbers(theta, w):
    kappa = [1.0, -1.0, 1.0, -1.0]
    value, lam = testing.linear_cost(numbers(_core.gamma_rate(1.0), theta, w, kappa))
    cost, _ = exact(lambda theta: 1.0, theta, w, kappa)
    # what the constraint lacks is known to one part in 1e16 of its terms
    room = 4e-16 * sum(theta) / abs(np.dot(theta, kappa))
    assert cost * (1.0 - 0.2) <= value <= cost * (1.0 + 1e-12 + 4.0 * room)
    assert np.all(np.isfinite(lam))


def test_where_the_constraint_holds_or_cannot_hold():
    value, lam = testing.linear_cost(numbers(_core.poisson(), [2.0, 1.0], [1.0, 1.0], [1.0, -2.0]))
    assert value == 0.0
    assert lam.tolist() == [2.0, 1.0]
    assert testing.linear_cost(numbers(_core.gamma_rate(1.0), [2.0, 1.0], [1, 1], [-1, -2]))[0] == math.inf
    # rates of which one only falls and the other cannot move
    stuck = [Number.divergence(_core.bernoulli(), 0.5, 1.0, 1.0), Number.fixed(1.5, -1.0)]
    assert testing.linear_cost(stuck)[0] == math.inf
    assert not testing.has_poles(stuck)
    assert not testing.has_poles(numbers(_core.poisson(), [2.0, 0.0], [1.0, 1.0], [1.0, -2.0]))


def primal(posed, weights, kappa, spans, count=60):
    """The smallest cost on a grid of the constraint's plane, then refined: all numbers but the last are free."""

    def cost(free):
        last = -np.dot(kappa[:-1], free) / kappa[-1]
        every = [*free, last]
        return sum(w * x.cost(float(y)) for w, x, y in zip(weights, posed, every, strict=True))

    axes = [np.linspace(*span, count) for span in spans]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(spans))
    values = np.array([cost(point) for point in grid])
    best = math.inf
    for start in np.argsort(values)[:3]:
        found = optimize.minimize(
            cost, grid[start], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000}
        )
        best = min(best, found.fun)
    return best


FAMILIES = {
    "gaussian": (_core.gaussian(1.7), (-0.4, 0.1, 1.5)),
    "bernoulli": (_core.bernoulli(), (0.35, 0.3, 0.85)),
    "poisson": (_core.poisson(), (1.2, 1.0, 4.0)),
    "rate": (_core.gamma_rate(1.5), (1.2, 1.0, 4.0)),
    "mean": (_core.gamma_mean(1.5), (1.2, 1.0, 4.0)),
}


@pytest.mark.parametrize("constraint", ["stays", "twice"])
@pytest.mark.parametrize("name", FAMILIES)
def test_divergences_against_the_primal(name, constraint):
    family, theta = FAMILIES[name]
    kappa, w = np.array(CONSTRAINTS[constraint], dtype=float), np.array([1.0, 3.0, 0.6])
    theta = np.array(theta) if kappa @ theta < 0.0 else np.array(theta)[[1, 2, 0]]
    posed = numbers(family, theta, w, kappa)
    value, lam = testing.linear_cost(posed)
    low, high = (
        (0.001, 0.999) if name == "bernoulli" else (min(theta) / 3 - (name == "gaussian"), max(theta) * 2)
    )
    assert value == pytest.approx(primal(posed, w, kappa, [(low, high)] * 2), rel=1e-7)
    assert kappa @ lam >= -1e-9
    assert sum(u * x.cost(float(y)) for u, x, y in zip(w, posed, lam, strict=True)) == pytest.approx(
        value, rel=1e-8
    )


@pytest.mark.parametrize("c", [0.5, 4.0])
@pytest.mark.parametrize("name", ["bernoulli", "poisson", "rate", "mean"])
def test_mixtures_against_the_primal(name, c):
    family, theta = FAMILIES[name]
    counts = (20, 7, 30)
    kappa = np.array([2.0, -1.0, -1.0])
    means = theta if name != "rate" else [1.5 / x for x in theta]
    if name in ("bernoulli", "poisson"):
        means = [round(n * x) / n for n, x in zip(counts, means, strict=True)]
    posed = [
        Number.mixture(family, n, mean, c, 1.0, k) for n, mean, k in zip(counts, means, kappa, strict=True)
    ]
    assert kappa @ [x.theta for x in posed] < 0.0
    value, lam = testing.linear_cost(posed)
    low, high = (0.01, 0.99) if name == "bernoulli" else (0.2, 8.0)
    brute = primal(posed, np.ones(3), kappa, [(low, high)] * 2, count=40)
    # a mixture is only solved to 1e-10, from below
    assert brute - 1e-7 <= value <= brute + 1e-9
    assert abs(kappa @ lam) < 1e-3
    assert testing.convex_cost(posed)[0] >= value - 1e-12


def test_a_count_of_none_has_a_linear_cost():
    """The step jumps: what the constraint lacks goes to that number."""
    for first in (
        Number.divergence(_core.poisson(), 0.0, 0.1, 1.0),
        Number.mixture(_core.poisson(), 5, 0.0, 2.0, 0.02, 1.0),
    ):
        posed = [first, Number.divergence(_core.poisson(), 3.0, 5.0, -1.0)]
        value, lam = testing.linear_cost(posed)
        assert lam[0] >= lam[1] * (1.0 - 1e-6)
        weight = 0.1 if first.cost(1.0) == 1.0 else 0.02
        x = np.linspace(0.0, 4.0, 40001)[1:]
        costs = weight * x * first.cost(1.0) + 5.0 * (3.0 * np.log(3.0 / x) + x - 3.0)
        assert value == pytest.approx(costs.min(), rel=1e-6)


def rises(kind, shapes):
    """Two or three distances with costs that flatten out: as numbers, as functions, and with the same coefficients each."""
    if kind == "student":
        posed = [Number.student(a, b, kappa) for a, b, kappa in shapes]
        return posed, [lambda x, a=a, b=b: a * np.log1p((x / b) ** 2) for a, b, _ in shapes]
    posed, costs = [], []
    for a, b, kappa in shapes:  # from 4a samples of variance b^2, for a prior that weighs c = a / 4 samples
        n, c = 4.0 * a, 0.25 * a
        posed.append(Number.unknown_variance(n, n * b * b, c, kappa))

        def cost(x, n=n, c=c, b=b):
            t = (x / b) ** 2
            rho = (1.0 + t) / (1.0 + c / (c + n) * t)  # T / R of math.md 6
            return 0.5 * (c + n) * np.log(rho) - 0.5 * c * (rho - 1.0)

        costs.append(cost)
    return posed, costs


@pytest.mark.parametrize("kind", ["student", "unknown variance"])
def test_distances_against_a_scan(kind):
    """How far two or three arms move so that a fixed gap is bridged; costs flatten out, so one may take all of it."""
    rng = np.random.default_rng(5)
    beyond = 0
    for turn in range(40):
        n, gap = 2 + turn % 2, 10.0 ** rng.uniform(-1.0, 1.0)
        a, b = rng.uniform(0.5, 20.0, n), rng.uniform(0.3, 3.0, n)
        kappa = np.array([2.0, 1.0, 1.0])[:n]
        posed, rise = rises(kind, list(zip(a, b, kappa, strict=True)))
        value, lam = testing.linear_cost([*posed, Number.fixed(gap, -1.0)])
        shares = np.linspace(0.0, 1.0, 2001)
        cost = [rise[i](gap * shares / kappa[i]) for i in range(n)]
        best = cost[0] + cost[1][::-1]
        if n == 3:  # what the first two need for a share, then the third takes the rest
            pairs = np.full(len(shares), math.inf)
            for i, first in enumerate(cost[0]):
                pairs[i:] = np.minimum(pairs[i:], first + cost[1][: len(shares) - i])
            best = pairs + cost[2][::-1]
        assert value == pytest.approx(best.min(), rel=2e-3)
        assert value <= best.min() * (1.0 + 1e-9)
        assert kappa @ lam[:n] == pytest.approx(gap, rel=1e-3)  # these costs are solved to 1e-10
        assert testing.convex_cost([*posed, Number.fixed(gap, -1.0)])[0] >= value * (1.0 - 1e-12)
        beyond += any(lam[i] > posed[i].inflection for i in range(n))
        for factor in (0.5, 0.9, 0.999, 1.001, 1.1, 1.5):  # one proof by multipliers, or a search
            bound = testing.linear_cost([*posed, Number.fixed(gap, -1.0)], factor * value)[0]
            assert bound >= min(factor, 1.0 - 1e-9) * value
            assert bound <= value * (1.0 + 1e-9)
    assert 5 < beyond < 40


def test_spreads_of_an_unknown_variance_against_a_scan():
    """A spread says what an arm costs at least, however far it goes; up to the cost that it is for it is not much too large."""
    rng = np.random.default_rng(8)
    x = np.geomspace(1e-4, 1e5, 4000)
    reached = 0
    for _ in range(60):
        a, b = rng.uniform(0.5, 20.0), rng.uniform(0.3, 3.0)
        cost = rng.uniform(0.5, 60.0)
        posed, (rise,) = rises("unknown variance", [(a, b, 1.0)])
        assert posed[0].cost(2.0) == pytest.approx(rise(2.0), rel=1e-9)
        spread = testing.variance_spread(4.0 * a, 4.0 * a * b * b, 0.25 * a, cost)
        if spread == math.inf:
            assert rise(1e9) <= cost * (1.0 + 1e-8)
            continue
        reached += 1
        assert np.all(rise(x) >= np.minimum(0.5 * x * x / spread, cost) * (1.0 - 1e-9))
        least = np.min(
            x[rise(x) >= cost]
        )  # it is that of a distance at most a step farther, or of the inflection
        assert spread <= 0.56 * max(least, posed[0].inflection) ** 2 / cost
    assert 20 < reached < 60


def test_one_number_beyond_its_inflection():
    """Following only the branch that starts at theta overestimates: the least costly way is to send one mean far away."""
    family, kappa = _core.gamma_mean(1.0), np.array([1.0, -1.0, -1.0, 1.0])
    theta, w = np.array([1.0, 1.0, 30.0, 2.0]), np.array([0.5, 20.0, 30.0, 25.0])
    posed = numbers(family, theta, w, kappa)
    value, lam = testing.linear_cost(posed)
    assert lam[0] > 2.0 * theta[0]
    assert kappa @ lam == pytest.approx(0.0, abs=1e-6)
    assert sum(u * x.cost(float(y)) for u, x, y in zip(w, posed, lam, strict=True)) == pytest.approx(
        value, rel=1e-7
    )
    assert testing.convex_cost(posed)[0] > 1.5 * value
    for factor in (1.0, 1.2, 5.0):
        assert testing.linear_cost(posed, value * factor)[0] == value
    for factor in (0.1, 0.9):
        assert value * factor < testing.linear_cost(posed, value * factor)[0] <= value * (1.0 + 1e-9)
