"""MaxGap: bounds against a literal transcription, and its promise."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.repeats import repeats

import linkarms as la
from linkarms._core import gap_bounds
from linkarms.errors import InvalidInput
from linkarms.sampling._gap_bounds import view_bounds

NAMES = ["maxgap-elim", "maxgap-ucb", "maxgap-top2ucb"]


def _right(l, r, a):  # noqa: E741
    """The upper bound on the gap to the right of arm a, as it is defined."""
    others = [j for j in range(len(l)) if j != a]

    def at(x):
        beyond = [r[j] - x for j in others if l[j] > x]
        if beyond:
            return min(beyond)
        return max([r[j] - x for j in others if r[j] > x], default=0.0)

    return max(at(x) for x in [l[a]] + [l[j] for j in range(len(l)) if l[a] <= l[j] <= r[a]])


def _plain(l, r):  # noqa: E741
    n = len(l)
    upper = [max(_right(l, r, a), _right([-x for x in r], [-x for x in l], a)) for a in range(n)]
    certain = []
    for k in range(n):
        inside = any(j != k and l[j] <= l[k] <= r[j] for j in range(n))
        left = [l[k] - r[j] for j in range(n) if r[j] < l[k]]
        if left and not inside:
            certain.append(min(left))
    return upper, max(certain, default=0.0)


@pytest.mark.parametrize("case", range(200))
def test_bounds_by_their_definition(case):
    rng = np.random.default_rng(case)
    n = int(rng.integers(3, 9))
    mean = rng.normal(size=n) * rng.choice([0.3, 1.0, 5.0])
    if case % 4 == 0:
        mean = mean.round(0)  # ties
    radius = rng.gamma(1.0, size=n) * rng.choice([0.05, 0.3, 1.0])
    upper, certain = gap_bounds(mean - radius, mean + radius)
    plain_upper, plain_certain = _plain(list(mean - radius), list(mean + radius))
    assert upper == pytest.approx(plain_upper, rel=1e-12)
    assert certain == pytest.approx(plain_certain, rel=1e-12)


@pytest.mark.parametrize("case", range(40))
def test_bounds_hold_for_all_means_in_the_intervals(case):
    rng = np.random.default_rng([1, case])
    n = int(rng.integers(3, 7))
    mean, radius = rng.normal(size=n), rng.gamma(1.0, 0.3, size=n)
    low, high = mean - radius, mean + radius
    upper, certain = gap_bounds(low, high)
    for x in rng.uniform(low, high, size=(300, n)):
        order = np.argsort(x)
        gaps = np.diff(x[order])
        assert gaps.max() >= certain - 1e-12
        for i, a in enumerate(order):
            beside = max(gaps[i - 1] if i > 0 else 0.0, gaps[i] if i < n - 1 else 0.0)
            assert beside <= upper[a] + 1e-12


@pytest.mark.parametrize(
    ("family", "proxy"), [("gaussian", 1.0), ("bernoulli", 0.25), (la.families.Gaussian(4.0), 4.0)]
)
def test_radius(family, proxy):
    c = la.BanditClusterer(2, 3, family=family, sampling="maxgap-elim", stopping=None)
    c.tell_many([0, 0, 1, 2, 2, 2], [0, 1, 1, 0, 0, 1])
    view = c._engine.view()
    s = np.array([2, 1, 3])
    r = np.sqrt(2 * proxy * np.log(4 * 3 * s**2 / 0.05) / s)
    mean = np.array([0.5, 1.0, 1 / 3])
    upper, certain = _plain(list(mean - r), list(mean + r))
    found = view_bounds(view, 0.05)
    assert found[0] == pytest.approx(upper, rel=1e-12)
    assert found[1] == pytest.approx(certain)


@pytest.mark.parametrize("name", NAMES)
def test_rounds_and_stop(name):
    """Every round samples the arms of its definition once; the run ends as soon as L reaches the third largest U."""
    # twice as far from each other, arms are told apart with a quarter of the samples
    truth = [repeats(2, 1) * x for x in (0.0, 0.4, 4.0, 4.3, 4.6)]
    c = la.BanditClusterer(2, 5, sampling=name, stopping=None, delta=0.1, family="gaussian")
    rng, rest = np.random.default_rng(3), []
    while not c.done:
        (m,) = c.ask()
        if c.n_samples >= 5:
            core = c._engine.core
            n, x = core.counts, core.estimates[:, 0]
            r = np.sqrt(2 * np.log(4 * 5 * n**2 / 0.1) / n)
            upper, certain = _plain(list(x - r), list(x + r))
            assert certain < sorted(upper)[-3]
            if not rest:
                level = {
                    "maxgap-elim": np.nextafter(certain, math.inf),
                    "maxgap-ucb": max(upper),
                    "maxgap-top2ucb": sorted(set(upper))[-2:][0],
                }[name]
                rest = [a for a in range(5) if upper[a] >= level - 1e-12]
            assert m == rest.pop(0)
        c.tell(m, rng.normal(truth[m]))
    assert c.result().labels.tolist() == [0, 0, 1, 1, 1]
    assert la.BanditClusterer.load(c.dump()).dump() == c.dump()


def test_delta_is_kept():
    """On a small hard instance at delta = 0.3; a false alarm has a chance below 1e-6."""
    p, n = la.Problem([0.0, 1.0, 3.5], n_clusters=2), repeats(20, 40)
    s = la.simulate(p, NAMES, stopping=None, deltas=[0.3], trials=n, seed=5, max_samples=20_000)
    for name in NAMES:
        assert np.all(s[name].stopping_times > 0)
        assert stats.binomtest(int(s[name].errors.sum()), n, 0.3, "greater").pvalue > 1e-6


def test_radii_that_are_too_small_break_the_promise(monkeypatch):
    """The test above can fail: with a twentieth of the radius the rule errs far more often."""
    from linkarms.sampling import _gap_bounds

    honest = _gap_bounds._proxy
    monkeypatch.setattr(_gap_bounds, "_proxy", lambda family: honest(family) / 400)
    p = la.Problem([0.0, 1.0, 2.1], n_clusters=2)
    s = la.simulate(p, "maxgap-elim", stopping=None, deltas=[0.05], trials=60, seed=5, max_samples=20_000)
    assert stats.binomtest(int(s["maxgap-elim"].errors.sum()), 60, 0.05, "greater").pvalue < 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_other_problems_are_refused(name):
    with pytest.raises(InvalidInput, match="two clusters and one feature, not 3 and 2"):
        la.cluster(la.problems.synthetic1(), sampling=name, stopping=None)
    with pytest.raises(InvalidInput, match="Gaussian tails"):
        la.cluster(la.Problem([1.0, 2.0, 9.0], 2, "poisson"), sampling=name, stopping=None)
    with pytest.raises(InvalidInput, match="for two clusters, not 3"):
        la.cluster(la.Problem([0.0, 1.0, 3.0, 9.0], 3), stopping=la.stopping.MaxGap())
