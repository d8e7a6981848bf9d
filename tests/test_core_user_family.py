"""Families of a user's own functions in the native core: callables, addresses, and what they raise."""

import ctypes
import gc
import math
import threading
import weakref

import numpy as np
import pytest

from linkarms import _core
from linkarms._core import testing as core

ONE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
TWO = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


def poisson_functions():
    """A Poisson family as a user would write it."""
    return {
        "kl": lambda t, x: x - t + (t * math.log(t / x) if t > 0 else 0.0) if x > 0 else math.inf,
        "step": lambda t, slope: t / (1 - slope) if slope < 1 else math.inf,
        "fisher": lambda t: 1 / max(t, 1e-100),
        "slope_limit": lambda t: 1.0,
    }


def addresses(functions):
    """The same functions behind C function pointers; keep the second value alive."""
    pointers = {name: (TWO if name in ("kl", "step") else ONE)(f) for name, f in functions.items()}
    return {name: ctypes.cast(p, ctypes.c_void_p).value for name, p in pointers.items()}, pointers


@pytest.mark.parametrize("how", ["callables", "addresses"])
def test_own_functions_give_the_shipped_numbers(how):
    functions, owner = poisson_functions(), None
    if how == "addresses":
        functions, owner = addresses(functions)
    own, shipped = _core.user_family(**functions, domain="half-line", owner=owner), _core.poisson()
    for theta in (0.3, 2.0, 17.0):
        for lam in (0.1, 2.1, 30.0):
            assert own.kl(theta, lam) == pytest.approx(shipped.kl(theta, lam), rel=1e-12)
        for slope in (-3.0, -0.1, 0.4, 0.9):
            lam = own.step(theta, slope)
            assert lam == pytest.approx(shipped.step(theta, slope), rel=1e-12)
            wanted = core.gain(shipped, theta, slope, lam)
            assert core.gain(own, theta, slope, lam) == pytest.approx(wanted, rel=1e-3)
        assert own.fisher(theta) == shipped.fisher(theta)
        assert own.slope_limit(theta) == 1.0
        assert own.inflection(theta) == math.inf
        assert own.estimate(theta) == theta
        # its cells depend on an interval that is found to one percent
        assert core.regret(own, 40, theta) == pytest.approx(core.regret(shipped, 40, theta), abs=0.01)
        for side in ("below", "above"):
            ends = [core.kl_interval(f, theta, 0.7, side, 1e-9) for f in (own, shipped)]
            assert ends[0] == pytest.approx(ends[1], rel=1e-7)
    assert math.isnan(core.log_evidence(own, 5, 1.0, 1.0, 5.0))
    model = _core.Model([_core.Arm.coordinates([own])] * 2, 1)
    assert model.kind == "scalar"
    assert model.has_user_family


def test_what_a_function_raises_comes_out_as_it_was_raised():
    error = ZeroDivisionError("a message of the user's")

    def fails(*numbers):
        raise error

    own = _core.user_family(kl=fails, step=fails, fisher=lambda t: 1.0, estimate=fails)
    arm = _core.Arm.coordinates([own])
    model = _core.Model([arm], 1)
    one = np.ones(1)
    calls = [
        lambda: own.kl(1.0, 2.0),
        lambda: core.gain(own, 1.0, 0.5, 2.0),
        lambda: core.regret(own, 5, 1.0),
        lambda: core.dominating_variance(own, 1.0, 0.5, 0.01),
        lambda: model.kl(0, one, one),
        lambda: model.estimate(0, one),
    ]
    for call in calls:
        with pytest.raises(ZeroDivisionError) as caught:
            call()
        assert caught.value is error
        assert caught.traceback[-1].name == "fails"
    error.__traceback__ = None  # it holds the frames, and they the families


def test_a_failed_estimate_leaves_the_samples_as_they_were():
    def estimate(mean):
        if mean > 2.0:
            raise KeyboardInterrupt
        return mean

    own = _core.user_family(**poisson_functions(), estimate=estimate, domain="half-line")
    model = _core.Model([_core.Arm.coordinates([own])], 1)
    samples = core.Samples(model, np.array([[-np.inf, np.inf]]))
    samples.add(0, np.array([1.0]))
    with pytest.raises(KeyboardInterrupt):
        samples.add(0, np.array([9.0]))
    assert (samples.total, samples.counts.tolist(), samples.means.tolist()) == (1, [1], [[1.0]])
    assert samples.estimates.tolist() == [[1.0]]
    samples.add(0, np.array([2.0]))
    assert samples.estimates.tolist() == [[1.5]]


@pytest.mark.parametrize("answer", ["text", None, [1.0]])
def test_an_answer_that_is_not_a_number(answer):
    own = _core.user_family(kl=lambda t, x: answer, step=pow, fisher=abs)
    with pytest.raises(TypeError, match="real number"):
        own.kl(1.0, 2.0)


def test_answers_of_other_numeric_types():
    for answer in (3, np.float32(3.0), np.int64(3), True):
        own = _core.user_family(kl=lambda t, x, y=answer: y, step=pow, fisher=abs)
        assert own.kl(1.0, 2.0) == float(answer)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kl": None}, "kl"),
        ({"step": 0.5}, "step"),
        ({"fisher": 0}, "fisher"),
        ({"estimate": "mean"}, "estimate"),
        ({"domain": "plane"}, "domain='plane'"),
    ],
)
def test_bad_functions_are_named(change, words):
    with pytest.raises(ValueError, match=words) as caught:
        _core.user_family(**{**poisson_functions(), **change})
    assert any(word in str(caught.value) for word in ("give", "choose"))


def test_a_family_keeps_its_functions_alive_and_lets_them_go():
    class Function:
        def __call__(self, *numbers):
            return 1.0

    function, owner = Function(), Function()
    watched = [weakref.ref(function), weakref.ref(owner)]
    own = _core.user_family(kl=function, step=function, fisher=function, owner=owner)
    model = _core.Model([_core.Arm.coordinates([own])], 1)
    del function, owner, own
    gc.collect()
    assert model.kl(0, np.ones(1), np.ones(1)) == 1.0
    assert all(w() is not None for w in watched)
    del model
    gc.collect()
    assert all(w() is None for w in watched)


def test_functions_are_called_from_other_threads():
    own = _core.user_family(**poisson_functions(), domain="half-line")
    found = []

    def work():
        found.append([core.regret(own, 50, t) for t in (0.5, 1.0, 2.0)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [found[0]] * 4
