"""Single linkage against SciPy's, and the ambiguous cuts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from linkarms import _core
from linkarms.errors import InvalidInput
from linkarms.linkage import minimum_spanning_tree, single_linkage


@st.composite
def problems(draw, values, most=9):
    """Points of dimension 1 to 3 and a number of clusters."""
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 3))
    points = draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n))
    return np.array(points, dtype=float), draw(st.integers(1, n))


def in_order(labels):
    """Labels 0, 1, ... in order of first appearance."""
    names = {}
    return [names.setdefault(label, len(names)) for label in labels]


def reference(points, k):
    """SciPy's partition, and whether the merge that makes k clusters is as high as the next one."""
    tree = linkage(pdist(points), method="single")
    heights = np.append(
        -1.0, tree[:, 2]
    )  # heights[j]: the merge after which len(points) - j clusters are left
    n = len(points)
    labels = fcluster(tree, k, criterion="maxclust")
    return in_order(labels), bool(1 < k < n and heights[n - k] == heights[n - k + 1])


@settings(deadline=None, max_examples=300, derandomize=True)
@given(problems(st.integers(-3, 3)))
def test_integer_grids_against_scipy(problem):
    points, k = problem
    labels, ambiguous = single_linkage(points, k)
    wanted, tied = reference(points, k)
    assert ambiguous is tied  # on a grid of integers equal distances are equal to the last bit
    if not tied and k in (1, len(set(wanted))):  # SciPy gives fewer clusters where points are equal
        assert labels.tolist() == wanted
    assert labels.tolist() == in_order(labels)
    assert sorted(set(labels.tolist())) == list(range(k))


@settings(deadline=None, max_examples=300, derandomize=True)
@given(problems(st.floats(-1e3, 1e3, allow_subnormal=False)), st.randoms(use_true_random=False))
def test_real_points_against_scipy_in_any_order(problem, random):
    points, k = problem
    points = points + 1e-3 * np.random.default_rng(random.randrange(2**32)).standard_normal(points.shape)
    labels, ambiguous = single_linkage(points, k)
    wanted, _ = reference(points, k)
    assert not ambiguous
    assert labels.tolist() == wanted
    order = list(range(len(points)))
    random.shuffle(order)
    shuffled, _ = single_linkage(points[order], k)
    assert shuffled.tolist() == in_order(labels[order])


def test_tree_has_the_weight_of_scipys():
    rng = np.random.default_rng(4)
    for n, d in ((2, 1), (7, 3), (40, 2)):
        points = rng.standard_normal((n, d))
        dist = np.linalg.norm(points[:, None] - points[None], axis=-1)
        order, parent, length = _core.minimum_spanning_tree(dist)
        assert minimum_spanning_tree(points)[0].tolist() == parent.tolist()
        assert np.sort(length[order[1:]]) == pytest.approx(linkage(points, "single")[:, 2], rel=1e-12)
        assert sorted(order.tolist()) == list(range(n))
        place = np.argsort(order)
        assert all(place[parent[m]] < place[m] for m in order[1:])  # a parent joins before its children
        assert all(length[m] == dist[m, parent[m]] for m in order[1:])


def test_ties_at_the_cut_only():
    assert single_linkage([0, 1, 2, 10, 11, 12], 2) == (pytest.approx([0, 0, 0, 1, 1, 1]), False)
    assert single_linkage([0, 1, 2, 10, 11, 12], 3)[1] is True
    assert single_linkage([0, 1, 3, 4], 2) == (pytest.approx([0, 0, 1, 1]), False)
    assert single_linkage([0, 1, 2, 3], 2)[1] is True
    square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert [single_linkage(square, k)[1] for k in (1, 2, 3, 4)] == [False, True, True, False]
    # a tie but for rounding is one; a difference that can be measured is none
    assert single_linkage([0.0, 0.1, 0.1 + 0.2 - 0.1], 2)[1] is True
    assert single_linkage([0.0, 1.0, 2.0 + 1e-9], 2) == (pytest.approx([0, 0, 1]), False)
    assert single_linkage(1e9 * np.array([0.0, 1.0, 2.0 + 1e-9]), 2) == (pytest.approx([0, 0, 1]), False)


def test_small_and_equal():
    assert single_linkage([3.0], 1) == (pytest.approx([0]), False)
    assert single_linkage([[1.0, 2.0]], 1) == (pytest.approx([0]), False)
    for k, tied in ((1, False), (2, True), (3, True), (4, False)):
        labels, ambiguous = single_linkage([5.0] * 4, k)
        assert ambiguous is tied
        assert sorted(set(labels.tolist())) == list(range(k))
    assert single_linkage([5.0, 5.0, 7.0], 2) == (pytest.approx([0, 0, 1]), False)
    assert single_linkage([7.0, 5.0, 7.0, 6.9], 3) == (pytest.approx([0, 1, 0, 2]), False)
    assert single_linkage(np.arange(4.0)[::-1], 4) == (pytest.approx([0, 1, 2, 3]), False)
    assert single_linkage(np.linspace(0, 1, 50) ** 2, 50)[0].tolist() == list(range(50))


@pytest.mark.parametrize(
    ("points", "k", "what"),
    [
        ([0.0, 1.0], 0, "n_clusters=0"),
        ([0.0, 1.0], 3, "n_clusters=3"),
        ([0.0, 1.0], 1.5, "n_clusters=1.5"),
        ([0.0, 1.0], True, "n_clusters=True"),
        ([0.0, math.nan], 1, "parameters[1, 0]=nan"),
        ([], 1, "shape"),
        ([[0.0], [1.0, 2.0]], 1, "rows"),
        (["a"], 1, "numbers"),
    ],
)
def test_bad_arguments(points, k, what):
    with pytest.raises(InvalidInput) as caught:
        single_linkage(points, k)
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)
