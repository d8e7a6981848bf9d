"""Checks of the model: e-values against enumeration, quadrature and SciPy; diagnostics against SciPy; what runs say."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import integrate, special, stats
from tests.recorded.geometric import Geometric

import linkarms as la
from linkarms import _core
from linkarms.checks import KEPT, _special, check_model
from linkarms.checks import _diagnostics as diagnostics
from linkarms.checks._evidence import BLOCK, FACTORS, excess_variance, gamma_spread, mixed, poisson_spread
from linkarms.errors import InvalidInput


def test_variance_mixture_is_the_integral_of_likelihood_ratios():
    rng = np.random.default_rng(0)
    for n, scale in ((2, 1.0), (5, 0.3), (40, 1.0), (40, 2.0)):
        x = rng.normal(3.0, scale, n)
        squares = float(np.sum((x - x.mean()) ** 2))
        # recursive residuals: independent N(0, variance) whatever the mean, written down apart from the formula
        w = np.array([(x[i] - x[:i].mean()) * np.sqrt(i / (i + 1.0)) for i in range(1, n)])
        assert np.sum(w**2) == pytest.approx(squares)

        def ratio(t, w=w):
            return np.exp(np.sum(stats.norm.logpdf(w, scale=t**-0.5) - stats.norm.logpdf(w)))

        expected, _ = integrate.quad(ratio, 0.0, 1.0, epsabs=0.0, epsrel=1e-10, limit=200)
        assert excess_variance(squares, n - 1) == pytest.approx(np.log(expected), rel=1e-7, abs=1e-9)
    assert excess_variance(0.0, 0) == 0.0
    # far below the declared variance: no evidence against "at most"
    assert excess_variance(1e-3, 4000) == pytest.approx(-np.log(2001.0), rel=1e-6)


@pytest.mark.parametrize("variance", [1.0, 0.5])
def test_variance_mixture_has_mean_at_most_one(variance):
    # Q is variance times chi-square: one-dimensional quadrature over the truth, in log Q as the tail is long
    for k in (1, 3, 10):

        def integrand(u, k=k):
            return np.exp(excess_variance(variance * np.exp(u), k) + stats.chi2.logpdf(np.exp(u), k) + u)

        mean, _ = integrate.quad(integrand, -30.0, 30.0, limit=500)
        assert mean <= 1.0 + 1e-6
        assert mean == pytest.approx(1.0, abs=1e-6) or variance < 1.0


def test_counts_have_mean_one_given_their_sum():
    # all ways to distribute s counts over the block, grouped by pattern: the ratio is symmetric
    s = 4
    total = np.zeros(len(FACTORS))
    for parts in itertools.combinations_with_replacement(range(BLOCK), s):
        x = np.bincount(parts, minlength=BLOCK).astype(float)
        total += stats.multinomial.pmf(x, s, np.full(BLOCK, 1.0 / BLOCK)) * np.exp(poisson_spread(x))
    assert total == pytest.approx(np.ones(len(FACTORS)))
    x = np.random.default_rng(1).negative_binomial(3, 0.3, BLOCK)
    r = x.sum() / BLOCK / (FACTORS - 1.0)
    expected = [
        stats.dirichlet_multinomial.logpmf(x, np.full(BLOCK, size), x.sum())
        - stats.multinomial.logpmf(x, x.sum(), np.full(BLOCK, 1.0 / BLOCK))
        for size in r
    ]
    assert poisson_spread(x.astype(float)) == pytest.approx(expected)
    assert poisson_spread(np.zeros(BLOCK)) == pytest.approx(np.zeros(len(FACTORS)))
    assert poisson_spread(np.ones(BLOCK - 1)) == pytest.approx(np.zeros(len(FACTORS)))


def test_gamma_shares_against_scipy():
    rng = np.random.default_rng(2)
    x = rng.gamma(2.0, 3.0, 2 * BLOCK)
    expected = np.zeros(len(FACTORS))
    for block in x.reshape(2, BLOCK):
        u = block / block.sum()
        assert u.min() > 0.01 / BLOCK  # no floor
        null = stats.dirichlet.logpdf(u, np.full(BLOCK, 2.0))
        expected += [stats.dirichlet.logpdf(u, np.full(BLOCK, 2.0 / f)) - null for f in FACTORS]
    assert gamma_spread(x, 2.0) == pytest.approx(expected)
    zeros = x.copy()
    zeros[::3] = 0.0
    assert np.isfinite(gamma_spread(zeros, 2.0)).all()


def test_e_values_are_rarely_large_under_the_family():
    rng = np.random.default_rng(3)
    runs, level = 2_000, 0.05
    for draw, evidence in (
        (lambda: rng.poisson(0.7, 50), lambda x: mixed(poisson_spread(x))),
        (lambda: rng.exponential(5.0, 50), lambda x: mixed(gamma_spread(x, 1.0))),
    ):
        crossed = 0
        for _ in range(runs):
            x = draw().astype(float)
            crossed += any(evidence(x[:n]) >= np.log(1.0 / level) for n in range(BLOCK, 51, BLOCK))
        # Ville: at most 5% ever cross; a binomial count above its 99.9% quantile would contradict it
        assert crossed <= stats.binom.ppf(0.999, runs, level)


@pytest.mark.parametrize("n", [20, 57, 400])
def test_moments_against_scipy(n):
    x = np.random.default_rng(n).gamma(6.0, 1.0, n)
    strength, effect = diagnostics.skewness(x)
    assert strength == pytest.approx(-np.log(stats.skewtest(x).pvalue))
    assert effect == pytest.approx(stats.skew(x))
    strength, effect = diagnostics.tails(x)
    assert strength == pytest.approx(-np.log(stats.kurtosistest(x, alternative="greater").pvalue))
    assert effect == pytest.approx(stats.kurtosis(x))


def test_drift_and_variances_against_scipy():
    rng = np.random.default_rng(4)
    x = np.r_[rng.normal(0.0, 1.0, 30), rng.normal(0.7, 1.0, 30)]
    strength, effect = diagnostics.drift(x)
    assert strength == pytest.approx(-np.log(stats.ttest_ind(x[:30], x[30:]).pvalue))
    assert effect > 0.0
    groups = [rng.normal(0.0, scale, 40) for scale in (1.0, 1.3, 2.0)]
    strength, effect = diagnostics.unequal_variances(groups)
    assert strength == pytest.approx(-np.log(stats.bartlett(*groups).pvalue))
    assert effect == pytest.approx(groups[2].var(ddof=1) / groups[0].var(ddof=1))


def test_dependence_is_rare_in_random_orders():
    rng = np.random.default_rng(5)
    x = rng.normal(size=60)
    strong = sum(diagnostics.dependence(rng.permutation(x))[0] >= np.log(100.0) for _ in range(3_000))
    assert strong <= stats.binom.ppf(0.999, 3_000, 0.01)
    assert diagnostics.dependence(np.repeat(rng.normal(size=30), 2))[1] > 0.3


def test_too_little_or_too_odd_to_say():
    assert diagnostics.dependence(np.ones(50)) is None
    assert diagnostics.drift(np.arange(10.0)) is None
    rare = np.zeros(100)
    rare[[3, 4]] = 1.0
    assert diagnostics.dependence(rare) is None  # two neighbours among a hundred are no evidence
    assert check_model({"a": [], "b": [1.0]}, "gaussian") == ()


def test_findings_name_arms_meaning_and_cure():
    rng = np.random.default_rng(6)
    samples = {"ada": rng.normal(0, 1, 200), "ben": rng.normal(0, 3, 200)}
    (found,) = check_model(samples, "gaussian")
    assert found.arms == ("ben",)
    assert found.effect == pytest.approx(samples["ben"].var(ddof=1))
    assert str(found).startswith("arm 'ben': the variance is ")
    assert "gaussian-unknown" in found.advice
    assert (found.sequential, found.breaks_promise) == (True, True)
    assert check_model(samples, "gaussian:9") == ()
    assert check_model(samples) == ()
    (found,) = check_model(samples, "gaussian-unknown:shared")
    assert found.kind == "shared variance"
    # in two dimensions, in units of the declared covariance
    covariance = np.array([[4.0, 1.9], [1.9, 1.0]])
    x = rng.multivariate_normal([0, 0], covariance, 300)
    assert check_model([x, x + 1], la.families.Gaussian(covariance)) == ()
    assert [f.kind for f in check_model([x, x + 1], la.families.Gaussian([4.0, 0.3]))] == ["variance"]


def test_bad_samples_are_refused():
    with pytest.raises(InvalidInput, match="the samples of arm 'a' are not finite numbers"):
        check_model({"a": [1.0, np.nan]})
    with pytest.raises(InvalidInput, match="no samples to check"):
        check_model({})


def test_runs_check_what_they_were_told():
    rng = np.random.default_rng(7)
    c = la.BanditClusterer(2, ["a", "b", "c"], family="gaussian", max_samples=240)
    while not c.done:
        for arm in c.ask():
            c.tell(arm, rng.normal({"a": 0.0, "b": 1.0, "c": 2.0}[arm], 3.0))
        if c.n_samples == 1:
            early = c.result()
    result = c.result()
    assert [f.kind for f in result.checks] == ["variance"]
    assert result.warnings == [str(f) for f in result.checks]
    assert f"warning: {result.warnings[0]}" in str(result)
    assert sum(len(x) for x in result.fit.samples) == result.samples
    assert early.checks == ()  # a result does not change when more is told
    assert pickle.loads(pickle.dumps(result)).warnings == result.warnings


def test_a_run_keeps_a_bounded_number_of_samples(monkeypatch):
    monkeypatch.setattr("linkarms.checks._told.KEPT", 10)
    c = la.BanditClusterer(2, 3, family="gaussian", stopping=la.stopping.Paper(theta=(-9, 9)))
    c.tell_many([0] * 30, list(range(30)))
    assert c.result().fit.samples[0].ravel().tolist() == list(range(10))
    assert KEPT == 2_000


def test_a_refused_batch_leaves_no_samples_for_the_checks():
    class Broken(la.stopping.StoppingRule):
        name = "broken"

        def threshold(self, view, delta):
            if view.t == 5:
                raise RuntimeError("no")
            return np.inf

    c = la.BanditClusterer(2, 3, family="gaussian", stopping=Broken())
    c.tell_many([0, 1, 2], [1.0, 2.0, 9.0])
    with pytest.raises(RuntimeError):
        c.tell_many([0, 1, 2], [1.5, 2.5, 9.5])
    assert [x.ravel().tolist() for x in c.result().fit.samples] == [[1.0], [2.0], [9.0]]


def test_tables_are_checked_in_their_order():
    rng = np.random.default_rng(8)
    table = {
        name: np.cumsum(rng.normal(size=400)) * 0.1 + m for name, m in (("a", 0.0), ("b", 50.0), ("c", 51.0))
    }
    result = la.cluster(table, 2)
    assert {f.kind for f in result.checks} >= {"dependence"}
    (found,) = (f for f in result.checks if f.kind == "dependence")
    assert not found.breaks_promise
    assert "rows depend on the one before" in found.seen
    once = la.cluster(table, 2, replace=False)
    assert all(f.breaks_promise for f in once.checks)


@pytest.mark.parametrize(
    ("family", "draw"),
    [
        ("gaussian:4", lambda g, m: g.normal(m, 2.0, 300)),
        ("gaussian-unknown", lambda g, m: g.normal(m, 7.0, 300)),
        ("poisson", lambda g, m: g.poisson(40.0 + m, 300)),
        ("gamma:2:mean", lambda g, m: g.gamma(2.0, 3.0 + m, 300)),
    ],
)
def test_plot_fit_is_the_diagonal_for_the_right_family(family, draw):
    rng = np.random.default_rng(9)
    result = la.cluster(
        {name: draw(rng, m) for name, m in (("a", 0), ("b", 1), ("c", 90))}, 2, family=family, max_samples=200
    )
    info = la.plots.fit_info(result)
    assert info.names == ("a", "b", "c")
    assert np.abs(np.array(info.model) - np.array(info.records))[:, 5:-5].max() < 0.35
    axes = la.plots.plot_fit(result)
    assert axes.get_xlabel() == "quantile of the model (standard deviations)"


def test_plot_fit_shows_a_wrong_variance_and_refuses_what_it_cannot_show():
    rng = np.random.default_rng(10)
    data = {name: rng.normal(m, 3.0, (300, 2)) for name, m in (("a", 0), ("b", 1), ("c", 90))}
    info = la.plots.fit_info(la.cluster(data, 2, family="gaussian"))
    assert info.names[:2] == ("a, 0", "a, 1")
    slopes = [np.polyfit(x, y, 1)[0] for x, y in zip(info.model, info.records, strict=True)]
    assert np.allclose(slopes, 3.0, atol=0.6)
    with pytest.raises(InvalidInput, match="no arm has 5 samples"):
        la.plots.plot_fit(la.BanditClusterer(2, 3).result())
    equal = la.BanditClusterer(2, 3, family="gaussian-unknown")
    equal.tell_many([0, 1, 2] * 9, [1.5] * 27)
    with pytest.raises(InvalidInput, match="no arm has 5 samples that vary"):
        la.plots.plot_fit(equal.result())


def texts(axes):
    return [text.get_text() for text in axes.texts]


def test_plot_fit_of_bounded_samples_is_their_range():
    rng = np.random.default_rng(11)
    means = (("a", 2.0), ("b", 3.0), ("c", 9.0))
    data = {name: np.clip(rng.normal(m, 2.0, 300), 0.0, 10.0) for name, m in means}
    result = la.cluster(data, 2, clip=(0, 10), max_samples=300)
    info = la.plots.fit_info(result)
    assert [row.name for row in info.rows] == ["a", "b", "c"]
    assert [row.at_low for row in info.rows] == [int((x == 0.0).sum()) for x in data.values()]
    assert [row.at_high for row in info.rows] == [int((x == 10.0).sum()) for x in data.values()]
    axes = la.plots.plot_fit(result)
    assert axes.get_title(loc="left") == "Samples in their declared range"
    assert texts(axes)[:2] == [str(info.rows[0].at_low), str(info.rows[0].at_high)]
    # an end per coordinate and arm: the axis is a share of each range
    families = [la.families.bounded([0, -5], [10, 5 + m]) for m in range(3)]
    pairs = {name: np.column_stack([x, x - 5.0]) for name, x in data.items()}
    ranges = la.plots.fit_info(la.cluster(pairs, 2, family=families, max_samples=30)).rows
    assert [(row.name, row.low, row.high) for row in ranges[2:4]] == [
        ("b, 0", 0.0, 10.0),
        ("b, 1", -5.0, 6.0),
    ]
    drawn = la.plots.plot_fit(la.cluster(pairs, 2, family=families, max_samples=30))
    assert drawn.get_xlabel().startswith("sample, as a share of the declared range")


def test_plot_fit_of_categories_is_their_counts_beside_the_estimates():
    rng, family = np.random.default_rng(12), la.families.Categorical(3)
    shares = {"a": (0.1, 0.2, 0.7), "b": (0.2, 0.2, 0.6), "c": (0.8, 0.1, 0.1)}
    c = la.BanditClusterer(2, [*shares, "d"], n_features=3, family=family)
    for name, p in shares.items():
        c.tell_many([name] * 200, family.encode(rng.choice(3, 200, p=p)))
    result = c.result()
    info = la.plots.fit_info(result)
    assert info.names == tuple(f"{name}, {k}" for name in shares for k in range(3))  # d has no sample
    assert info.totals == (200,) * 9
    assert np.allclose(np.array(info.counts) / 200, np.ma.getdata(result.parameters)[:3].ravel())
    assert np.allclose(info.probabilities, np.array(info.counts) / 200)
    axes = la.plots.plot_fit(result)
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(np.array(info.counts) / 200)
    assert texts(axes) == [str(n) for n in info.counts]


def test_plot_fit_leaves_out_what_has_no_distribution_beside_what_has():
    rng = np.random.default_rng(13)
    pairs = {
        name: np.column_stack([rng.poisson(m, 99), rng.random(99)])
        for name, m in (("a", 3), ("b", 4), ("c", 90))
    }
    family = la.families.Product([la.families.Poisson(), la.families.bounded(0, 1)])
    result = la.cluster(pairs, 2, family=family, max_samples=30)
    info = la.plots.fit_info(result)
    assert (info.names, info.left_out) == (("a, 0", "b, 0", "c, 0"), ("a, 1", "b, 1", "c, 1"))
    legend = la.plots.plot_fit(result).get_legend()
    assert legend.get_texts()[-1].get_text() == "without a distribution: 'a, 1', 'b, 1', 'c, 1'"


@pytest.mark.parametrize("family", ["bounded:0:1", "categorical:2"])
def test_plot_fit_of_many_arms_has_no_numbers(tmp_path, family):
    rng, d = np.random.default_rng(15), 2 if "categorical" in family else 1
    c = la.BanditClusterer(2, 60, n_features=d, family=family)
    for m in range(60):
        c.tell_many([m] * 6, np.eye(2)[rng.integers(2, size=6)] if d == 2 else rng.random(6))
    axes = la.plots.plot_fit(c.result())
    assert texts(axes) == []
    axes.figure.savefig(tmp_path / "fit.png", dpi=50)


def test_plot_fit_draws_from_a_family_of_ones_own():
    rng, family = np.random.default_rng(14), Geometric()
    data = {name: rng.geometric(p, (300, 1)) - 1.0 for name, p in (("a", 0.02), ("b", 0.022), ("c", 0.5))}
    info = la.plots.fit_info(la.cluster(data, 2, family=family, max_samples=60))
    assert np.abs(np.array(info.model[0]) - np.array(info.records[0]))[5:-5].max() < 0.35


def test_special_functions_are_those_of_scipy():
    for z in np.linspace(-10.0, 60.0, 141):
        assert _special.log_normal_tail(z) == pytest.approx(special.log_ndtr(-z), rel=1e-12)
    for freedom in (1, 2, 18, 500, 1998):
        for t in np.linspace(0.0, 12.0, 61):
            assert _special.student_tail(freedom, t) == pytest.approx(special.stdtr(freedom, -t), rel=1e-11)
    for a in (0.5, 1.0, 5.5, 50.0, 1000.0):
        for x in np.concatenate([[0.0], np.geomspace(1e-6, 3.0 * a + 50.0, 50)]):
            expected = special.gammaincc(a, x)
            if expected > 1e-290:
                assert np.exp(_special.log_upper_gamma(a, x)) == pytest.approx(expected, rel=1e-11)
    x = np.geomspace(1e-3, 1e6, 50)
    assert _core.log_gamma(x) == pytest.approx(special.gammaln(x), rel=1e-13, abs=1e-13)
    for a in (1.5, 20.0, 1e4, 1e6):  # on both sides of where the formula changes
        below, above = (_special.log_mixed_tilt(a, (a + 1.0) * (1.0 + s)) for s in (-1e-12, 1e-12))
        assert below == pytest.approx(above, rel=1e-9)
