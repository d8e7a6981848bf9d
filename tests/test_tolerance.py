"""A tolerance: pair problems, psi, evidence and runs with exact ties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import linkarms as la
from linkarms import _core
from linkarms._goal import Goal
from linkarms.engine import Engine
from linkarms.errors import InvalidInput
from linkarms.families import resolve
from linkarms.sampling import resolve_sampling


def by_slsqp(model, theta, weights, pairs, eps, low=-np.inf, high=np.inf, starts=6) -> float:
    """Least cost with ``|u - v| >= |a - b| + eps``, from many starts; without bounds the arms are Gaussian, of unit variance."""
    u, v, a, b = pairs
    _n, d = theta.shape
    moving = sorted({u, v, a, b})
    where = {m: i for i, m in enumerate(moving)}

    def cost(x):
        point = x.reshape(len(moving), d)
        total = 0.0
        for i, m in enumerate(moving):
            total += weights[m] * model.kl(m, theta[m], np.ascontiguousarray(point[i]))
        return float(total) if math.isfinite(total) else 1e6

    def gaussian_slope(x):
        return (weights[moving, None] * (x.reshape(len(moving), d) - theta[moving])).ravel()

    slope = gaussian_slope if low == -np.inf else None

    def lengths(x):
        p = x.reshape(len(moving), d)
        intra, inter = p[where[u]] - p[where[v]], p[where[a]] - p[where[b]]
        return intra, inter, math.sqrt(intra @ intra + 1e-18), math.sqrt(inter @ inter + 1e-18)

    def room(x):
        _, _, intra, inter = lengths(x)
        return intra - inter - eps

    def room_slope(x):
        intra, inter, p, q = lengths(x)
        slope = np.zeros((len(moving), d))
        for m, part in ((u, intra / p), (v, -intra / p), (a, -inter / q), (b, inter / q)):
            slope[where[m]] += part
        return slope.ravel()

    rng = np.random.default_rng(1)
    best = math.inf
    for turn in range(starts):
        start = theta[moving] + (0.0 if turn == 0 else rng.normal(scale=0.6, size=(len(moving), d)))
        found = minimize(
            cost,
            np.clip(start, low, high).ravel(),
            method="SLSQP",
            bounds=[(low, high)] * (len(moving) * d),
            jac=slope,
            constraints={"type": "ineq", "fun": room, "jac": room_slope},
            options={"maxiter": 400, "ftol": 1e-13},
        )
        if room(found.x) >= -1e-7:
            best = min(best, float(found.fun))
    return best


def pair_cost(families, theta, weights, pairs, eps) -> float:
    """The core's cost of one pair of pairs: psi of a problem in which there is no other."""
    return _core.testing.tolerant_cost(families.model, theta, weights, pairs, eps)


def test_pair_problem_of_gaussian_arms_against_slsqp():
    rng = np.random.default_rng(2)
    tight = 0
    for turn in range(36):
        d = 1 + turn % 3
        theta = rng.normal(size=(4, d))
        weights = rng.uniform(0.3, 3.0, size=4)
        pairs = (0, 1, 0, 2) if turn % 2 else (0, 1, 2, 3)
        eps = float(rng.uniform(0.05, 1.0))
        if turn % 5 == 0:  # an exact tie
            theta[pairs[3]] = theta[pairs[2]] + (theta[0] - theta[1])[::-1]
        families = resolve("gaussian", 4, d)
        value = pair_cost(families, theta, weights, pairs, eps)
        wanted = by_slsqp(families.model, theta, weights, pairs, eps)
        if value < wanted * (1.0 - 1e-5):  # a few starts may miss the least
            wanted = by_slsqp(families.model, theta, weights, pairs, eps, starts=30)
        assert value <= wanted * (1.0 + 1e-6) + 1e-10, (turn, value, wanted)
        p, q = (np.linalg.norm(theta[x] - theta[y]) for x, y in (pairs[:2], pairs[2:]))
        i = 1.0 / weights
        spread = 4 * i[0] + i[1] + i[2] if turn % 2 else i.sum()
        least = max(q - p + eps, 0.0) ** 2 / (2.0 * spread)  # the safe bounds of math.md, section 8
        assert value >= least * (1.0 - 1e-9)
        assert value >= pair_cost(families, theta, weights, pairs, 1e-12) * (1.0 - 0.02)
        tight += value >= wanted * (1.0 - 0.01) - 1e-9
        if turn % 2 == 0:
            assert value >= wanted * (1.0 - 1e-5) - 1e-9  # four arms: exact
    assert tight >= 33


def test_pair_problem_of_other_families_against_slsqp():
    rng = np.random.default_rng(3)
    for turn in range(24):
        family, low, high = (
            ("poisson", 1e-6, np.inf),
            ("bernoulli", 1e-6, 1.0 - 1e-6),
            ("exponential", 1e-6, np.inf),
            ("exponential:mean", 1e-6, np.inf),
        )[turn % 4]
        top = 0.9 if family == "bernoulli" else 4.0
        theta = rng.uniform(0.1 * top, top, size=(4, 1))
        weights = rng.uniform(0.3, 3.0, size=4)
        pairs = (0, 1, 0, 2) if turn % 2 else (0, 1, 2, 3)
        eps = float(rng.uniform(0.02, 0.1)) * top
        families = resolve(family, 4, 1)
        value = pair_cost(families, theta, weights, pairs, eps)
        wanted = by_slsqp(families.model, theta, weights, pairs, eps, low, high, starts=5)
        assert value <= wanted * (1.0 + 1e-5) + 1e-10, (turn, family)
        p, q = abs(theta[0, 0] - theta[1, 0]), abs(theta[pairs[2], 0] - theta[pairs[3], 0])
        if q + eps <= p:
            assert value == 0.0
        else:
            assert value > 0.0


def brute_psi(theta, weights, labels, eps) -> float:
    """psi of unit Gaussian arms in clusters of at most two by brute force."""
    families = resolve("gaussian", *theta.shape)
    best = math.inf
    for u, v in itertools.combinations(range(len(theta)), 2):
        for a, b in itertools.combinations(range(len(theta)), 2):
            if labels[u] == labels[v] and labels[a] != labels[b]:
                best = min(best, by_slsqp(families.model, theta, weights, (u, v, a, b), eps, starts=4))
    return best


def test_psi_against_brute_force():
    rng = np.random.default_rng(4)
    done = 0
    while done < 12:
        n, d = 4, 1 + done % 2
        theta = rng.normal(scale=1.5, size=(n, d))
        labels = Goal(2).partition(theta)[0]
        if np.bincount(labels).max() > 2:
            continue
        done += 1
        weights = rng.uniform(0.3, 2.0, size=n)
        eps = float(rng.uniform(0.1, 0.6))
        found = la.psi(weights, theta, 2, tolerance=eps)
        wanted = brute_psi(theta, weights, labels, eps)
        assert found.value <= wanted * (1.0 + 1e-6) + 1e-10
        assert found.value >= wanted * 0.97 - 1e-9
        assert found.value > la.psi(weights, theta, 2).value
        if found.exact:
            assert Goal(2, None, eps).is_wrong(found.alternative, labels, margin=1e-7)


def test_psi_of_a_run_is_that_from_scratch():
    rng = np.random.default_rng(5)
    for family, n, eps in (("gaussian", 9, 0.2), ("poisson", 5, 0.3), ("gaussian", 70, 0.1)):
        theta = rng.normal(size=n) if family == "gaussian" else rng.uniform(1, 4, n)
        problem = la.Problem(theta, n // 2, family=family, tolerance=eps)
        box = (-50.0, 50.0) if family == "gaussian" else (0.1, 50.0)
        stop = la.stopping.Paper(theta=box)
        engine = Engine(problem.arm_families, problem.goal, resolve_sampling("ebc-h"), stop, 0.1, rng)
        for _ in range(n + 120):
            m = engine.choose()
            engine.observe(m, problem.families[m].draw(rng, problem.parameters[m], 1)[0])
            if not engine.ready:
                continue
            estimates, weights = np.array(engine.core.estimates), np.array(engine.core.counts, dtype=float)
            again = _core.psi(
                problem.arm_families.model, weights, estimates, engine.core.labels.copy(), problem.goal.task()
            )
            assert again.value == engine.core.psi
            assert again.witness == engine.core.nearest_witness


TIES = {
    "three on a line": ([0.0, 1.0, 2.0], 2, "gaussian", 0.4),
    "a triangle": ([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]], 2, "gaussian", 0.5),
    "two pairs": ([0.0, 1.0, 3.0, 4.0], 3, "gaussian", 0.5),
    "counts": ([1.0, 2.0, 3.0], 2, "poisson", 0.7),
    "shares": ([0.2, 0.5, 0.8], 2, "bernoulli", 0.2),
    "unknown variance": ([0.0, 1.0, 2.0], 2, "gaussian-unknown", 0.5),
    "covariance": (
        [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]],
        2,
        la.families.Gaussian([[1.0, 0.3], [0.3, 0.5]]),
        1.0,
    ),
}


@pytest.mark.parametrize("name", TIES)
def test_runs_with_exact_ties_end(name):
    parameters, k, family, eps = TIES[name]
    problem = la.Problem(parameters, k, family, tolerance=eps)
    runs = la.simulate(problem, ["ebc-h"], deltas=[0.1], trials=12, seed=1, max_samples=60_000)["ebc-h"]
    assert (runs.stopping_times > 0).all()
    assert not runs.errors.any()


def test_no_arm_starves():
    """Twice the precision takes about four times the samples, for every rule."""
    times = {}
    for eps in (0.4, 0.2):
        problem = la.Problem([0.0, 1.0, 2.0], 2, tolerance=eps)
        runs = la.simulate(problem, ["ebc-h", "ebc", "round-robin"], deltas=[0.1], trials=10, seed=2)
        for rule in ("ebc-h", "ebc", "round-robin"):
            times.setdefault(rule, []).append(runs[rule].stopping_times.mean())
    for rule, (wide, narrow) in times.items():
        assert 2.5 < narrow / wide < 8.0, rule


@pytest.mark.parametrize("tolerance", [-1.0, float("inf"), float("nan")])
def test_a_tolerance_that_is_none_is_refused(tolerance):
    with pytest.raises(InvalidInput, match=r"^tolerance=.*; give a number that is at least 0$"):
        la.BanditClusterer(2, 3, tolerance=tolerance)
    with pytest.raises(InvalidInput, match=r"^distance_threshold=.*; give a number that is above 0$"):
        la.BanditClusterer(arms=3, distance_threshold=min(tolerance, float("inf")))


def test_a_tie_without_a_tolerance_does_not_end():
    with pytest.raises(InvalidInput, match="give a tolerance"):
        la.Problem([0.0, 1.0, 2.0], 2)
    rng = np.random.default_rng(6)
    c = la.BanditClusterer(2, 3, family="gaussian", max_samples=20_000)
    while not c.done:
        (arm,) = c.ask()
        c.tell(arm, rng.normal([0.0, 1.0, 2.0][arm]))
    assert not c.result().stopped


def test_what_is_right():
    goal = Goal(2, None, 0.1)
    theta = np.array([[0.0], [1.0], [2.05]])
    assert goal.is_right(theta, np.array([0, 0, 1]))
    assert goal.is_right(theta, np.array([0, 1, 1]))  # 1.05 inside, 1 between: less than 0.1 longer
    assert not Goal(2, None, 0.04).is_right(theta, np.array([0, 1, 1]))
    assert not goal.is_right(theta, np.array([0, 1, 2]))
    near = Goal(None, 1.0, 0.1)
    assert near.is_right(theta, np.array([0, 0, 0]))
    assert near.is_right(theta, np.array([0, 1, 2]))
    assert not near.is_right(np.array([[0.0], [0.5]]), np.array([0, 1]))


def test_estimates_with_equal_edges_may_be_named_with_a_tolerance():
    c = la.BanditClusterer(2, 3, family="gaussian:0.0001", tolerance=0.5)
    for _ in range(6):
        for arm, x in enumerate((0.0, 1.0, 2.0)):
            c.tell(arm, x)
    result = c.result()
    assert result.ambiguous
    assert result.stopped
    assert "taken for equal" in result.reason
    assert la.psi([1, 1, 1], [0.0, 1.0, 2.0], 2, tolerance=0.5).value != 0.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sampling": "lucbboc", "family": "gaussian"}, "needs n_clusters and no tolerance"),
        ({"family": "gaussian", "stopping": la.stopping.Anytime(version=1)}, "version 2"),
    ],
)
def test_what_has_no_tolerance_is_refused(settings, words):
    with pytest.raises(InvalidInput, match=words):
        la.BanditClusterer(2, 4, tolerance=0.1, **settings)


def test_the_bound_with_a_tolerance_proves_no_lower_end():
    bound = la.lower_bound([0.0, 1.0, 2.0], 2, tolerance=0.3)
    assert bound.lower == 0.0
    assert not bound.closed
    assert 0.0 < bound.upper < math.inf
    assert "several partitions" in bound.remark
    assert la.psi(bound.weights, [0.0, 1.0, 2.0], 2, tolerance=0.3).value == pytest.approx(1.0 / bound.upper)


def test_the_level_counts_sets_or_pieces():
    families = resolve("gaussian", 6, 1)
    rule = la.stopping.Anytime()
    assert rule.base(families, Goal(3, None, 0.1), 2) == pytest.approx(math.log(30))
    assert rule.base(families, Goal(5, None, 0.1), 2) == pytest.approx(math.log(10))
