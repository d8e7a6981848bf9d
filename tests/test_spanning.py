"""The updated minimum spanning tree against Prim's, after every change."""

import numpy as np
import pytest

from linkarms.engine._spanning import respan
from linkarms.linkage import fill_distances, minimum_spanning_tree


def distances(points):
    dist = np.zeros((len(points), len(points)))
    for m in range(len(points)):
        fill_distances(points, m, dist)
    return dist


def new_tree(n, room=0):
    return (
        np.full(n + room, -7, dtype=np.int64),
        np.full(n + room, -7, dtype=np.int64),
        np.full(n + room, -7.0),
    )


def edges(n, parent, length):
    """The edges with their lengths; equal for equal trees, whatever their roots."""
    pairs = ((min(m, int(parent[m])), max(m, int(parent[m])), float(length[m])) for m in range(n))
    return {pair for pair in pairs if pair[0] >= 0}


def check(dist, order, parent, length):
    n = len(dist)
    wanted = new_tree(n)
    minimum_spanning_tree(dist, *wanted)
    assert edges(n, parent, length) == edges(n, wanted[1], wanted[2])
    assert sorted(order[:n].tolist()) == list(range(n))
    place = np.empty(n, dtype=int)
    place[order[:n]] = np.arange(n)
    root = order[0]
    assert parent[root] == -1
    assert length[root] == 0.0
    for m in order[1:n]:
        assert place[parent[m]] < place[m]
        assert length[m] == dist[m, parent[m]]
    # room behind the tree is left alone
    assert set(order[n:].tolist()) | set(parent[n:].tolist()) <= {-7}


def follow(points, move, rng, steps, most, room=0):
    """Move up to ``most`` points in each step and compare the trees."""
    n = len(points)
    dist = distances(points)
    tree = new_tree(n, room)
    minimum_spanning_tree(dist, tree[0][:n], tree[1][:n], tree[2][:n])
    dirty = np.zeros(most + 2, dtype=np.int64)
    for _ in range(steps):
        count = min(n, int(rng.integers(1, most + 1)))
        dirty[:count] = rng.choice(n, size=count, replace=False)
        for m in dirty[:count]:
            points[m] = move(points, m)
        for m in dirty[:count]:
            fill_distances(points, m, dist)
        respan(dist, dirty, count, *tree)
        check(dist, *tree)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(12))
def test_gaussian_points_that_move_near_and_far_and_onto_each_other(d, seed):
    rng = np.random.default_rng([seed, d])
    n = int(rng.integers(3, 61))

    def move(points, m):
        kind = rng.integers(5)
        if kind == 0:
            return points[rng.integers(n)]
        if kind == 1:
            return 30.0 * rng.standard_normal(d)
        if kind == 2:
            return rng.standard_normal(d)
        return points[m] + 10.0 ** -rng.integers(0, 4) * rng.standard_normal(d)

    follow(rng.standard_normal((n, d)), move, rng, steps=40, most=6, room=seed % 3)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_integer_grids(d, seed):
    rng = np.random.default_rng([seed, d, 1])
    n, side = int(rng.integers(2, 61)), int(rng.integers(2, 9))
    points = rng.integers(side, size=(n, d)).astype(float)
    follow(points, lambda points, m: rng.integers(side, size=d).astype(float), rng, steps=40, most=6)


def test_many_arms_changed_at_once():
    rng = np.random.default_rng(5)
    points = rng.integers(4, size=(20, 2)).astype(float)
    follow(points, lambda points, m: rng.integers(4, size=2).astype(float), rng, steps=60, most=20)


@pytest.mark.parametrize("n", [3, 17, 40])
def test_all_points_equal(n):
    rng = np.random.default_rng(n)
    # equal at first, equal still after every change, then one by one moved to a second place and back
    follow(np.ones((n, 2)), lambda points, m: np.ones(2), rng, steps=10, most=3)
    follow(np.ones((n, 2)), lambda points, m: 1.0 - points[m], rng, steps=40, most=3)


@pytest.mark.parametrize("hub", [0, 11, 24])
def test_the_centre_of_a_star_leaves_and_comes_back(hub):
    """All other arms are components of their own then."""
    n = 25
    points = np.zeros((n, n))
    others = [m for m in range(n) if m != hub]
    points[others, others] = 1.0 + 0.01 * (np.arange(n - 1) % 5)
    away = points[hub] + 50.0
    rng = np.random.default_rng(hub)
    dist, tree = distances(points), new_tree(n)
    minimum_spanning_tree(dist, *tree)
    assert sum(hub in edge[:2] for edge in edges(n, tree[1], tree[2])) == n - 1
    for place in (away, np.zeros(n), away, rng.standard_normal(n)):
        points[hub] = place
        fill_distances(points, hub, dist)
        respan(dist, np.array([hub]), 1, *tree)
        check(dist, *tree)


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_arms(n):
    rng = np.random.default_rng(n)
    follow(rng.standard_normal((n, 2)), lambda points, m: rng.standard_normal(2), rng, steps=10, most=2)


def test_an_arm_listed_twice_and_none_at_all():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((30, 2))
    dist, tree = distances(points), new_tree(30)
    minimum_spanning_tree(dist, *tree)
    before = [part.copy() for part in tree]
    respan(dist, np.array([4]), 0, *tree)
    for part, old in zip(tree, before, strict=True):
        np.testing.assert_array_equal(part, old)
    points[[4, 9]] = rng.standard_normal((2, 2))
    fill_distances(points, 4, dist)
    fill_distances(points, 9, dist)
    respan(dist, np.array([4, 9, 4]), 3, *tree)
    check(dist, *tree)


def test_four_hundred_arms():
    rng = np.random.default_rng(400)
    points = rng.standard_normal((400, 3))
    follow(points, lambda points, m: points[m] + 0.3 * rng.standard_normal(3), rng, steps=60, most=16)
