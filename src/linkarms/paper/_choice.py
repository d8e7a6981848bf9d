"""Which regions and which users: the paper does not name them, so the choice is made here, by rules, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_integer
from linkarms.arms import Bookings, Ratings
from linkarms.errors import InvalidInput
from linkarms.linkage import fill_distances, minimum_spanning_tree

__all__ = ["Choice", "choose_regions", "choose_users", "linkage_edges"]


@dataclass(frozen=True)
class Choice:
    """The arms of an experiment, and how clear their clusters are.

    Attributes
    ----------
    arms : tuple
        Their names.
    n_clusters : int
        K.
    rule : str
        How they were chosen, in words.
    edges : tuple of float
        The edges of the minimum spanning tree of the full records' parameters, the longest first: K - 1 are cut.
    """

    arms: tuple[str | int, ...]
    n_clusters: int
    rule: str
    edges: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The shortest edge cut over the longest edge kept: 1 would be a tie."""
        return self.edges[self.n_clusters - 2] / self.edges[self.n_clusters - 1]


def linkage_edges(parameters: NDArray[np.float64]) -> tuple[float, ...]:
    """Edges of the minimum spanning tree of points (M, d), the longest first.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.paper import linkage_edges
    >>> linkage_edges(np.array([[0.0], [1.0], [5.0]]))
    (4.0, 1.0)
    """
    n = len(parameters)
    dist = np.zeros((n, n))
    for m in range(n):
        fill_distances(parameters, m, dist)
    order, parent, length = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    minimum_spanning_tree(dist, order, parent, length)
    return tuple(sorted((float(x) for x in length[parent >= 0]), reverse=True))


def choose_regions(bookings: Bookings, n_arms: int = 6, n_clusters: int = 3) -> Choice:
    """The zones with the most pickups.

    On the green cabs of Manhattan in January 2025, all day, they are East Harlem North and South, Central Park, Morningside Heights,
    Central Harlem and Washington Heights South, with mean gaps of 230, 333, 961, 1263, 1362 and 2259 s: busy, moderate and quiet. The
    shortest edge that three clusters cut is 2.1 times the longest that they keep. From 8 to 20 h it is only 1.2 times: hence the whole day.

    Parameters
    ----------
    bookings : Bookings
        Gaps by zone, zones with more pickups first.
    n_arms, n_clusters : int
        M and K of the paper.
    """
    _check(n_arms, n_clusters)
    if len(bookings.gaps) < n_arms:
        raise InvalidInput(f"there are {len(bookings.gaps)} zones with gaps, and {n_arms} are needed; load more records")
    arms = tuple(bookings.gaps)[:n_arms]
    means = np.array([[bookings.gaps[a].mean()] for a in arms])
    return Choice(arms, n_clusters, f"the {n_arms} zones with the most pickups", linkage_edges(means))


def choose_users(
    ratings: Ratings, n_arms: int = 6, n_clusters: int = 4, *, least: int = 100, pool: int = 12
) -> Choice:
    """Of the users who rated most, those whose clusters are clearest.

    A user's number of ratings is that of the genre rated least. Among the ``pool`` users with the highest (at least ``least``; ties by
    user number), take the ``n_arms`` for which the shortest edge cut exceeds the longest edge kept by most. Users are far more alike than regions: six taken
    by number of ratings alone have no four clusters worth the name.

    Parameters
    ----------
    ratings : Ratings
        Ratings by user and genre.
    n_arms, n_clusters : int
        M and K of the paper.
    least : int, default 100
        Ratings that a user must have in every genre.
    pool : int, default 12
        How many users to choose from: all subsets are tried.
    """
    _check(n_arms, n_clusters)
    check_integer("least", least, 1)
    check_integer("pool", pool, n_arms, 20)
    count = {u: min(len(x) for x in parts) for u, parts in ratings.users.items()}
    able = sorted((u for u in count if count[u] >= least), key=lambda u: (-count[u], u))[:pool]
    if len(able) < n_arms:
        raise InvalidInput(
            f"{len(able)} users have {least} ratings in each of {', '.join(ratings.genres)}, and {n_arms} are needed; load more ratings, "
            "or lower least"
        )
    means = {u: np.array([x.mean() for x in ratings.users[u]]) for u in able}
    cut = n_clusters - 2

    def clearness(users: tuple[int, ...]) -> float:
        edges = linkage_edges(np.array([means[u] for u in users]))
        return edges[cut] - edges[cut + 1]

    best = max(combinations(able, n_arms), key=clearness)  # the first of equals
    rule = (
        f"of the {len(able)} users with the most ratings in each of {' and '.join(ratings.genres)} (at least {least}), the {n_arms} with "
        "the clearest clusters"
    )
    return Choice(best, n_clusters, rule, linkage_edges(np.array([means[u] for u in best])))


def _check(n_arms: int, n_clusters: int) -> None:
    check_integer("n_arms", n_arms, 3)
    check_integer("n_clusters", n_clusters, 2, n_arms - 1)
