"""`Result.error_bound`: the smallest delta at which the rule would stop now."""

import math

import numpy as np
import pytest

import linkarms as la
from linkarms.result import would_stop_at

LINE = [0.0, 0.5, 4.0, 4.7]
RULES = [la.stopping.Anytime(), la.stopping.Anytime(version=1), la.stopping.Anytime(c=5.0)]
RULES += [la.stopping.Paper(theta=(-9, 9)), la.stopping.BOC(), la.stopping.weaken(la.stopping.Anytime(), 4)]


def make(stopping="anytime", **changes):
    options = {
        "n_clusters": 2,
        "arms": 4,
        "family": "gaussian",
        "delta": 1e-4,
        "stopping": stopping,
    } | changes
    return la.BanditClusterer(**options)


def steps(c, n, seed=5):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        if c.done:
            return
        (arm,) = c.ask()
        c.tell(arm, rng.normal(LINE[arm]))
        yield c.result()


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_rule_stops_at_larger_deltas_and_at_no_smaller_one(rule):
    c = make(rule, delta=1e-30)
    seen = [
        r.error_bound for r in steps(c, 700) if r.error_bound is not None and _stops_there(c, r.error_bound)
    ]
    assert min(seen) < 0.5
    assert len({p for p in seen if p < 1.0}) > 20  # most of them are not 1


def _stops_there(c, p):
    check = c._engine.check
    if p < 1.0:
        assert check(p * (1 + 1e-9))
    assert not check(
        p * (1 - 1e-4)
    )  # the proof for one level may reach a little further than the value that is reported
    return True


def test_it_is_the_formula_of_section_9():
    """``n J exp(-Z)`` with three arms: one set, eight values of c, and the closed form of the evidence."""
    c = make(la.stopping.Anytime(version=1), arms=3, delta=1e-30)
    values = {0: [0.1, -0.3, 0.4] * 9, 1: [0.2, 0.9] * 13, 2: [6.0, 5.1, 5.6] * 5}
    for arm, told in values.items():
        c.tell_many([arm] * len(told), told)
    n, x = np.array([len(v) for v in values.values()], float), np.array([np.mean(v) for v in values.values()])
    # |lam_1 - lam_0| >= |lam_2 - lam_1| or >= |lam_2 - lam_0|, in either order on the line
    pieces = [[(-1, 2, -1), (1, 0, -1)], [(0, 1, -1), (2, -1, -1)]]

    def evidence(piece, scale):
        i, price = (n + scale) / n**2, 0.5 * np.log1p(n / scale).sum()
        return min((x @ k) ** 2 / (2 * i @ np.square(k)) for k in piece) - price

    best = min(max(evidence(piece, c) for c in la.stopping._anytime.GRID) for piece in pieces)
    r = c.result()
    assert r.evidence == pytest.approx(best, rel=1e-12)
    assert r.error_bound == pytest.approx(min(1.0, 8 * math.exp(-best)), rel=1e-12)


def test_before_the_first_samples_and_where_there_is_one_partition():
    assert make().result().error_bound == 1.0
    assert make(n_clusters=1).result().error_bound == 0.0
    tied = make(arms=3)
    tied.tell_many([0, 1, 2], [0.0, 1.0, 2.0])
    assert tied.result().ambiguous
    assert tied.result().error_bound == 1.0


class Own(la.stopping.StoppingRule):
    name = "own"

    def threshold(self, view, delta):
        return 100.0


def test_a_rule_in_python_has_none():
    for r in steps(make(Own()), 10):
        assert r.error_bound is None


def test_words_round_up():
    for p in [*10.0 ** -np.linspace(0.01, 12, 50), 0.21, 0.05, 0.1, 0.0999]:
        text = would_stop_at(float(p))
        shown = float(text.removeprefix("would stop at delta = "))
        assert p * (1 - 1e-8) <= shown <= 1.1 * p * (1 + 1e-8), text
    assert would_stop_at(0.21) == "would stop at delta = 0.21"
    assert would_stop_at(1.0) == "would not stop at any delta"


def test_an_ended_run_says_at_which_delta_it_would_have_stopped():
    r = la.cluster(la.Problem([0.0, 1.0, 2.4, 3.4], 2), delta=0.01, max_samples=900, seed=2)
    assert not r.stopped
    words = would_stop_at(r.error_bound, ended=True)
    assert r.reason.startswith(f"no promise: max_samples=900 is used up; {words}; ")
    assert r.to_dict()["error_bound"] == r.error_bound
