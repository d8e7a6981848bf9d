"""Unknown covariances under a distance threshold and with a tolerance, against searches that share no code with them."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.oracles import unknown_variance as oracle
from tests.repeats import repeats

import linkarms as la

CENTRES = np.array([[0.0, 0.0], [0.5, 0.2], [2.2, 0.4], [2.9, 0.1]])


def draw(rng, kind, n=30):
    """Samples of four arms with unequal coordinates; for "full" they are correlated."""
    root = np.diag([0.3, 0.8]) + (0.0 if kind == "coordinate" else np.array([[0.0, 0.0], [0.3, 0.0]]))
    return [c + rng.normal(size=(n + 4 * i, 2)) @ root.T for i, c in enumerate(CENTRES)]


def told(samples, **goal):
    run = la.BanditClusterer(arms=len(samples), n_features=2, delta=1e-80, **goal)
    for m, x in enumerate(samples):
        run.tell_many([m] * len(x), x)
    return run


def search(samples, arms, kind, room, rng, starts=2, centred=False):
    """The least log mixture over means with ``room(means) >= 0``, as SLSQP finds it."""

    told_of = [oracle.sums(samples[m]) for m in arms]

    def total(z):
        value, slope = oracle.against_means(kind, told_of, z.reshape(len(arms), 2), centred)
        return value, slope.ravel()

    means = np.array([samples[m].mean(axis=0) for m in arms])
    values = []
    ways = [means + (0.01 if turn == 0 else 0.3) * rng.normal(size=means.shape) for turn in range(starts)]
    for i in range(len(arms)):  # one arm goes nearly the whole way
        away = means.copy()
        away[i] += 0.95 * (means[i - 1] - means[i])
        ways.append(away)
    for start in ways:
        found = minimize(
            total,
            start.ravel(),
            jac=True,
            constraints=[{"type": "ineq", "fun": lambda z: room(z.reshape(len(arms), 2))}],
            options={"maxiter": 200},
        )
        if room(found.x.reshape(len(arms), 2)) > -1e-6:
            values.append(found.fun)
    assert values
    return min(values)


@pytest.mark.parametrize("kind", ["coordinate", "full"])
@pytest.mark.parametrize("tolerance", [0.0, 0.3])
def test_merges_and_splits_against_a_search_over_means(kind, tolerance):
    rng = np.random.default_rng([5, len(kind), round(10 * tolerance)])
    for _ in range(3 if kind == "coordinate" else 1):
        samples = draw(rng, kind)
        core = told(
            samples, distance_threshold=1.2, tolerance=tolerance, family=f"gaussian-unknown:{kind}"
        )._engine.core
        assert core.labels.tolist() == [0, 0, 1, 1]
        for pairs in ((0, 1, -1, -1), (-1, -1, 1, 2)):
            merges = pairs[0] < 0
            arms = pairs[2:] if merges else pairs[:2]

            def room(lam, merges=merges):
                apart = np.linalg.norm(lam[0] - lam[1])
                return 1.2 - tolerance - apart if merges else apart - 1.2 - tolerance

            best = search(samples, arms, kind, room, rng, centred=True)
            ours = core.evidence_against(pairs)
            assert ours <= best + 1e-4 * max(1.0, abs(best))
            assert ours >= best - 0.03 * max(1.0, abs(best))
            assert core.evidence_is_below(pairs, ours + 0.1)
            assert not core.evidence_is_below(pairs, ours - 0.1 * max(1.0, abs(ours)))


@pytest.mark.parametrize("kind", ["coordinate", "full"])
@pytest.mark.parametrize("pairs", [(0, 1, 0, 3), (0, 1, 1, 2), (0, 1, 2, 3)])
def test_with_a_tolerance_the_evidence_is_never_above_a_search_over_means(kind, pairs):
    rng = np.random.default_rng([6, len(kind), *pairs])
    u, v, a, b = pairs
    arms = sorted(set(pairs))
    at = {m: i for i, m in enumerate(arms)}

    def room(lam, eps):
        intra = np.linalg.norm(lam[at[u]] - lam[at[v]])
        return intra - np.linalg.norm(lam[at[a]] - lam[at[b]]) - eps

    for _ in range(repeats(1, 3) if kind == "coordinate" else 1):
        samples = draw(rng, kind)
        family = f"gaussian-unknown:{kind}"
        goal = {"n_clusters": len(arms) - 1, "family": family}  # of four arms, two have clusters of their own
        core = told(samples, tolerance=0.3, **goal)._engine.core
        assert core.labels.tolist() == ([0, 0, 1, 1] if len(arms) == 3 else [0, 0, 1, 2])
        best = search(samples, arms, kind, lambda lam: room(lam, 0.3), rng)
        ours = core.evidence_against(pairs)
        assert ours <= best + 1e-4 * max(1.0, abs(best))
        # a tolerance takes no evidence away
        plain = told(samples, **goal)._engine.core.evidence_against(pairs)
        assert ours >= plain - 2e-3 * (1.0 + abs(ours))


def test_one_variance_for_all_arms_with_a_tolerance():
    rng = np.random.default_rng(8)
    samples = [c + 0.5 * rng.normal(size=(20, 2)) for c in CENTRES]
    plain = told(samples, n_clusters=2, family="gaussian-unknown:shared")._engine.core
    last = None
    for eps in (1e-6, 0.1, 0.4):
        core = told(samples, n_clusters=2, tolerance=eps, family="gaussian-unknown:shared")._engine.core
        for pairs in ((0, 1, 2, 0), (0, 1, 1, 2)):
            value = core.evidence_against(pairs)
            assert value >= plain.evidence_against(pairs) - 1e-9
            if eps == 1e-6:
                assert value == pytest.approx(plain.evidence_against(pairs), abs=1e-3)
        assert last is None or core.evidence_against((0, 1, 1, 2)) >= last
        last = core.evidence_against((0, 1, 1, 2))


@pytest.mark.parametrize("kind", ["shared", "coordinate", "full"])
def test_a_tie_ends_with_a_tolerance(kind):
    means = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    shape = {"shared": 0.04, "coordinate": [0.04, 0.02], "full": [[0.04, 0.01], [0.01, 0.02]]}[kind]
    family = la.families.UnknownVariance(
        shared=kind == "shared",
        covariance="isotropic" if kind == "shared" else kind,
        draw_variance=shape,
    )
    found = la.simulate(
        la.Problem(means, 2, family=family, tolerance=0.5),
        "ebc-h",
        deltas=[0.1],
        trials=3,
        seed=1,
        max_samples=5_000,
    )["ebc-h"]
    assert (found.stopping_times < 5_000).all()


def test_vectors_under_a_threshold_with_the_default_family():
    rng = np.random.default_rng(4)
    root = np.array([[1.0, 0.0], [15.0, 10.0]])
    data = {f"arm {i}": rng.normal(size=(3_000, 2)) @ root.T + [0.0, 200.0 * (i // 2)] for i in range(4)}
    result = la.cluster(data, distance_threshold=100.0, seed=3)
    assert result.stopped
    assert result.clusters == [["arm 0", "arm 1"], ["arm 2", "arm 3"]]
    assert math.isfinite(result.evidence)
    again = la.cluster(data, n_clusters=2, tolerance=20.0, seed=3)
    assert again.clusters == result.clusters
    assert again.stopped
