"""The compiled step: take in one sample, bring everything up to date; and whole trials of such steps.

The rules reach the kernels as a `Plan`: integer codes and a few numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkarms._jit import Array, call_for_int, inlined, lean
from linkarms.alternatives._cache import COSTS as COUNTED
from linkarms.alternatives._cache import COUNTS_SIDE, FREE_SIDE, LINKED, OF_C, VALID, Cache
from linkarms.alternatives._search import psi_at
from linkarms.alternatives._spreads import FLOOR
from linkarms.engine._tree import AMBIGUOUS_CUT, SAME, make_tree, update_tree
from linkarms.families._model import Model
from linkarms.families._unknown import KNOWN, precision, update_moments
from linkarms.families._vector import arm_estimate
from linkarms.linkage import fill_distances
from linkarms.sampling._boc_kernels import boc_penalty
from linkarms.sampling._kernels import EBC, choose_kernel, ebc_step, evidence_weight
from linkarms.state import (
    AMBIGUOUS,
    BASE,
    COSTS,
    EVIDENCE,
    HELD,
    KL,
    PENALTY,
    PRECISION,
    READY,
    SCALE,
    STATISTIC,
    TCOUNT,
    WEIGHTS,
    WITNESS,
    State,
    T,
)
from linkarms.stopping._blocker import forget, still_blocked
from linkarms.stopping._kernels import ANYTIME, BOC, PAPER, paper_penalty
from linkarms.stopping._tables import PRIOR, evidence_kind, freshen
from linkarms.stopping._tasks import FILL, FIND, RESCALE

# what `engine_kernel` is asked to do
OBSERVE, CHOOSE, REFRESH, CHECK, WEIGH, RUN = range(6)
# what it answers after `RUN`
STOPPED, BUDGET, NEED_SAMPLES = range(3)


class Plan(NamedTuple):
    """Rules and bounds of a run, for kernels.

    Attributes
    ----------
    codes : ndarray of int64, shape (4,)
        Sampling rule, stopping rule, K, whether the variances are unknown (`linkarms.families._unknown`).
    numbers : ndarray, shape (4,)
        `SamplingRule.number` (EBC's step, say), epsilon, ``log |Theta|``, and what the threshold has besides the arms' parts and
        ``log(1/delta)``.
    box : ndarray, shape (d, 2)
        Bounds of the estimates.
    memory : ndarray
        What a sampling rule's kernel keeps; empty for most.
    grid : ndarray, shape (J,)
        The values of ``c`` of the anytime rule; empty for others.
    calls : ndarray of int64, shape (1,)
        The address of `linkarms.stopping._tasks.anytime_task`, 0 for other rules.
    """

    codes: NDArray[np.int64]
    numbers: NDArray[np.float64]
    box: NDArray[np.float64]
    memory: NDArray[np.float64]
    grid: NDArray[np.float64]
    calls: NDArray[np.int64]


class Trials(NamedTuple):
    """Samples drawn ahead, and what a trial has found so far.

    Attributes
    ----------
    samples : ndarray, shape (M, block, d)
        The next sufficient statistics of each arm.
    used : ndarray of int64, shape (M,)
        How many of them have been used.
    levels : ndarray, shape (J,)
        ``log(1/delta)`` for each delta; one trajectory serves all.
    stopped_at : ndarray of int64, shape (J,)
        -1, or the number of samples at which the rule stopped for that delta.
    stopped_labels : ndarray of int64, shape (J, M)
        The partition named then.
    """

    samples: NDArray[np.float64]
    used: NDArray[np.int64]
    levels: NDArray[np.float64]
    stopped_at: NDArray[np.int64]
    stopped_labels: NDArray[np.int64]


def no_trials(n_arms: int, n_features: int) -> Trials:
    """For calls that run no trial."""
    return Trials(
        np.zeros((n_arms, 0, n_features)),
        np.zeros(n_arms, dtype=np.int64),
        np.zeros(0),
        np.zeros(0, dtype=np.int64),
        np.zeros((0, n_arms), dtype=np.int64),
    )


@inlined
def prior_samples(state: State, plan: Plan) -> float:
    """The ``c`` by which arms are chosen: that of the anytime rule's scale, 0 under other rules."""
    return plan.grid[state.blocker[SCALE]] if plan.codes[1] == ANYTIME else 0.0


@inlined
def _bring_arm_up_to_date(model: Model, state: State, plan: Plan, m: int) -> None:
    """Estimate, distances and penalty of arm ``m`` from its count and mean."""
    arm_estimate(model, m, state.means[m], plan.box, state.theta[m])
    fill_distances(state.theta, m, state.dist)
    if plan.codes[3] != KNOWN:
        state.vectors[PRECISION, m] = precision(plan.codes[3], state.counts[m], state.moments, m)
    if plan.codes[1] == PAPER:
        state.vectors[PENALTY, m] = paper_penalty(
            model, m, state.theta[m], state.counts[m], plan.numbers[1], plan.numbers[2]
        )
    elif plan.codes[1] == BOC:
        state.vectors[PENALTY, m] = boc_penalty(state.counts[m], state.theta.shape[1])
    elif plan.codes[1] == ANYTIME and evidence_kind(model, m) == PRIOR:
        # a user's function has to fail with the sample that it fails for; other tables wait until they are read
        freshen(model, state, plan.grid, 0, m)


@inlined
def _ask(model: Model, state: State, plan: Plan, task: int, level: float) -> int:
    """`linkarms.stopping._tasks.anytime_task`."""
    return int(call_for_int(plan.calls[0], (model, state, plan.grid, plan.codes[2], task, level)))


@inlined
def _find_partition(model: Model, state: State, plan: Plan, cache: Cache, m: int) -> None:
    """Tree and partition after a sample of arm ``m``; from scratch if nothing is known."""
    if cache.flags[COUNTS_SIDE, LINKED] == 1:
        status = update_tree(model, state.dist, state.labels, plan.codes[2], cache, m)
    else:
        state.info[READY] = 1
        for j in range(state.counts.shape[0]):
            if state.counts[j] == 0:
                state.info[READY] = 0
        if state.info[READY] == 0:
            return
        status = make_tree(state.dist, state.labels, plan.codes[2], cache.nodes, cache.lengths)
        cache.flags[COUNTS_SIDE, LINKED] = 1
    state.info[AMBIGUOUS] = 1 if status == AMBIGUOUS_CUT else 0
    if status != SAME:
        cache.flags[COUNTS_SIDE, VALID] = cache.flags[FREE_SIDE, VALID] = 0


@inlined
def _weigh_arms(state: State, plan: Plan, cache: Cache, m: int) -> int:
    """The weights of the samples after one of arm ``m``; -1 if those of other arms have changed too, else ``m``."""
    c, weights = prior_samples(state, plan), state.vectors[WEIGHTS]
    weights[m] = evidence_weight(state.counts[m], c) * state.vectors[PRECISION, m]
    if c == cache.levels[OF_C]:
        least, largest = math.inf, 0.0
        for j in range(weights.shape[0]):
            least, largest = min(least, weights[j]), max(largest, weights[j])
        return m if least > FLOOR * largest else -1
    for j in range(weights.shape[0]):
        weights[j] = evidence_weight(state.counts[j], c) * state.vectors[PRECISION, j]
    cache.levels[OF_C] = c
    return -1


@inlined
def _stay(state: State, m: int) -> None:
    """Put arm ``m`` of ``lambda*`` back to its estimate."""
    state.vectors[KL, m] = 0.0
    for i in range(state.theta.shape[1]):
        state.lam[m, i] = state.theta[m, i]


@inlined
def _weigh_evidence(model: Model, state: State, plan: Plan, cache: Cache, m: int) -> None:
    """``Z(t) = psi(N, estimates)``, ``lambda*``, the witness, and the threshold without ``log(1/delta)``, after a sample of arm ``m``."""
    _stay(state, m)
    if state.info[READY] == 0:
        return
    base = plan.numbers[3]
    for j in range(state.counts.shape[0]):
        base += state.vectors[PENALTY, j]
    state.values[BASE] = base
    state.values[STATISTIC] = math.nan
    for i in range(4):  # no other arms are away from their estimates
        if state.info[WITNESS + i] >= 0:
            _stay(state, state.info[WITNESS + i])
    state.values[EVIDENCE] = psi_at(
        model,
        state.theta,
        state.dist,
        state.labels,
        plan.codes[2],
        cache,
        COUNTS_SIDE,
        state.vectors[WEIGHTS],
        _weigh_arms(state, plan, cache, m),
        state.lam,
        state.vectors[KL],
    )
    state.info[COSTS] = cache.flags[COUNTS_SIDE, COUNTED] + cache.flags[FREE_SIDE, COUNTED]
    for i in range(4):
        state.info[WITNESS + i] = cache.answer[i]


@inlined
def _refresh(model: Model, state: State, plan: Plan, cache: Cache) -> None:
    """Everything that is a function of counts and means, from scratch: after a load."""
    state.info[T] = 0
    for j in range(plan.grid.shape[0]):
        for m in range(state.counts.shape[0]):
            state.tables[TCOUNT, j, m] = 0.0
    forget(state.seen)
    for m in range(state.counts.shape[0]):
        state.info[T] += state.counts[m]
        if state.counts[m] > 0:
            _bring_arm_up_to_date(model, state, plan, m)
        _stay(state, m)
    for i in range(4):
        state.info[WITNESS + i] = -1
    _find_partition(model, state, plan, cache, 0)
    _weigh_evidence(model, state, plan, cache, 0)


@inlined
def _observe(model: Model, state: State, plan: Plan, cache: Cache, m: int, statistic: Array) -> None:
    """Take in one sample of arm ``m`` (Algorithm 1, lines 9 to 14)."""
    t = state.info[T]
    # four times at each doubling of the samples: a new scale makes everything that is kept of psi void
    if (
        plan.codes[1] == ANYTIME
        and state.info[READY] == 1
        and int(4.0 * math.log2(t)) < int(4.0 * math.log2(t + 1))
    ):
        state.blocker[SCALE] = _ask(model, state, plan, RESCALE, 0.0)
    if plan.codes[3] != KNOWN:
        update_moments(plan.codes[3], state.counts, state.means, state.moments, m, statistic)
    state.counts[m] += 1
    state.info[T] += 1
    for i in range(statistic.shape[0]):
        state.means[m, i] += (statistic[i] - state.means[m, i]) / state.counts[m]
    _bring_arm_up_to_date(model, state, plan, m)
    _find_partition(model, state, plan, cache, m)
    if plan.codes[0] == EBC:
        ebc_step(model, state, cache, plan.numbers[0], plan.codes[2])
    _weigh_evidence(model, state, plan, cache, m)


@inlined
def _settle(model: Model, state: State, plan: Plan, level: float, exact: bool) -> float:
    """The statistic of the anytime rule: NaN where it is known to be below ``level``; if it need not be ``exact``, infinite above."""
    if (
        math.isnan(state.values[STATISTIC])
        and not still_blocked(
            state.labels, state.counts, state.seen, state.blocker, state.values[HELD], level
        )
        and _ask(model, state, plan, FIND, level) == 0
    ):
        if not exact:
            return math.inf
        _ask(model, state, plan, FILL, level)
    return float(state.values[STATISTIC])


@inlined
def _choose(model: Model, state: State, plan: Plan, cache: Cache) -> int:
    c = prior_samples(state, plan)
    return choose_kernel(model, state, cache, plan.codes[0], plan.codes[2], plan.numbers[0], plan.memory, c)


@inlined
def _run(model: Model, state: State, plan: Plan, cache: Cache, trials: Trials, max_samples: int) -> int:
    """Go on with a trial until every level is reached, the budget is used up, or an arm's block of samples is."""
    samples, used = trials.samples, trials.used
    levels, stopped_at = trials.levels, trials.stopped_at
    while True:
        if state.info[READY] == 1 and state.info[AMBIGUOUS] == 0 and math.isfinite(state.values[EVIDENCE]):
            waiting = False
            evidence = state.values[EVIDENCE]
            if plan.codes[1] == ANYTIME:
                lowest, several = math.inf, -1
                for j in range(levels.shape[0]):
                    if stopped_at[j] < 0:
                        lowest = min(lowest, levels[j])
                        several += 1
                evidence = _settle(model, state, plan, state.values[BASE] + lowest, several > 0)
            for j in range(levels.shape[0]):
                if stopped_at[j] >= 0:
                    continue
                if evidence - state.values[BASE] >= levels[j]:
                    stopped_at[j] = state.info[T]
                    for i in range(state.labels.shape[0]):
                        trials.stopped_labels[j, i] = state.labels[i]
                else:
                    waiting = True
            if not waiting:
                return STOPPED
        if state.info[T] >= max_samples:
            return BUDGET
        m = _choose(model, state, plan, cache)
        if used[m] >= samples.shape[1]:
            return NEED_SAMPLES
        _observe(model, state, plan, cache, m, samples[m, used[m]])
        used[m] += 1
        if math.isnan(state.values[EVIDENCE]):
            return BUDGET  # a user's own function failed: what it raised is raised after the kernel


@lean
def engine_kernel(
    model: Model,
    state: State,
    plan: Plan,
    cache: Cache,
    task: int,
    arm: int,
    statistic: Array,
    trials: Trials,
    max_samples: int,
) -> int:
    """The one entry from Python, so that everything is compiled together and once for each type of model.

    ``OBSERVE`` takes in ``statistic`` of ``arm``; ``CHOOSE`` answers the next arm; ``REFRESH`` brings everything up to date; ``RUN`` goes
    on with ``trials`` and answers why it came back.
    """
    if task == OBSERVE:
        _observe(model, state, plan, cache, arm, statistic)
        return 0
    if task == CHOOSE:
        return _choose(model, state, plan, cache)
    if task == REFRESH:
        _refresh(model, state, plan, cache)
        return 0
    if task == WEIGH:
        if math.isnan(state.values[STATISTIC]):
            _ask(model, state, plan, FILL, 0.0)
        return 0
    if task == CHECK:
        evidence = _settle(model, state, plan, state.values[BASE] + trials.levels[0], True)
        return 1 if evidence - state.values[BASE] >= trials.levels[0] else 0
    return _run(model, state, plan, cache, trials, max_samples)
