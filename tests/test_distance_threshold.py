"""Clusters by a distance threshold: partitions, pair problems, psi, evidence, runs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import minimize
from tests.repeats import repeats

import linkarms as la
from linkarms import _core
from linkarms._goal import Goal
from linkarms.engine import Engine
from linkarms.errors import InvalidInput
from linkarms.families import resolve
from linkarms.sampling import resolve_sampling

#: Families with one parameter, where it lies, and a typical distance.
SCALARS = {
    "gaussian:2": (-3.0, 3.0),
    "bernoulli": (0.05, 0.95),
    "poisson": (0.2, 6.0),
    "exponential": (0.2, 5.0),
    "exponential:mean": (0.2, 5.0),
    "gamma:2:mean": (0.2, 5.0),
}


def names(labels) -> list[int]:
    """Labels in order of first appearance."""
    seen: dict[int, int] = {}
    return [seen.setdefault(int(k), len(seen)) for k in labels]


def test_partitions_are_those_of_scipy_and_scikit_learn():
    sklearn = pytest.importorskip("sklearn.cluster")
    rng = np.random.default_rng(1)
    for _ in range(60):
        points = rng.normal(size=(int(rng.integers(2, 12)), int(rng.integers(1, 4))))
        r = float(rng.uniform(0.05, 3.0))
        labels, ambiguous = Goal(None, r).partition(points)
        tree = linkage(points, method="single")
        ours = names(labels)
        assert ours == names(fcluster(tree, r, criterion="distance"))
        made = sklearn.AgglomerativeClustering(n_clusters=None, distance_threshold=r, linkage="single")
        assert ours == names(made.fit_predict(points))
        assert not ambiguous


def test_arms_exactly_at_the_threshold_are_not_joined_as_in_scikit_learn():
    sklearn = pytest.importorskip("sklearn.cluster")
    points = np.array([[0.0], [1.0], [3.0]])
    labels, ambiguous = Goal(None, 1.0).partition(points)
    assert labels.tolist() == [0, 1, 2]
    assert ambiguous
    made = sklearn.AgglomerativeClustering(n_clusters=None, distance_threshold=1.0, linkage="single")
    assert names(made.fit_predict(points)) == [0, 1, 2]
    assert names(fcluster(linkage(points, "single"), 1.0, criterion="distance")) == [0, 0, 1]
    with pytest.raises(InvalidInput, match="length 1 of the threshold"):
        la.Problem([0.0, 1.0, 3.0], distance_threshold=1.0)


def test_partition_follows_points_that_move():
    rng = np.random.default_rng(2)
    for n in (5, 70):
        points = rng.normal(size=(n, 2))
        task = _core.Task(distance=0.3 if n > 9 else 0.9)
        kept = _core.testing.MovingPoints(points, task)
        for _ in range(150):
            m = int(rng.integers(n))
            points[m] += rng.normal(scale=0.2, size=2)
            kept.move(m, points[m])
            assert kept.labels.tolist() == _core.single_linkage(points, task)[0].tolist()


def by_slsqp(families, theta, weights, far: bool, limit: float) -> float:
    """Least cost of two arms at most, or at least, ``limit`` apart: SLSQP from many starts."""
    d = theta.shape[1]
    model = families.model

    def cost(x):
        point = x.reshape(2, d)
        kl = [model.kl(m, theta[m], np.ascontiguousarray(point[m])) for m in range(2)]
        value = float(weights @ kl)
        return value if math.isfinite(value) else 1e6

    def room(x):
        apart = np.sum((x[:d] - x[d:]) ** 2)
        return (apart - limit**2) if far else (limit**2 - apart)

    def room_slope(x):
        slope = (2.0 if far else -2.0) * (x[:d] - x[d:])
        return np.concatenate([slope, -slope])

    rng = np.random.default_rng(3)
    best = math.inf
    low = {"unit": 1e-6, "half": 1e-6}.get(_domain(families), -np.inf)
    high = 1.0 - 1e-6 if _domain(families) == "unit" else np.inf
    for _ in range(12):
        centre = theta.mean(axis=0)
        away = rng.normal(size=d)
        away *= limit / np.linalg.norm(away) / 2.0 * (1.0 if far else rng.uniform(0.2, 1.0))
        start = np.clip(np.concatenate([centre + away, centre - away]), low, high)
        found = minimize(
            cost,
            start,
            method="SLSQP",
            bounds=[(low, high)] * (2 * d),
            constraints={"type": "ineq", "fun": room, "jac": room_slope},
            options={"maxiter": 300, "ftol": 1e-13},
        )
        if room(found.x) >= -1e-9 * limit**2 - 1e-12:
            best = min(best, float(found.fun))
    return best


def _domain(families) -> str:
    name = families.families[0].name
    return (
        "unit" if name == "bernoulli" else "half" if name in ("poisson", "exponential", "gamma") else "line"
    )


def test_pair_problem_of_arms_with_one_parameter_against_slsqp():
    rng = np.random.default_rng(4)
    for turn in range(repeats(36, 60)):
        family = list(SCALARS)[turn % len(SCALARS)]
        low, high = SCALARS[family]
        theta = rng.uniform(low, high, size=(2, 1))
        weights = rng.uniform(0.2, 3.0, size=2)
        apart = abs(float(theta[0, 0] - theta[1, 0]))
        far = bool(turn % 4 < 2)
        r = apart + rng.uniform(0.02, 0.3) * (high - low) if far else apart * rng.uniform(0.1, 0.9)
        if family == "bernoulli":
            r = min(r, 0.98)
        families = resolve(family, 2, 1)
        labels = np.array([0, 0]) if far else np.array([0, 1])
        psi = _core.psi(families.model, weights, theta, labels, _core.Task(distance=r))
        wanted = by_slsqp(families, theta, weights, far, r)
        assert psi.value <= wanted * (1.0 + 1e-5) + 1e-12, (family, theta, weights, r, far)
        assert psi.value >= wanted * (1.0 - 2e-4) - 1e-9, (family, theta, weights, r, far)
        moved = psi.alternative
        assert abs(abs(float(moved[0, 0] - moved[1, 0])) - r) < 1e-5 * r
        assert float(weights @ psi.kl) == pytest.approx(psi.value, rel=1e-6)


def test_pair_problem_of_gaussian_vectors_against_slsqp():
    rng = np.random.default_rng(5)
    for turn in range(repeats(24, 40)):
        d = int(rng.integers(2, 4))
        theta = rng.normal(size=(2, d))
        weights = rng.uniform(0.2, 3.0, size=2)
        if turn % 2:
            roots = rng.normal(size=(2, d, d))
            families = resolve([la.families.Gaussian(a @ a.T + 0.1 * np.eye(d)) for a in roots], 2, d)
        else:
            families = resolve([la.families.Gaussian(v) for v in rng.uniform(0.3, 3.0, 2)], 2, d)
        apart = float(np.linalg.norm(theta[0] - theta[1]))
        far = bool(turn % 4 < 2)
        if turn % 8 == 1:
            theta[1] = theta[0]  # the hard case: equal arms come apart in the direction of most variance
            apart, far = 0.0, True
        r = apart + rng.uniform(0.2, 2.0) if far else apart * rng.uniform(0.1, 0.9)
        labels = np.array([0, 0]) if far else np.array([0, 1])
        psi = _core.psi(families.model, weights, theta, labels, _core.Task(distance=r))
        wanted = by_slsqp(families, theta, weights, far, r)
        assert psi.value <= wanted * (1.0 + 1e-6) + 1e-12
        assert psi.value >= wanted * (1.0 - 1e-4) - 1e-9
        gap = np.linalg.norm(psi.alternative[0] - psi.alternative[1])
        assert gap == pytest.approx(r, rel=1e-5)
        assert float(weights @ psi.kl) == pytest.approx(psi.value, rel=1e-5)


def least_cost(theta, weights, labels, r) -> float:
    """psi of unit Gaussian arms by brute force: every pair that meets, every split of every cluster, by SLSQP."""
    n, _d = theta.shape
    best = math.inf
    for a, b in itertools.combinations(range(n), 2):
        if labels[a] != labels[b]:
            gap = max(np.linalg.norm(theta[a] - theta[b]) - r, 0.0)
            best = min(best, gap**2 / (2.0 * (1.0 / weights[a] + 1.0 / weights[b])))
    for k in set(labels.tolist()):
        arms = [m for m in range(n) if labels[m] == k]
        for size in range(1, len(arms) // 2 + 1):
            for part in itertools.combinations(arms, size):
                rest = [m for m in arms if m not in part]
                best = min(best, _split_cost(theta, weights, list(part), rest, r))
    return best


def _split_cost(theta, weights, part, rest, r) -> float:
    arms = part + rest
    d = theta.shape[1]
    where = {m: i for i, m in enumerate(arms)}

    def cost(x):
        shift = x.reshape(len(arms), d) - theta[arms]
        return float(0.5 * np.sum(weights[arms] * np.sum(shift**2, axis=1)))

    def slope(x):
        return (weights[arms][:, None] * (x.reshape(len(arms), d) - theta[arms])).ravel()

    def room(x):
        p = x.reshape(len(arms), d)
        return np.array([np.sum((p[where[u]] - p[where[v]]) ** 2) - r**2 for u in part for v in rest])

    rng = np.random.default_rng(6)
    best = math.inf
    centres = theta[part].mean(axis=0) - theta[rest].mean(axis=0)
    for turn in range(3):
        away = centres if turn == 0 else rng.normal(size=d)
        away = r * away / max(np.linalg.norm(away), 1e-12)
        start = np.concatenate([theta[part] + 0.7 * away, theta[rest] - 0.7 * away]).ravel()
        constraint = {"type": "ineq", "fun": room}
        found = minimize(
            cost, start, jac=slope, method="SLSQP", constraints=constraint, options={"ftol": 1e-12}
        )
        if room(found.x).min() >= -1e-7 * r**2:
            best = min(best, float(found.fun))
    return best


def test_psi_against_every_split():
    rng = np.random.default_rng(7)
    exact = 0
    for turn in range(repeats(16, 30)):
        n, d = int(rng.integers(3, 6)), int(rng.integers(1, 3))
        theta = rng.normal(scale=1.5, size=(n, d))
        weights = rng.uniform(0.3, 2.0, size=n)
        r = float(rng.uniform(0.5, 2.5))
        psi = la.psi(weights, theta, distance_threshold=r)
        labels = Goal(None, r).partition(theta)[0]
        wanted = least_cost(theta, weights, labels, r)
        assert psi.value <= wanted * (1.0 + 1e-6) + 1e-12, turn
        if psi.exact:
            exact += 1
            assert psi.value == pytest.approx(wanted, rel=1e-4, abs=1e-9)
        elif psi.bound == "bottleneck":
            assert np.bincount(labels).max() > 2
    assert exact >= repeats(7, 12)


def test_psi_of_a_run_is_that_from_scratch():
    """What the search remembers never changes its answer, ties of equal counts included."""
    rng = np.random.default_rng(8)
    for family, n in (("gaussian", 12), ("poisson", 5), ("bernoulli", 5)):
        theta = {
            "gaussian": rng.normal(size=n),
            "poisson": rng.uniform(1, 4, n),
            "bernoulli": rng.uniform(0.2, 0.8, n),
        }
        problem = la.Problem(
            theta[family], family=family, distance_threshold=0.6 if family != "bernoulli" else 0.15
        )
        box = {"gaussian": (-50.0, 50.0), "poisson": (0.1, 50.0), "bernoulli": (0.02, 0.98)}[family]
        stop = la.stopping.Paper(theta=box)  # it weighs samples by their number
        engine = Engine(problem.arm_families, problem.goal, resolve_sampling("ebc-h"), stop, 0.1, rng)
        for _ in range(250):
            m = engine.choose()
            x = problem.families[m].statistics(problem.families[m].draw(rng, problem.parameters[m], 1))[0]
            engine.observe(m, x)
            if not engine.ready:
                continue
            weights = np.array(engine.core.counts, dtype=float)
            labels, _ = problem.goal.partition(np.array(engine.core.estimates))
            assert labels.tolist() == engine.core.labels.tolist()
            again = _core.psi(
                problem.arm_families.model,
                weights,
                np.array(engine.core.estimates),
                labels,
                problem.goal.task(),
            )
            assert again.value == engine.core.psi
            assert again.witness == engine.core.nearest_witness


def infimum(model, counts, means, pair, far, limit, grid, average) -> float:
    """The evidence against a pair of arms with one parameter: on a fine grid of the boundary, and a coarse one inside."""
    a, b = pair

    def log_evidence(m, values):
        return np.array(
            [
                [model.log_evidence(m, counts[m], np.array([means[m]]), np.array([v]), c) for v in values]
                for c in grid
            ]
        )

    def joined(total):
        return np.logaddexp.reduce(total, axis=0) - math.log(len(grid)) if average else total

    width = 6.0 * math.sqrt(max(means.max(), 1.0) / counts.min()) + limit
    low = 1e-6 if average is False else -np.inf
    best = []
    for sign in (1.0, -1.0):
        xs = np.linspace(min(means) - width, max(means) + width, repeats(3001, 6001))
        xs = xs[(xs > low) & (xs + sign * limit > low)]
        best.append(joined(log_evidence(a, xs) + log_evidence(b, xs + sign * limit)).min(axis=-1))
    xs = np.linspace(max(min(means) - width, low), max(means) + width, 200)
    total = log_evidence(a, xs)[:, :, None] + log_evidence(b, xs)[:, None, :]
    apart = np.abs(xs[:, None] - xs[None, :])
    inside = joined(total)[..., apart >= limit if far else apart <= limit].min(axis=-1)
    return float(np.max(np.min([*best, inside], axis=0)))


def test_evidence_against_a_fine_grid():
    """The statistic is the bottleneck of infima that are found here by brute force."""
    rng = np.random.default_rng(9)
    rule = la.stopping.Anytime(c=(0.5, 4.0, 32.0))
    for family, average in (("gaussian", True), ("poisson", False)):
        problem = la.Problem([2.0, 2.4, 4.5], family=family, distance_threshold=1.2)
        engine = Engine(problem.arm_families, problem.goal, resolve_sampling("round-robin"), rule, 0.1, rng)
        for t in range(60):
            m = t % 3
            x = problem.families[m].statistics(problem.families[m].draw(rng, problem.parameters[m], 1))[0]
            engine.observe(m, x)
        counts, means = engine.core.counts, engine.core.means[:, 0]
        labels = engine.core.labels
        found = []
        for a, b in itertools.combinations(range(3), 2):
            far = labels[a] == labels[b]
            wanted = infimum(
                problem.arm_families.model, counts, means, (a, b), far, 1.2, (0.5, 4.0, 32.0), average
            )
            pair = (a, b, -1, -1) if far else (-1, -1, a, b)
            value = engine.core.evidence_against(pair)
            assert value <= wanted + 1e-9
            assert value >= wanted - 2e-3
            assert engine.core.evidence_is_below(pair, value + 1e-3)
            assert not engine.core.evidence_is_below(pair, value - 1e-3)
            found.append(value)
        assert engine.evidence() == pytest.approx(min(found), abs=1e-9)
