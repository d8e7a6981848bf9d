"""Problems with known parameters: for simulation, planning and tests."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Sized
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._goal import Goal, check_goal, require_goal
from linkarms._validate import CostsLike, check_costs, check_integer, check_names, check_parameters
from linkarms._words import plural
from linkarms.errors import InvalidInput, TooLarge, UnknownArm
from linkarms.families import Exponential, FamilyLike, resolve

__all__ = ["MAX_ARMS", "Problem", "arm_names", "check_size", "find_arm", "problem_parts", "problems"]

#: Arms that a run takes: so many need about 2 GB.
MAX_ARMS = 10_000


def arm_names(arms: int | Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return the names of arms: 0..M-1 for a number, else the names themselves, which must differ."""
    if isinstance(arms, (int, np.integer)) and not isinstance(arms, bool):
        return tuple(range(check_integer("arms", int(arms), 1)))
    if isinstance(arms, str) or not isinstance(arms, Sequence) or len(arms) == 0:
        raise InvalidInput(f"arms={arms!r} are not arms; give a number or a list of names")
    names = tuple(arms)
    try:
        distinct = set(names)
    except TypeError as error:
        raise InvalidInput(f"the name of an arm is not hashable ({error}); use numbers or strings") from error
    if len(distinct) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise InvalidInput(f"the name {twice!r} is given to several arms; give each a name of its own")
    check_names(names)
    return names


def find_arm(index: Mapping[Hashable, int], arm: Hashable) -> int:
    """Return the number of an arm, by the numbers of all names."""
    try:
        return index[arm]
    except (KeyError, TypeError):
        shown = ", ".join(repr(a) for a in list(index)[:8]) + (", ..." if len(index) > 8 else "")
        raise UnknownArm(f"there is no arm {arm!r}; the arms are {shown}") from None


def check_size(arms: Any) -> None:
    """Refuse more arms than the memory of a machine can hold the pairs of, before anything is allocated."""
    n = int(arms) if isinstance(arms, (int, np.integer)) else len(arms) if isinstance(arms, Sized) else 0
    if n > MAX_ARMS:
        raise TooLarge(
            f"there are {n} arms; a run keeps about 20 bytes for each pair of arms and takes at most {MAX_ARMS} arms: leave "
            "some out, or group them first"
        )


class Problem:
    """Arms whose parameters are known.

    Parameters
    ----------
    parameters : array of shape (M, d) or (M,)
        The true parameters.
    n_clusters : int, optional
        K, from 1 to M. Without it, and without a distance threshold, the cut with the largest gap counts (`linkarms.linkage.largest_gap`).
    family : str, Family or a sequence with one per arm, default "gaussian"
        The distributions of the samples.
    arms : sequence, optional
        Names of the arms; 0..M-1 by default.
    distance_threshold : float, optional
        Clusters are the components of "closer than this", in place of a number of them.
    tolerance : float, default 0
        Differences of distances below this do not matter; see `linkarms.cluster`.
    costs : sequence of float or dict, optional
        What a sample of each arm costs, in the order of the arms or by name; 1 by default.

    Attributes
    ----------
    labels : ndarray of int, shape (M,)
        The true partition; with a tolerance, or without a K, others may be right as well, see `is_correct`.
    n_clusters : int
        The number of true clusters.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.Problem([0.0, 0.3, 4.0], n_clusters=2, arms=["a", "b", "c"])
    >>> p.labels.tolist(), p.n_arms, p.n_features
    ([0, 0, 1], 3, 1)
    """

    def __init__(
        self,
        parameters: ArrayLike,
        n_clusters: int | None = None,
        family: FamilyLike = "gaussian",
        arms: Sequence[Hashable] | None = None,
        *,
        distance_threshold: float | None = None,
        tolerance: float = 0.0,
        costs: CostsLike | None = None,
    ) -> None:
        self.parameters = check_parameters(parameters)
        self.n_arms, self.n_features = self.parameters.shape
        self.goal = check_goal(n_clusters, distance_threshold, tolerance, n_arms=self.n_arms)
        self.distance_threshold, self.tolerance = self.goal.distance_threshold, self.goal.tolerance
        self.family = family
        self.arm_families = resolve(family, self.n_arms, self.n_features)
        self.arm_families.check_parameters(self.parameters)
        self.arms = arm_names(self.n_arms if arms is None else arms)
        if len(self.arms) != self.n_arms:
            raise InvalidInput(
                f"there are {len(self.arms)} names for {self.n_arms} arms; give one name per arm"
            )
        self.costs = check_costs(costs, self.arms)
        self.labels, self.ambiguous = self.goal.partition(self.parameters)
        self.n_clusters = int(self.labels.max()) + 1
        if self.ambiguous and self.tolerance == 0.0:
            edges = (
                f"equal edges at the cut into {self.n_clusters} clusters"
                if self.distance_threshold is None
                else f"an edge of the length {self.distance_threshold:g} of the threshold"
            )
            raise InvalidInput(
                f"the parameters have {edges}, so that the true partition is not unique; change the parameters or "
                f"{'n_clusters' if self.distance_threshold is None else 'distance_threshold'}, or give a tolerance"
            )

    @property
    def families(self) -> list[Any]:
        """The family of each arm."""
        return self.arm_families.families

    def is_correct(self, labels: NDArray[np.int64]) -> bool:
        """Whether labels (in order of first appearance) are the true partition, or right up to the tolerance; without K, for their own."""
        if self.tolerance == 0.0 and not self.goal.largest_gap:
            return bool(np.array_equal(labels, self.labels))
        return self.goal.is_right(self.parameters, np.asarray(labels, dtype=np.int64))

    def __repr__(self) -> str:
        sizes = ((self.n_arms, "arm"), (self.n_features, "feature"), (self.n_clusters, "cluster"))
        return f"Problem({', '.join(plural(n, noun) for n, noun in sizes)})"


class problems:
    """The problems of the paper.

    Examples
    --------
    >>> import linkarms as la
    >>> la.problems.synthetic1()
    Problem(6 arms, 2 features, 3 clusters)
    >>> la.problems.scaling(n_arms=20)
    Problem(20 arms, 5 features, 10 clusters)
    """

    @staticmethod
    def synthetic1() -> Problem:
        """Return Synthetic Dataset 1: six Gaussian arms in the plane, three clusters (the paper's Figures 1 and 2)."""
        means = [(-1, -1), (-1, -2), (1, 1), (2, 2), (3, -3), (3.5, -3)]
        return Problem(means, n_clusters=3)

    @staticmethod
    def synthetic2(parameter: Literal["rate", "mean"] = "rate") -> Problem:
        """Return Synthetic Dataset 2: six exponential arms, three clusters (Figure 3).

        Parameters
        ----------
        parameter : {"rate", "mean"}, default "rate"
            The paper does not say which its numbers are; either reproduces its figure.
        """
        return Problem([1, 1.1, 9, 9.1, 20, 20.1], n_clusters=3, family=Exponential(parameter))

    @staticmethod
    def scaling(n_arms: int = 20, n_features: int = 5, spacing: float = 10.0) -> Problem:
        """Return the paper's run-time problem: pairs of Gaussian arms, means ``spacing i`` and ``spacing i + 0.5`` in every coordinate.

        Parameters
        ----------
        n_arms : int, default 20
            M, even; K is half of it.
        n_features : int, default 5
            d.
        spacing : float, default 10.0
            Between neighbouring clusters.
        """
        m = check_integer("n_arms", n_arms, 2)
        if m % 2:
            raise InvalidInput(f"n_arms={m} is odd; the arms come in pairs")
        means = [spacing * (i // 2) + 0.5 * (i % 2) for i in range(m)]
        return Problem(np.repeat(np.array(means)[:, None], n_features, axis=1), n_clusters=m // 2)


def problem_parts(
    parameters: ArrayLike | Problem,
    n_clusters: int | None,
    family: FamilyLike | None,
    distance_threshold: float | None = None,
    tolerance: float = 0.0,
) -> tuple[ArrayLike, Goal, FamilyLike]:
    """Return parameters, goal and family of a problem, or as they were given; what is given beside a problem must not differ from it."""
    if isinstance(parameters, Problem):
        own = parameters.goal
        if (
            n_clusters not in (None, own.n_clusters)
            or family not in (None, parameters.family)
            or distance_threshold not in (None, own.distance_threshold)
            or tolerance not in (0.0, own.tolerance)
        ):
            raise InvalidInput(
                "a Problem has its own n_clusters and family; leave them out, or give its parameters"
            )
        require_goal(own.n_clusters, own.distance_threshold)
        return parameters.parameters, own, parameters.family
    require_goal(n_clusters, distance_threshold)
    goal = check_goal(n_clusters, distance_threshold, tolerance, n_arms=len(check_parameters(parameters)))
    return parameters, goal, "gaussian" if family is None else family
