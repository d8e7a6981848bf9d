"""psi for clusters of three arms and more: exact values against enumeration, the dual against linear algebra, and the edges."""

import time
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from tests.oracles.psi_oracle import Subproblem, margin, psi_brute, single_linkage, total_cost

import linkarms as la
from linkarms import families as f
from linkarms._core import ascend, testing
from linkarms.alternatives._sectors import Sectors

SEEDS = st.integers(0, 2**32 - 1)


def clouds(rng, sizes, d, spread=1.0, apart=6.0):
    """Clusters of these sizes that single linkage finds."""
    while True:
        centres = rng.normal(0.0, apart, (len(sizes), d))
        theta = np.repeat(centres, sizes, axis=0) + spread * rng.normal(size=(sum(sizes), d))
        labels, ambiguous = la.linkage.single_linkage(theta, len(sizes))
        if not ambiguous and sorted(np.bincount(labels)) == sorted(sizes):
            return theta


def some_weights(rng, n):
    return rng.dirichlet(np.full(n, rng.choice([0.5, 2.0, 20.0])))


def check(psi, weights, theta, k, spec):
    """What `exact` promises, by the oracles' own divergence and linkage."""
    cost = total_cost(weights, theta, psi.alternative, spec)
    assert cost == pytest.approx(float(np.dot(weights, psi.kl)), rel=1e-9, abs=1e-300)
    assert margin(psi.alternative, single_linkage(theta, k)) >= 1.0 - 1e-9
    assert psi.value <= cost * (1 + 1e-12)
    if psi.exact:
        assert cost <= psi.value * (1 + 1.01e-7)


# -- one dimension: all ordered splits, one NNLS each ---------------------------------------------------------


def least_distance(theta, weights, rows):
    """``min 1/2 sum w (x - theta)^2`` with ``rows @ x >= 0``: its dual is ``min |G'y - e|``, ``y >= 0`` (Lawson and Hanson, 23)."""
    scaled = rows / np.sqrt(weights)
    h = -rows @ theta
    if np.all(h <= 0.0):
        return 0.0
    matrix = np.vstack([scaled.T, h])
    target = np.zeros(len(matrix))
    target[-1] = 1.0
    y, _ = nnls(matrix, target, maxiter=1000)
    residual = matrix @ y - target
    return 0.5 * float(np.sum((residual[:-1] / residual[-1]) ** 2))


def enumerate_line(theta, weights, labels):
    """psi of Gaussian arms on a line: every inter pair and every assignment of a cluster to two sides of a gap."""
    n, best = len(theta), np.inf
    eye = np.eye(n)
    for a, b in combinations(range(n), 2):
        if labels[a] == labels[b]:
            continue
        for k in range(max(labels) + 1):
            cluster = np.flatnonzero(labels == k)
            for sides in product((0, 1), repeat=len(cluster)):
                left, right = cluster[np.array(sides) == 0], cluster[np.array(sides) == 1]
                if len(left) and len(right):
                    gaps = np.array([eye[v] - eye[u] for u in left for v in right])
                    rows = np.vstack([gaps - (eye[a] - eye[b]), gaps - (eye[b] - eye[a])])
                    best = min(best, least_distance(theta, weights, rows))
    return best


@given(seed=SEEDS, sizes=st.sampled_from([(3, 1), (3, 2), (4, 1), (5, 1), (3, 1, 1)]))
@settings(max_examples=25)
def test_one_dimension_is_exact(seed, sizes):
    rng = np.random.default_rng(seed)
    theta = clouds(rng, sizes, 1)
    w = some_weights(rng, len(theta)) + 1e-6
    variances = rng.uniform(0.3, 3.0, len(theta)) if seed % 2 else np.ones(len(theta))
    psi = la.psi(w, theta, len(sizes), [f.Gaussian(v) for v in variances])
    truth = enumerate_line(theta[:, 0], w / variances, single_linkage(theta, len(sizes)))
    assert psi.exact
    assert psi.bound == "exact"
    assert psi.value == pytest.approx(truth, rel=1e-7)
    check(psi, w, theta, len(sizes), [{"name": "gaussian", "covariance": v} for v in variances])


def test_a_light_arm_inside_jumps():
    # the middle arm of the cluster goes left of all others: no split of the sorted arms
    theta, w = [0.0, 0.4, 0.5, 0.6, 3.5], [5.0, 5.0, 0.01, 5.0, 5.0]
    psi = la.psi(w, theta, 2)
    assert psi.exact
    assert 2 in psi.witness
    assert psi.value == pytest.approx(
        enumerate_line(np.array(theta), np.array(w), np.array([0, 0, 0, 0, 1])), rel=1e-9
    )


# -- what the bottleneck loses --------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("n", [4, 8, 16])
def test_tight_halves_against_a_heavy_pair(n, d):
    # n arms in two halves: to part them all n have to move, and the bottleneck moves one of each half
    theta = np.zeros((n + 2, d))
    theta[n // 2 : n, 0] = 1.0
    theta[n, -1], theta[n + 1, -1] = 40.0, 41.2
    w = np.ones(n + 2)
    w[n:] = 1e9
    psi, quick = la.psi(w, theta, 3), la.psi(w, theta, 3, refine=False)
    assert psi.exact
    assert psi.value == pytest.approx((1.2 - 1.0) ** 2 / 2.0 / (4.0 / n), rel=1e-6)
    assert psi.value / quick.value == pytest.approx(n / 2, rel=1e-6)
    assert quick.bound == "bottleneck"


# -- Gaussian arms in more dimensions: the dual ---------------------------------------------------------------


def edge(n, i, j):
    z = np.zeros(n)
    z[i], z[j] = 1.0, -1.0
    return np.outer(z, z)


@given(seed=SEEDS, d=st.integers(1, 3), full=st.booleans())
@settings(max_examples=40)
def test_every_multiplier_gives_a_lower_bound(seed, d, full):
    rng = np.random.default_rng(seed)
    n, pairs = 5, [(0, 1), (0, 2)]
    theta = rng.normal(0, 2, (n, d))
    roots = rng.normal(size=(n, d, d)) if full else np.eye(d) * rng.uniform(0.5, 2, (n, 1, 1))
    precision = roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(d)
    mu = rng.uniform(0.0, 0.4, 2)
    big = np.zeros((n * d, n * d))
    for m in range(n):
        big[m * d : (m + 1) * d, m * d : (m + 1) * d] = precision[m]
    q = sum(x * np.kron(edge(n, *p) - edge(n, 3, 4), np.eye(d)) for x, p in zip(mu, pairs, strict=True))
    least = np.linalg.eigvalsh(big - q)[0]
    u, v = (np.array(x) for x in zip(*pairs, strict=True))
    cells = theta.reshape(n, d, 1)
    value, _, _ = testing.lagrangian(cells, precision, u, v, 3, 4, mu)
    if abs(least) < 1e-6:
        return
    assert (value > -np.inf) == (least > 0.0)
    if value == -np.inf:
        return
    flat = theta.ravel()
    best = np.linalg.solve(big - q, big @ flat)
    shift = best - flat
    assert value == pytest.approx(0.5 * shift @ big @ shift - 0.5 * best @ q @ best, rel=1e-8, abs=1e-10)
    # any point that obeys the constraints costs at least as much
    for _ in range(20):
        point = theta + rng.normal(0, 3, (n, d))
        intra = min(np.linalg.norm(point[0] - point[j]) for j in (1, 2))
        gap = np.linalg.norm(point[3] - point[4])
        point[3] = point[4] + min(1.0, intra / gap) * (point[3] - point[4])
        move = (point - theta).ravel()
        assert 0.5 * move @ big @ move >= value * (1 - 1e-9)


def test_the_dual_of_one_pair_is_the_closed_form():
    theta = np.array([[0.0, 0.0], [0.6, 0.8], [9.0, 0.0], [9.0, 3.0]]).reshape(4, 1, 2)
    w = np.array([0.5, 1.0, 2.0, 4.0])
    u, v, mu = np.array([0]), np.array([1]), np.zeros(1)
    found = ascend(theta, w[:, None, None], u, v, 2, 3, mu, np.inf)
    lam = found.point
    assert found.end == "solved"
    assert found.value == pytest.approx((3.0 - 1.0) ** 2 / (2.0 * np.sum(1.0 / w)), rel=1e-12)
    assert np.linalg.norm(lam[0] - lam[1]) == pytest.approx(np.linalg.norm(lam[2] - lam[3]), rel=1e-9)
    found = ascend(theta, w[:, None, None], u, v, 2, 3, mu, 0.1)
    assert (found.end, found.value >= 0.1) == ("reached", True)
    # equal arms part in any direction: the maximum lies at the edge, and its value is right
    theta[1] = theta[0]
    found = ascend(theta, w[:, None, None], u, v, 2, 3, mu, np.inf)
    assert found.end == "edge"
    assert found.value == pytest.approx(9.0 / (2.0 * np.sum(1.0 / w)), rel=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_few_problems_stay_open(d):
    # seeded: 40 problems with clusters of six and four arms
    rng = np.random.default_rng(d)
    exact = 0
    for _ in range(40):
        theta = clouds(rng, (6, 4), d, apart=4.0)
        w = some_weights(rng, 10)
        psi, quick = la.psi(w, theta, 2), la.psi(w, theta, 2, refine=False)
        check(psi, w, theta, 2, {"name": "gaussian"})
        assert psi.value >= quick.value
        exact += psi.exact
    assert exact >= 38


# -- invariances ----------------------------------------------------------------------------------------------


@given(seed=SEEDS, d=st.integers(1, 3), sizes=st.sampled_from([(3, 2), (4, 1), (3, 3, 1)]))
@settings(max_examples=30)
def test_permutation_translation_rotation_and_scale(seed, d, sizes):
    rng = np.random.default_rng(seed)
    theta = clouds(rng, sizes, d)
    w, k = some_weights(rng, len(theta)) + 1e-4, len(sizes)
    psi = la.psi(w, theta, k)
    order = rng.permutation(len(theta))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    scale = float(10 ** rng.uniform(-3, 3))
    for other, factor in (
        (la.psi(w[order], theta[order], k), 1.0),
        (la.psi(w, theta + rng.normal(0, 10, d), k), 1.0),
        (la.psi(w, theta @ rotation, k), 1.0),
        (la.psi(w, scale * theta, k), scale**2),
        (la.psi(scale * w, theta, k), scale),
    ):
        if psi.exact and other.exact:
            assert other.value == pytest.approx(factor * psi.value, rel=1e-7)
        else:
            assert other.value <= factor * float(w @ psi.kl) * (1 + 1e-9)


@given(seed=SEEDS, d=st.integers(1, 2))
@settings(max_examples=25)
def test_exact_psi_is_concave_in_the_weights(seed, d):
    rng = np.random.default_rng(seed)
    theta = clouds(rng, (4, 1), d)
    one, two = (some_weights(rng, 5) + 1e-3 for _ in range(2))
    ends = [la.psi(w, theta, 2) for w in (one, two)]
    middle = la.psi((one + two) / 2, theta, 2)
    if middle.exact:
        assert middle.value >= (ends[0].value + ends[1].value) / 2 * (1 - 1e-7)


# -- other families: never a false `exact` --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_means_that_pass_their_inflection(seed):
    # light arms of a divergence that is not convex
    rng = np.random.default_rng(seed)
    theta = np.concatenate([rng.uniform(0.5, 1.5, 3), rng.uniform(8.0, 12.0, 1)])[:, None]
    w = rng.dirichlet([0.3, 0.3, 0.3, 1.0]) + 1e-3
    spec = {"name": "exponential", "parameter": "mean"}
    psi = la.psi(w, theta, 2, f.Exponential("mean"))
    truth = psi_brute(w, theta, single_linkage(theta, 2), spec, starts=6)["value"]
    assert psi.value <= truth * (1 + 1e-6)
    assert psi.value >= la.psi(w, theta, 2, f.Exponential("mean"), refine=False).value
    if psi.exact:
        assert psi.value == pytest.approx(truth, rel=1e-6)
    check(psi, w, theta, 2, spec)


def test_clusters_of_several_families_keep_the_bottleneck():
    family = [f.Poisson(), f.Gaussian(0.5), f.Poisson(), f.Gaussian(1.0)]
    theta, w = np.array([0.4, 0.5, 0.9, 3.0])[:, None], [0.1, 0.1, 0.1, 0.7]
    psi, quick = la.psi(w, theta, 2, family), la.psi(w, theta, 2, family, refine=False)
    assert quick.bound == psi.bound == "bottleneck"
    assert psi.value == quick.value
    assert not psi.exact
    # but its alternative is one
    assert margin(psi.alternative, [0, 0, 0, 1]) >= 1.0 - 1e-9
    assert np.dot(w, psi.kl) > psi.value


def test_categories_keep_their_bound():
    theta = [[0.5, 0.3, 0.2], [0.45, 0.35, 0.2], [0.4, 0.3, 0.3], [0.05, 0.15, 0.8]]
    one, two = (la.psi([1, 1, 1, 1], theta, 2, "categorical", refine=x) for x in (True, False))
    assert (one.value, one.bound) == (two.value, two.bound)


# -- edges ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("k", [1, 5])
def test_no_alternative(d, k):
    psi = la.psi(np.ones(5), np.arange(5.0 * d).reshape(5, d) ** 2, k)
    assert (psi.value, psi.exact, psi.bound, psi.witness) == (np.inf, True, "none", None)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_equal_arms_and_grids(d):
    # four equal arms and one far away; in more dimensions arms have more ways to go
    theta = np.zeros((5, d))
    theta[4, 0] = 4.0
    psi = la.psi(np.ones(5), theta, 2)
    line = enumerate_line(theta[:, 0], np.ones(5), np.array([0, 0, 0, 0, 1]))
    assert psi.exact
    assert psi.value == pytest.approx(line, rel=1e-6) if d == 1 else 0.0 < psi.value <= line * (1 + 1e-6)
    check(psi, np.ones(5), theta, 2, {"name": "gaussian"})
    grid = np.array([[x] * d for x in (0.0, 1.0, 2.0, 3.0, 9.0, 10.0, 11.0)])
    psi = la.psi(np.ones(7), grid, 2)
    assert psi.exact
    check(psi, np.ones(7), grid, 2, {"name": "gaussian"})


@pytest.mark.parametrize("d", [1, 2])
def test_ambiguous_cuts_are_zero(d):
    psi = la.psi(np.ones(4), np.outer([0.0, 1.0, 2.0, 3.0], np.ones(d)), 2)
    assert psi.ambiguous
    assert psi.value == 0.0


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("arm", range(5))
def test_an_arm_without_weight_is_free(d, arm):
    theta = np.outer([0.0, 0.6, 1.1, 5.0, 6.0], np.ones(d))
    w = np.ones(5)
    w[arm] = 0.0
    psi = la.psi(w, theta, 2)
    assert (psi.value, psi.exact) == (0.0, True)
    assert margin(psi.alternative, [0, 0, 0, 1, 1]) >= 1.0 - 1e-9
    assert w @ psi.kl < 1e-20
    tiny = la.psi(np.where(w > 0, w, 1e-9), theta, 2)
    assert 0.0 <= tiny.value < 1e-7


@pytest.mark.parametrize("d", [1, 2, 5])
def test_one_giant_cluster(d):
    rng = np.random.default_rng(d)
    theta = np.vstack([rng.uniform(0, 1, (19, d)), np.full((1, d), 4.0)])
    w = np.full(20, 0.05)
    psi = la.psi(w, theta, 2)
    check(psi, w, theta, 2, {"name": "gaussian"})
    assert psi.exact
    begin = time.process_time()
    for _ in range(3):
        la.psi(w, theta, 2)
    assert time.process_time() - begin < 3.0


def test_a_search_that_is_cut_short_stays_safe(monkeypatch):
    rng = np.random.default_rng(3)
    theta = clouds(rng, (6, 2), 2, apart=4.0)
    w = np.full(8, 1 / 8)
    full, quick = la.psi(w, theta, 2), la.psi(w, theta, 2, refine=False)
    assert full.exact
    assert full.value > quick.value
    monkeypatch.setattr("linkarms.alternatives._splits._NODES", 2)
    short = la.psi(w, theta, 2)
    assert quick.value <= short.value <= full.value * (1 + 1e-9)
    assert not short.exact
    assert short.bound in ("duality", "bottleneck")
    check(short, w, theta, 2, {"name": "gaussian"})


# -- where the dual leaves a gap ------------------------------------------------------------------------------


def test_a_search_over_directions_is_exact():
    # a light arm in the middle of three heavy ones has to leave them: the dual has a gap, SLSQP from many starts has none
    rng = np.random.default_rng(2)
    spec = {"name": "gaussian"}
    ring = np.array([[np.cos(t), np.sin(t)] for t in (0.3, 2.4, 4.5)])
    for _ in range(3):
        theta = np.vstack(
            [0.1 * rng.normal(size=2), ring + 0.1 * rng.normal(size=(3, 2)), [[9.0, 0.0], [11.5, 0.0]]]
        )
        w = np.array([0.05, 3.0, 3.0, 3.0, 3.0, 3.0])
        precision = w[:, None, None] * np.eye(2)
        u, v = np.zeros(3, dtype=np.int64), np.array([1, 2, 3])
        found = ascend(theta[:, None, :].copy(), w[:, None, None].copy(), u, v, 4, 5, np.zeros(3), np.inf)
        dual = found.value
        lower, point = Sectors(theta, precision, u, v, 4, 5).search(np.inf)
        sub = Subproblem(w, theta, [spec] * 6, (0,), (1, 2, 3), 4, 5)
        truth, _ = sub.minimum(40, rng, dual)
        assert found.end == "edge"
        assert dual < 0.99 * truth
        assert lower == pytest.approx(truth, rel=1e-7)
        assert lower <= truth * (1 + 1e-9)
        assert np.linalg.norm(point[0] - point[1:4], axis=1).min() >= np.linalg.norm(point[4] - point[5]) * (
            1 - 1e-12
        )
        psi = la.psi(w, theta, 3)
        assert psi.exact
        assert psi.value <= lower * (1 + 1e-6)
