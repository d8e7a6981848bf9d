"""The paper's threshold against quadrature and a transcription of the formula, and its diagnosis."""

import math
import re

import numpy as np
import pytest
from linkarms._core.testing import log_inner_mass
from scipy import integrate, special, stats

import linkarms as la
from linkarms.errors import InvalidInput
from linkarms.families import Bernoulli, Categorical, Exponential, Gamma, Gaussian, Poisson, Product, bounded
from linkarms.stopping import Paper


def test_inner_mass_against_quadrature():
    for x in np.append(np.logspace(-12, math.log10(40), 60), [1.0, math.sqrt(2) * (1 - 1e-9), math.sqrt(2)]):
        inside, _ = integrate.quad(stats.norm.pdf, -min(x, 10), min(x, 10), epsabs=0, epsrel=1e-12)
        tail = 2 * stats.norm.sf(x)
        wanted = math.log(inside) if x < 1.0 else math.log1p(-tail)  # log(1 - 2Q), without cancellation
        assert log_inner_mass(x) == pytest.approx(wanted, rel=1e-11, abs=5e-324)
        if x > 0.5:
            assert math.exp(log_inner_mass(x)) == pytest.approx(inside, rel=1e-10)
    small = np.array([log_inner_mass(x) for x in (1e-12, 1e-6)])
    assert small == pytest.approx(0.5 * math.log(2 / math.pi) + np.log([1e-12, 1e-6]), rel=1e-12)
    values = [log_inner_mass(x) for x in np.logspace(-12, math.log10(40), 500)]
    assert np.all(np.diff(values) >= 0.0)
    assert values[-1] <= 0.0


def beta(arms, epsilon, volume, delta):
    """the paper's beta, term by term; an arm is (N, theta_hat, KL, largest eigenvalue of I, directions e_i)."""
    m, d = len(arms), arms[0][4].shape[1]
    total = math.log(1 / delta) + m * d * math.log(volume ** (1 / d) / math.sqrt(2 * math.pi))
    for n, theta, kl, information, directions in arms:
        total += d / 2 * math.log(information * n)
        q = special.erfc(epsilon * math.sqrt(n * information) / math.sqrt(2)) / 2
        total -= d * math.log(1 - 2 * q)
        total += n * sum(max(kl(theta - epsilon * e), kl(theta + epsilon * e)) for e in directions.T)
    return total


def gamma_kl(shape, t, x):  # by the rate
    return shape * (x / t - 1 - math.log(x / t))


def one(family, mean):
    """theta_hat, KL(theta_hat, .) and I(theta_hat) of a one-dimensional family, from the mean of the samples."""
    if isinstance(family, Gaussian):
        v = 1.0 if family.covariance is None else float(family.covariance)
        return mean, lambda x: (x - mean) ** 2 / (2 * v), 1 / v
    if isinstance(family, Gamma):
        k = family.shape
        if family.parameter == "rate":
            return k / mean, lambda x: gamma_kl(k, k / mean, x), k / (k / mean) ** 2
        return mean, lambda x: gamma_kl(k, k / mean, k / x), k / mean**2
    if isinstance(family, Bernoulli):
        kl = special.rel_entr
        return mean, lambda x: kl(mean, x) + kl(1 - mean, 1 - x), 1 / (mean * (1 - mean))
    return mean, lambda x: special.kl_div(mean, x), 1 / mean


def arm(family, values):
    """The arm of `beta` for samples of shape (n, d)."""
    n, d = values.shape
    mean = values.mean(axis=0)
    if isinstance(family, Categorical):
        chart = np.vstack([np.eye(d - 1), -np.ones(d - 1)])
        information = np.linalg.eigvalsh(np.diag(1 / mean[:-1]) + 1 / mean[-1])[-1]
        return n, mean, lambda x: special.rel_entr(mean, x).sum(), information, chart
    if isinstance(family, Gaussian) and d > 1:
        c = np.eye(d) if family.covariance is None else family.covariance
        c = np.diag(c) if c.ndim == 1 else c * np.eye(d) if c.ndim == 0 else c
        precision = np.linalg.inv(c)
        information = np.linalg.eigvalsh(precision)[-1]
        return n, mean, lambda x: (x - mean) @ precision @ (x - mean) / 2, information, np.eye(d)
    parts = [one(f, x) for f, x in zip(getattr(family, "families", [family]), mean, strict=True)]
    theta = np.array([p[0] for p in parts])
    kl = [p[1] for p in parts]
    return (
        n,
        theta,
        lambda x: sum(f(v) for f, v in zip(kl, x, strict=True)),
        max(p[2] for p in parts),
        np.eye(d),
    )


FULL = np.array([[2.0, 0.6], [0.6, 0.5]])
# family or families, true parameters, Theta, epsilon
CASES = {
    "gaussian": (Gaussian(), [0.0, 0.5, 3.0], (-5, 5), 0.05),
    "gaussian-plane": (Gaussian(), [[0, 0], [0.5, 0], [3, 1]], [(-5, 5), (-2, 4)], 0.01),
    "gaussian-variance": (Gaussian(3.0), [[0, 0], [0.5, 0], [3, 1]], (-5, 5), 0.1),
    "gaussian-covariance": (Gaussian(FULL), [[0, 0], [0.5, 0], [3, 1]], (-5, 5), 0.05),
    "gaussian-own": (
        [Gaussian(FULL), Gaussian([1.0, 4.0]), Gaussian()],
        [[0, 0], [0.5, 0], [3, 1]],
        (-5, 5),
        0.05,
    ),
    "exponential-rate": (Exponential(), [1.0, 1.2, 5.0], (0.2, 40), 0.1),
    "exponential-mean": (Exponential("mean"), [1.0, 1.2, 5.0], (0.2, 40), 0.1),
    "gamma": (Gamma(2.5, "mean"), [1.0, 1.2, 5.0], (0.2, 40), 0.01),
    "bernoulli": (Bernoulli(), [0.3, 0.4, 0.7], (0.05, 0.95), 0.02),
    "poisson": (Poisson(), [1.0, 1.5, 5.0], (0.2, 20), 0.05),
    "categorical": (Categorical(3), [[0.2, 0.3, 0.5], [0.3, 0.3, 0.4], [0.7, 0.2, 0.1]], (0.01, 0.99), 0.005),
    "product": (
        Product([Bernoulli(), Exponential()]),
        [[0.3, 1], [0.4, 1], [0.7, 4]],
        [(0.1, 0.9), (0.3, 9)],
        0.05,
    ),
    "mixed": ([Gaussian(2.0), Poisson(), Exponential("mean")], [1.0, 1.5, 5.0], (0.2, 40), 0.05),
}


@pytest.mark.parametrize("name", CASES)
def test_threshold_against_the_formula(name):
    family, parameters, theta, epsilon = CASES[name]
    problem = la.Problem(parameters, 2, family)
    d = problem.n_features
    stop = Paper(theta=theta, epsilon=epsilon)
    c = la.BanditClusterer(2, 3, n_features=d, family=family, stopping=stop, delta=0.03)
    rng = np.random.default_rng(6)
    samples = []
    for m, n in enumerate((60, 40, 30)):
        values = problem.families[m].draw(rng, problem.parameters[m], n)
        samples.append(values)
        c.tell_many([m] * n, values)
    assert not c.done
    arms = [arm(f, x) for f, x in zip(problem.families, samples, strict=True)]
    sides = np.array(theta if np.ndim(theta) == 2 else [theta] * d, dtype=float)
    volume = float(np.prod((sides[:, 1] - sides[:, 0])[: arms[0][4].shape[1]]))
    wanted = beta(arms, epsilon, volume, 0.03)
    assert c.evidence_and_threshold()[1] == pytest.approx(wanted, rel=1e-9)
    view = c._engine.view()
    assert stop.threshold(view, 0.03) == pytest.approx(wanted, rel=1e-9)
    assert stop.threshold(view, 1e-40) == pytest.approx(wanted + math.log(0.03) + 40 * math.log(10), rel=1e-9)
    # eta: what the last sum grows by with each sample
    for e in (epsilon, epsilon / 7):
        last = [n * sum(max(kl(t - e * x), kl(t + e * x)) for x in way.T) for n, t, kl, _, way in arms]
        assert stop.eta(view, e) == pytest.approx(sum(last) / 130, rel=1e-6)


BAD = {
    "reaches the ends": lambda: start(Bernoulli(), (0.0, 0.9)),
    "epsilon below 0.05": lambda: start(Bernoulli(), (0.05, 0.9), 0.06),
    "exponential": lambda: start(Exponential(), (0.0, 9.0)),
    "epsilon=0.5": lambda: start(Poisson(), (0.1, 9.0), 0.5),
    "arm 1": lambda: start([Gaussian(), Poisson(), Gaussian()], (-1.0, 9.0)),
    "add up to one": lambda: start(Categorical(3), (0.4, 0.9), d=3),
    "2 intervals for 1 features": lambda: start(Gaussian(), [(0, 1), (0, 1)]),
    "is empty": lambda: Paper(theta=(1, 1)),
    "is not an interval": lambda: Paper(theta=(0, 1, 2)),
    "theta=(0, inf)": lambda: Paper(theta=(0, math.inf)),
    "theta='wide'": lambda: Paper(theta="wide"),
    "epsilon=0 ": lambda: Paper(theta=(0, 1), epsilon=0.0),
    "epsilon=nan": lambda: Paper(theta=(0, 1), epsilon=math.nan),
    "needs the parameter space": lambda: la.BanditClusterer(2, 3, stopping="paper", family="gaussian"),
}


def start(family, theta, epsilon=0.01, d=1):
    return la.BanditClusterer(2, 3, n_features=d, family=family, stopping=Paper(theta=theta, epsilon=epsilon))


@pytest.mark.parametrize("what", BAD)
def test_bad_spaces_are_named(what):
    with pytest.raises(InvalidInput) as caught:
        BAD[what]()
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)
    assert re.search("give|choose", str(caught.value))


def test_spaces_that_are_fine():
    assert start(bounded(0, 1), (0.0, 1.0)).arms == (0, 1, 2)  # a sub-Gaussian bound has no edge
    assert start(Bernoulli(), (0.05, 0.95), 0.049).arms == (0, 1, 2)
    again = Paper(**{k: v for k, v in Paper(theta=(-1, 2), epsilon=0.2).to_dict().items() if k != "name"})
    assert repr(again) == "Paper(theta=(-1.0, 2.0), epsilon=0.2)"


def test_estimates_are_clipped_to_the_space():
    c = start(Exponential(), (0.5, 2.0))
    c.tell_many([0, 1, 2], [0.0, 1.0, 40.0])
    assert c.result().parameters[:, 0] == pytest.approx([2.0, 1.0, 0.5])
    assert all(math.isfinite(x) for x in c.evidence_and_threshold())


def test_a_rule_that_can_never_stop_says_so():
    # T* = 262, eta(0.1) = 0.005 > 1/262
    problem = la.Problem([0.0, 1.0, 2.4, 3.4], 2)
    stuck = la.cluster(problem, stopping=Paper(theta=(-10, 10), epsilon=0.1), max_samples=4000, seed=2)
    assert not stuck.stopped
    assert "max_samples=4000" in stuck.reason
    assert "never stop" in stuck.reason
    named = float(re.search(r"epsilon=([0-9.e-]+) would work", stuck.reason)[1])
    assert 0.0 < named < 0.1
    better = la.cluster(problem, stopping=Paper(theta=(-10, 10), epsilon=named), max_samples=40_000, seed=2)
    assert better.stopped
    assert better.labels.tolist() == [0, 0, 1, 1]
    fine = la.cluster(problem, stopping=Paper(theta=(-10, 10), epsilon=0.01), max_samples=100, seed=2)
    assert not fine.stopped
    assert "never" not in fine.reason
