"""Single linkage by minimum spanning tree.

The partition into K clusters is what remains of a minimum spanning tree without its K - 1 longest edges. Edges are ordered by length
and then by the indices of their ends, so that there is just one minimum spanning tree, however it is found. Ties inside the
tree do not matter; a tie *at the cut* (the longest edge kept is as long as the shortest one removed) leaves the partition
undefined. It is then *ambiguous*: a partition is still given (ties break by index), and no rule stops on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms import _core
from linkarms._goal import check_goal
from linkarms._validate import check_n_clusters, check_parameters

__all__ = ["largest_gap", "linkage_matrix", "minimum_spanning_tree", "single_linkage"]


def minimum_spanning_tree(parameters: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the minimum spanning tree of points, by Euclidean distance.

    Parameters
    ----------
    parameters : array of shape (M, d) or (M,)
        The points.

    Returns
    -------
    parent : ndarray of int, shape (M,)
        The point that each one is joined to; -1 for the root.
    length : ndarray, shape (M,)
        The length of that edge; 0 for the root.

    Examples
    --------
    >>> from linkarms.linkage import minimum_spanning_tree
    >>> parent, length = minimum_spanning_tree([0.0, 5.0, 0.5])
    >>> parent.tolist(), length.tolist()
    ([-1, 2, 0], [0.0, 4.5, 0.5])
    """
    theta = check_parameters(parameters)
    distances = np.linalg.norm(theta[:, None, :] - theta[None, :, :], axis=2)
    _, parent, length = _core.minimum_spanning_tree(distances)
    return parent, length


def largest_gap(parameters: ArrayLike) -> int:
    """Return the number of clusters of the cut with the largest gap.

    With ``h_1 >= h_2 >= ...`` the heights of the dendrogram (the edges of the minimum spanning tree), the gap of the cut into K clusters
    is ``h_{K-1} - h_K``: the shortest edge that it removes less the longest one that it keeps. K is from 2 to M - 1. Of equal gaps the
    one with the fewest clusters counts.

    Parameters
    ----------
    parameters : array of shape (M, d) or (M,)
        At least three points.

    Examples
    --------
    >>> from linkarms.linkage import largest_gap
    >>> largest_gap([0.0, 0.5, 5.0, 5.7, 20.0]), largest_gap([0.0, 0.5, 10.0, 10.7, 20.0])
    (2, 3)
    """
    theta = check_parameters(parameters)
    goal = check_goal(None, n_arms=len(theta))
    return int(goal.partition(theta)[0].max()) + 1


def linkage_matrix(parameters: ArrayLike) -> NDArray[np.float64]:
    """Return single linkage of points in SciPy's format, by Euclidean distance.

    Parameters
    ----------
    parameters : array of shape (M, d) or (M,)
        The points.

    Returns
    -------
    ndarray, shape (M - 1, 4)
        One row per merge: the two parts (points 0..M-1, then merges in order), the distance at which they merge, and how many points
        the new part has. `scipy.cluster.hierarchy` takes it: ``fcluster``, ``dendrogram``, ``cophenet``.

    Examples
    --------
    >>> from linkarms.linkage import linkage_matrix
    >>> linkage_matrix([0.0, 5.0, 0.5]).tolist()
    [[0.0, 2.0, 0.5, 2.0], [1.0, 3.0, 4.5, 3.0]]
    """
    from scipy.cluster.hierarchy import linkage

    theta = check_parameters(parameters)
    return np.asarray(linkage(theta, method="single")) if len(theta) > 1 else np.empty((0, 4))


def single_linkage(parameters: ArrayLike, n_clusters: int) -> tuple[NDArray[np.int64], bool]:
    """Return the single-linkage clusters of points, by Euclidean distance.

    Parameters
    ----------
    parameters : array of shape (M, d) or (M,)
        The points.
    n_clusters : int
        K, from 1 to M.

    Returns
    -------
    labels : ndarray of int, shape (M,)
        0..K-1 in order of first appearance.
    ambiguous : bool
        The cut goes through equal edges, so that another partition is as good.

    Examples
    --------
    >>> from linkarms.linkage import single_linkage
    >>> labels, ambiguous = single_linkage([0.0, 5.0, 0.5, 5.7], n_clusters=2)
    >>> labels.tolist(), ambiguous
    ([0, 1, 0, 1], False)
    >>> single_linkage([0.0, 1.0, 2.0], n_clusters=2)[1]
    True
    """
    theta = check_parameters(parameters)
    return _core.single_linkage(theta, check_n_clusters(n_clusters, len(theta)))
