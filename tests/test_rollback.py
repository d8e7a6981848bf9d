"""A `tell` that raises leaves no trace: the run goes on exactly as one that was told only the accepted samples."""

import math

import numpy as np
import pytest
from tests.recorded.geometric import Geometric

import linkarms as la
from linkarms.errors import CallbackError

MEANS = [0.0, 0.7, 4.0, 4.8, 9.0, 9.9]


class Refusing(la.stopping.StoppingRule):
    """The likelihood ratio against a level; fails where an estimate is beyond what an instrument can read."""

    name = "refusing"

    def threshold(self, view, delta):
        if np.abs(view.estimates).max() > 50.0:
            raise ArithmeticError("beyond the range of the instrument")
        return math.log(1.0 / delta) + 50.0


def clusterer(sampling="ebc-h"):
    return la.BanditClusterer(
        3, len(MEANS), family="gaussian", sampling=sampling, stopping=Refusing(), delta=1e-9
    )


def assert_same(run, twin):
    """Equal to the last bit."""
    mine, theirs = run.result(), twin.result()
    assert mine.labels.tolist() == theirs.labels.tolist()
    assert mine.pulls.tolist() == theirs.pulls.tolist()
    assert mine.parameters.tolist() == theirs.parameters.tolist()
    assert (mine.evidence, mine.threshold) == (theirs.evidence, theirs.threshold)
    assert mine.witness == theirs.witness
    assert run.dump() == twin.dump()


def go_on_together(run, twin, rng, arms):
    """Both are asked, and told the same samples of these arms."""
    for arm in arms:
        assert run.ask() == twin.ask()
        value = MEANS[arm] + rng.normal()
        run.tell(arm, value)
        twin.tell(arm, value)
        assert_same(run, twin)


@pytest.mark.parametrize("sampling", ["ebc-h", "ebc"])
@pytest.mark.parametrize("batch", [1, 3])
def test_a_stop_that_fails_leaves_no_trace(sampling, batch):
    run, twin, rng = clusterer(sampling), clusterer(sampling), np.random.default_rng(1)
    go_on_together(run, twin, rng, [*range(6)] * 3)
    with pytest.raises(ArithmeticError, match="instrument"):
        run.tell_many([1, 2, 4][-batch:], [3.0, 7.0, 1e4][-batch:])
    go_on_together(run, twin, rng, [0, 1, 2, 3, 5] * 4)


class Fallible(Geometric):
    """Fails when one of its functions is called for the n-th time."""

    name = "fallible"
    left = math.inf

    @classmethod
    def tick(cls):
        cls.left -= 1
        if cls.left == 0:
            raise ArithmeticError("not now")

    @staticmethod
    def kl(p, q):
        Fallible.tick()
        return Geometric.kl(p, q)

    @staticmethod
    def step(p, slope):
        Fallible.tick()
        return Geometric.step(p, slope)

    @staticmethod
    def fisher(p):
        Fallible.tick()
        return Geometric.fisher(p)

    @staticmethod
    def estimate(mean):
        Fallible.tick()
        return Geometric.estimate(mean)


@pytest.fixture
def fallible():
    """The family, and afterwards no call fails."""
    yield Fallible
    Fallible.left = math.inf


def calls_of_a_tell(sampling, n):
    """How often a tell calls the functions of the family."""
    Fallible.left = 1e9
    geometric(sampling, n).tell(1, 30.0)
    return int(1e9 - Fallible.left)


def geometric(sampling, n):
    """Four arms of the fallible family after n samples; they never stop."""
    left, Fallible.left = Fallible.left, math.inf
    run = la.BanditClusterer(2, 4, family=Fallible(), sampling=sampling, delta=1e-9)
    rng = np.random.default_rng(2)
    for _ in range(n):
        for arm in run.ask():
            run.tell(arm, rng.geometric([0.1, 0.12, 0.6, 0.7][arm]) - 1.0)
    Fallible.left = left
    return run


@pytest.mark.parametrize("sampling", ["ebc-h", "ebc"])
def test_a_family_that_fails_at_any_call_leaves_no_trace(sampling, fallible):
    n_calls = calls_of_a_tell(sampling, 12)
    assert n_calls > 10
    for call in np.unique(np.linspace(1, n_calls, 25).astype(int)):
        run, twin = geometric(sampling, 12), geometric(sampling, 12)
        fallible.left = int(call)
        with pytest.raises(CallbackError) as caught:
            run.tell(1, 30.0)
        assert isinstance(caught.value.__cause__, ArithmeticError)
        fallible.left = math.inf
        for arm, value in ((0, 2.0), (2, 1.0), (1, 4.0)):
            run.tell(arm, value)
            twin.tell(arm, value)
            assert_same(run, twin)
            assert run.ask() == twin.ask()
