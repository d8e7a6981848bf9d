"""`plan`: the samples to expect from each rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from linkarms._validate import CostsLike, check_costs, check_count, check_delta, check_parameters
from linkarms.bound import lower_bound
from linkarms.errors import InvalidInput
from linkarms.families import FamilyLike
from linkarms.montecarlo import Simulation, simulate
from linkarms.planning._rules import Guess, sampling_rules, stopping_rules
from linkarms.planning._table import Plan, PlanRow, summarise
from linkarms.problem import Problem, arm_names, problem_parts
from linkarms.sampling import SamplingRule, resolve_sampling
from linkarms.stopping import StoppingRule, resolve_stopping

__all__ = ["plan"]


def plan(
    parameters: ArrayLike | Problem,
    n_clusters: int | None = None,
    family: FamilyLike | None = None,
    delta: float = 0.05,
    *,
    sampling: str | SamplingRule | Sequence[str | SamplingRule] | None = None,
    stopping: str | StoppingRule | Sequence[str | StoppingRule] | None = None,
    arms: Sequence[Hashable] | None = None,
    trials: int = 100,
    max_samples: int = 100_000,
    seed: int = 0,
    n_jobs: int = -1,
    progress: bool = False,
    distance_threshold: float | None = None,
    tolerance: float = 0.0,
    costs: CostsLike | None = None,
) -> Plan:
    """Estimate the samples to expect from each rule if the parameters are those given.

    Parameters
    ----------
    parameters : array of shape (M, d) or (M,), or Problem
        A guess of the parameters: from a pilot study, or the hardest case that matters. A `Problem` has its own goal, family and
        arms.
    n_clusters : int, optional
        K, from 1 to M; or else a distance threshold.
    family : str, Family or a sequence with one per arm, optional
        The distributions of the samples; by default ``"gaussian"``.
    delta : float, default 0.05
        The error probability that is to be promised.
    sampling : str, SamplingRule, or a sequence of them, optional
        The sampling rules; by default all that the package has.
    stopping : str, StoppingRule, or a sequence of them, optional
        The stopping rules; by default all that the package has, the anytime rule first. The paper's then gets a Theta that is three times
        as wide as the guess, and an epsilon that suits it; the table says which.
    arms : sequence, optional
        Names of the arms.
    trials, max_samples, seed : int
        How many runs are simulated for each pair of rules, of at most how many samples, from which seed.
    n_jobs : int, default -1
        Threads; -1 for one per core.
    progress : bool, default False
        Show progress on stderr.
    distance_threshold : float, optional
        Clusters are the components of "closer than this", in place of a number of them.
    tolerance : float, default 0
        Differences of distances below this do not matter; see `linkarms.cluster`.
    costs : sequence of float or dict, optional
        What a sample of each arm costs. The bound and all figures of the rows are then in cost.

    Returns
    -------
    Plan
        The lower bound, the best shares of the arms, and a row for each pair of rules. It prints as a table.

    Examples
    --------
    >>> import linkarms as la
    >>> p = la.plan([0.0, 0.5, 6.0, 6.4], n_clusters=2, delta=0.05, sampling="ebc-h", trials=20)
    >>> p.rows[0].mean > p.samples
    True
    """
    if isinstance(parameters, Problem) and arms is None:
        arms = parameters.arms
    guess_of, goal, family = problem_parts(parameters, n_clusters, family, distance_threshold, tolerance)
    theta = check_parameters(guess_of)
    names = arm_names(len(theta) if arms is None else arms)
    if len(names) != len(theta):
        raise InvalidInput(f"there are {len(names)} names for {len(theta)} arms; give one per arm")
    level = check_delta(delta)
    runs, budget = check_count("trials", trials), check_count("max_samples", max_samples)
    prices = check_costs(costs, names)
    bound = lower_bound(theta, goal.n_clusters, family, progress=progress, costs=prices, **goal.settings())
    ways = _sampling(sampling)
    if bound.upper == 0.0:
        nothing = [PlanRow(w.name, "any", mean=0.0, median=0.0, q95=0.0, note=bound.remark) for w in ways]
        return Plan(level, bound, 0.0, names, tuple(nothing))
    if math.isinf(bound.lower):
        never = [PlanRow(w.name, "any", note=f"never stops: {bound.remark}") for w in ways]
        return Plan(level, bound, bound.samples(level), names, tuple(never))
    problem = Problem(theta, goal.n_clusters, family, arms=names, costs=prices, **goal.settings())
    guess = Guess(theta, problem.labels, bound.weights, goal, problem.arm_families, level)
    rows = []
    if stopping is None:
        stops, refused = stopping_rules(guess, 1.0 / bound.upper)
        rows = [PlanRow(way.name, name, note=why) for name, why in refused.items() for way in ways]
    else:
        given = [stopping] if isinstance(stopping, (str, StoppingRule)) else stopping
        stops = [resolve_stopping(rule) for rule in given]
    runs_of = partial(
        simulate,
        problem,
        deltas=(level,),
        trials=runs,
        seed=seed,
        max_samples=budget,
        n_jobs=n_jobs,
        progress=progress,
    )
    for stop in stops:
        why = _why_not(stop, guess)
        rows += [_row(way, stop, why, runs_of, budget) for way in ways]
    if stopping is None:  # rules with a stop of their own
        own = [_row(way, None, "", runs_of, budget) for way in ways]
        rows += [row for row in own if row.trials]
    return Plan(level, bound, bound.samples(level), names, tuple(rows))


def _row(
    way: SamplingRule, stop: StoppingRule | None, why: str, runs: Callable[..., Simulation], max_samples: int
) -> PlanRow:
    """Simulate one pair of rules, unless ``why`` gives a reason not to."""
    words = "its own" if stop is None else _words(stop)
    if why:
        return PlanRow(way.name, words, note=why)
    try:
        found = runs(way, stopping=stop)[way.name]
    except InvalidInput as error:  # a rule that is not made for such a problem, or has no stop of its own
        return PlanRow(way.name, words, note=str(error))
    spent = found.stopping_times if found.costs is None else found.costs
    return summarise(way.name, words, spent[:, 0], found.errors[:, 0], max_samples)


def _sampling(rules: str | SamplingRule | Sequence[str | SamplingRule] | None) -> list[SamplingRule]:
    if rules is None:
        return sampling_rules()
    if isinstance(rules, (str, SamplingRule)):
        rules = [rules]
    return [resolve_sampling(rule) for rule in rules]


def _why_not(rule: StoppingRule, guess: Guess) -> str:
    """Why runs with this rule are not worth simulating; empty if they are."""
    try:
        rule.check(guess.families)
        box = rule.box(guess.families.n_features)
    except InvalidInput as error:
        return str(error)
    if np.any(guess.estimates < box[:, 0]) or np.any(guess.estimates > box[:, 1]):
        return "no promise: theta does not contain the guess; give a wider one"
    words = rule.diagnose(guess)
    return f"never stops: {words}" if words else ""


def _words(rule: StoppingRule) -> str:
    own = type(rule).__repr__ is not object.__repr__
    return repr(rule) if own else rule.name
