"""`audit`: what it counts, its verdicts, and that it catches a rule that is weakened."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import linkarms as la
from linkarms.cli._app import run
from linkarms.errors import InvalidInput, LinkarmsError
from linkarms.montecarlo import Simulation, error_interval, promise_is_broken
from linkarms.stopping import weaken

NEAR_TIE = la.Problem([0.0, 10.0, 20.6], 2)
EASY = la.Problem([0.0, 1.0, 9.0], 2)
PAPER = la.stopping.Paper(theta=(-30, 30), epsilon=0.05)


class AfterOne(la.stopping.StoppingRule):
    """Stops as soon as it may: it promises what it cannot keep."""

    name = "after-one"

    def threshold(self, view, delta):
        return 0.0


class Never(AfterOne):
    name = "never"

    def threshold(self, view, delta):
        return math.inf


def test_the_interval_is_clopper_and_pearsons():
    for k, n in [(0, 10), (3, 10), (10, 10), (45, 400), (1, 10_000)]:
        want = stats.binomtest(k, n).proportion_ci(0.95, method="exact")
        assert error_interval(k, n) == pytest.approx((want.low, want.high), abs=1e-12)


def test_rows_say_what_the_trials_did():
    found = la.audit(EASY, "round-robin", deltas=[0.2, 0.01], trials=40, seed=5)
    s = la.simulate(EASY, "round-robin", deltas=[0.2, 0.01], trials=40, seed=5)["round-robin"]
    bound = la.lower_bound(EASY.parameters, 2)
    assert (found.sampling, found.stopping, found.confidence) == ("round-robin", "Anytime()", 0.99)
    for j, row in enumerate(found.rows):
        t = np.sort(s.stopping_times[:, j])
        assert (row.delta, row.trials, row.unstopped) == ([0.2, 0.01][j], 40, 0)
        assert row.errors == s.errors[:, j].sum()
        assert row.mean == t.mean()
        assert (row.median, row.q95) == (t[19], t[37])
        least = bound.lower * (1 - 2 * row.delta) * math.log((1 - row.delta) / row.delta)
        assert row.least_low == pytest.approx(least, rel=1e-9)
        assert row.least_low <= row.least_high <= row.least_low * (1 + 2e-4)
        assert row.ratio == row.mean / row.least_high
        assert row.verdict == "kept"
    assert found.passed
    assert not found.broken
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["rows"][1]["mean"] == found.rows[1].mean
    assert str(found).splitlines()[-1].startswith("kept: nothing contradicts the promise")


def test_a_rule_that_breaks_its_promise_is_found_out():
    found = la.audit(NEAR_TIE, stopping=AfterOne(), deltas=[0.1, 0.9], trials=200, seed=1)
    wrong = found.rows[0].errors
    assert wrong > 40  # it guesses
    assert [row.verdict for row in found.rows] == ["broken", "kept"]
    assert promise_is_broken(wrong, 200, 0.1)
    assert found.broken
    assert not found.passed
    assert str(found).endswith("broken: more errors than delta=0.1 allows, at 0.99 confidence")


def test_runs_that_do_not_stop_are_no_errors_and_are_counted():
    found = la.audit(NEAR_TIE, deltas=[0.1], trials=20, max_samples=400, seed=2)
    (row,) = found.rows
    assert 0 < row.unstopped < 20
    assert (row.mean, row.q95, row.errors, row.verdict) == (None, None, 0, "kept")
    idle = la.audit(NEAR_TIE, stopping=Never(), deltas=[0.1], trials=3, max_samples=30)
    assert (idle.rows[0].verdict, idle.passed, idle.broken) == ("untested", False, False)
    assert "no run stopped" in str(idle)


def test_nothing_to_find_out_is_always_right():
    found = la.audit(la.Problem([0.0, 1.0, 2.0], 3), deltas=[0.1], trials=3)
    (row,) = found.rows
    assert (row.mean, row.least_low, row.least_high, row.ratio) == (0.0, 0.0, 0.0, None)
    assert found.passed


def test_an_audit_that_was_broken_off_at_once_has_no_verdict(monkeypatch):
    nothing = la.simulate(EASY, trials=1)
    empty = Simulation({"ebc-h": nothing["ebc-h"]}, np.zeros(0, dtype=np.int64))
    monkeypatch.setattr("linkarms.montecarlo._audit.simulate", lambda *_a, **_k: empty)
    with pytest.raises(LinkarmsError, match="no verdict"):
        la.audit(EASY)


# -- weakened rules ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [la.stopping.Anytime(), PAPER], ids=["anytime", "paper"])
def test_a_weakened_threshold_is_caught(rule):
    assert la.audit(NEAR_TIE, stopping=rule, deltas=[0.1], trials=60, max_samples=20_000, seed=3).passed
    caught = la.audit(NEAR_TIE, stopping=rule, deltas=[0.1], trials=150, weaken=30, seed=3)
    assert caught.broken
    assert caught.stopping == f"{rule!r} with its threshold divided by 30"


def compared(rule, factor):
    """The rule and its weakened self on the same samples of a near-tie; delta is so small that neither stops."""
    samples = np.random.default_rng(4).normal([0.0, 4.0, 8.2], size=(12, 3)).ravel()
    pair = [
        la.BanditClusterer(2, 3, delta=1e-60, stopping=r, family="gaussian")
        for r in (rule, weaken(rule, factor))
    ]
    for c in pair:
        c.tell_many([0, 1, 2] * 12, samples)
        assert not c.done
    return [c.result() for c in pair]


@pytest.mark.parametrize("rule", [la.stopping.Anytime(), la.stopping.Anytime(c=[1.0, 9.0]), PAPER])
def test_the_threshold_is_divided(rule):
    full, weak = compared(rule, 7.0)
    assert weak.threshold == pytest.approx(full.threshold / 7.0, rel=1e-12)
    assert "nothing is promised" in weaken(rule, 7.0).promise(0.1)


def test_the_prices_are_divided_too():
    """Those of three Gaussian arms with one c, by the formula of the docs; the paper's are in its threshold."""
    full, weak = compared(la.stopping.Anytime(c=3.0, version=1), 7.0)
    price = 3 * 0.5 * math.log1p(12 / 3.0)
    assert full.evidence + price == pytest.approx(weak.evidence + price / 7.0, rel=1e-12)
    full, weak = compared(PAPER, 7.0)
    assert full.evidence == weak.evidence


def test_a_loaded_weakened_run_goes_on_with_lower_prices():
    rule = weaken(la.stopping.Anytime(), 5.0)
    c = la.BanditClusterer(2, 3, stopping=rule, family="gaussian")
    c.tell_many([0, 1, 2, 0, 1], [0.1, 3.0, 9.0, 0.3, 2.7])
    again = la.BanditClusterer.load(c.dump(), stopping=rule)
    assert again.result().evidence == c.result().evidence


def test_weakening_by_one_changes_nothing():
    rule = la.stopping.Anytime()
    assert weaken(rule, 1) is rule
    with pytest.raises(InvalidInput, match=r"weaken=0.9 is out of range"):
        weaken(rule, 0.9)
    with pytest.raises(InvalidInput, match="is not a stopping rule"):
        weaken("anytime", 2)


@pytest.mark.parametrize("c", [0.0, -1.0, [1.0, math.inf], [], [[1.0]], "x", [1.0, None]])
def test_the_grid_is_checked(c):
    with pytest.raises(InvalidInput, match="above 0"):
        la.stopping.Anytime(c)


# -- the command line ----------------------------------------------------------------------------------------


@pytest.fixture
def near_tie(tmp_path):
    path = tmp_path / "near-tie.json"
    path.write_text(json.dumps({"parameters": [0.0, 10.0, 20.6], "n_clusters": 2}))
    return str(path)


def test_audit_prints_a_table_and_json(near_tie, capsys):
    words = ["audit", near_tie, "--deltas", "0.2,0.1", "--trials", "30", "--seed", "6", "-q", "--n-jobs", "1"]
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for word in ("ebc-h with Anytime()", "0 of 30", "95% quantile", "information bound", "kept: nothing"):
        assert word in out
    assert run([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    want = la.audit(NEAR_TIE, deltas=[0.2, 0.1], trials=30, seed=6)
    assert answer["rows"] == want.to_dict()["rows"]
    assert (answer["seed"], answer["weaken"], answer["broken"]) == (6, 1.0, False)


def test_audit_exits_with_1_when_the_promise_is_broken(near_tie, capsys):
    words = ["audit", near_tie, "--deltas", "0.1", "--trials", "100", "-q", "--weaken", "30"]
    assert run([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["rows"][0]["verdict"] == "broken"
    paper = ["--stopping", "paper", "--theta", "-30,30", "--epsilon", "0.05", "--sampling", "round-robin"]
    assert run([*words, *paper]) == 1
    assert "broken: more errors than delta=0.1 allows" in capsys.readouterr().out


def test_audit_exits_with_1_when_nothing_stopped(near_tie, capsys):
    assert run(["audit", near_tie, "--trials", "3", "--max-samples", "20", "-q"]) == 1
    assert "untested: no run stopped with delta=0.1, 0.01" in capsys.readouterr().out
