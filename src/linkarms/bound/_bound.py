"""`lower_bound`: how many samples any rule needs, and how it should share them out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._progress import Progress
from linkarms._validate import (
    CostsLike,
    check_costs,
    check_delta,
    check_integer,
    check_number,
    check_parameters,
)
from linkarms.bound._level import Maximum, maximise
from linkarms.bound._oracle import Oracle, priced
from linkarms.errors import InvalidInput, LinkarmsError
from linkarms.families import FamilyLike, resolve
from linkarms.problem import Problem, problem_parts

__all__ = ["Active", "Bound", "lower_bound"]

#: Alternatives with a smaller share in the proof than this are not listed.
_LISTED = 1e-6
#: Where psi is exact, the bracket is closed further than was asked for: a few quick evaluations make its ends agree in more digits.
_FURTHER, _FINEST = 0.1, 1e-7
#: psi has to lie between this and one over it, so that it can be divided by.
_LEAST = 1e-290
#: A value of psi above a bound of it by more than this, relatively, is not due to rounding.
_CONTRADICTION = 1e-6
#: Why a bracket stays wide, by `Psi.bound`.
_REMARKS = {
    "bottleneck": "psi is only bounded where a cluster has three arms or more",
    "duality": "the search for the exact psi of larger clusters left a gap",
    "dominating": "psi is only bounded for this family",
    "tolerance": "with a tolerance several partitions may be right, and no lower end is proved",
}


@dataclass(frozen=True)
class Active:
    """An alternative that the lower end of the bracket rests on.

    Attributes
    ----------
    share : float
        Its multiplier; those of all active alternatives add up to one.
    parameters : ndarray, shape (M, d)
        The parameters at which the clusters are about to change.
    kl : ndarray, shape (M,)
        ``KL(theta_m, parameters_m)``.
    """

    share: float
    parameters: NDArray[np.float64]
    kl: NDArray[np.float64]

    @property
    def arms(self) -> tuple[int, ...]:
        """The arms that differ."""
        return tuple(int(m) for m in np.flatnonzero(self.kl > 0.0))


@dataclass(frozen=True)
class Bound:
    """``lower <= T* <= upper``: a rule that errs with probability at most delta needs about ``T* log(1/delta)`` samples, or more.

    Attributes
    ----------
    lower, upper : float
        The bracket. Both are proved, whether or not it is narrow: ``lower`` by `alternatives`, ``upper`` by psi at `weights`.
        0 where there is nothing to find out (K = 1 or K = M), infinite where the partition is not unique.
    weights : ndarray, shape (M,)
        Proportions of samples that attain ``upper``. They need not be the only ones.
    gap : float
        ``upper / lower - 1``, as reached.
    closed : bool
        The gap is not larger than the one that was asked for.
    alternatives : tuple of Active
        What ``lower`` rests on, the largest share first.
    remark : str
        Why the bracket is as wide as it is, or why there is nothing to bracket; empty where it is closed.
    evaluations : int
        How often psi was evaluated.
    costs : ndarray, shape (M,), or None
        What a sample of each arm costs. Where costs were given, T*, `samples` and `sample_bracket` are in cost.

    Examples
    --------
    >>> import linkarms as la
    >>> bound = la.lower_bound([0.0, 1.0, 5.0, 6.0], n_clusters=2)
    >>> bound.lower <= bound.upper, round(float(bound.weights.sum()), 6)
    (True, 1.0)
    >>> bound.samples(0.01) > bound.samples(0.1)
    True
    """

    lower: float
    upper: float
    weights: NDArray[np.float64]
    gap: float
    closed: bool
    alternatives: tuple[Active, ...]
    remark: str
    evaluations: int
    costs: NDArray[np.float64] | None = None

    def samples(self, delta: float) -> float:
        """Return the samples that every rule needs on average: ``lower KL(delta, 1 - delta)``; 0 for delta of 1/2 and more.

        Parameters
        ----------
        delta : float
            The error probability that the rule promises for all parameters.
        """
        information = binary_divergence(delta)
        return self.lower * information if information > 0.0 else 0.0

    def sample_bracket(self, delta: float) -> tuple[float, float]:
        """Return the bracket of ``T* KL(delta, 1 - delta)``; its first number is that of `samples`."""
        information = binary_divergence(delta)
        return self.samples(delta), self.upper * information if information > 0.0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; ``None`` for what is infinite."""

        def finite(x: float) -> float | None:
            return float(x) if math.isfinite(x) else None

        return {
            "lower": finite(self.lower),
            "upper": finite(self.upper),
            "gap": finite(self.gap),
            "closed": self.closed,
            "weights": self.weights.tolist(),
            "alternatives": [
                {
                    "share": a.share,
                    "arms": list(a.arms),
                    "parameters": a.parameters.tolist(),
                    "kl": a.kl.tolist(),
                }
                for a in self.alternatives
            ],
            "remark": self.remark,
            "evaluations": self.evaluations,
            "costs": None if self.costs is None else self.costs.tolist(),
        }

    def __str__(self) -> str:
        if not self.closed or self.lower == self.upper:
            head = f"T* is {self.lower:g}" if self.lower == self.upper else self._bracket()
            return f"{head}: {self.remark}"
        return self._bracket()

    def _bracket(self) -> str:
        digits = max(4, 2 - math.floor(math.log10(max(self.gap, 1e-12)))) if math.isfinite(self.gap) else 4
        what = "T*" if self.costs is None else "T*, in cost,"
        ends = f"between {self.lower:.{digits}g} and {self.upper:.{digits}g}"
        return f"{what} is {ends} (relative gap {self.gap:.1e})"


def binary_divergence(delta: float) -> float:
    """Return ``KL(delta, 1 - delta)`` of two Bernoulli distributions, without loss for a tiny delta; 0 for delta of 1/2 and more.

    A delta of 1/2 and more can be had by guessing, and then nothing is to be paid.
    """
    d = check_delta(delta)
    return (1.0 - 2.0 * d) * (math.log1p(-d) - math.log(d)) if d < 0.5 else 0.0


def lower_bound(
    parameters: ArrayLike | Problem,
    n_clusters: int | None = None,
    family: FamilyLike | None = None,
    *,
    gap: float = 1e-4,
    max_cuts: int = 1000,
    progress: bool = False,
    distance_threshold: float | None = None,
    tolerance: float = 0.0,
    costs: CostsLike | None = None,
) -> Bound:
    """Bracket ``T*``, with ``1/T* = max over proportions w of psi(w)``, and find proportions that attain it.

    Every rule that errs with probability at most delta on all problems needs ``T* KL(delta, 1 - delta)`` samples on average on this one
    (the paper's Theorem 1).

    Parameters
    ----------
    parameters : array of shape (M, d) or (M,), or Problem
        Parameters of the arms; a `Problem` has its own goal and family.
    n_clusters : int, optional
        K, from 1 to M; or else a distance threshold.
    family : str, Family or a sequence with one per arm, optional
        The distributions of the samples; by default ``"gaussian"``.
    gap : float, default 1e-4
        How narrow the bracket should be, relatively; from 1e-7 to 1. Where psi is only bounded, mostly because of the family, the bracket
        can stay wider; `Bound.closed` says so.
    max_cuts : int, default 1000
        How often psi may be evaluated.
    progress : bool, default False
        Show progress on stderr.
    distance_threshold : float, optional
        Clusters are the components of "closer than this", in place of a number of them.
    tolerance : float, default 0
        Differences of distances below this do not matter. Several partitions may then be right, and ``lower`` is 0: nothing is proved;
        ``upper`` is what a rule needs that names the single-linkage partition.
    costs : sequence of float, optional
        What a sample of each arm costs. ``T*`` is then the cost for each unit of ``log(1/delta)``: ``1/T* = max psi(w)`` over
        ``sum_m costs_m w_m = 1``.

    Returns
    -------
    Bound
        With ``lower``, ``upper``, ``weights`` and ``gap``.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.problems.synthetic1()
    >>> b = la.lower_bound(p)
    >>> print(f"{b.lower:.2f} {b.upper:.2f}", b.closed, b.weights.round(2))
    19.07 19.07 True [0.24 0.07 0.41 0.2  0.05 0.04]
    >>> round(b.samples(0.01))
    86
    """
    given, goal, family = problem_parts(parameters, n_clusters, family, distance_threshold, tolerance)
    theta = check_parameters(given)
    n = len(theta)
    families = resolve(family, n, theta.shape[1])
    families.require_known("the lower bound")
    families.check_parameters(theta)
    width = check_number("gap", gap, 1e-7, 1.0, closed=True)
    budget = check_integer("max_cuts", max_cuts, 1)
    equal = np.full(n, 1.0 / n)
    prices = check_costs(costs, range(n))
    unit = np.ones(n) if prices is None else prices
    if goal.is_trivial(n):
        return Bound(
            0.0, 0.0, equal, 0.0, True, (), "there is only one partition, and no sample is needed", 0, prices
        )
    oracle = Oracle(theta, goal, families)
    if oracle.ambiguous and goal.tolerance == 0.0:
        remark = "the parameters have equal edges at the cut, and no number of samples tells which partition is right"
        return Bound(math.inf, math.inf, equal, 0.0, True, (), remark, 0, prices)
    first = oracle.lowest(equal)
    if not _LEAST < first.value < 1.0 / _LEAST or not np.all(np.isfinite(first.kl)):
        raise InvalidInput(
            f"psi is {first.value:g} at equal weights, which is too small or too large for double precision; scale the parameters"
        )
    with Progress("lower bound", enabled=progress) as bar:

        def watch(low: float, high: float, count: int) -> None:
            ends = (
                f"{1.0 / high if high > 0.0 else math.inf:.6g} to {1.0 / low if low > 0.0 else math.inf:.6g}"
            )
            bar.update(count / budget, f"T* {ends}, {count} cuts")

        sharp = first.exact and oracle.closure.size.max() <= 2
        aim = max(_FURTHER * width, _FINEST) if sharp else width
        found = maximise(priced(oracle, unit), n, aim, budget, watch)
        weights, value, evaluations = found.weights, found.lower, found.evaluations
        if found.upper > value * (1.0 + width) and oracle.loose:
            # The values lie below psi, and are largest elsewhere.
            again = maximise(
                priced(oracle.unchecked, unit), n, aim, min(budget, max(found.evaluations, 5 * n)), watch
            )
            evaluations += again.evaluations
            if again.lower > value:
                weights, value = again.weights, again.lower
    if value > found.upper * (1.0 + _CONTRADICTION):
        raise LinkarmsError(
            f"psi={value:.9g} exceeds {found.upper:.9g}, which a mixture of alternatives costs: the divergence of a family and its step "
            "contradict each other; test a family of your own with linkarms.families.check_family"
        )
    remarks = [words for word, words in _REMARKS.items() if word in oracle.loose]
    if not remarks:
        short = found.evaluations >= budget
        remarks = ["max_cuts were used up" if short else "no alternative of finite divergence was found"]
    return _report(found, weights, value, width, evaluations, "; ".join(remarks), prices)


def _report(
    found: Maximum,
    shares: NDArray[np.float64],
    value: float,
    width: float,
    evaluations: int,
    remark: str,
    costs: NDArray[np.float64] | None,
) -> Bound:
    """From a bracket of the largest psi to one of T*; ``remark`` is for a wide one, ``shares`` are those of the cost."""
    unit = np.ones_like(shares) if costs is None else costs
    weights = shares if costs is None else shares / costs / (shares / costs).sum()
    upper = 1.0 / value
    lower = min(1.0 / found.upper, upper)  # equal but for rounding
    gap = upper / lower - 1.0 if lower > 0.0 else math.inf
    closed = gap <= width
    active = []
    for i in np.argsort(-found.mixture):
        cut, share = found.cuts[i], float(found.mixture[i])
        if cut.gradient is not None and share > _LISTED:
            active.append(Active(share, cut.alternative, cut.gradient * unit))
    remark = "" if closed else remark
    return Bound(lower, upper, weights, gap, closed, tuple(active), remark, evaluations, costs)
