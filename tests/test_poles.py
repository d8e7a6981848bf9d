"""The dual where steps have a pole, against the primal by SLSQP and a bisection with many digits."""

import decimal
import math
from decimal import Decimal

import numpy as np
import pytest
from scipy import optimize

from linkarms.alternatives._linear import linear_cost
from linkarms.alternatives._number import CODE, DIVERGENCE, KAPPA, KIND, LAM, PAR, THETA, W
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH
from linkarms.alternatives._poles import has_poles, pole_cost
from linkarms.families._scalar import GAMMA_RATE, GAUSSIAN, POISSON, phi

NUMBERS = {"exponential": (GAMMA_RATE, 1.0), "gamma": (GAMMA_RATE, 2.5), "poisson": (POISSON, 1.0)}
#: The constraints of two pairs: with a shared arm that stays, with one that counts twice, and of four different arms.
CONSTRAINTS = {"stays": (0, -1, 1), "twice": (2, -1, -1), "minus": (-2, 1, 1), "four": (1, -1, 1, -1)}


def boxed(code, par, theta, w, kappa):
    box, which = np.zeros(SCRATCH), np.zeros(INT_SCRATCH, dtype=np.int64)
    n = len(theta)
    box[:n, THETA], box[:n, W], box[:n, KAPPA], box[:n, PAR] = theta, w, kappa, par
    which[:n, CODE], which[:n, KIND] = code, DIVERGENCE
    return box, which, n


def weight(code, par, theta):
    """What multiplies ``x - log(1 + x)`` in the KL, ``x`` the relative change."""
    return theta if code == POISSON else par


def exact(code, par, theta, w, kappa):
    """The minimum and the minimiser, by bisection of the stationarity condition in 150 digits."""
    with decimal.localcontext() as context:
        context.prec = 150
        theta, w, kappa = ([Decimal(float(x)) for x in row] for row in (theta, w, kappa))
        scale = [y * (x if code == POISSON else Decimal(par)) for x, y in zip(theta, w, strict=True)]
        # scale (1/theta - 1/lam) = mu kappa
        inverse = [(1 / x, k / s) for x, k, s in zip(theta, kappa, scale, strict=True)]
        low, high = Decimal(0), min(i / r for i, r in inverse if r > 0)
        for _ in range(450):
            mu = (low + high) / 2
            lam = [1 / (i - mu * r) for i, r in inverse]
            if sum(k * x for k, x in zip(kappa, lam, strict=True)) > 0:
                high = mu
            else:
                low = mu
        ratios = [x / y for x, y in zip(lam, theta, strict=True)]
        cost = sum(s * (r - 1 - r.ln()) for s, r in zip(scale, ratios, strict=True))
        return float(cost), np.array([float(x) for x in lam])


def instances(constraint, seed, spread=1.0):
    """Random problems whose constraint does not hold at the start."""
    rng = np.random.default_rng(seed)
    kappa = np.array(CONSTRAINTS[constraint], dtype=float)
    while True:
        theta = np.exp(spread * rng.normal(size=len(kappa)))
        if kappa @ theta < 0.0:
            yield theta, rng.uniform(0.05, 30.0, len(kappa)), kappa


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("name", NUMBERS)
def test_cost_and_minimiser(name, constraint):
    code, par = NUMBERS[name]
    problems = instances(constraint, 1, spread=1.5)
    for _ in range(25):
        theta, w, kappa = next(problems)
        box, which, n = boxed(code, par, theta, w, kappa)
        assert has_poles(box, which, n)
        cost, lam = exact(code, par, theta, w, kappa)
        gap = abs(kappa @ theta) / (abs(kappa) @ theta)
        assert linear_cost(box, which, n, math.inf) == pytest.approx(cost, rel=1e-14 / gap + 1e-13)
        np.testing.assert_allclose(box[:n, LAM], lam, rtol=1e-11)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("name", NUMBERS)
def test_no_feasible_point_costs_less(name, constraint):
    code, par = NUMBERS[name]
    problems = instances(constraint, 2, spread=0.5)

    def primal(x, theta, w):
        return float(np.sum(w * weight(code, par, theta) * (x / theta - 1.0 - np.log(x / theta))))

    for _ in range(5):
        theta, w, kappa = next(problems)
        box, which, n = boxed(code, par, theta, w, kappa)
        value = pole_cost(box, which, n, math.inf)
        rule = {"type": "ineq", "fun": lambda x, kappa=kappa: kappa @ x}
        found = optimize.minimize(
            primal,
            np.full(n, theta.mean()),
            (theta, w),
            method="SLSQP",
            bounds=[(1e-3, None)] * n,
            constraints=[rule],
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert found.success or found.status == 8  # no better step in double precision
        assert value == pytest.approx(found.fun, rel=1e-5)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_a_value_up_to_the_level_does_not_depend_on_it(constraint):
    problems = instances(constraint, 3)
    for _ in range(50):
        theta, w, kappa = next(problems)
        box, which, n = boxed(GAMMA_RATE, 1.0, theta, w, kappa)
        value = pole_cost(box, which, n, math.inf)
        for factor in (1.0, 1.0 + 1e-13, 1.001, 2.0, 50.0):
            assert pole_cost(box, which, n, value * factor) == value
        for factor in (1.0 - 1e-9, 0.99, 0.5, 1e-3):
            bound = pole_cost(box, which, n, value * factor)
            assert value * factor < bound <= value * (1.0 + 1e-14)
            # with a point near the minimiser, or at it
            assert abs(kappa @ box[:n, LAM]) <= 0.5 * abs(kappa @ theta)


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
def test_never_above_the_truth_far_from_ordinary_numbers(theta, w):
    kappa = [1.0, -1.0, 1.0, -1.0]
    box, which, n = boxed(GAMMA_RATE, 1.0, theta, w, kappa)
    value = pole_cost(box, which, n, math.inf)
    cost, _ = exact(GAMMA_RATE, 1.0, theta, w, kappa)
    # what the constraint lacks is known to one part in 1e16 of its terms
    room = 4e-16 * sum(theta) / abs(np.dot(theta, kappa))
    assert value <= cost * (1.0 + 1e-12 + 4.0 * room)
    assert value >= cost * (1.0 - 0.2)
    assert np.all(np.isfinite(box[:n, LAM]))


def test_where_the_constraint_holds_or_cannot_hold():
    box, which, n = boxed(POISSON, 1.0, [2.0, 1.0], [1.0, 1.0], [1.0, -2.0])
    assert pole_cost(box, which, n, math.inf) == 0.0
    assert np.array_equal(box[:n, LAM], [2.0, 1.0])
    box, which, n = boxed(GAMMA_RATE, 1.0, [2.0, 1.0], [1.0, 1.0], [-1.0, -2.0])
    assert pole_cost(box, which, n, math.inf) == math.inf


def test_other_numbers_have_no_poles():
    for code, theta in ((GAUSSIAN, 1.0), (POISSON, 0.0)):
        box, which, n = boxed(POISSON, 1.0, [2.0, theta], [1.0, 1.0], [1.0, -2.0])
        which[1, CODE] = code
        assert not has_poles(box, which, n)


def test_a_rational_function_below_phi():
    x = np.concatenate([np.linspace(-0.999, 3.0, 400), np.geomspace(3.0, 1e6, 50)])
    assert all(s * s / (2.0 + 4.0 * s / 3.0) <= phi(s) * (1.0 + 1e-13) for s in x)
