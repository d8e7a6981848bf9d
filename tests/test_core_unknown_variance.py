"""Evidence centred at the tested mean and variance (math.md, section 6), against formulas and searches that share no code with it."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln

import linkarms as la

GRID = [0.2 * 5.0**j for j in range(8)]


def log_evidence(x, lam, tau, c):
    """The mixture likelihood ratio of one arm's samples, shape (n, d), by its definition: an integral over g that has a closed form."""
    n, d = x.shape
    a, mean = 0.5 * c * d, x.mean(axis=0)
    squares, away = ((x - mean) ** 2).sum(), ((mean - lam) ** 2).sum()
    t, r = squares + n * away, squares + c * n / (c + n) * away
    top = a + 0.5 * n * d
    return (
        0.5 * d * math.log(c / (c + n))
        + gammaln(top)
        - gammaln(a)
        + a * math.log(a)
        - top * math.log(a + 0.5 * tau * r)
        + 0.5 * tau * t
    )


def least_over_tau(x, lam, c):
    """Its infimum over tau: where the derivative is zero, or at tau = 0."""
    n, d = x.shape
    a, mean = 0.5 * c * d, x.mean(axis=0)
    squares, away = ((x - mean) ** 2).sum(), ((mean - lam) ** 2).sum()
    t, r = squares + n * away, squares + c * n / (c + n) * away
    tau = max(2.0 * ((a + 0.5 * n * d) / t - a / r), 0.0)
    return log_evidence(x, lam, tau, c)


def told(samples, n_clusters, **options):
    run = la.BanditClusterer(
        n_clusters, len(samples), samples[0].shape[1], la.families.UnknownVariance(**options), delta=1e-80
    )
    for m, x in enumerate(samples):
        run.tell_many([m] * len(x), x)
    return run


@pytest.mark.parametrize("c", [2.0, 5.0, 125.0])
def test_a_martingale_of_mean_one_by_quadrature(c):
    # one sample at the truth (0, 1): the integral of exp(l) times its density is one
    def process_times_density(x):
        return math.exp(log_evidence(np.array([[x]]), 0.0, 1.0, c) - 0.5 * x * x) / math.sqrt(2.0 * math.pi)

    total = 2.0 * (quad(process_times_density, 0.0, 30.0)[0] + quad(process_times_density, 30.0, math.inf)[0])
    assert total == pytest.approx(1.0, abs=1e-6)


def test_the_infimum_over_the_precision():
    rng = np.random.default_rng(3)
    for _ in range(20):
        x, lam, c = (
            rng.normal(size=(int(rng.integers(2, 30)), 2)),
            rng.normal(size=2),
            10.0 ** rng.uniform(-1, 3),
        )
        found = minimize_scalar(
            lambda z, x=x, lam=lam, c=c: log_evidence(x, lam, math.exp(z), c),
            bounds=(-30.0, 10.0),
            method="bounded",
        )
        assert least_over_tau(x, lam, c) <= found.fun + 1e-9
        assert least_over_tau(x, lam, c) == pytest.approx(found.fun, abs=1e-5)


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("pairs", [(0, 1, 2, 3), (0, 1, 1, 2)])
def test_the_evidence_is_never_above_a_search_over_means_and_variances(d, pairs):
    rng = np.random.default_rng([7, d, *pairs])
    centres = np.array([[0.0] * d, [0.6] * d, [2.4] * d, [3.1] * d])
    samples = [rng.normal(centres[m], 0.5 + 0.3 * m, (25 + 5 * m, d)) for m in range(4)]
    run = told(samples, 2)
    u, v, a, b = pairs
    arms = sorted(set(pairs))
    core = run._engine.core
    assert core.labels.tolist() == [0, 0, 1, 1]

    def total(z, c):
        lam = z.reshape(len(arms), d)
        return sum(least_over_tau(samples[m], lam[i], c) for i, m in enumerate(arms))

    def room(z):
        lam = dict(zip(arms, z.reshape(len(arms), d), strict=True))
        return np.linalg.norm(lam[u] - lam[v]) - np.linalg.norm(lam[a] - lam[b])

    means = np.array([samples[m].mean(axis=0) for m in arms])
    best = -math.inf
    for c in GRID:
        values = []
        for start in (
            means,
            means + rng.normal(0, 0.5, means.shape),
            np.tile(means.mean(axis=0), (len(arms), 1)),
        ):
            found = minimize(total, start.ravel(), args=(c,), constraints=[{"type": "ineq", "fun": room}])
            if found.success and room(found.x) > -1e-7:
                values.append(found.fun)
        assert values
        best = max(best, min(values))
    ours = core.evidence_against(pairs)
    assert ours <= best + 1e-4 * max(1.0, abs(best))
    if d == 1:  # nothing is lost on a line
        assert ours >= best - 1e-3 * max(1.0, abs(best))


def test_one_variance_for_all_arms_against_a_search():
    rng = np.random.default_rng(5)
    samples = [rng.normal(m, 0.7, (20 + 3 * i, 1)) for i, m in enumerate((0.0, 0.5, 2.5))]
    run = told(samples, 2, shared=True)

    def total(z, c):
        n = np.array([len(x) for x in samples])
        away = np.array([(x.mean() - lam) ** 2 for x, lam in zip(samples, z, strict=True)])
        squares = sum(((x - x.mean()) ** 2).sum() for x in samples)
        t, r, a = squares + (n * away).sum(), squares + (c * n / (c + n) * away).sum(), 0.5 * c
        top = a + 0.5 * n.sum()
        level = 0.5 * np.log(c / (c + n)).sum() + gammaln(top) - gammaln(a) + a * math.log(a)
        return level - top * math.log(top) + top + top * math.log(t / r) - a * t / r

    best = -math.inf
    for c in GRID:
        values = []
        for start in ([0.0, 0.5, 2.5], [0.2, 0.9, 1.9], [-0.5, 1.0, 2.0]):
            found = minimize(
                total,
                start,
                args=(c,),
                constraints=[{"type": "ineq", "fun": lambda z: abs(z[0] - z[1]) - abs(z[1] - z[2])}],
                options={"ftol": 1e-12, "maxiter": 500},
            )
            if found.success:
                values.append(found.fun)
        best = max(best, min(values))
    assert run._engine.core.evidence_against((0, 1, 1, 2)) == pytest.approx(best, rel=1e-5, abs=1e-5)


def test_fewer_samples_than_universal_inference_and_old_runs_keep_it():
    problem = la.Problem([0.0, 1.0, 3.0, 4.0, 7.0, 8.0], 3, family=la.families.UnknownVariance())
    means = []
    for rule in (la.stopping.Anytime(), la.stopping.Anytime(version=1)):
        found = la.simulate(
            problem, "ebc-h", stopping=rule, deltas=[0.05], trials=20, seed=3, max_samples=20_000
        )
        assert not found["ebc-h"].errors.any()
        means.append(found["ebc-h"].stopping_times.mean())
    assert means[0] < 0.7 * means[1]
    from linkarms.stopping import stopping_from_dict

    assert stopping_from_dict({"name": "anytime"}).version == 1
    assert stopping_from_dict(la.stopping.Anytime().to_dict()).version == 2
