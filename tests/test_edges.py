"""Ties, equal arms, one sample, huge counts, the edge of Theta, K = 1, K = M, zero weights, d = 50: defined, no warning, no NaN."""

import json

import numpy as np
import pytest

import linkarms as la
from linkarms import families as f

PAPER = la.stopping.Paper(theta=(-10, 10), epsilon=0.05)


def finite(p):
    assert np.isfinite(p.value)
    assert np.all(np.isfinite(p.kl))
    assert np.all(np.isfinite(p.alternative))


@pytest.mark.parametrize("k", [1, 4])
def test_one_cluster_and_all_clusters_need_no_samples(k):
    c = la.BanditClusterer(k, 4, stopping=PAPER, family="gaussian")
    assert c.done
    assert c.ask(3) == []
    r = c.result()
    assert r.stopped
    assert r.samples == 0
    assert r.labels.tolist() == ([0] * 4 if k == 1 else [0, 1, 2, 3])
    assert not np.isnan(r.parameters.filled(0.0)).any()
    assert r.parameters.mask.all()
    assert json.loads(json.dumps(r.to_dict(), allow_nan=False))["parameters"] == [[None]] * 4
    assert la.BanditClusterer.load(c.dump()).result().labels.tolist() == r.labels.tolist()
    s = la.simulate(la.Problem([0.0, 1.0, 3.0, 9.0], k), stopping=PAPER, trials=2)
    assert s["ebc-h"].stopping_times.tolist() == [[0], [0]]
    p = la.psi([1, 1, 1, 1], [0.0, 1.0, 3.0, 9.0], k)
    assert p.value == np.inf
    assert p.witness is None
    assert not p.kl.any()


def test_a_single_arm():
    assert la.BanditClusterer(1, 1, stopping=PAPER, family="gaussian").result().labels.tolist() == [0]
    assert la.psi([1.0], [2.0], 1).value == np.inf
    by_threshold = la.BanditClusterer(arms=1, distance_threshold=1.0)
    assert by_threshold.done
    assert str(by_threshold.result()) == (
        "1 cluster, 0 samples: 1 arm has only one partition into 1 cluster: no samples were needed\n  0: 0"
    )


def test_numbers_and_their_nouns():
    assert str(la.BanditClusterer(1, 3).result()).startswith(
        "1 cluster, 0 samples: 3 arms have only one partition into 1 cluster: "
    )
    assert repr(la.Problem([0.0, 1.0], 1)) == "Problem(2 arms, 1 feature, 1 cluster)"


@pytest.mark.parametrize("family", ["gaussian", "exponential", f.Exponential("mean"), "poisson", "bernoulli"])
def test_equal_arms_are_ambiguous_and_never_stopped_on(family):
    p = la.psi([1, 1, 1], [0.5, 0.5, 0.5], 2, family)
    assert p.ambiguous
    assert p.value == 0.0
    finite(p)
    theta = (0.1, 0.9)
    c = la.BanditClusterer(2, 3, family=family, stopping=la.stopping.Paper(theta, 0.01), delta=0.9)
    for arm in (0, 1, 2) * 50:
        c.tell(arm, 1.0)
    assert not c.done
    assert c.result().ambiguous
    assert "equal edges" in c.result().reason
    assert len(c.ask(5)) == 5


def test_equal_arms_inside_a_cluster_are_no_tie():
    p = la.psi([1, 1, 1, 1], [0.0, 0.0, 5.0, 5.0], 2)
    assert not p.ambiguous
    assert p.exact
    assert p.value > 0
    q = la.psi([1, 1, 1, 1], [[0.0, 0.0], [0.0, 0.0], [5.0, 1.0], [5.0, 1.0]], 2)
    assert q.exact
    finite(q)


@pytest.mark.parametrize(
    "family",
    ["gaussian", "exponential", f.Exponential("mean"), "poisson", "bernoulli", f.Gaussian([1.0, 2.0])],
)
def test_zero_weights_cost_nothing_and_keep_a_gradient(family):
    theta = np.array([0.1, 0.2, 0.6, 0.75])
    if isinstance(family, f.Gaussian):
        theta = np.c_[theta, theta[::-1] / 3]
    for zero in range(4):
        w = np.ones(4)
        w[zero] = 0.0
        p = la.psi(w, theta, 2, family)
        finite(p)
        involved = p.witness is not None and zero in p.witness
        assert p.value == 0.0 if involved else p.value > 0.0
        if involved:
            assert p.kl[zero] > 0.0
    one_hot = la.psi([1, 0, 0, 0], theta, 2, family)
    assert one_hot.value == 0.0
    finite(one_hot)


def test_zero_weight_arms_share_the_gap_equally():
    # KL_m = (gap / number of weightless arms)^2 / 2
    p = la.psi([1, 1, 0, 0], [[0, 0], [0, 1], [8, 0], [8, 4]], 3)
    assert p.witness == (0, 1, 2, 3)
    np.testing.assert_allclose(p.kl, [0, 0, 9 / 8, 9 / 8], atol=1e-9)


@pytest.mark.parametrize(
    ("family", "theta"),
    [
        ("bernoulli", [0.0, 0.1, 0.6, 1.0]),
        ("poisson", [0.0, 0.0, 3.0, 4.5]),
        ("poisson", [0.0, 1.0, 6.0, 40.0]),
    ],
)
def test_estimates_at_the_end_of_the_domain(family, theta):
    p = la.psi([3, 1, 2, 1], theta, 2, family)
    finite(p)
    assert p.value > 0
    assert p.exact


def test_poisson_zero_has_a_linear_divergence():
    # arms 0 and 0 against 3 and 6: moving arm 0 (weight .1, cost .1 x) is cheap, everything else dear
    p = la.psi([0.1, 5.0, 5.0], [0.0, 0.0, 3.0], 2, "poisson")
    assert p.exact
    assert p.value == pytest.approx(0.1 * p.alternative[0, 0] + 5 * p.kl[1] + 5 * p.kl[2], rel=1e-9)


def test_categorical_with_a_probability_of_zero():
    p = la.psi([1, 1, 1], [[1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.1, 0.2, 0.7]], 2, "categorical")
    finite(p)
    assert p.value > 0


@pytest.mark.parametrize("family", ["gaussian", "exponential", "bernoulli", "poisson", f.Exponential("mean")])
def test_a_thousand_million_pulls(family):
    w = np.array([1e9, 2e9, 1e9, 5.0])
    p = la.psi(w, [0.2, 0.2001, 0.5, 0.9], 3, family)
    finite(p)
    assert p.value > 0
    theta = (0.1, 0.95)
    c = la.BanditClusterer(2, 3, family=family, stopping=la.stopping.Paper(theta, 0.001))
    for arm, x in ((0, 1.0), (1, 0.0), (2, 1.0)):
        c.tell(arm, x)
    data = json.loads(c.dump())
    data["state"]["counts"] = [10**9, 10**9, 10**9]
    data["state"]["means"] = [[0.2], [0.2001], [0.5]]
    data["stopped"] = False
    c = la.BanditClusterer.load(json.dumps(data))
    r = c.result()
    assert np.isfinite(r.evidence)
    assert np.isfinite(r.threshold)
    c.tell(0, 1.0)
    assert c.result().pulls[0] == 10**9 + 1


def test_an_estimate_is_clipped_to_theta():
    stop = la.stopping.Paper(theta=(0.1, 50), epsilon=0.001)
    c = la.BanditClusterer(2, 3, family="exponential", stopping=stop)
    c.tell_many([0, 1, 2], [0.0, 1e6, 1.0])
    r = c.result()
    assert r.parameters[:, 0].tolist() == [50.0, 0.1, 1.0]
    assert np.isfinite(r.evidence)
    assert np.isfinite(r.threshold)


def test_all_zero_samples_without_theta_stay_finite():
    for family in ("exponential", f.Exponential("mean")):
        assert np.isfinite(f.resolve(family, 1, 1).families[0].mle(0.0)).all()


@pytest.mark.parametrize("d", [1, 50])
def test_one_and_fifty_dimensions(d):
    rng = np.random.default_rng(0)
    centre = np.repeat([0.0, 0.0, 2.0, 2.0], 1)
    theta = centre[:, None] + 0.05 * rng.normal(size=(4, d))
    problem = la.Problem(theta, 2)
    r = la.cluster(problem, stopping=la.stopping.Paper((-9, 9), 0.05), seed=2)
    assert r.stopped
    assert r.labels.tolist() == [0, 0, 1, 1]


def test_one_sample_an_arm_gives_a_result():
    c = la.BanditClusterer(2, ["a", "b", "c"], stopping=PAPER, family="gaussian")
    assert c.result().labels.tolist() == [-1, -1, -1]
    assert c.result().evidence == 0.0
    for arm, x in zip("abc", (0.0, 0.5, 4.0), strict=True):
        c.tell(arm, x)
    r = c.result()
    assert r.labels.tolist() == [0, 0, 1]
    assert not r.stopped
    assert 0 < r.evidence < r.threshold < np.inf
    assert r.witness.intra == ("a", "b")
    assert "no promise" in r.reason
