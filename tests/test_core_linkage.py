"""The core's spanning trees and partitions: against SciPy and Prim's algorithm by hand, and while points move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, pdist, squareform

from linkarms import _core

testing = _core.testing
TIE = 1e-12


def in_order(labels):
    names = {}
    return [names.setdefault(label, len(names)) for label in labels]


def heights_of(dist):
    """Lengths of a minimum spanning tree, in order: SciPy's merges."""
    return linkage(squareform(dist, checks=False), method="single")[:, 2]


def below(dist, height):
    """Components of the arms that are joined by edges shorter than ``height``."""
    return in_order(connected_components(dist < height, directed=False)[1].tolist())


def cut(dist, k):
    labels, ambiguous = testing.cut_lengths(dist, k)
    return labels.tolist(), ambiguous


@st.composite
def matrices(draw, values, most=9):
    """Symmetric lengths, not of points in any space, and a number of clusters."""
    n = draw(st.integers(2, most))
    edges = draw(st.lists(values, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    return squareform(np.array(edges, dtype=float)), draw(st.integers(1, n))


anything = matrices(st.integers(0, 4)) | matrices(st.floats(0.0, 1e3, allow_subnormal=False))


@given(anything)
def test_tree_against_scipy_and_by_hand(problem):
    dist, _ = problem
    n = len(dist)
    order, parent, length = _core.minimum_spanning_tree(dist)
    assert np.sort(length[order[1:]]).tolist() == heights_of(dist).tolist()
    assert sorted(order.tolist()) == list(range(n))
    assert (order[0], parent[0], length[0]) == (0, -1, 0.0)
    inside = [0]
    for m in order[1:].tolist():
        edges = [(dist[i, j], min(i, j), max(i, j), j) for i in inside for j in set(range(n)) - set(inside)]
        assert m == min(edges)[3]
        assert parent[m] in inside
        assert length[m] == dist[m, parent[m]] == min(edges)[0]
        inside.append(m)


@given(matrices(st.integers(0, 4)))
def test_a_cut_is_ambiguous_where_lengths_tie_and_nowhere_else(problem):
    dist, k = problem
    n, heights = len(dist), heights_of(dist)
    labels, ambiguous = cut(dist, k)
    assert ambiguous == (1 < k < n and heights[n - k - 1] == heights[n - k])
    assert in_order(labels) == labels
    assert len(set(labels)) == k
    # also where it is ambiguous: no longer edge is kept than one that was cut
    same = np.equal.outer(labels, labels)
    for label in range(k):
        inside = np.flatnonzero(np.equal(labels, label))
        if k > 1 and len(inside) > 1:
            assert heights_of(dist[np.ix_(inside, inside)]).max() <= dist[~same].min()


@given(anything, st.randoms(use_true_random=False))
def test_partition_against_components_in_any_order(problem, random):
    dist, k = problem
    n = len(dist)
    labels, ambiguous = cut(dist, k)
    order = random.sample(range(n), n)
    shuffled, tied = cut(np.ascontiguousarray(dist[np.ix_(order, order)]), k)
    assert tied == ambiguous
    if not ambiguous:
        assert labels == (below(dist, heights_of(dist)[n - k]) if k > 1 else [0] * n)
        assert shuffled == in_order([labels[m] for m in order])


def test_equal_but_for_rounding_is_a_tie():
    for scale in (1e-9, 1.0, 1e9):
        for apart, tied in ((0.0, True), (0.3 * TIE, True), (100.0 * TIE, False)):
            assert cut(scale * squareform([1.0, 2.0, 1.0 + apart]), 2)[1] is tied
    assert cut(np.zeros((4, 4)), 1) == ([0, 0, 0, 0], False)
    assert cut(np.zeros((4, 4)), 2)[1] is True
    assert cut(np.zeros((4, 4)), 4) == ([0, 1, 2, 3], False)
    assert cut(np.zeros((1, 1)), 1) == ([0], False)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_points_against_scipy(d):
    rng = np.random.default_rng(d)
    for n in (2, 10, 90):
        points = rng.standard_normal((n, d))
        dist = squareform(pdist(points))
        for k in {1, 2, (n + 1) // 2, n - 1, n}:
            labels, ambiguous = _core.single_linkage(points, k)
            assert not ambiguous
            assert labels.tolist() == (below(dist, heights_of(dist)[n - k]) if k > 1 else [0] * n)


def test_bad_arguments():
    for k in (0, 3):
        with pytest.raises(ValueError, match=f"n_clusters={k}, but there are 2 arms; choose 1 to 2"):
            _core.single_linkage(np.zeros((2, 1)), k)
    for shape in ((2, 3), (0, 0)):
        with pytest.raises(ValueError, match="square"):
            _core.minimum_spanning_tree(np.zeros(shape))


# trees after a change ------------------------------------------------------------------------------------


def edges(parent, length):
    """The edges with their lengths; equal for equal trees, whatever their roots."""
    return {(min(m, p), max(m, p), x) for m, (p, x) in enumerate(zip(parent, length, strict=True)) if p >= 0}


def check_tree(dist, order, parent, length):
    _, wanted, lengths = _core.minimum_spanning_tree(dist)
    assert edges(parent, length) == edges(wanted, lengths)
    assert sorted(order.tolist()) == list(range(len(dist)))
    place = np.argsort(order)
    assert (parent[order[0]], length[order[0]]) == (-1, 0.0)
    for m in order[1:]:
        assert place[parent[m]] < place[m]
        assert length[m] == dist[m, parent[m]]


def follow(points, move, rng, steps, most):
    """Move up to ``most`` points in each step and compare the trees."""
    n, tree = len(points), _core.minimum_spanning_tree(cdist(points, points))
    for _ in range(steps):
        dirty = rng.choice(n, size=min(n, int(rng.integers(1, most + 1))), replace=False)
        for m in dirty:
            points[m] = move(points, m)
        dist = cdist(points, points)
        tree = testing.update_spanning_tree(dist, dirty, *tree)
        check_tree(dist, *tree)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(8))
def test_trees_of_points_that_move_near_and_far_and_onto_each_other(d, seed):
    rng = np.random.default_rng([seed, d])
    n = int(rng.integers(3, 61))

    def move(points, m):
        kind = rng.integers(5)
        if kind == 0:
            return points[rng.integers(n)]
        if kind < 3:
            return (1.0, 30.0)[kind - 1] * rng.standard_normal(d)
        return points[m] + 10.0 ** -rng.integers(0, 4) * rng.standard_normal(d)

    follow(rng.standard_normal((n, d)), move, rng, steps=40, most=6)


@pytest.mark.parametrize("most", [6, 20])
@pytest.mark.parametrize("seed", range(8))
def test_trees_on_integer_grids(most, seed):
    rng = np.random.default_rng([seed, most])
    n, side, d = int(rng.integers(2, 61)), int(rng.integers(2, 9)), int(rng.integers(1, 4))
    points = rng.integers(side, size=(n, d)).astype(float)
    follow(points, lambda points, m: rng.integers(side, size=d).astype(float), rng, steps=40, most=most)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 40])
def test_trees_of_equal_points(n):
    rng = np.random.default_rng(n)
    follow(np.ones((n, 2)), lambda points, m: np.ones(2), rng, steps=10, most=3)
    follow(np.ones((n, 2)), lambda points, m: 1.0 - points[m], rng, steps=40, most=3)


@pytest.mark.parametrize("hub", [0, 11, 24])
def test_the_centre_of_a_star_leaves_and_comes_back(hub):
    """All other arms are components of their own then."""
    n = 25
    points = np.zeros((n, n))
    others = [m for m in range(n) if m != hub]
    points[others, others] = 1.0 + 0.01 * (np.arange(n - 1) % 5)
    tree = _core.minimum_spanning_tree(cdist(points, points))
    assert sum(hub in edge[:2] for edge in edges(*tree[1:])) == n - 1
    for place in (np.full(n, 50.0), np.zeros(n), np.full(n, 50.0), np.linspace(0.0, 1.0, n)):
        points[hub] = place
        dist = cdist(points, points)
        tree = testing.update_spanning_tree(dist, np.array([hub]), *tree)
        check_tree(dist, *tree)


def test_an_arm_listed_twice_and_none_at_all():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((30, 2))
    tree = _core.minimum_spanning_tree(cdist(points, points))
    same = testing.update_spanning_tree(cdist(points, points), np.array([], dtype=np.int64), *tree)
    for part, old in zip(same, tree, strict=True):
        np.testing.assert_array_equal(part, old)
    points[[4, 9]] = rng.standard_normal((2, 2))
    dist = cdist(points, points)
    check_tree(dist, *testing.update_spanning_tree(dist, np.array([4, 9, 4]), *tree))


def test_trees_of_four_hundred_arms():
    rng = np.random.default_rng(400)
    points = rng.standard_normal((400, 3))
    follow(points, lambda points, m: points[m] + 0.3 * rng.standard_normal(3), rng, steps=40, most=16)


# the partition kept -----------------------------------------------------------------------------------------


def distances(points):
    """As the core computes them, to the last bit: ties on grids are ties."""
    squares = np.zeros((len(points), len(points)))
    for column in points.T:
        squares += np.subtract.outer(column, column) ** 2
    return np.sqrt(squares)


def check_partition(kept, points, k):
    """Labels and ambiguity are those from scratch; the trees prove them; the bounds of foreign distances hold."""
    dist = distances(points)
    labels, ambiguous = cut(dist, k)
    assert kept.labels.tolist() == labels
    assert kept.ambiguous == ambiguous
    apart = np.not_equal.outer(labels, labels)
    foreign = np.where(apart, dist, np.inf).min(axis=1)
    assert np.all(kept.nearest <= foreign)
    up = kept.up
    assert np.sum(up < 0) == k
    children = np.flatnonzero(up >= 0)
    forest = np.zeros_like(dist, dtype=bool)
    forest[children, up[children]] = True
    assert in_order(connected_components(forest, directed=False)[1].tolist()) == labels
    if not ambiguous and len(children):
        assert dist[children, up[children]].max() < foreign.min()
    for label in range(k):
        np.testing.assert_array_equal(kept.members(label), np.flatnonzero(np.equal(labels, label)))


def walk(points, k, move, rng, steps, every=1):
    """Move points one by one; return how often the clusters were made again."""
    kept, again = testing.MovingPoints(points, k), 0
    check_partition(kept, points, k)
    for step in range(steps):
        before, m = kept.labels, int(rng.integers(len(points)))
        points[m] = move(points, m)
        if kept.move(m, points[m]):
            again += 1
            np.testing.assert_array_equal(kept.labels_before, before)
        else:
            np.testing.assert_array_equal(kept.labels, before)
            assert not kept.ambiguous
        if step % every == 0:
            check_partition(kept, points, k)
    return again


@pytest.mark.parametrize("seed", range(12))
def test_the_partition_of_a_random_walk(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 30)), int(rng.integers(1, 4))
    k, size = int(rng.integers(1, n + 1)), 10.0 ** -rng.integers(0, 3)
    points = rng.standard_normal((n, d))
    walk(points, k, lambda points, m: points[m] + size * rng.standard_normal(d), rng, steps=200)


@pytest.mark.parametrize("seed", range(8))
def test_the_partition_on_a_grid_of_ties(seed):
    rng = np.random.default_rng([seed, 1])
    n, d, side = int(rng.integers(3, 20)), int(rng.integers(1, 3)), int(rng.integers(2, 6))
    points = rng.integers(side, size=(n, d)).astype(float)
    k = int(rng.integers(1, n + 1))
    walk(points, k, lambda points, m: rng.integers(side, size=d).astype(float), rng, steps=150)


@pytest.mark.parametrize(("n", "spread", "size"), [(65, 0.3, 0.05), (200, 0.3, 0.05), (200, 1.0, 0.5)])
def test_the_partition_of_many_arms(n, spread, size):
    """Above 64 arms the tree is repaired where few have moved, and made again where many have."""
    rng = np.random.default_rng(n)
    centres = rng.standard_normal((8, 2))
    points = centres[np.arange(n) % 8] + spread * rng.standard_normal((n, 2))
    again = walk(
        points, 8, lambda points, m: points[m] + size * rng.standard_normal(2), rng, steps=400, every=10
    )
    assert again > 20


def test_well_separated_clusters_are_never_linked_again():
    rng = np.random.default_rng(0)
    points = 100.0 * (np.arange(40) % 4)[:, None] + rng.standard_normal((40, 2))
    assert walk(points, 4, lambda p, m: p[m] + 0.1 * rng.standard_normal(2), rng, steps=200) == 0
