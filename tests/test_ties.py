"""Runs that head for a tie say so; budgets by default."""

import inspect
import math

import numpy as np
import pytest

import linkarms as la
from linkarms.closed_loop import DEFAULT_BUDGET

LINE = [0.0, 1.0, 3.0, 4.2]


def run(means, n, **options):
    return la.cluster(la.Problem(means, 2), max_samples=n, **options)


def test_the_interval_is_two_standard_errors_of_the_gap():
    """Four Gaussian arms in equal numbers: the gap |q| - |p| has variance 4/n."""
    c = la.BanditClusterer(2, 4, family="gaussian", delta=1e-300)
    for m, x in enumerate((0.0, 1.0, 4.0, 6.5)):
        c.tell_many([m] * 400, [x - 0.5, x + 0.5] * 200)
    tie = c.result().tie
    (u, v), (a, b) = tie.witness.intra, tie.witness.inter
    means = dict(enumerate((0.0, 1.0, 4.0, 6.5)))
    assert tie.gap == pytest.approx(abs(means[a] - means[b]) - abs(means[u] - means[v]))
    arms = [u, v, a, b]
    variance = sum((arms.count(m) ** 2) / 400 for m in set(arms))
    assert tie.high - tie.gap == pytest.approx(2 * math.sqrt(variance), rel=1e-6)
    assert tie.low == pytest.approx(tie.gap - 2 * math.sqrt(variance), rel=1e-6)


@pytest.mark.parametrize("family", ["gaussian", "gaussian-unknown"])
def test_the_forecast_is_of_the_right_size(family):
    """Of ten runs cut short at a third of their samples, the forecasts are within a factor of three in the median."""
    ratios = []
    for seed in range(10):
        problem = la.Problem(LINE, 2, family if family == "gaussian" else la.families.UnknownVariance())
        whole = la.cluster(problem, seed=seed)
        part = la.cluster(problem, seed=seed, max_samples=whole.samples // 3)
        ratios.append(part.tie.samples / whole.samples)
    assert 1 / 3 < np.median(ratios) < 3


def test_a_tied_run_says_so():
    r = run([0.0, 1.0, 2.0001], 5_000)
    assert not r.stopped
    assert "heading for a tie: " in r.reason
    assert set(r.tie.witness.intra + r.tie.witness.inter) == {0, 1, 2}
    assert r.tie.low == 0.0
    assert r.tie.high < 1.0
    assert r.tie.samples > 50_000
    assert r.to_dict()["tie"]["gap"] == r.tie.gap


def test_a_running_one_does_too_and_a_clear_one_does_not():
    tied = la.BanditClusterer(2, 3, family="gaussian")
    for m, x in enumerate((0.0, 1.0, 2.001)):
        tied.tell_many([m] * 1_000, [x - 1.0, x + 1.0] * 500)
    assert tied.result().reason.startswith("no promise yet: still running; heading for a tie: ")
    clear = run(LINE, 60)
    assert "tie" not in clear.reason
    assert clear.tie is not None
    assert run(LINE, 10_000).tie is None  # stopped


def test_exactly_equal_edges_need_more_samples_than_there_are():
    c = la.BanditClusterer(2, 3, family="gaussian")
    c.tell_many([0, 1, 2], [0.0, 1.0, 2.0])
    assert c.result().tie.samples == math.inf


def near_threshold(x, n=1_000, r=1.0, **options):
    """A run of three arms, the second one ``x`` from the first; each has ``n`` samples of variance 1."""
    c = la.BanditClusterer(arms=["a", "b", "c"], distance_threshold=r, family="gaussian", **options)
    for name, mean in (("a", 0.0), ("b", x), ("c", 5.0)):
        c.tell_many([name] * n, [mean - 1.0, mean + 1.0] * (n // 2))
    return c


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (1.001, "a and b are 0.001 (0 to 0.09) farther apart than the distance threshold 1"),
        (0.999, "a and b are 0.001 (0 to 0.09) closer than the distance threshold 1"),
    ],
)
def test_a_distance_near_the_threshold_is_a_tie(x, words):
    r = near_threshold(x).result()
    assert r.reason.startswith(
        f"no promise yet: still running; heading for a tie: {words}, and such a gap takes"
    )
    assert (r.tie.witness.intra, r.tie.witness.inter) == ((None, ("a", "b")) if x > 1 else (("a", "b"), None))
    assert r.tie.gap == pytest.approx(0.001)
    assert r.tie.high - r.tie.gap == pytest.approx(2 * math.sqrt(2 / 1_000), rel=1e-3)
    assert r.tie.low == 0.0
    assert r.to_dict()["tie"]["distance_threshold"] == 1.0
    assert la.Result.from_dict(r.to_dict()).tie == r.tie


def test_a_run_under_a_threshold_that_ends_without_a_stop_names_the_pair():
    r = la.cluster(la.Problem([0, 1.001, 5.0], distance_threshold=1), max_samples=20_000)
    assert "0 and 1 are " in r.reason
    assert "the distance threshold 1, and such a gap takes about" in r.reason
    assert near_threshold(2.0, 60).result().tie is None  # stopped
    tolerant = near_threshold(1.001, tolerance=0.001)
    assert tolerant.result().tie is None  # with a tolerance every run ends


def test_the_forecast_under_a_threshold_is_of_the_right_size():
    ratios = []
    for seed in range(10):
        problem = la.Problem([0.0, 0.8, 5.0], distance_threshold=1.0)
        whole = la.cluster(problem, seed=seed)
        part = la.cluster(problem, seed=seed, max_samples=whole.samples // 3)
        ratios.append(part.tie.samples / whole.samples)
    assert 1 / 3 < np.median(ratios) < 3


def test_a_distance_equal_to_the_threshold():
    r = near_threshold(1.0).result()
    assert r.ambiguous
    assert r.reason.endswith(
        "the estimates have a distance equal to the threshold, so their partition is not unique"
    )


def test_a_tie_at_the_largest_gap_says_so():
    c = la.BanditClusterer(arms=3, family="gaussian")
    for m, x in enumerate((0.0, 1.0, 2.001)):
        c.tell_many([m] * 1_000, [x - 1.0, x + 1.0] * 500)
    assert "heading for a tie: 1 and 2 are 0.001 (0 to 0.16) farther apart than 0 and 1" in c.result().reason


def test_a_hopeless_forecast_is_in_words():
    c = la.BanditClusterer(2, 3, family="gaussian")
    for m, x in enumerate((0.0, 1e-30, 2.5e-30)):
        c.tell_many([m] * 100, [x] * 100)
    assert c.result().reason.endswith("and such a gap takes more than 10^15 samples")
    assert c.result().tie.samples > 1e50  # the number itself is not cut


def test_cluster_has_a_budget_by_default():
    assert inspect.signature(la.cluster).parameters["max_samples"].default == DEFAULT_BUDGET == 1_000_000
    assert la.BanditClusterer(2, 3).max_samples is None
    assert la.cluster(la.Problem(LINE, 2), max_samples=None, seed=1).stopped
