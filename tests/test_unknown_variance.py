"""Gaussian arms of unknown variance: what is kept, the evidence against SLSQP over means and variances, and the promise."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

import linkarms as la
from linkarms.engine import Engine
from linkarms.families import UnknownVariance, resolve
from linkarms.montecarlo import promise_is_broken
from linkarms.sampling import resolve_sampling
from linkarms.stopping import Anytime


def make(shared, n_arms, d, n_clusters=2, delta=0.1):
    families = resolve(UnknownVariance(shared), n_arms, d)
    return Engine(
        families, n_clusters, resolve_sampling("ebc-h"), Anytime(version=1), delta, np.random.default_rng(0)
    )


def feed(engine, order, rng, scale=None):
    d = engine.core.means.shape[1]
    told = []
    for m in order:
        x = 2.0 * m + (1.0 if scale is None else scale[m]) * rng.normal(size=d)
        engine.observe(m, x)
        told.append((m, x))
    return told


def predicted(told, shared, n_arms, d):
    """Which samples are predicted, and the sum of their log densities, from the definition."""
    past = [[] for _ in range(n_arms)]
    used, total = [[] for _ in range(n_arms)], np.zeros(n_arms)
    for m, x in told:
        groups = past if shared else [past[m]]
        degrees = d * sum(max(len(g) - 1, 0) for g in groups)
        squares = sum(((np.array(g) - np.mean(g, axis=0)) ** 2).sum() for g in groups if g)
        if past[m] and degrees >= 1:
            n = len(past[m])
            shape = squares / degrees * (1 + 1 / n) * np.eye(d)
            total[m] += stats.multivariate_t(np.mean(past[m], axis=0), shape, df=degrees).logpdf(x)
            used[m].append(x)
        past[m].append(x)
    return used, total


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_what_is_kept(shared, d):
    rng = np.random.default_rng(d)
    engine = make(shared, 4, d)
    told = feed(engine, rng.permutation(np.repeat(np.arange(4), [7, 3, 12, 2])), rng)
    used, total = predicted(told, shared, 4, d)
    for m in range(4):
        kept = engine.core.moments[m]
        assert kept.predicted == len(used[m])
        assert kept.log_predictive == pytest.approx(total[m], rel=1e-10, abs=1e-10)
        if used[m]:
            squares = ((used[m] - np.mean(used[m], axis=0)) ** 2).sum()
            assert kept.mean == pytest.approx(np.mean(used[m], axis=0))
            assert kept.squares == pytest.approx(squares, abs=1e-12)


def slsqp(used, total, pairs, shared, rng):
    """``sum of log predictive - sup over variances of the log likelihood``, smallest over means that obey the pair of pairs."""
    u, v, a, b = pairs
    arms = sorted({u, v, a, b})
    place = {m: i for i, m in enumerate(arms)}
    d = len(used[u][0])

    counts = np.array([len(used[m]) for m in arms])
    means = np.array([np.mean(used[m], axis=0) for m in arms])
    squares = np.array([((used[m] - np.mean(used[m], axis=0)) ** 2).sum() for m in arms])

    def value(x):
        """At the likeliest variances, the mean squares; and the gradient."""
        away = x.reshape(len(arms), d) - means
        n, left = counts * d, squares + counts * (away**2).sum(axis=1)
        if shared:
            n, left = n.sum(keepdims=True), left.sum(keepdims=True)
        best = (0.5 * n * (np.log(2.0 * math.pi * left / n) + 1.0)).sum()
        return sum(total[m] for m in arms) + best, ((n / left * counts)[:, None] * away).ravel()

    def room(x):
        x = x.reshape(len(arms), d)
        return np.linalg.norm(x[place[u]] - x[place[v]]) - np.linalg.norm(x[place[a]] - x[place[b]])

    found = [value(means.ravel())[0]] if room(means.ravel()) >= 0 else []
    for turn in range(12):
        x0 = means + (0.01 if turn == 0 else 1.5) * rng.normal(size=means.shape)
        r = optimize.minimize(
            value,
            x0.ravel(),
            jac=True,
            constraints=[{"type": "ineq", "fun": room}],
            method="SLSQP",
            options={"maxiter": 400, "ftol": 1e-12},
        )
        if room(r.x) >= -1e-7:
            found.append(r.fun)
    return min(found)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("pairs", [(0, 1, 2, 3), (1, 0, 1, 2)])
def test_evidence_against_a_pair_of_pairs(shared, d, pairs):
    for seed in range(3):
        rng = np.random.default_rng([seed, d])
        engine = make(shared, 4, d)
        order = rng.permutation(np.repeat(np.arange(4), rng.integers(5, 14, 4)))
        told = feed(engine, order, rng, scale=[1.0] * 4 if shared else [0.5, 1.0, 2.0, 1.0])
        used, total = predicted(told, shared, 4, d)
        got = engine.core.evidence_against(pairs)
        wanted = slsqp(used, total, pairs, shared, rng)
        assert got <= wanted + 1e-5
        four = len(set(pairs)) == 4
        if four or shared or d == 1:  # elsewhere the triangle inequality loses a little
            assert got == pytest.approx(wanted, abs=1e-3)


@pytest.mark.parametrize("shared", [False, True])
def test_units_do_not_matter(shared):
    times = []
    for s in (1.0, 1024.0):
        problem = la.Problem(
            la.problems.synthetic1().parameters * s, n_clusters=3, family=UnknownVariance(shared, s * s)
        )
        times.append(la.simulate(problem, ["ebc-h"], deltas=[0.1], trials=6, seed=2)["ebc-h"].stopping_times)
    assert (times[0] == times[1]).all()


def test_supermartingale_under_adaptive_sampling():
    # arms are chosen by what was seen, with optional stopping; Ville: exp(l at the truth) ever exceeds 10 with probability <= 1/10
    crossed, runs = 0, 400
    for run in range(runs):
        rng = np.random.default_rng([3, run])
        engine = make(False, 2, 1)
        sigma = np.array([0.3, 4.0])
        high = False
        for t in range(60):
            mean = engine.core.means[:, 0]
            m = (
                t % 2 if t < 8 else int(np.argmax(np.abs(mean) / (engine.core.counts + 1)))
            )  # whichever looks worse
            engine.observe(m, sigma[m] * rng.normal(size=1))
            total = 0.0
            for kept in engine.core.moments:
                k = kept.predicted
                if kept.squares > 0:
                    squares = kept.squares + k * kept.mean[0] ** 2  # about the truth, 0
                    total += kept.log_predictive + k / 2 * (math.log(2 * math.pi * squares / k) + 1)
            high = high or total >= math.log(10)
        crossed += high
    assert not promise_is_broken(crossed, runs, 0.1)


def test_error_rate_on_a_near_tie():
    problem = la.Problem([0.0, 1.0, 2.15, 3.15], n_clusters=2, family=UnknownVariance(True, 0.01))
    r = la.simulate(problem, ["ebc-h"], deltas=[0.2], trials=60, seed=1, max_samples=20000)["ebc-h"]
    assert (r.stopping_times > 0).all()
    assert not promise_is_broken(int(r.errors.sum()), 60, 0.2)


def test_equal_samples_never_stop_and_bad_mixes_are_refused():
    engine = make(False, 3, 1)
    for m, _ in itertools.product(range(3), range(8)):
        engine.observe(m, np.array([float(m**2)]))
    assert not engine.check(0.5)
    assert engine.evidence() == -math.inf
    with pytest.raises(la.errors.InvalidInput, match="cannot be mixed"):
        resolve([UnknownVariance(), "gaussian"], 2, 1)
    with pytest.raises(la.errors.InvalidInput, match="known variance"):
        la.psi([1, 1, 1], [0, 1, 5], n_clusters=2, family=UnknownVariance())
    with pytest.raises(la.errors.InvalidInput, match="known variance"):
        la.BanditClusterer(
            n_clusters=2, arms=3, family="gaussian-unknown", stopping=la.stopping.Paper(theta=(-5, 5))
        )
    with pytest.raises(la.errors.InvalidInput, match="neither True nor False"):
        UnknownVariance("yes")


def test_dump_and_load():
    c = la.BanditClusterer(n_clusters=2, arms=3, family="gaussian-unknown", delta=1e-9, seed=1)
    rng = np.random.default_rng(5)
    for _ in range(60):
        (arm,) = c.ask()
        c.tell(arm, 3.0 * arm + rng.normal())
    d = la.BanditClusterer.load(c.dump())
    assert d.result().evidence == c.result().evidence
    assert d.ask(5) == c.ask(5)
    assert d.dump() == c.dump()
