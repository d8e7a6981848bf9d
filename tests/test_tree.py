"""The spanning tree and the cut of it as kernels take them: any distances, tied ones above all, against SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist, squareform

from linkarms.linkage import TIE, minimum_spanning_tree, single_linkage_kernel


def tree_of(dist):
    n = len(dist)
    order, parent, length = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    minimum_spanning_tree(dist, order, parent, length)
    return order, parent, length


def cut(dist, k):
    """Labels and whether the cut is ambiguous; what the array of labels held before does not matter."""
    labels, again = np.full(len(dist), -7), np.arange(len(dist))[::-1].copy()
    given = dist.copy()
    ambiguous = single_linkage_kernel(dist, k, labels)
    assert single_linkage_kernel(dist, k, again) == ambiguous
    assert np.array_equal(labels, again)
    assert np.array_equal(dist, given)
    return labels.tolist(), bool(ambiguous)


def in_order(labels):
    names = {}
    return [names.setdefault(label, len(names)) for label in labels]


def heights_of(dist):
    """Lengths of a minimum spanning tree, in order: SciPy's merges."""
    return linkage(squareform(dist, checks=False), method="single")[:, 2]


def below(dist, height):
    """Components of the arms that are joined by edges shorter than ``height``."""
    return in_order(connected_components(dist < height, directed=False)[1].tolist())


@st.composite
def matrices(draw, values, most=9):
    """Symmetric distances, not of points in any space, and a number of clusters."""
    n = draw(st.integers(2, most))
    edges = draw(st.lists(values, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    return squareform(np.array(edges, dtype=float)), draw(st.integers(1, n))


anything = matrices(st.integers(0, 4)) | matrices(st.floats(0.0, 1e3, allow_subnormal=False))


@given(anything)
def test_tree_against_scipy_and_by_hand(problem):
    dist, _ = problem
    n = len(dist)
    order, parent, length = tree_of(dist)
    assert np.sort(length[order[1:]]).tolist() == heights_of(dist).tolist()
    assert sorted(order.tolist()) == list(range(n))
    assert (order[0], parent[0], length[0]) == (0, -1, 0.0)
    # Prim's algorithm from arm 0; of edges of the same length the one with the smaller indices
    inside = [0]
    for m in order[1:].tolist():
        outside = [j for j in range(n) if j not in inside]
        edges = [(dist[i, j], min(i, j), max(i, j), j) for i in inside for j in outside]
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
            longest = tree_of(np.ascontiguousarray(dist[np.ix_(inside, inside)]))[2].max()
            assert longest <= dist[~same].min()


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


@pytest.mark.parametrize("d", [1, 2, 5])
def test_many_points(d):
    rng = np.random.default_rng(d)
    for n in (10, 40, 90):
        dist = squareform(pdist(rng.standard_normal((n, d))))
        heights = heights_of(dist)
        assert np.sort(tree_of(dist)[2])[1:] == pytest.approx(heights, rel=1e-13)
        for k in {2, 3, n // 2, n - 1}:
            labels, ambiguous = cut(dist, k)
            assert not ambiguous
            assert labels == below(dist, heights[n - k])


def test_a_chain_and_single_arms():
    # arms in a row, each near the next only, and two far away: one cluster of all the others
    points = np.append(np.arange(14.0) + 0.01 * np.arange(14) ** 2, [-60.0, 90.0])
    order = np.random.default_rng(0).permutation(len(points))
    labels, ambiguous = cut(np.abs(np.subtract.outer(points[order], points[order])), 3)
    assert not ambiguous
    assert labels == in_order([0 if m < 14 else int(m) for m in order])


def test_equal_but_for_rounding_is_a_tie():
    for scale in (1e-9, 1.0, 1e9):
        for apart, tied in ((0.0, True), (0.3 * TIE, True), (100.0 * TIE, False)):
            dist = scale * squareform([1.0, 2.0, 1.0 + apart])
            assert cut(dist, 2)[1] is tied
    assert cut(squareform([1.0, 2.0, 1.0]), 1) == ([0, 0, 0], False)
    assert cut(squareform([1.0, 2.0, 1.0]), 3) == ([0, 1, 2], False)


def test_equal_arms():
    nothing = np.zeros((4, 4))
    assert [cut(nothing, k)[1] for k in (1, 2, 3, 4)] == [False, True, True, False]
    two = np.abs(np.subtract.outer([5.0, 5.0, 7.0, 7.0], [5.0, 5.0, 7.0, 7.0]))
    assert cut(two, 2) == ([0, 0, 1, 1], False)
    assert cut(two, 3)[1] is True
    assert math.isclose(tree_of(two)[2].sum(), 2.0)
