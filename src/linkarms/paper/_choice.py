"""Choose regions and users. The paper does not name its own, so all choices are made here, by rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_integer
from linkarms.datasets import Bookings, Ratings
from linkarms.errors import InvalidInput
from linkarms.linkage import minimum_spanning_tree

__all__ = ["Choice", "choose_regions", "choose_users", "linkage_edges"]


#: Subsets that are tried one by one; and starts of the search where there are more.
_ALL, _STARTS = 20_000, 5


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

    Examples
    --------
    >>> from linkarms.paper import Choice
    >>> Choice(("a", "b", "c"), 2, "all of them", edges=(4.0, 1.0)).ratio
    4.0
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
    """Return the edges of the minimum spanning tree of points (M, d), the longest first.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.paper import linkage_edges
    >>> linkage_edges(np.array([[0.0], [1.0], [5.0]]))
    (4.0, 1.0)
    """
    parent, length = minimum_spanning_tree(parameters)
    return tuple(sorted((float(x) for x in length[parent >= 0]), reverse=True))


def choose_regions(bookings: Bookings, n_arms: int = 6, n_clusters: int = 3) -> Choice:
    """Return the zones with the most pickups.

    On the green cabs of Manhattan in January 2025, all day, they are East Harlem North and South, Central Park, Morningside Heights,
    Central Harlem and Washington Heights South, with mean gaps of 230, 333, 961, 1263, 1362 and 2259 s: busy, moderate and quiet. The
    shortest edge that three clusters cut is 2.1 times the longest that they keep. From 8 to 20 h it is only 1.2 times: hence the whole day.

    Parameters
    ----------
    bookings : Bookings
        Gaps by zone, zones with more pickups first.
    n_arms, n_clusters : int
        M and K of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.datasets import Bookings, LoadReport
    >>> from linkarms.paper import choose_regions
    >>> gaps = {"a": np.array([60.0, 60.0]), "b": np.array([90.0]), "c": np.array([500.0]), "d": np.array([520.0])}
    >>> choice = choose_regions(Bookings(gaps, LoadReport("trips.csv", 9, 9, {}), (0, 24)), n_arms=4, n_clusters=2)
    >>> choice.arms, choice.edges
    (('a', 'b', 'c', 'd'), (410.0, 30.0, 20.0))
    """
    _check(n_arms, n_clusters)
    if len(bookings.gaps) < n_arms:
        raise InvalidInput(
            f"there are {len(bookings.gaps)} zones with gaps, and {n_arms} are needed; load more records"
        )
    arms = tuple(bookings.gaps)[:n_arms]
    means = np.array([[bookings.gaps[a].mean()] for a in arms])
    return Choice(arms, n_clusters, f"the {n_arms} zones with the most pickups", linkage_edges(means))


def choose_users(ratings: Ratings, n_arms: int = 6, n_clusters: int = 4, *, least: int = 50) -> Choice:
    """Return the users whose clusters are clearest.

    Among users with at least ``least`` ratings in every genre, take the ``n_arms`` for which the shortest edge that is cut
    exceeds the longest edge that is kept by most. Users are similar: six taken at random, or by their number of ratings, do
    not form four clear clusters. All choices are tried where there are at most 20,000. Otherwise the search starts from K
    users far apart (each next one the farthest from those before) and those nearest to one of them, for each first user;
    from the five best it exchanges one user for another as long as that helps.

    Parameters
    ----------
    ratings : Ratings
        Ratings by user and genre.
    n_arms, n_clusters : int
        M and K of the paper.
    least : int, default 50
        Ratings that a user must have in every genre.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.datasets import LoadReport, Ratings
    >>> from linkarms.paper import choose_users
    >>> stars = {user: (np.full(9, mean),) for user, mean in enumerate([1.0, 1.1, 2.5, 4.0, 4.1])}
    >>> ratings = Ratings(stars, ("Comedy",), LoadReport("ratings.csv", 45, 45, {}))
    >>> choose_users(ratings, n_arms=4, n_clusters=2, least=5).arms
    (0, 1, 3, 4)
    """
    _check(n_arms, n_clusters)
    check_integer("least", least, 1)
    able = [u for u, parts in ratings.users.items() if min(len(x) for x in parts) >= least]
    if len(able) < n_arms:
        raise InvalidInput(
            f"{len(able)} users have {least} ratings in each of {', '.join(ratings.genres)}, and {n_arms} are needed; load more ratings, "
            "or lower least"
        )
    means = np.array([[x.mean() for x in ratings.users[u]] for u in able])
    best = _clearest(means, n_arms, n_clusters)
    rule = (
        f"of the {len(able)} users with at least {least} ratings in each of {' and '.join(ratings.genres)}, the {n_arms} with the "
        "clearest clusters"
    )
    return Choice(tuple(able[i] for i in best), n_clusters, rule, linkage_edges(means[best]))


def _clearest(points: NDArray[np.float64], n_arms: int, n_clusters: int) -> list[int]:
    """Indices of ``n_arms`` of the points (n, d) with the largest gap at the cut, in increasing order; ties go to what is tried first."""

    def clearness(chosen: Iterable[int]) -> float:
        edges = linkage_edges(points[list(chosen)])
        return edges[n_clusters - 2] - edges[n_clusters - 1]

    n = len(points)
    if math.comb(n, n_arms) <= _ALL:
        return list(max(combinations(range(n), n_arms), key=clearness))
    starts = {tuple(sorted(_far_apart(points, first, n_arms, n_clusters))): None for first in range(n)}
    ends = [_exchange(list(s), n, clearness) for s in sorted(starts, key=clearness, reverse=True)[:_STARTS]]
    return max(ends, key=clearness)


def _exchange(chosen: list[int], n: int, clearness: Callable[[Iterable[int]], float]) -> list[int]:
    """Exchange one index for another, the best one each time, until none helps."""
    value = clearness(chosen)
    while True:
        others = [u for u in range(n) if u not in chosen]
        better = max(
            ([*chosen[:i], u, *chosen[i + 1 :]] for i in range(len(chosen)) for u in others), key=clearness
        )
        if clearness(better) <= value:
            return sorted(chosen)
        chosen, value = better, clearness(better)


def _far_apart(points: NDArray[np.float64], first: int, n_arms: int, n_clusters: int) -> list[int]:
    """K points, each the farthest from those before it, and the others nearest to one of them."""
    chosen = [first]
    nearest = np.linalg.norm(points - points[first], axis=1)
    while len(chosen) < n_clusters:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
    close = [int(u) for u in np.argsort(nearest, kind="stable") if u not in chosen]
    return chosen + close[: n_arms - n_clusters]


def _check(n_arms: int, n_clusters: int) -> None:
    check_integer("n_arms", n_arms, 3)
    check_integer("n_clusters", n_clusters, 2, n_arms - 1)
