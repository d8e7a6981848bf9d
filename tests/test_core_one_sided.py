"""One-sided mixtures of arms with one parameter: the mixture by SciPy's densities, its derivatives, and the infimum."""

import itertools

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats
from tests.oracles import one_sided as oracle

from linkarms._core import testing as core
from linkarms.families import resolve

GRID = [0.2 * 5.0**j for j in range(8)]
#: the package's family, the oracle's, the density of samples by the parameter, and a parameter
KINDS = {
    "exponential": (("gamma", 1.0), lambda x, t: stats.expon.logpdf(x, scale=1 / t), 3.0),
    "gamma:2.5": (("gamma", 2.5), lambda x, t: stats.gamma.logpdf(x, 2.5, scale=1 / t), 0.4),
    "poisson": (("poisson",), stats.poisson.logpmf, 2.2),
    "bernoulli": (("bernoulli",), stats.bernoulli.logpmf, 0.3),
}
DRAW = {
    "exponential": lambda rng, t, n: rng.exponential(1 / t, size=n),
    "gamma:2.5": lambda rng, t, n: rng.gamma(2.5, 1 / t, size=n),
    "poisson": lambda rng, t, n: rng.poisson(t, size=n),
    "bernoulli": lambda rng, t, n: rng.binomial(1, t, size=n),
}


def problem(name, samples, kappa, mass=1.0):
    model = resolve(name, len(samples), 1).model
    return core.OneSidedProblem(
        model, [float(len(x)) for x in samples], [float(np.mean(x)) for x in samples], kappa, GRID, mass
    )


def drawn(name, rng, arms=3):
    theta = KINDS[name][2]
    return [DRAW[name](rng, theta * rng.uniform(0.5, 1.5), rng.integers(3, 200)) for _ in range(arms)]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("kappa", [1.0, -1.0])
@pytest.mark.parametrize("count", [40, 20_000])
def test_the_mixture_is_that_of_the_densities(name, kappa, count):
    """Also with so many samples that most shifts are negligible, on both sides of the best."""
    family, log_density, theta = KINDS[name]
    samples = DRAW[name](np.random.default_rng(3), theta, count)
    for lam in (0.7 * theta, theta, 1.6 * theta):
        # the constraint pushes an arm with kappa > 0 up: its alternatives are below
        others = oracle.shifted(family, lam, -kappa)
        here = log_density(samples, lam)
        ratio = [np.sum(log_density(samples, x) - here) for x in others]
        expected = [special.logsumexp(ratio, b=oracle.weights(c)) for c in GRID]
        assert problem(name, [samples], [kappa]).terms(0, lam)[0] == pytest.approx(
            expected, rel=1e-9, abs=1e-9
        )


@pytest.mark.parametrize("name", KINDS)
def test_the_mean_of_the_mixture_at_the_truth_is_one(name):
    """Exactly, over all values of one sample: a sum for counts, quadrature elsewhere."""
    family, log_density, theta = KINDS[name]
    for side in (1.0, -1.0):

        def density(x, side=side):
            height = oracle.log_mixtures(family, 1.0, float(x), theta, side, [0.2, 25.0])[0]
            return np.exp(height + log_density(x, theta))

        if family[0] == "gamma":
            ends = np.array([0.0, 0.05, 0.5, 5.0, 50.0, 1000.0, 10_000.0]) / theta
            mean = sum(integrate.quad(density, low, high)[0] for low, high in itertools.pairwise(ends))
        else:
            mean = sum(density(x) for x in range(2 if name == "bernoulli" else 400))
        assert mean == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_slopes_and_curvatures_are_derivatives_and_the_log_is_convex(name):
    rng = np.random.default_rng(5)
    for kappa in (1.0, -1.0):
        p = problem(name, drawn(name, rng, 1), [kappa])
        for lam in KINDS[name][2] * rng.uniform(0.4, 1.8, size=4):
            h = 1e-5 * lam
            (before, *_), (value, slope, curvature), (after, *_) = (p.terms(0, lam + d) for d in (-h, 0.0, h))
            before, value, after = map(np.array, (before, value, after))
            assert slope == pytest.approx((after - before) / (2 * h), rel=1e-4, abs=1e-6)
            assert np.all(np.array(slope) * kappa > 0.0)
            wide = 1e-3 * lam
            low, high = np.array(p.terms(0, lam - wide)[1]), np.array(p.terms(0, lam + wide)[1])
            assert curvature == pytest.approx((high - low) / (2 * wide), rel=2e-3, abs=1e-6)
            assert np.all(np.array(curvature) >= 0.0)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_infimum_under_one_constraint(name, seed):
    rng = np.random.default_rng([7, seed])
    kappa = [
        [2.0, -1.0, -1.0],
        [-2.0, 1.0, 1.0],
        [1.0, -1.0, 1.0, -1.0],
        [1.0, -1.0],
        [-1.0, 1.0, -1.0, 1.0],
    ][seed]
    p = problem(name, drawn(name, rng, len(kappa)), kappa, mass=0.95)
    lower, upper, lam = p.infimum()
    assert np.dot(kappa, lam) == pytest.approx(0.0, abs=1e-9 * max(lam))
    assert upper == pytest.approx(p.log_evidence(lam))
    assert lower <= upper + 1e-9
    assert upper - lower < 1e-4
    top = 1.0 - 1e-9 if name == "bernoulli" else None
    found = optimize.minimize(
        lambda x: p.log_evidence(np.clip(x, 0.0, top)),
        np.full(len(kappa), KINDS[name][2]),
        method="SLSQP",
        bounds=[(1e-9, top)] * len(kappa),
        constraints={"type": "ineq", "fun": lambda x: np.dot(kappa, x)},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.fun == pytest.approx(upper, abs=1e-3)
    assert lower <= found.fun + 1e-6
    # a search that has seen enough ends
    assert p.infimum(too_little=upper + 1.0)[0] == -np.inf


@pytest.mark.parametrize("name", ["poisson", "bernoulli"])
def test_counts_without_an_event(name):
    """Arms at the end of their domain."""
    zero, some = np.zeros(30), np.repeat([0.0, 1.0], 15)
    for kappa in ([2.0, -1.0, -1.0], [-2.0, 1.0, 1.0]):
        for samples in ([zero, zero, some], [some, zero, zero], [zero, some, zero], [zero] * 3):
            lower, upper, lam = problem(name, samples, kappa).infimum()
            assert min(lam) >= 0.0
            assert -60.0 < lower <= upper + 1e-9
    if name == "bernoulli":
        lower, upper, lam = problem(name, [zero, 1.0 - zero, some], [2.0, -1.0, -1.0]).infimum()
        assert max(lam) <= 1.0
        assert lower <= upper + 1e-9
        assert upper - lower < 0.1


def test_other_families_have_none():
    with pytest.raises(ValueError, match="gamma rates, Poisson and Bernoulli"):
        core.OneSidedProblem(resolve("gaussian", 1, 1).model, [3.0], [0.1], [1.0], GRID)
