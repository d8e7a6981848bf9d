"""Whole trials inside the kernel, simulations, and errors of a user's functions: the same steps as one at a time."""

import math

import numpy as np
import pytest
from tests.oracles.runs import CASES, RULES, make_arms, make_engine
from tests.test_incremental import assert_same, check, restored
from tests.test_user_family import STOP, Plain

import linkarms as la
from linkarms.engine import Engine
from linkarms.engine._kernels import BUDGET, Trials
from linkarms.errors import CallbackError
from linkarms.families import resolve
from linkarms.state import BASE, EVIDENCE


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["gaussian", "covariances", "rate", "bernoulli", "mixed"])
def test_trials_inside_the_kernel_equal_steps(name, rule):
    rng = np.random.default_rng(8)
    n, k, steps = 5, 3, 300
    arms = make_arms(name, rng, n, CASES[name][0][0])
    drawn = zip(arms.families.families, arms.theta, strict=True)
    blocks = np.stack([family.statistics(family.draw(rng, theta, steps)) for family, theta in drawn])
    whole, pieces, single = (make_engine(arms, k, rule, clipped=True) for _ in range(3))
    chosen, over, labels = [], [], []
    for _ in range(steps):
        chosen.append(single.choose())
        single.observe(chosen[-1], blocks[chosen[-1], single.state.counts[chosen[-1]]])
        sure = single.ready and not single.ambiguous
        over.append(single.state.values[EVIDENCE] - single.state.values[BASE] if sure else -math.inf)
        labels.append(single.state.labels.copy())
    # levels that are reached at many times, and one that is not
    levels = np.append(np.unique(np.maximum.accumulate(over)), math.inf)[1:]
    first = [1 + int(np.argmax(np.array(over) >= level)) for level in levels[:-1]]
    assert len(set(first)) > 3

    def trials():
        stopped = np.full(len(levels), -1, dtype=np.int64)
        unknown = np.full((len(levels), n), -1, dtype=np.int64)
        return Trials(blocks, np.zeros(n, dtype=np.int64), levels, stopped, unknown)

    at_once, in_pieces = trials(), trials()
    assert whole.run(at_once, steps) == BUDGET
    for t, arm in enumerate(chosen):
        before = pieces.state.counts.copy()
        assert pieces.run(in_pieces, t + 1) == BUDGET
        assert np.flatnonzero(pieces.state.counts - before).tolist() == [arm]
    for engine, found in ((whole, at_once), (pieces, in_pieces)):
        assert_same(single, engine)
        assert found.stopped_at.tolist() == [*first, -1]
        assert np.array_equal(found.stopped_labels[:-1], [labels[t - 1] for t in first])


def test_simulations_equal_the_loop_in_python(monkeypatch):
    problem = la.Problem([[0.0], [0.6], [4.0], [4.9], [9.0]], 3)
    given = {
        "stopping": la.stopping.Paper((-5, 14), 0.02),
        "deltas": [0.5, 0.1, 1e-3],
        "trials": 3,
        "seed": 5,
    }
    compiled = la.simulate(problem, list(RULES), **given)
    monkeypatch.setattr(Engine, "compiled", property(lambda self: False))
    loop = la.simulate(problem, list(RULES), **given)
    for rule in RULES:
        assert np.all(compiled[rule].stopping_times > 0)
        assert np.array_equal(compiled[rule].stopping_times, loop[rule].stopping_times)
        assert np.array_equal(compiled[rule].errors, loop[rule].errors)


class Failing(Plain):
    """A family one of whose functions fails at a given call, counted from now."""

    left = math.inf


def _failing(name):
    def function(*arguments):
        Failing.left -= 1
        if Failing.left == 0:
            raise ZeroDivisionError("not now")
        return getattr(Plain, name)(*arguments)

    return staticmethod(function)


for _name in ("kl", "step", "fisher", "estimate"):
    setattr(Failing, _name, _failing(_name))


@pytest.mark.parametrize("rule", ["ebc-h", "ebc"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.6, 0.95])
def test_after_an_error_in_a_function_of_the_user(rule, share):
    rng = np.random.default_rng(3)
    engine = Engine(resolve(Failing(), 4, 1), 2, RULES[rule](), STOP, 0.05, np.random.default_rng(1))

    def fails(act):
        """Let ``act`` fail after this share of the calls that a loaded engine needs; then nothing has changed."""
        before, probe = restored(engine), restored(engine)
        Failing.left = 1e9
        act(probe)
        calls = 1e9 - Failing.left
        Failing.left = 1 + int(share * (calls - 1)) if calls else math.inf
        try:
            act(engine)
        except CallbackError:
            assert_same(engine, before)
            return True
        finally:
            Failing.left = math.inf
        return False  # what it kept has spared it some calls

    failures = 0
    for t in range(14):
        arm = t if t < 4 else engine.choose()
        value = rng.geometric([0.2, 0.25, 0.6, 0.7][arm], 1) - 1.0
        other = restored(engine)
        if fails(lambda one, arm=arm, value=value: one.observe(arm, value)):
            failures += 1
            assert engine.choose() == other.choose()
            engine.observe(arm, value)
        other.observe(arm, value)
        assert_same(engine, other)
        if t >= 4:
            check(engine)
            engine.state.pending[:] = rng.integers(0, 4, 4)
            fails(lambda one: one.choose())
            assert engine.choose() == restored(engine).choose()
            engine.state.pending[:] = 0
    assert failures >= 4
