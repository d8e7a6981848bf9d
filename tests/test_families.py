"""The families against quadrature, summation, decimal arithmetic and SciPy's distributions."""

import contextlib
import itertools
import json
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import linkarms as la
from linkarms.errors import InvalidDump, InvalidInput
from linkarms.families import Bernoulli, Categorical, Exponential, Gamma, Gaussian, Poisson, Product, bounded

# family, SciPy's distribution at a parameter, (theta, lambda) pairs
CONTINUOUS = {
    "gaussian": (Gaussian(), lambda t: stats.norm(t), [(0.3, -1.4), (2.0, 2.1)]),
    "gaussian-variance": (Gaussian(2.5), lambda t: stats.norm(t, math.sqrt(2.5)), [(0.3, -1.4), (-7.0, 1.0)]),
    "exponential-rate": (Exponential(), lambda t: stats.expon(scale=1 / t), [(0.5, 2.0), (9.0, 8.7)]),
    "exponential-mean": (Exponential("mean"), lambda t: stats.expon(scale=t), [(0.5, 2.0), (9.0, 8.7)]),
    "gamma-rate": (Gamma(2.5), lambda t: stats.gamma(2.5, scale=1 / t), [(0.4, 1.7), (3.0, 2.0)]),
    "gamma-mean": (Gamma(2.5, "mean"), lambda t: stats.gamma(2.5, scale=t / 2.5), [(0.4, 1.7), (3.0, 2.0)]),
}
DISCRETE = {
    "bernoulli": (Bernoulli(), lambda t: stats.bernoulli(t), [(0.3, 0.6), (0.02, 0.9)]),
    "poisson": (Poisson(), lambda t: stats.poisson(t), [(0.7, 3.0), (20.0, 17.5)]),
}
SCALAR = CONTINUOUS | DISCRETE
FULL = np.array([[2.0, 0.6], [0.6, 0.5]])


def expectation(p, f):
    """``E f(X)`` under a SciPy distribution: a sum, or quadrature piece by piece between quantiles."""
    if not hasattr(p.dist, "pdf"):
        x = np.arange(0, int(min(p.mean() + 200, p.support()[1])) + 1)
        return float(np.sum(p.pmf(x) * f(x)))
    edges = [p.ppf(q) for q in (0.0, 1e-12, 1e-4, 0.1, 0.5)] + [p.isf(q) for q in (0.1, 1e-4, 1e-12, 1e-17)]
    edges[0] = max(edges[0], edges[4] - 40 * p.std())
    pieces = itertools.pairwise(edges)
    return math.fsum(integrate.quad(lambda x: p.pdf(x) * f(x), a, b, epsabs=1e-13)[0] for a, b in pieces)


def log_density(p, x):
    return p.logpdf(x) if hasattr(p.dist, "pdf") else p.logpmf(x)


def curvature(family, theta, directions, h=1e-3):
    """Hessian of ``KL(theta, .)`` at theta along the columns of ``directions``, by differences."""

    def kl(x):
        return family.kl(theta, theta + directions @ x)

    n = directions.shape[1]
    unit = h * np.eye(n)
    hessian = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            plus, minus = unit[i] + unit[j], unit[i] - unit[j]
            hessian[i, j] = (kl(plus) + kl(-plus) - kl(minus) - kl(-minus)) / (4 * h * h)
    return hessian


@pytest.mark.parametrize("name", SCALAR)
def test_kl_and_information_against_quadrature(name):
    family, dist, pairs = SCALAR[name]
    for theta, lam in pairs:
        p, q = dist(theta), dist(lam)
        wanted = expectation(p, lambda x, p=p, q=q: log_density(p, x) - log_density(q, x))
        assert family.kl(theta, lam) == pytest.approx(wanted, rel=1e-8)
        h = 1e-4 * theta

        above, below = dist(theta + h), dist(theta - h)

        def score_squared(x, above=above, below=below, h=h):
            return ((log_density(above, x) - log_density(below, x)) / (2 * h)) ** 2

        assert family.information(theta) == pytest.approx(expectation(p, score_squared), rel=1e-6)
        second = curvature(family, np.array([theta]), np.eye(1), 1e-3 * abs(theta))[0, 0]
        assert family.information(theta) == pytest.approx(second, rel=1e-4)


@pytest.mark.parametrize("covariance", [None, 1.7, [0.5, 3.0], FULL])
def test_gaussian_vectors_against_quadrature(covariance):
    family, theta, lam = Gaussian(covariance), np.array([0.4, -1.0]), np.array([-0.3, 1.5])
    matrix = np.eye(2) if covariance is None else np.asarray(covariance, dtype=float)
    matrix = matrix * np.eye(2) if matrix.ndim < 2 else matrix
    nodes, weights = np.polynomial.hermite_e.hermegauss(6)
    grid = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    mass = np.outer(weights, weights).ravel() / (2 * math.pi)
    x = theta + grid @ np.linalg.cholesky(matrix).T
    p, q = (stats.multivariate_normal(mean, matrix) for mean in (theta, lam))
    assert family.kl(theta, lam) == pytest.approx(mass @ (p.logpdf(x) - q.logpdf(x)), rel=1e-10)
    hessian = curvature(family, theta, np.eye(2))
    assert family.information(theta) == pytest.approx(np.linalg.eigvalsh(hessian)[-1], rel=1e-6)


def test_product_is_the_sum_of_its_coordinates():
    names = ["gaussian-variance", "exponential-mean", "gamma-rate", "bernoulli", "poisson"]
    product = Product([SCALAR[n][0] for n in names])
    theta, lam = (np.array([SCALAR[n][2][0][i] for n in names]) for i in (0, 1))
    parts = [f.kl(t, x) for f, t, x in zip(product.families, theta, lam, strict=True)]
    assert product.kl(theta, lam) == pytest.approx(math.fsum(parts), rel=1e-14)
    hessian = curvature(product, theta, np.eye(5), 1e-4)
    assert product.information(theta) == pytest.approx(np.linalg.eigvalsh(hessian)[-1], rel=1e-4)


@pytest.mark.parametrize("name", SCALAR)
def test_draws_and_estimates(name):
    family, dist, pairs = SCALAR[name]
    theta = pairs[0][0]
    values = family.draw(np.random.default_rng(7), np.array([theta]), 20_000)
    assert values.shape == (20_000, 1)
    assert family.contains(values).all()
    if name in CONTINUOUS:
        assert stats.kstest(values[:, 0], dist(theta).cdf).pvalue > 1e-4
    else:
        most = 1 if name == "bernoulli" else 5
        counts = np.bincount(np.minimum(values[:, 0].astype(int), most), minlength=most + 1)
        wanted = dist(theta).pmf(np.arange(most + 1))
        wanted[most] = dist(theta).sf(most - 1)
        assert stats.chisquare(counts, 20_000 * wanted).pvalue > 1e-4
    few = values[:200, 0]

    def unlikely(t):
        return -float(np.sum(log_density(dist(t), few)))

    low, high = {"bernoulli": (0.01, 0.99)}.get(name, (-3.0 if "gaussian" in name else 0.01, 3.0))
    best = optimize.minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    assert family.mle(family.statistics(few[:, None]).mean(axis=0))[0] == pytest.approx(best.x, rel=1e-5)


def test_vector_draws_and_estimates():
    rng, theta = np.random.default_rng(8), np.array([0.4, -1.0])
    x = Gaussian(FULL).draw(rng, theta, 20_000)
    white = np.linalg.solve(np.linalg.cholesky(FULL), (x - theta).T)
    assert all(stats.kstest(w, "norm").pvalue > 1e-4 for w in (*white, (white[0] + white[1]) / math.sqrt(2)))
    diagonal = (Gaussian([0.5, 3.0]).draw(rng, theta, 20_000) - theta) / np.sqrt([0.5, 3.0])
    assert all(stats.kstest(w, "norm").pvalue > 1e-4 for w in diagonal.T)
    p = np.array([0.2, 0.0, 0.5, 0.3])
    c = Categorical(4).draw(rng, p, 20_000)
    assert Categorical(4).contains(c).all()
    assert c[:, 1].sum() == 0
    assert stats.chisquare(c.sum(axis=0)[[0, 2, 3]], 20_000 * p[[0, 2, 3]]).pvalue > 1e-4
    counts = c[:100].sum(axis=0)[[0, 2, 3]]
    best = optimize.minimize(lambda z: -counts @ (z - np.log(np.exp(z).sum())), np.zeros(3))
    softmax = np.exp(best.x) / np.exp(best.x).sum()
    assert Categorical(4).mle(c[:100].mean(axis=0))[[0, 2, 3]] == pytest.approx(softmax, abs=1e-4)
    product = Product([Poisson(), Exponential("mean")])
    y = product.draw(rng, np.array([3.0, 2.0]), 20_000)
    assert stats.kstest(y[:, 1], stats.expon(scale=2.0).cdf).pvalue > 1e-4
    assert abs(stats.pearsonr(y[:, 0], y[:, 1]).statistic) < 4 / math.sqrt(20_000)
    assert product.mle(y.mean(axis=0)) == pytest.approx(y.mean(axis=0), rel=1e-14)
    assert np.array_equal(Categorical(4).encode([3, 0, 2]), np.eye(4)[[3, 0, 2]])


SHIPPED = [family for family, _, _ in SCALAR.values()]
SHIPPED += [Gaussian(c) for c in ([0.5, 3.0], FULL, np.stack([FULL, np.eye(2)]))] + [
    Gamma(0.5),
    Categorical(4),
]
SHIPPED += [bounded(-1, 3), bounded([0, 0], [1, 2]), bounded([0, 0], [1, 2], independent=True)]
SHIPPED += [Product([Bernoulli(), Gamma(2.0, "mean"), Gaussian(4.0)])]


def test_round_trip_and_equality():
    for i, family in enumerate(SHIPPED):
        again = la.families.from_dict(json.loads(json.dumps(family.to_dict(), allow_nan=False)))
        assert again == family
        assert hash(again) == hash(family)
        assert [j for j, other in enumerate(SHIPPED) if other == family] == [i]
    for spec in ({"name": "nonsense"}, {"name": "gamma"}, {"name": "gaussian", "covariance": -1.0}, {}):
        with pytest.raises(InvalidDump, match="dump"):
            la.families.from_dict(spec)


def assert_helpful(error):
    """One line that says what to do."""
    text = str(error)
    assert "\n" not in text
    assert any(
        word in text for word in ("give", "choose", "must", "fix", "make", "call", "use ", "write ")
    ), text


BAD = {
    "shape=0": lambda: Gamma(0.0),
    "parameter='scale'": lambda: Exponential("scale"),
    "n_categories=1": lambda: Categorical(1),
    "categories": lambda: Categorical(3).encode([3]),
    "variance -1": lambda: Gaussian(-1.0),
    "eigenvalue": lambda: Gaussian([[1.0, 2.0], [2.0, 1.0]]),
    "symmetric": lambda: Gaussian([[1.0, 0.5], [0.4, 1.0]]),
    "numbers": lambda: Gaussian("wide"),
    "low=2": lambda: bounded(2, 1),
    "-1e+300 to 1e+300 is too large a range; give ends from -1e+50": lambda: bounded(-1e300, 1e300),
    "0 to 1e-60 is too narrow a range; give ends at least 2e-50 apart": lambda: bounded([0, 0], [1, 1e-60]),
    "low='a'": lambda: bounded("a", 1),
    "low=[0, 0]": lambda: bounded([0, 0], [1, 2, 3]),
    "coordinate 1": lambda: Product([Poisson(), Categorical(3)]),
    "coordinate 0": lambda: Product(["poisson"]),
    "family='normal'": lambda: la.psi([1, 1], [0, 1], 1, "normal"),
    "family='gamma'": lambda: la.psi([1, 1], [1, 2], 1, "gamma"),
    "3 families": lambda: la.psi([1, 1], [0, 1], 1, ["poisson"] * 3),
    "1 covariances": lambda: la.psi([1, 1], [0, 1], 1, Gaussian(np.ones((1, 1, 1)))),
    "3 covariances": lambda: la.psi([1, 1], [0, 1], 1, Gaussian(np.ones((3, 1, 1)))),
    "covariance": lambda: la.psi([1, 1], [[0, 0], [1, 1]], 1, [Gaussian(np.stack([FULL, FULL]))] * 2),
    "n_features=1": lambda: la.psi([1, 1], [0, 1], 1, Gaussian(FULL)),
    "mixed": lambda: la.psi([1, 1], [[0.5, 0.5]] * 2, 1, [Categorical(2), Gaussian()]),
    "parameters[1]=1.5": lambda: la.psi([1, 1], [0.5, 1.5], 1, "bernoulli"),
    "parameters[0]=0 ": lambda: la.psi([1, 1], [0, 1.5], 1, "exponential"),
    "parameters[1][0]=2": lambda: la.psi([1, 1], [[0.5, 9], [2, 9]], 1, Product([Bernoulli(), Poisson()])),
    "adds up to 0.9": lambda: la.psi([1, 1], [[0.5, 0.4], [0.5, 0.5]], 1, "categorical"),
    "between the bounds": lambda: la.psi([1, 1], [0.5, 3.0], 1, bounded(0, 2)),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_arguments_are_named(what):
    with pytest.raises(InvalidInput) as caught:
        BAD[what]()
    assert what in str(caught.value)
    assert_helpful(caught.value)


def test_supports():
    values = np.array([[-1.0], [0.0], [0.5], [1.0], [2.0]])
    families = [Gaussian(), Exponential(), Gamma(2.0, "mean"), Bernoulli(), Poisson(), bounded(0, 1)]
    found = ["".join(str(int(x)) for x in f.contains(values)) for f in families]
    assert found == ["11111", "01111", "01111", "01010", "01011", "01110"]
    pairs = np.array([[1.0, 0.0], [0.5, 0.5], [1.0, 1.0], [0.0, 0.0], [2.0, 1.5]])
    assert Categorical(2).contains(pairs).tolist() == [True, False, False, False, False]
    assert Product([Poisson(), bounded(0, 1)]).contains(pairs).tolist() == [True, False, True, True, False]


def test_per_arm_covariance_and_bounds():
    each = np.stack([FULL, np.diag([1.0, 4.0]), np.eye(2)])
    weights, means = [1.0, 2.0, 3.0], [[0.0, 0.0], [0.5, 0.2], [4.0, 1.0]]
    one, many = (la.psi(weights, means, 2, f) for f in (Gaussian(each), [Gaussian(c) for c in each]))
    assert one.value == many.value
    assert one.value != la.psi(weights, means, 2, Gaussian(FULL)).value
    shift = one.alternative - np.array(means)
    wanted = [s @ np.linalg.solve(c, s) / 2 for s, c in zip(shift, each, strict=True)]
    assert one.kl == pytest.approx(wanted, rel=1e-9)
    # (b-a)^2/4 for one coordinate, their sum for dependent ones, the diagonal for independent ones
    assert bounded(-1, 3).kl(0.0, 1.0) == pytest.approx(1 / 8)
    assert bounded([0, 0], [1, 2]).kl([0, 0], [0.3, 0.4]) == pytest.approx(0.25 / (2 * 1.25))
    independent = bounded([0, 0], [1, 2], independent=True)
    assert independent.kl([0, 0], [0.3, 0.4]) == pytest.approx(0.09 / (2 * 0.25) + 0.16 / 2)
    x = independent.draw(np.random.default_rng(3), np.array([0.2, 1.5]), 20_000)
    assert x.mean(axis=0) == pytest.approx([0.2, 1.5], abs=0.02)
    # one pair of bounds for two features does not say that they are independent
    with contextlib.suppress(InvalidInput):
        low, high = (la.psi([1, 1, 1], [[0, 0], [0.1, 0], [1, 1]], 2, bounded(x, 1)) for x in (0, [0, 0]))
        assert low.value <= high.value * (1 + 1e-9)


def test_a_waiting_time_of_zero_says_nothing_in_a_product():
    # under the model it cannot be; times are rounded
    family = la.families.Product([la.families.Exponential(), la.families.Exponential()])
    run = la.BanditClusterer(2, 3, n_features=2, family=family)
    run.tell_many(range(3), [[0.0, 1.0], [1.0, 2.0], [5.0, 9.0]])
    assert run.result().evidence == -np.inf
    run.tell(0, [0.5, 1.0])
    assert np.isfinite(run.result().evidence)
    assert not run.result().stopped
