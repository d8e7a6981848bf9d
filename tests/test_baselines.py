"""LUCBBOC, ATBOC, fixed size, LMA: the paper's numbers, literal transcriptions, dumps, and their own stops."""

import math

import numpy as np
import pytest
from benchmarks._slsqp import slsqp_optimum
from linkarms._core.testing import lucb_choice, solve_game
from numpy.testing import assert_array_equal
from scipy.optimize import linprog
from scipy.spatial.distance import pdist, squareform
from tests.repeats import repeats

import linkarms as la
from linkarms.errors import InvalidInput
from linkarms.montecarlo import known_parameters
from linkarms.paper import published

SYNTHETIC = la.problems.synthetic1()
OWN = ["atboc", "lucbboc", "fixed"]
NAMES = [*OWN, "lma", "round-robin"]


def _rng(*key):
    return np.random.default_rng(np.random.SeedSequence(7, spawn_key=key))


# ---- the paper's curves


@pytest.mark.parametrize(
    ("rule", "trials", "points"),
    [("lucbboc", repeats(12, 24), (0, 2, 9)), ("atboc", repeats(12, 24), (0, 1, 2))],
)
def test_the_papers_curve_within_ten_percent(rule, trials, points):
    curve = published.curve("figure2", rule)
    xs = [curve.x[i] for i in points]
    theirs = np.array([curve.samples[i] for i in points])
    s = la.simulate(SYNTHETIC, rule, stopping=None, deltas=[math.exp(-x) for x in xs], trials=trials, seed=2)
    assert s[rule].stopping_times.shape == (trials, len(xs))
    assert not s[rule].errors.any()
    ours = s[rule].stopping_times.mean(axis=0)
    # over 200 trials LUCBBOC's first point is 8.6% above the paper's (docs/reproduction.md): few trials of another seed may miss this
    assert np.all(np.abs(ours / theirs - 1.0) < 0.1), (ours, theirs)


def test_one_run_for_each_delta():
    """Radii use delta, so that the run for one delta is not part of the run for another."""
    args = {"stopping": None, "trials": 3, "seed": 4}
    both = la.simulate(SYNTHETIC, "lucbboc", deltas=[0.3, 1e-9], **args)["lucbboc"].stopping_times
    for j, delta in enumerate([0.3, 1e-9]):
        alone = la.simulate(SYNTHETIC, "lucbboc", deltas=[delta], **args)["lucbboc"].stopping_times
        assert_array_equal(both[:, j], alone[:, 0])


def test_stop_of_boc_by_the_formula():
    c = la.BanditClusterer(3, 6, n_features=2, stopping=la.stopping.BOC(), delta=0.02, family="gaussian")
    rng = _rng(1)
    while not c.done:
        (m,) = c.ask()
        c.tell(m, rng.normal(SYNTHETIC.parameters[m]))
        if c.n_samples > 6:
            n = c.result().pulls
            beta = 2 * (math.log(1 / 0.02) + 2 / 2 * np.log(n + 1).sum())
            evidence, threshold = c.evidence_and_threshold()
            assert threshold == pytest.approx(beta, rel=1e-12)
            assert threshold == pytest.approx(la.stopping.BOC().threshold(c._engine.view(), 0.02), rel=1e-12)
            assert (evidence >= beta) == c.done


# ---- LUCBBOC's choice, written down again from its definition


def _plain_lucb(theta, labels, n, delta):
    d = theta.shape[1]
    beta = 2 * (math.log(1 / delta) + d / 2 * np.log(n + 1).sum())
    r = np.sqrt(2 * beta / n)
    dist = squareform(pdist(theta))
    pairs = [(i, j) for i in range(len(n)) for j in range(i + 1, len(n))]
    inter = min((p for p in pairs if labels[p[0]] != labels[p[1]]), key=lambda p: dist[p] - r[p[0]] - r[p[1]])
    widest, intra = -math.inf, None
    for k in set(labels):
        # Kruskal's algorithm on the upper bounds
        inside = sorted((dist[i, j] + r[i] + r[j], i, j) for i, j in pairs if labels[i] == labels[j] == k)
        parts = {m: {m} for m in np.flatnonzero(labels == k)}
        for length, i, j in inside:
            if parts[i] is not parts[j]:
                merged = parts[i] | parts[j]
                for m in merged:
                    parts[m] = merged
                if length > widest:
                    widest, intra = length, (i, j)
    arms = {*inter, *(intra or ())}
    return min(arms, key=lambda m: (n[m], m))


@pytest.mark.parametrize("case", range(60))
def test_lucb_choice_by_its_definition(case):
    rng = _rng(2, case)
    n_arms, d = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    k = int(rng.integers(2, n_arms))
    theta = rng.normal(size=(n_arms, d)) * 3
    labels = np.r_[np.arange(k), rng.integers(0, k, n_arms - k)]
    n = rng.integers(1, 300, n_arms)
    found = lucb_choice(squareform(pdist(theta)), labels, k, n, d, math.log(1 / 0.03))
    assert found == _plain_lucb(theta, labels, n, 0.03)


# ---- ATBOC's optimum


@pytest.mark.parametrize("case", range(40))
def test_matrix_games_as_by_a_linear_programme(case):
    rng = _rng(3, case)
    c, n = int(rng.integers(1, 30)), int(rng.integers(2, 20))
    rows = rng.gamma(0.3, size=(c, n)) * (rng.random((c, n)) < 0.6) * 10.0 ** rng.integers(-6, 6)
    rows[rows.sum(axis=1) == 0, 0] = 1.0
    upper, w, mixture = solve_game(rows)
    unit = rows.max()
    best = -linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.c_[-rows / unit, np.ones(c)],
        b_ub=np.zeros(c),
        A_eq=[np.r_[np.ones(n), 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
    ).fun
    assert upper / unit == pytest.approx(best, rel=1e-5, abs=1e-9)
    assert (rows @ w).min() / unit == pytest.approx(best, rel=1e-5, abs=1e-9)
    assert w.sum() == pytest.approx(1)
    assert mixture.sum() == pytest.approx(1)
    assert min(w.min(), mixture.min()) >= 0


def test_a_game_with_a_row_of_zeros_is_worth_nothing():
    upper, _, mixture = solve_game(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]))
    assert upper == 0.0
    assert_array_equal(mixture, [0.0, 1.0])


def test_weights_stay_within_a_thousandth_of_slsqps_optimum():
    """At every 25th sample; SLSQP starts anew each time, from closed forms that share no code with psi."""
    c = la.BanditClusterer(3, 6, n_features=2, sampling="atboc", stopping=None, delta=1e-3, family="gaussian")
    rng, checked = _rng(4), 0
    while not c.done:
        (m,) = c.ask()
        rule, view = c._engine.sampling, c._engine.view()
        if view.t >= 25 and view.t % 25 == 0 and np.bincount(view.labels).max() == 2:
            _, best = slsqp_optimum(np.array(view.estimates), np.array(view.labels), np.full(6, 1 / 6))
            low, high = rule.bracket
            assert low == pytest.approx(
                la.psi(rule.weights, view.estimates, 3, refine=False).value, rel=1e-12
            )
            assert low * (1 - 1e-9) <= best * (1 + 1e-6)
            assert best <= high * (1 + 1e-6)
            assert high <= low * (1 + 1e-3)
            checked += 1
        c.tell(m, rng.normal(SYNTHETIC.parameters[m]))
    assert checked > 20


@pytest.mark.parametrize(
    ("family", "sizes"),
    [("gaussian", (3, 2)), (la.families.Gaussian([[2.0, 0.5], [0.5, 1.0]]), (2, 2)), ("gaussian", (2, 1, 1))],
)
def test_the_bracket_of_other_clusters_and_covariances(family, sizes):
    """What is kept from sample to sample gives psi at the weights; where psi is concave, the bracket is narrow."""
    rng, k = _rng(9), len(sizes)
    means = np.concatenate([8.0 * i + 0.7 * np.arange(n)[:, None] * [1, 1] for i, n in enumerate(sizes)])
    c = la.BanditClusterer(
        k, len(means), n_features=2, family=family, sampling="atboc", stopping=None, delta=1e-200
    )
    for _ in range(150):
        (m,) = c.ask()
        rule, view = c._engine.sampling, c._engine.view()
        if view.t >= 20:
            low, high = rule.bracket
            best = la.psi(rule.weights, view.estimates, k, family=family, refine=False)
            assert low == pytest.approx(best.value, rel=1e-9)
            if max(sizes) == 2:
                assert low <= high <= low * (1 + 1e-3)
        c.tell(m, rng.normal(means[m]))


def test_atboc_tracks_the_sum_of_its_weights():
    """``argmin N - sum of w`` or forced exploration, written down again."""
    c = la.BanditClusterer(3, 6, n_features=2, sampling="atboc", stopping=None, delta=0.1, family="gaussian")
    rng, total = _rng(5), None
    while c.n_samples < 400:
        (m,) = c.ask()
        n = c.result().pulls
        if c.n_samples >= 6:
            w = c._engine.sampling.weights
            total = np.full(6, 5 / 6) + w if total is None else total + w
            fewest = n.min() < math.sqrt(n.sum() / 6)
            assert m == (n.argmin() if fewest else np.argmin(n - total))
        c.tell(m, rng.normal(SYNTHETIC.parameters[m]))


# ---- where rules settle


def test_lma_settles_where_ebc_h_does_not():
    """T* is in [19.068, 19.069]; EBC-H stays 0.7% above it, LMA comes within 0.2%; EBC is on its way."""
    bound = la.lower_bound(SYNTHETIC.parameters, 3)
    (lma,) = known_parameters(SYNTHETIC, "lma", [60_000])
    assert bound.lower <= lma < 1.002 * bound.lower
    ebc_h = known_parameters(SYNTHETIC, "ebc-h", [10_000, 20_000])
    assert ebc_h == pytest.approx([19.197, 19.197], abs=2e-3)
    early, late = known_parameters(SYNTHETIC, "ebc", [5_000, 30_000])
    assert ebc_h[1] > late > bound.lower
    assert early > late


def test_known_parameters_refuse_what_they_cannot_do():
    with pytest.raises(InvalidInput, match="family by the mean"):
        known_parameters(la.Problem([1.0, 2.0, 9.0], 2, "exponential"), "ebc-h", [100])
    with pytest.raises(InvalidInput, match="looks at delta"):
        known_parameters(SYNTHETIC, "lucbboc", [100])
    with pytest.raises(InvalidInput, match="increasing"):
        known_parameters(SYNTHETIC, "ebc-h", [100, 50])


# ---- through the same door


@pytest.mark.parametrize("rule", NAMES)
def test_a_dumped_run_goes_on_bit_for_bit(rule):
    stop = None if rule in OWN else la.stopping.Paper(theta=(-9, 9), epsilon=0.05)
    rng = _rng(6)
    noise = rng.standard_normal((500, 2))
    runs = [
        la.BanditClusterer(3, 6, n_features=2, sampling=rule, stopping=stop, seed=3, family="gaussian")
        for _ in range(2)
    ]
    for i in range(0, 400, 4):
        if i % 40 == 0:
            runs[1] = la.BanditClusterer.load(runs[1].dump())
        asked = [c.ask(4) for c in runs]
        assert asked[0] == asked[1]
        for c, arms in zip(runs, asked, strict=True):
            for j, m in enumerate(arms):
                c.tell(m, SYNTHETIC.parameters[m] + noise[i + j])
    assert runs[0].dump() == runs[1].dump()


def test_runs_do_not_share_what_a_rule_keeps():
    rule = la.sampling.ATBOC()
    for _ in range(2):
        r = la.cluster(SYNTHETIC, sampling=rule, stopping=None, delta=0.2, seed=5)
        assert r.samples == la.cluster(SYNTHETIC, sampling="atboc", stopping=None, delta=0.2, seed=5).samples
    assert rule.memory() is None


def test_fixed_size_stops_there_and_promises_nothing():
    r = la.cluster(SYNTHETIC, sampling=la.sampling.FixedSize(7), stopping=None, seed=2)
    assert r.stopped
    assert r.samples == 42
    assert set(r.pulls) == {7}
    assert "nothing is promised" in r.reason
    c = la.BanditClusterer(2, 3, family="bernoulli", sampling=la.sampling.FixedSize(1), stopping=None)
    c.tell_many([0, 1, 2], [1, 1, 1])  # equal edges at the cut: no reason to go on
    assert c.done
    assert c.result().ambiguous


def test_fixed_size_errors_agree_with_fixed_size():
    """The measured error of the rule is that of `fixed_size_errors`, trial by trial: the same streams."""
    s = la.simulate(SYNTHETIC, la.sampling.FixedSize(5), stopping=None, trials=30, seed=8)["fixed"]
    wrong = la.montecarlo.fixed_size_errors(SYNTHETIC, [5], trials=30, seed=8)[:, 0]
    assert_array_equal(s.errors[:, 0], wrong)
    assert 0 < wrong.sum() < 30
    assert np.all(s.stopping_times == 30)


def test_own_stops_are_asked_for_by_none():
    s = la.simulate(SYNTHETIC, OWN, stopping=None, deltas=[0.1], trials=2, seed=1)
    assert list(s) == OWN
    assert np.all(s["fixed"].stopping_times == 600)
    with pytest.raises(InvalidInput, match="'ebc-h' has none"):
        la.simulate(SYNTHETIC, ["lucbboc", "ebc-h"], stopping=None, trials=1)
    with pytest.raises(InvalidInput, match="'lma' has none"):
        la.cluster(SYNTHETIC, sampling="lma", stopping=None)


@pytest.mark.parametrize("rule", ["atboc", "lucbboc"])
def test_gaussian_arms_only(rule):
    with pytest.raises(InvalidInput, match="Gaussian arms, and arm 0 is poisson"):
        la.cluster(la.Problem([1.0, 2.0, 9.0], 2, "poisson"), sampling=rule, stopping=None)
