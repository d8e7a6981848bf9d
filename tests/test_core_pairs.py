"""The core's pair problems: against brute force, and what each solver promises of its values."""

import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from evidence.psi_brute_force import KINDS
from tests.oracles.core import model_of
from tests.oracles.divergence import kl
from tests.oracles.psi_oracle import family_list, pair_brute, total_cost
from tests.repeats import repeats

from linkarms import _core

testing = _core.testing
STORE = Path(__file__).parents[1] / "evidence" / "psi_brute_force.json"
SMALL = [row for row in json.loads(STORE.read_text())["instances"] if max(row["shape"]) <= 2]
#: Intra and inter pair: four arms, and every way to share one.
PAIRS = ((0, 1, 2, 3), (0, 1, 0, 2), (0, 1, 2, 0), (0, 1, 1, 2), (0, 1, 2, 1))


def arrays(row):
    return np.array(row["parameters"], dtype=float).reshape(len(row["weights"]), -1), np.array(row["weights"])


def solved_exactly(row):
    """One parameter, Gaussian arms, or two directions to move in."""
    names = {spec["name"] for spec in family_list(row["families"], len(row["weights"]))}
    moves = row["d"] - ("categorical" in names)
    return row["d"] == 1 or names == {"gaussian"} or moves == 2


def smallest_cost(row):
    """The pair of pairs with the smallest cost: psi, where no cluster has more than two arms."""
    theta, w = arrays(row)
    model, labels = model_of(row["families"], *theta.shape), row["labels"]
    every = list(combinations(range(len(w)), 2))
    found = [
        (testing.pair_cost(model, theta, w, (*intra, *inter)), (*intra, *inter))
        for intra in every
        for inter in every
        if labels[intra[0]] == labels[intra[1]] and labels[inter[0]] != labels[inter[1]]
    ]
    return model, *min(found)


def length(lam, i, j):
    return float(np.linalg.norm(lam[i] - lam[j]))


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_cost_is_psi_by_brute_force(kind):
    rows = [row for row in SMALL if row["kind"] == kind]
    assert len(rows) >= 10
    for row in rows:
        theta, w = arrays(row)
        model, value, pairs = smallest_cost(row)
        assert 0.0 < value <= row["value"] * (1.0 + 1e-6), row["index"]
        if not solved_exactly(row):
            continue
        assert value >= row["value"] * (1.0 - 1e-6), row["index"]
        lam = testing.pair_solution(model, theta, w, pairs)
        assert total_cost(w, theta, lam, row["families"]) == pytest.approx(value, rel=1e-6)
        assert length(lam, *pairs[:2]) >= length(lam, *pairs[2:]) * (1.0 - 1e-6)
        others = [m for m in range(len(w)) if m not in pairs]
        np.testing.assert_array_equal(lam[others], theta[others])


EXPONENTIAL = {"name": "exponential", "parameter": "mean"}
POISSON, BERNOULLI = {"name": "poisson"}, {"name": "bernoulli"}
#: Families, four parameters, and the relative error of the brute force and the solver together.
PROBLEMS = {
    "isotropic": ({"name": "gaussian"}, [[0, 0], [0.3, 0.4], [2, 1], [-1, 2.5]]),
    "variances": (
        [{"name": "gaussian", "covariance": v} for v in (0.3, 1.0, 4.0, 2.0)],
        [[0, 0], [0.3, 0.4], [2, 1], [-1, 2.5]],
    ),
    "covariance": (
        [{"name": "gaussian", "covariance": [[2.0, c], [c, 1.0]]} for c in (0.0, 1.2, -0.5, 0.9)],
        [[0, 0], [0.3, 0.4], [2, 1], [-1, 2.5]],
    ),
    "equal arms": ({"name": "gaussian", "covariance": [9.0, 1.0]}, [[0, 0], [0, 0], [0, 2], [1, 4]]),
    "rate": ({"name": "exponential", "parameter": "rate"}, [[1.0], [1.3], [2.5], [5.0]]),
    "mean": (EXPONENTIAL, [[1.0], [1.3], [2.5], [5.0]]),
    "mean, far": (EXPONENTIAL, [[1.0], [1.1], [30.0], [90.0]]),
    "gamma mean": ({"name": "gamma", "shape": 0.4, "parameter": "mean"}, [[2.0], [1.0], [4.0], [8.0]]),
    "bernoulli": (BERNOULLI, [[0.1], [0.2], [0.6], [0.9]]),
    "bernoulli, edges": (BERNOULLI, [[0.0], [0.1], [1.0], [0.5]]),
    "poisson": (POISSON, [[0.5], [0.7], [3.0], [6.0]]),
    "poisson, none": (POISSON, [[0.0], [0.0], [3.0], [6.0]]),
    "mixed": ([{"name": "gaussian"}, EXPONENTIAL, POISSON, BERNOULLI], [[-0.5], [0.4], [2.5], [0.7]]),
    "product": ({"name": "product", "of": [POISSON, BERNOULLI]}, [[1, 0.3], [1.2, 0.4], [4, 0.9], [3, 0.1]]),
    "categorical": (
        {"name": "categorical", "n_categories": 3},
        [[0.2, 0.3, 0.5], [0.3, 0.3, 0.4], [0.8, 0.1, 0.1], [0.1, 0.7, 0.2]],
    ),
}
WEIGHTS = np.array([1.0, 0.4, 2.0, 0.7])


def posed(name):
    families, parameters = PROBLEMS[name]
    theta = np.array(parameters, dtype=float)
    return families, theta, model_of(families, *theta.shape)


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_pair_of_pairs_against_many_starts(name, pairs):
    families, theta, model = posed(name)
    brute = pair_brute(WEIGHTS, theta, *pairs, families, starts=repeats(6, 12))
    value = testing.pair_cost(model, theta, WEIGHTS, pairs)
    assert value == pytest.approx(brute["value"], rel=2e-6, abs=1e-12)
    lam = testing.pair_solution(model, theta, WEIGHTS, pairs)
    assert total_cost(WEIGHTS, theta, lam, families) == pytest.approx(value, rel=1e-6, abs=1e-12)
    assert length(lam, *pairs[:2]) >= length(lam, *pairs[2:]) * (1.0 - 1e-6)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_value_up_to_the_level_does_not_depend_on_it(name):
    _, theta, model = posed(name)
    for pairs in PAIRS:
        value = testing.pair_cost(model, theta, WEIGHTS, pairs)
        for factor in (1.0, 1.0 + 1e-6, 1.01, 10.0):
            assert testing.pair_cost(model, theta, WEIGHTS, pairs, value * factor) == value
        for factor in (0.999, 0.5, 1e-3):
            bound = testing.pair_cost(model, theta, WEIGHTS, pairs, value * factor)
            assert value * factor < bound <= value * (1.0 + 1e-6) or value == bound == 0.0
        for level in (0.3 * value, 3.0 * value, math.inf):
            bound = testing.pair_bound(model, theta, WEIGHTS, pairs, level)
            assert min(level, value * (1.0 - 1e-6)) <= bound <= value * (1.0 + 1e-6)


def test_lengths_that_are_equal_but_for_rounding():
    """What is seen to cost more than a level costs more: also where the gap of two lengths is a rounding of equal ones."""
    rng, equal = np.random.default_rng(0), 0
    model = model_of({"name": "gaussian", "covariance": [[0.25, 0.0], [0.0, 1.0]]}, 3, 2)
    for _ in range(3000):
        theta = rng.integers(0, 9, (3, 2)) / rng.choice([7.0, 9.0], (3, 1))
        theta[2] = theta[0] + (theta[1] - theta[0]) * rng.choice([-1.0, 1.0], 2)
        value = testing.pair_cost(model, theta, np.ones(3), (0, 1, 0, 2))
        for level in (0.0, value, 2.0 * value):
            found = testing.pair_cost(model, theta, np.ones(3), (0, 1, 0, 2), level)
            assert found == value or found > level >= 0.9 * value
        p, q = length(theta, 0, 1), length(theta, 0, 2)
        assert value < 1e-25
        equal += value == 0.0 and p < q
    assert equal > 30


@pytest.mark.parametrize("name", PROBLEMS)
def test_costs_grow_with_the_weights_and_not_with_the_order(name):
    _, theta, model = posed(name)
    for u, v, a, b in PAIRS:
        value = testing.pair_cost(model, theta, WEIGHTS, (u, v, a, b))
        for same in ((v, u, a, b), (u, v, b, a), (v, u, b, a)):
            assert testing.pair_cost(model, theta, WEIGHTS, same) == pytest.approx(value, rel=1e-7, abs=1e-15)
        assert testing.pair_cost(model, theta, 8.0 * WEIGHTS, (u, v, a, b)) == pytest.approx(
            8.0 * value, rel=1e-7
        )
        assert testing.pair_cost(model, theta, WEIGHTS, (a, b, u, v)) == 0.0 or value == 0.0


@pytest.mark.parametrize("name", PROBLEMS)
def test_very_unequal_weights(name):
    _, theta, model = posed(name)
    for pairs in PAIRS:
        for light in range(4):
            w = np.where(np.arange(4) == light, 1e-12, WEIGHTS)
            value = testing.pair_cost(model, theta, w, pairs)
            assert 0.0 <= value <= testing.pair_cost(model, theta, WEIGHTS, pairs) * (1.0 + 1e-7)
            assert np.all(np.isfinite(testing.pair_solution(model, theta, w, pairs)))


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name not in ("isotropic", "variances")])
@pytest.mark.parametrize("level", [0.01, 0.3, 4.0])
def test_the_spread_gives_a_quadratic_below_the_divergence(name, level):
    families, theta, model = posed(name)
    specs, rng = family_list(families, 4), np.random.default_rng(1)
    inside = 0
    for m, weight in enumerate(WEIGHTS):
        spread = testing.arm_spread(model, m, theta[m], weight, level)
        for size in np.geomspace(1e-3, 30.0, 40):
            step = rng.standard_normal(theta.shape[1])
            if specs[m]["name"] == "categorical":
                step -= step.mean()
            x = theta[m] + size * step
            if specs[m]["name"] != "gaussian" and np.any(x < 0.0):
                continue
            cost = weight * kl(specs[m], theta[m], x)
            if cost <= level:
                inside += 1
                assert cost >= step @ step * size**2 / (2.0 * spread) * (1.0 - 1e-12)
    assert inside > 20


def test_products_in_three_dimensions_are_bounded_from_below():
    parts = [POISSON, BERNOULLI, {"name": "gaussian"}]
    families, rng = {"name": "product", "of": parts}, np.random.default_rng(7)
    model = model_of(families, 4, 3)
    ratios = []
    for turn in range(8):
        theta = np.c_[rng.uniform(0.5, 6.0, 4), rng.uniform(0.1, 0.9, 4), rng.normal(size=4)]
        theta[1] = theta[0] + 0.1 * (theta[1] - theta[0])
        pairs = PAIRS[turn % len(PAIRS)]
        brute = pair_brute(WEIGHTS, theta, *pairs, families, starts=10)["value"]
        ratios.append(testing.pair_cost(model, theta, WEIGHTS, pairs) / brute)
    assert max(ratios) <= 1.0 + 1e-6
    assert np.median(ratios) > 0.5


def test_arms_whose_domains_differ_have_a_positive_bound():
    """The weighted mean of the inter pair is outside the domain of one of them."""
    families = [
        {"name": "product", "of": of}
        for of in (
            [POISSON, POISSON, {"name": "gaussian"}],
            [POISSON, {"name": "exponential", "parameter": "rate"}, {"name": "gaussian"}],
            [{"name": "gaussian"}, BERNOULLI, POISSON],
            [BERNOULLI, POISSON, {"name": "gaussian"}],
        )
    ]
    theta = np.array([[1.0, 2.0, 0.0], [1.1, 2.2, 0.1], [-1.5, 0.3, 2.0], [0.9, 5.0, -3.0]])
    model = model_of(families, 4, 3)
    for pairs in PAIRS:
        value = testing.pair_cost(model, theta, WEIGHTS, pairs)
        brute = pair_brute(WEIGHTS, theta, *pairs, families, starts=10)["value"]
        assert 0.0 < value <= brute * (1.0 + 1e-6)


@pytest.mark.parametrize("pairs", PAIRS)
def test_categories_of_probability_zero(pairs):
    families = {"name": "categorical", "n_categories": 3}
    theta = np.array([[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.1, 0.2, 0.7], [0.0, 1.0, 0.0]])
    model = model_of(families, 4, 3)
    value = testing.pair_cost(model, theta, WEIGHTS, pairs)
    brute = pair_brute(WEIGHTS, theta, *pairs, families, starts=12)["value"]
    assert 0.99 * brute <= value <= brute * (1.0 + 1e-6)  # SLSQP stays a little off zero
    lam = testing.pair_solution(model, theta, WEIGHTS, pairs)
    assert lam.min() >= 0.0
    np.testing.assert_allclose(lam.sum(axis=1), 1.0, rtol=1e-12)


def poisson_by_a_user(fail=None):
    def slow_kl(theta, lam):
        if fail is not None and lam > fail:
            raise LookupError(f"no divergence at {lam}")
        return theta * math.log(theta / lam) + lam - theta if lam > 0.0 else math.inf

    return _core.user_family(
        kl=slow_kl,
        step=lambda theta, slope: theta / (1.0 - slope) if slope < 1.0 else math.inf,
        fisher=lambda theta: 1.0 / theta,
        slope_limit=lambda theta: 1.0,
        domain="half-line",
    )


def test_a_users_own_family_and_what_it_raises():
    theta = np.array([[0.5], [0.7], [3.0], [6.0]])
    own = _core.Model([_core.Arm.coordinates([poisson_by_a_user()])] * 4, 1)
    failing = _core.Model([_core.Arm.coordinates([poisson_by_a_user(fail=0.5)])] * 4, 1)
    model = model_of(POISSON, 4, 1)
    for pairs in PAIRS:
        wanted = testing.pair_cost(model, theta, WEIGHTS, pairs)
        assert testing.pair_cost(own, theta, WEIGHTS, pairs) == pytest.approx(wanted, rel=1e-9)
        with pytest.raises(LookupError, match="no divergence at"):
            testing.pair_cost(failing, theta, WEIGHTS, pairs)
    # its quadratic only holds at the level itself, with room for four arms within their reach
    reach = testing.kl_interval(poisson_by_a_user(), 0.5, 0.5, "above", 1e-9) - 0.5
    assert testing.arm_spread(own, 0, theta[0], 1.0, 0.5) >= 4.0 * reach**2 / (2.0 * 0.5)
    assert testing.arm_spread(own, 0, theta[0], 1.0, 0.0) == math.inf


def test_bad_arguments():
    _, theta, model = posed("poisson")
    with pytest.raises(ValueError, match="arm 4 is out of range"):
        testing.pair_cost(model, theta, WEIGHTS, (0, 1, 2, 4))
    with pytest.raises(ValueError, match="do not fit"):
        testing.pair_cost(model, theta, WEIGHTS[:3], (0, 1, 2, 3))
