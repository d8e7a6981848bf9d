"""Arms and models of the native core: vectors, categories, evidence, against SciPy, eigenvalues and quadratic programs."""

import math

import numpy as np
import pytest
from scipy import optimize, stats
from scipy.special import kl_div, rel_entr
from tests.oracles import divergence

from linkarms import _core

FULL = np.array([[2.0, 0.6], [0.6, 0.5]])
B, P = _core.bernoulli(), _core.poisson()


def model(arm, n=1, **options):
    return _core.Model([arm] * n, arm.n_features, **options)


GAMMA = {"name": "gamma", "shape": 2.5, "parameter": "rate"}
ARMS = {
    "isotropic": (
        _core.Arm.coordinates([_core.gaussian(1.7)] * 2),
        {"name": "gaussian", "covariance": 1.7},
        [[0.4, -1.0], [-0.3, 1.5]],
    ),
    "covariance": (
        _core.Arm.covariance(FULL),
        {"name": "gaussian", "covariance": FULL},
        [[0.4, -1.0], [-0.3, 1.5]],
    ),
    "categories": (
        _core.Arm.categories(3),
        {"name": "categorical", "n_categories": 3},
        [[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]],
    ),
    "product": (
        _core.Arm.coordinates([_core.gaussian(2.0), _core.gamma_rate(2.5), _core.gamma_mean(1.0), B, P]),
        {
            "name": "product",
            "of": [
                {"name": "gaussian", "covariance": 2.0},
                GAMMA,
                {"name": "exponential", "parameter": "mean"},
                {"name": "bernoulli"},
                {"name": "poisson"},
            ],
        },
        [[0.3, 0.5, 2.0, 0.2, 3.0], [-0.4, 0.8, 1.0, 0.6, 2.0]],
    ),
}


def allowed(spec, x):
    """Whether a point is in the domain, as far as the oracle does not say so itself."""
    return spec["name"] != "categorical" or bool(np.all(x >= 0.0))


def directions(name, d):
    """The chart in which the information is taken: for categories the first d - 1 probabilities."""
    return np.vstack([np.eye(d - 1), -np.ones(d - 1)]) if name == "categories" else np.eye(d)


@pytest.mark.parametrize("name", ARMS)
def test_divergence_and_information(name):
    arm, spec, points = ARMS[name]
    theta, lam = np.array(points)
    one = model(arm)
    assert one.kl(0, theta, lam) == pytest.approx(divergence.kl(spec, theta, lam), rel=1e-12)
    assert one.kl(0, theta, theta) == 0.0
    chart, h = directions(name, len(theta)), 1e-4
    n = chart.shape[1]

    def kl(x):
        return divergence.kl(spec, theta, theta + chart @ x)

    hessian = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            plus, minus = h * (np.eye(n)[i] + np.eye(n)[j]), h * (np.eye(n)[i] - np.eye(n)[j])
            hessian[i, j] = (kl(plus) + kl(-plus) - kl(minus) - kl(-minus)) / (4 * h * h)
    largest = np.linalg.eigvalsh(hessian)[-1]
    assert one.fisher(0, theta) == pytest.approx(largest, rel=1e-5)
    wanted = np.linalg.eigvalsh(FULL)[-1] if name == "covariance" else 1 / largest
    assert one.variance(0, theta) == pytest.approx(wanted, rel=1e-5)
    eps = 0.01
    worst = [max(kl(s * eps * e) for s in (1, -1)) for e in np.eye(n)]
    assert one.shift_kl(0, theta, eps) == pytest.approx(sum(worst), rel=1e-9)


def test_categories_at_the_edges():
    c = model(_core.Arm.categories(3))
    a = np.array([0.5, 0.5, 0.0])
    assert c.kl(0, a, np.array([0.2, 0.5, 0.3])) == pytest.approx(0.5 * math.log(2.5), rel=1e-14)
    assert c.kl(0, np.array([0.2, 0.5, 0.3]), a) == math.inf
    assert c.kl(0, a, np.array([0.6, 0.5, -0.1])) == math.inf
    assert c.kl(0, np.array([1.0, 0, 0]), np.array([0.25, 0.5, 0.25])) == pytest.approx(
        math.log(4), rel=1e-14
    )
    # binary fractions, so that the moves are exact: sum s_i^2 / (2 p_i) and a third order that cancels here
    p, s = np.array([0.25, 0.25, 0.5]), 2.0**-30 * np.array([1.0, -1.0, 0.0])
    assert c.kl(0, p, p + s) == pytest.approx(4 * 2.0**-60, rel=1e-14)


def test_categories_in_their_chart():
    rng = np.random.default_rng(5)
    for c in (2, 3, 6):
        one = model(_core.Arm.categories(c))
        assert one.chart_dimension == c - 1
        for p in rng.dirichlet(np.ones(c), 20):
            fisher = np.diag(1 / p[:-1]) + 1 / p[-1]
            assert one.fisher(0, p) == pytest.approx(np.linalg.eigvalsh(fisher)[-1], rel=1e-9)
            eps = 0.3 * p.min()
            chart = np.vstack([np.eye(c - 1), -np.ones(c - 1)]) * eps
            shifted = [[rel_entr(p, p + s * x).sum() for s in (1, -1)] for x in chart.T]
            assert one.shift_kl(0, p, eps) == pytest.approx(sum(map(max, shifted)), rel=1e-9)
            assert one.shift_kl(0, p, 1.01 * p[[0, -1]].min()) == math.inf


def test_estimates_are_the_nearest_points_of_the_box():
    rng = np.random.default_rng(5)
    four = model(_core.Arm.categories(4))
    box = np.array([[0.1, 0.8], [0.1, 0.5], [0.05, 0.9], [0.0, 0.7]])
    for p in (*rng.dirichlet(np.full(4, 0.3), 20), np.eye(4)[0], np.eye(4)[3]):
        nearest = optimize.minimize(
            lambda x, p=p: np.sum((x - p) ** 2),
            box.mean(axis=1) / box.mean(axis=1).sum(),
            bounds=box,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            tol=1e-14,
        )
        found = four.estimate(0, p, box)
        assert found == pytest.approx(nearest.x, abs=1e-5)
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
        assert four.estimate(0, p).tolist() == p.tolist()
    product = model(_core.Arm.coordinates([_core.gamma_rate(2.0), B, P]))
    assert product.estimate(0, np.array([4.0, 0.25, 3.0])).tolist() == [0.5, 0.25, 3.0]
    limits = np.array([[0.6, 1.0], [0.0, 0.2], [0.0, np.inf]])
    assert product.estimate(0, np.array([4.0, 0.25, 3.0]), limits).tolist() == [0.6, 0.2, 3.0]
    full = model(_core.Arm.covariance(FULL))
    assert full.estimate(0, np.array([4.0, -9.0]), np.array([[-5, 5], [-5, 5.0]])).tolist() == [4.0, -5.0]


def test_shift_of_products_is_the_worse_side_of_each():
    one = model(_core.Arm.coordinates([_core.gamma_mean(1.0), B, P]))
    wanted = math.log(1.9 / 2) + 2 / 1.9 - 1  # the mean's divergence is larger below
    wanted += max(rel_entr(0.3, q) + rel_entr(0.7, 1 - q) for q in (0.2, 0.4)) + max(kl_div(0.7, [0.6, 0.8]))
    assert one.shift_kl(0, np.array([2.0, 0.3, 0.7]), 0.1) == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize("c", [0.5, 5.0, 40.0])
def test_log_evidence_of_vectors(c):
    mean, lam, n = np.array([0.3, -0.2]), np.array([0.0, 0.4]), 15
    # the samples' mean is N(lam, cov (1/n + 1/c)) under the mixture and N(lam, cov / n) under lam
    wide, narrow = (stats.multivariate_normal(lam, FULL * s).logpdf(mean) for s in (1 / n + 1 / c, 1 / n))
    found = model(_core.Arm.covariance(FULL)).log_evidence(0, n, mean, lam, c)
    assert found == pytest.approx(wide - narrow, abs=1e-9)
    p, counts = np.array([0.2, 0.5, 0.3]), np.array([4, 1, 7])
    mixture, plain = stats.dirichlet_multinomial(c * p, 12), stats.multinomial(12, p)
    found = model(_core.Arm.categories(3)).log_evidence(0, 12, counts / 12, p, c)
    assert found == pytest.approx(mixture.logpmf(counts) - plain.logpmf(counts), abs=1e-9)
    one = model(_core.Arm.coordinates([B, P]))
    parts = [
        model(_core.Arm.coordinates([f])).log_evidence(0, 9, np.array([x]), np.array([y]), c)
        for f, x, y in ((B, 1 / 3, 0.6), (P, 2.0, 1.5))
    ]
    assert one.log_evidence(0, 9, np.array([1 / 3, 2.0]), np.array([0.6, 1.5]), c) == pytest.approx(
        sum(parts)
    )
    assert one.log_evidence(0, 0, np.array([1 / 3, 2.0]), np.array([0.6, 1.5]), c) == 0.0


def test_regret_of_vectors():
    # Dirichlet(1/2) on three categories: marginal likelihood of the sequence against the best
    counts = np.array([4, 1, 7])
    marginal = stats.dirichlet_multinomial(np.full(3, 0.5), 12).logpmf(counts)
    best = stats.multinomial(12, counts / 12).logpmf(counts)
    found = model(_core.Arm.categories(3)).regret(0, 12, counts / 12)
    assert found == pytest.approx(best - marginal, abs=1e-9)
    one = model(_core.Arm.coordinates([B, P]))
    parts = [model(_core.Arm.coordinates([f])).regret(0, 9, np.array([x])) for f, x in ((B, 1 / 3), (P, 2.0))]
    assert one.regret(0, 9, np.array([1 / 3, 2.0])) == pytest.approx(sum(parts), rel=1e-14)
    assert one.regret(0, 0, np.array([1 / 3, 2.0])) == 0.0


def test_kinds():
    line = _core.Arm.coordinates
    unit, wide = line([_core.gaussian(1.0)] * 2), line([_core.gaussian(4.0)] * 2)
    full, mixed = _core.Arm.covariance(FULL), line([_core.gaussian(1.0), P])
    kinds = {
        ("isotropic", "known"): [unit, wide, _core.Arm.covariance(3 * np.eye(2))],
        ("covariance", "known"): [unit, full],
        ("vector", "known"): [unit, mixed, full],
        ("unknown-variance", "separate"): [unit] * 3,
        ("unknown-variance", "shared"): [unit] * 3,
    }
    for (kind, variances), arms in kinds.items():
        found = _core.Model(arms, 2, variances)
        assert (found.kind, found.variances, found.n_arms) == (kind, variances, len(arms))
        assert found.chart_dimension == found.n_features == 2
        assert not found.has_user_family
    assert model(line([P])).kind == "scalar"
    assert model(_core.Arm.categories(3)).kind == "vector"
    # two variances in one arm are a product, not one Gaussian
    assert model(line([_core.gaussian(1.0), _core.gaussian(4.0)])).kind == "vector"


BAD = {
    "variance=-1": lambda: _core.gaussian(-1.0),
    "shape=nan": lambda: _core.gamma_rate(math.nan),
    "shape=0": lambda: _core.gamma_mean(0.0),
    "no coordinates": lambda: _core.Arm.coordinates([]),
    "1 categories": lambda: _core.Arm.categories(1),
    "square": lambda: _core.Arm.covariance(np.ones((2, 3))),
    "symmetric": lambda: _core.Arm.covariance(np.array([[1.0, 0.5], [0.4, 1.0]])),
    "eigenvalue -1": lambda: _core.Arm.covariance(np.array([[1.0, 2.0], [2.0, 1.0]])),
    "finite": lambda: _core.Arm.covariance(np.array([[math.inf, 0.0], [0.0, 1.0]])),
    "no arms": lambda: _core.Model([], 1),
    "n_features=2": lambda: _core.Model([_core.Arm.coordinates([P])], 2),
    "mixed": lambda: _core.Model([_core.Arm.categories(2), _core.Arm.coordinates([P, P])], 2),
    "unknown variance": lambda: model(_core.Arm.coordinates([P]), variances="shared"),
    "variances='unknown'": lambda: model(_core.Arm.coordinates([P]), variances="unknown"),
    "length": lambda: model(_core.Arm.coordinates([P])).kl(0, np.ones(1), np.ones(2)),
    "box": lambda: model(_core.Arm.coordinates([P])).estimate(0, np.ones(1), np.ones((1, 3))),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_arguments_are_named(what):
    with pytest.raises(ValueError) as caught:
        BAD[what]()
    text = str(caught.value)
    assert what in text
    assert "\n" not in text
    assert any(word in text for word in ("; give", "; choose", "; make")), text


def test_arms_that_are_not_there():
    for m in (-1, 2):
        with pytest.raises(IndexError, match=f"arm={m}"):
            model(_core.Arm.coordinates([P]), 2).fisher(m, np.ones(1))
