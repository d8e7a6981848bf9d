"""T*: the paper's problems, brackets whose two ends are proved here again by other means, and the edges."""

import json
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.oracles.psi_oracle import margin, psi_brute, total_cost
from tests.repeats import repeats

import linkarms as la
from linkarms import families as f
from linkarms.bound._bound import binary_divergence
from linkarms.bound._level import Cut, maximise
from linkarms.cli._app import run
from linkarms.errors import InvalidInput

SYNTHETIC1 = la.problems.synthetic1().parameters


def bound_of(problem, **options):
    return la.lower_bound(problem.parameters, problem.n_clusters, problem.family, **options)


# -- the problems of the paper -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "low", "high"),
    [
        (la.problems.synthetic1(), 19.068, 19.069),
        (la.problems.synthetic2("rate"), 96.98, 96.99),
        (la.problems.synthetic2("mean"), 97.98, 97.985),
    ],
)
def test_the_papers_problems(problem, low, high):
    b = bound_of(problem)
    assert low <= b.lower <= b.upper <= high
    assert b.closed
    assert b.gap == pytest.approx(b.upper / b.lower - 1)
    assert b.gap <= 1e-4
    fine = bound_of(problem, gap=1e-6)
    assert fine.gap <= 1e-6
    assert b.lower <= fine.upper
    assert fine.lower <= b.upper


def test_the_mean_needs_the_branch_beyond_the_inflection():
    # following only the branch that starts at the estimate gives 97.71
    assert bound_of(la.problems.synthetic2("mean"), gap=1e-6).lower > 97.9825


def test_information_bound_of_synthetic_1():
    b = bound_of(la.problems.synthetic1())
    assert [round(b.samples(d)) for d in (0.1, 0.01, 1e-4, 1e-10)] == [34, 86, 176, 439]


def test_both_ends_are_proved_by_what_is_returned():
    # the lower end: a mixture of divergences at true alternatives; the upper end: brute-force psi at the weights
    b = bound_of(la.problems.synthetic1(), gap=1e-6)
    labels = la.problems.synthetic1().labels
    shares = np.array([a.share for a in b.alternatives])
    assert shares.sum() == pytest.approx(1.0, abs=1e-4)
    assert np.all(np.diff(shares) <= 0)
    rows = []
    for a in b.alternatives:
        assert margin(a.parameters, labels) >= 1.0 - 1e-12
        kl = 0.5 * np.sum((a.parameters - SYNTHETIC1) ** 2, axis=1)
        np.testing.assert_allclose(a.kl, kl, rtol=1e-12)
        assert a.arms == tuple(np.flatnonzero(kl))
        rows.append(kl)
    assert 1.0 / (shares @ np.array(rows)).max() == pytest.approx(b.lower, rel=1e-5)
    assert b.weights.sum() == pytest.approx(1.0)
    assert np.all(b.weights > 0)
    value = psi_brute(b.weights, SYNTHETIC1, labels, {"name": "gaussian"})["value"]
    assert 1.0 / value == pytest.approx(b.upper, rel=1e-6)


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "categorical"])
def test_clusters_of_three_get_an_honest_bracket(kind):
    rng = np.random.default_rng({"gaussian": 6, "bernoulli": 7, "categorical": 9}[kind])
    theta = {
        "gaussian": lambda: rng.normal(0, 3, (5, 2)),
        "bernoulli": lambda: rng.uniform(0.05, 0.95, (5, 1)),
        "categorical": lambda: rng.dirichlet([2, 2, 2], 4),
    }[kind]()
    family = f.Categorical(3) if kind == "categorical" else kind
    spec = {"name": kind, **({"n_categories": 3} if kind == "categorical" else {})}
    problem = la.Problem(theta, 2, family)
    assert max(np.bincount(problem.labels)) >= 3
    b = bound_of(problem)
    assert b.closed == (b.gap <= 1e-4)
    assert bool(b.remark) == (not b.closed)
    for a in b.alternatives:  # true alternatives, whatever the bottleneck said
        assert margin(a.parameters, problem.labels) >= 1.0 - 1e-12
        cost = total_cost(np.eye(len(theta))[0], theta, a.parameters, spec)
        assert cost == pytest.approx(a.kl[0], rel=1e-6, abs=1e-12)
    # psi at the weights is at least 1 / upper, and nowhere above 1 / lower
    value = psi_brute(b.weights, theta, problem.labels, spec)["value"]
    assert value >= (1 - 1e-6) / b.upper
    for _ in range(repeats(1, 3)):
        w = rng.dirichlet(np.ones(len(theta)))
        assert psi_brute(w, theta, problem.labels, spec)["value"] <= (1 + 1e-6) / b.lower


# -- the level method ----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 8), count=st.integers(1, 30))
@settings(max_examples=60)
def test_the_level_method_solves_matrix_games(seed, n, count):
    # psi(w) = min_i g_i . w is concave, and its maximum a linear programme
    rows = np.random.default_rng(seed).gamma(0.5, size=(count, n)) + 1e-3

    def oracle(w):
        i = int(np.argmin(rows @ w))
        return Cut(float(rows[i] @ w), rows[i], w)

    found = maximise(oracle, n, 1e-5, 2000)
    lp = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.column_stack([-rows, np.ones(count)]),
        b_ub=np.zeros(count),
        A_eq=np.append(np.ones(n), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    )
    assert found.lower * (1 - 1e-9) <= -lp.fun <= found.upper * (1 + 1e-9)
    assert found.upper <= found.lower * (1 + 1e-5)
    assert (found.mixture @ [c.gradient for c in found.cuts]).max() == pytest.approx(found.upper)


def test_an_oracle_with_loose_values_ends_with_a_wide_bracket():
    rows = np.random.default_rng(3).gamma(1.0, size=(12, 4)) + 0.1

    def oracle(w):
        i = int(np.argmin(rows @ w))
        return Cut(0.8 * float(rows[i] @ w), rows[i], w)

    found = maximise(oracle, 4, 1e-4, 2000)
    assert found.evaluations < 60
    assert found.upper / found.lower == pytest.approx(1.25, rel=1e-3)


def test_without_a_cut_there_is_no_upper_end():
    found = maximise(lambda w: Cut(0.5, None, w), 3, 1e-4, 10)
    assert (found.lower, found.upper, found.evaluations) == (0.5, math.inf, 1)


# -- edges ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3])
def test_one_partition_needs_no_samples(k):
    b = la.lower_bound([0.0, 1.0, 5.0], k)
    assert (b.lower, b.upper, b.gap, b.closed, b.samples(0.01)) == (0.0, 0.0, 0.0, True, 0.0)
    assert str(b) == "T* is 0: there is only one partition, and no sample is needed"


@pytest.mark.parametrize("theta", [[0.0, 1.0, 2.0], [4.0, 4.0, 4.0]])
def test_a_tie_needs_infinitely_many(theta):
    b = la.lower_bound(theta, 2)
    assert (b.lower, b.upper, b.samples(0.01)) == (math.inf, math.inf, math.inf)
    assert str(b).startswith("T* is inf: the parameters have equal edges")
    assert b.to_dict()["lower"] is None
    np.testing.assert_allclose(b.weights, 1 / 3)


def test_more_samples_than_anybody_takes_are_in_words(tmp_path, capsys):
    guess = [0.0, 1e-30, 3e-30]
    plan = la.plan(guess, 2, trials=1, max_samples=3, stopping="anytime", sampling="ebc-h")
    words = "o rule promises delta=0.05 with fewer than 10^15 samples on average"
    assert f"n{words}\n" in str(plan)
    assert f"N{words}." in plan._repr_html_()
    assert plan.samples > 1e50  # the number itself is not cut
    path = tmp_path / "guess.json"
    path.write_text(json.dumps({"parameters": guess, "n_clusters": 2}))
    run(["bound", str(path)])
    assert f"n{words}\n" in capsys.readouterr().out
    tied = la.plan([0.0, 1.0, 2.0], 2, trials=1, max_samples=3, stopping="anytime", sampling="ebc-h")
    assert "no rule promises delta=0.05: no number of samples is enough" in str(tied)


def test_three_arms_by_hand():
    # arms 0, g and far away, K = 2, unit variance: only |lambda_0 - lambda_1| >= |lambda_1 - lambda_2| and its mirror matter. By the
    # symmetry of 0, 0, q the two inner arms share equally; then a search in one number is enough
    def value(x):
        return la.psi([x, x, 1 - 2 * x], [0.0, 0.0, 3.0], 2).value

    best = max(value(x) for x in np.linspace(0.001, 0.499, 4000))
    b = la.lower_bound([0.0, 0.0, 3.0], 2)
    assert 1 / b.upper <= best * (1 + 1e-4)
    assert best <= 1 / b.lower


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e48])
def test_scale_of_the_parameters(scale):
    b = la.lower_bound(SYNTHETIC1 * scale, 3)
    assert b.closed
    assert 19.068 <= b.lower * scale**2 <= b.upper * scale**2 <= 19.069


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (1e150, r"is too large; give numbers from -1e\+50 to 1e\+50"),
        (1e-160, "too small or too large for double precision; scale the parameters"),
    ],
)
def test_a_scale_beyond_double_precision_is_an_error(scale, message):
    with pytest.raises(InvalidInput, match=message):
        la.lower_bound(SYNTHETIC1 * scale, 3)


@pytest.mark.parametrize("offset", [1e3, 1e8])
def test_the_origin_does_not_matter(offset):
    b = la.lower_bound(SYNTHETIC1 + offset, 3)
    assert b.closed
    assert (b.lower, b.upper) == pytest.approx((19.0683, 19.0683), rel=1e-4)


def test_near_ties_and_far_arms():
    near = la.lower_bound([0, 1, 2 + 1e-6], 2)
    assert near.closed
    assert near.lower == pytest.approx(32e12, rel=1e-3)  # the gap enters squared: 3.2e13
    far, close = la.lower_bound([0, 1, 5, 1e9], 3), la.lower_bound([0, 1, 5], 2)
    assert far.closed
    assert far.lower == pytest.approx(close.lower, rel=2e-4)


def test_one_arm_more_than_clusters():
    rng = np.random.default_rng(1)
    b = la.lower_bound(rng.normal(0, 5, (8, 3)), 7)
    assert b.closed


def test_families_of_their_own_for_each_arm():
    b = la.lower_bound([0.1, 0.2, 3.0, 0.5], 3, ["bernoulli", "bernoulli", "gaussian", "poisson"])
    assert b.closed
    assert la.lower_bound([0.0, 0.1, 1.0, 0.8], 2, "bernoulli").closed


def test_a_budget_that_is_too_small_says_so():
    b = la.lower_bound([0.0, 1.0, 5.0], 2, max_cuts=1)
    assert not b.closed
    assert b.gap > 0.01
    assert b.evaluations == 1
    assert str(b).endswith(": max_cuts were used up")
    assert b.lower <= 3.5555 <= b.upper


@pytest.mark.parametrize("options", [{"gap": 0}, {"gap": 2}, {"max_cuts": 0}, {"gap": "x"}])
def test_bad_arguments(options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        la.lower_bound([0.0, 1.0, 5.0], 2, **options)


def test_binary_divergence():
    bernoulli = f.Bernoulli()
    for delta in (0.4, 0.1, 1e-3):
        assert binary_divergence(delta) == pytest.approx(bernoulli.kl(delta, 1 - delta), rel=1e-12)
    assert binary_divergence(1e-40) == pytest.approx(40 * math.log(10), rel=1e-12)
    assert binary_divergence(0.5) == binary_divergence(0.9) == 0.0


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_relabelling_arms_permutes_the_weights(seed):
    rng = np.random.default_rng(seed)
    theta, k = rng.normal(0, 3, (5, 2)), int(rng.integers(3, 5))
    if max(np.bincount(la.Problem(theta, k).labels)) > 2:
        return
    order = rng.permutation(5)
    one, other = la.lower_bound(theta, k), la.lower_bound(theta[order], k)
    assert max(one.lower, other.lower) <= min(one.upper, other.upper) * (1 + 1e-9)
    for w, t in ((one.weights, theta), (other.weights, theta[order])):
        assert 1 / la.psi(w, t, k).value <= one.lower * (1 + 2.1e-4)


def test_a_users_family_that_fails_is_reported():
    class Broken(f.ScalarFamily):
        name = "broken"

        @staticmethod
        def kl(theta, lam):
            if lam != theta:
                raise ZeroDivisionError("no divergence today")
            return 0.0

        @staticmethod
        def step(theta, slope):
            return theta + slope

        @staticmethod
        def fisher(theta):
            return 1.0

        def draw(self, rng, theta, size):
            return rng.normal(theta, 1.0, (size, 1))

    with pytest.raises(la.errors.CallbackError, match="no divergence today"):
        la.lower_bound([0.0, 1.0, 5.0], 2, Broken())


def test_a_psi_that_contradicts_its_alternatives_is_not_reported(monkeypatch):
    from dataclasses import replace

    from linkarms.bound._oracle import Oracle

    honest = Oracle.lowest
    monkeypatch.setattr(
        Oracle, "lowest", lambda self, w: replace(honest(self, w), value=1.1 * honest(self, w).value)
    )
    with pytest.raises(la.LinkarmsError, match="contradict each other"):
        la.lower_bound(SYNTHETIC1, 3)


def test_alternatives_that_cannot_be_had_leave_the_lower_end_at_zero(monkeypatch):
    monkeypatch.setattr("linkarms.alternatives._closure.Closure.nearby", lambda self, psi, weights: None)
    b = la.lower_bound(SYNTHETIC1, 3)
    assert (b.lower, b.gap, b.closed, b.evaluations) == (0.0, math.inf, False, 1)
    assert b.upper == pytest.approx(1 / la.psi(np.full(6, 1 / 6), SYNTHETIC1, 3).value)
    assert str(b).endswith("no alternative of finite divergence was found")
    assert b.to_dict()["gap"] is None


def test_twenty_arms_take_less_than_300_milliseconds():
    problem = la.problems.scaling(n_arms=20)
    bound_of(problem)  # compiles
    seconds = []
    for _ in range(5):
        start = time.process_time()  # of this process: others on the machine do not count
        b = bound_of(problem)
        seconds.append(time.process_time() - start)
    assert b.closed
    assert b.evaluations < 120
    assert min(seconds) < 0.3


def test_progress_is_shown(capsys, monkeypatch):
    monkeypatch.setattr("linkarms._progress.Progress.update", lambda self, fraction, text: self.say(text))
    la.lower_bound(SYNTHETIC1, 3, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("lower bound: T* 19.06")
    assert "cuts" in lines[-1]
