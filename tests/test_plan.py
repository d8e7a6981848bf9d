"""`plan` and the commands `bound` and `plan`."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import linkarms as la
from linkarms.cli._app import run
from linkarms.errors import InvalidInput
from linkarms.planning import _rules
from linkarms.planning._table import summarise

MEANS = [0.0, 0.5, 6.0, 6.4]
PAPER = la.stopping.Paper(theta=(-10, 10), epsilon=0.05)


def test_rows_are_the_simulations_of_each_pair_of_rules():
    p = la.plan(MEANS, 2, delta=0.01, stopping=PAPER, trials=30, seed=3, arms=list("abcd"))
    assert [row.sampling for row in p.rows] == [rule.name for rule in _rules.sampling_rules()]
    assert {"ebc", "ebc-h", "round-robin"} <= {row.sampling for row in p.rows}
    s = la.simulate(la.Problem(MEANS, 2), "ebc-h", stopping=PAPER, deltas=[0.01], trials=30, seed=3)
    times = s["ebc-h"].stopping_times[:, 0]
    (row,) = [r for r in p.rows if r.sampling == "ebc-h"]
    assert row.mean == times.mean()
    half = stats.t.ppf(0.975, 29) * times.std(ddof=1) / math.sqrt(30)
    assert (row.mean_low, row.mean_high) == pytest.approx((times.mean() - half, times.mean() + half))
    assert (row.trials, row.unstopped, row.errors, row.note) == (30, 0, 0, "")
    assert p.samples == pytest.approx(p.bound.lower * 0.98 * math.log(99))
    assert p.samples < min(r.mean for r in p.rows)
    assert p.arms == ("a", "b", "c", "d")


def test_a_rule_that_is_added_appears_by_itself(monkeypatch):
    class Lazy(la.sampling.SamplingRule):
        name = "lazy"

        def choose(self, view):
            return int(np.argmin(view.counts + view.pending))

    class Eager(la.stopping.StoppingRule):
        name = "eager"

        def threshold(self, view, delta):
            return math.log(1 / delta)

    monkeypatch.setattr("linkarms.sampling.Lazy", Lazy, raising=False)
    monkeypatch.setattr("linkarms.sampling.__all__", [*la.sampling.__all__, "Lazy"])
    monkeypatch.setattr("linkarms.stopping.Eager", Eager, raising=False)
    monkeypatch.setattr("linkarms.stopping.__all__", [*la.stopping.__all__, "Eager"])
    p = la.plan(MEANS, 2, trials=3)
    assert ("lazy", "eager") in {(row.sampling, row.stopping) for row in p.rows}
    assert all(row.trials == 3 for row in p.rows)


def test_order_statistics_of_the_quantiles():
    # 100 runs: the exact 95% interval of the median is the 40th to the 61st, that of the 95% quantile the 90th to the 99th
    times = np.random.default_rng(0).permutation(np.arange(1, 101))
    row = summarise("x", "y", times, np.zeros(100, dtype=bool), 1000)
    low, high = stats.binom.ppf(0.025, 100, 0.5), stats.binom.ppf(0.975, 100, 0.5) + 1
    assert (row.median, row.median_low, row.median_high) == (50, low, high)
    assert row.q95 == 95
    assert row.q95_low <= 91
    assert stats.binom.cdf(row.q95_low - 1, 100, 0.95) <= 0.025
    assert stats.binom.sf(row.q95_high - 1, 100, 0.95) <= 0.025


def test_runs_that_do_not_stop_are_not_averaged_away():
    times = np.array([10] * 70 + [-1] * 30)
    row = summarise("x", "y", times, np.zeros(100, dtype=bool), 500)
    assert (row.mean, row.mean_low, row.median, row.q95, row.unstopped) == (None, None, 10, None, 30)
    assert row.note == "30 of 100 runs did not stop within 500 samples"
    row = summarise("x", "y", np.full(4, -1), np.zeros(4, dtype=bool), 500)
    assert (row.median, row.q95) == (None, None)
    assert summarise("x", "y", np.array([7]), np.array([False]), 9).mean == 7


def test_a_rule_that_never_stops_says_so_at_once():
    too_large = la.stopping.Paper(theta=(-10, 10), epsilon=0.1)
    p = la.plan([0, 1, 2.4, 3.4], 2, stopping=too_large)
    for row in p.rows:
        assert row.trials == 0
        assert row.note.startswith("never stops: at these estimates psi=0.00382 does not exceed eta")
        assert row.note.endswith("epsilon=0.02 would work")
    assert str(p).count("never stops") == 1


def test_theta_must_contain_the_guess():
    p = la.plan(MEANS, 2, stopping=[la.stopping.Paper(theta=(0, 1)), PAPER], sampling="ebc-h", trials=2)
    assert p.rows[0].note == "no promise: theta does not contain the guess; give a wider one"
    assert p.rows[1].trials == 2


@pytest.mark.parametrize(
    ("theta", "family"),
    [
        ([0.1, 0.15, 0.8, 0.9], "bernoulli"),
        ([1.0, 1.5, 8.0], "exponential"),
        ([1.0, 1.5, 8.0], "poisson"),
        ([[0.2, 0.3, 0.5], [0.25, 0.3, 0.45], [0.7, 0.2, 0.1]], "categorical"),
        ([[0.0, 100.0], [1.0, 101.0], [30.0, 90.0]], "gaussian"),
        ([-1e-4, 1e-4, 3e-3], "gaussian"),
    ],
)
def test_the_papers_rule_is_set_up_for_the_guess(theta, family):
    problem = la.Problem(theta, 2, family)
    b = la.lower_bound(theta, 2, family)
    guess = _rules.Guess(problem.parameters, problem.labels, b.weights, 2, problem.arm_families, 0.05)
    (first, rule), refused = _rules.stopping_rules(guess, 1 / b.upper)
    assert first.name == "anytime"
    assert refused == {}
    rule.check(problem.arm_families)
    box = rule.box(problem.n_features)
    assert np.all(box[:, 0] < problem.parameters.min(axis=0))
    assert np.all(box[:, 1] > problem.parameters.max(axis=0))
    assert rule.eta(guess, rule.epsilon) <= 0.1 / b.upper
    assert rule.eta(guess, 2.5 * rule.epsilon) > 0.1 / b.upper or rule.epsilon > 0.01


def test_a_guess_at_the_end_of_the_domain_has_no_theta():
    p = la.plan([0.0, 0.15, 0.8], 2, "bernoulli", trials=2)
    notes = {row.stopping.split("(")[0]: row.note for row in p.rows}
    assert notes["paper"] == "no theta strictly inside the domain of the family contains the guess"
    assert {row.trials for row in p.rows if row.stopping == "Anytime()"} == {2}  # which needs none


def test_nothing_to_find_out_and_nothing_to_find():
    for k in (1, 3):
        p = la.plan([0.0, 1.0, 5.0], k)
        assert p.samples == 0
        assert {row.mean for row in p.rows} == {0.0}
    tie = la.plan([0.0, 1.0, 2.0], 2)
    assert math.isinf(tie.samples)
    assert all(row.note.startswith("never stops: the parameters have equal edges") for row in tie.rows)
    json.dumps(tie.to_dict(), allow_nan=False)


def test_a_rule_that_is_not_made_for_the_problem_gets_a_note(monkeypatch):
    def refuse(*_args, **_options):
        raise InvalidInput("this rule is for two clusters in one dimension")

    monkeypatch.setattr("linkarms.planning._plan.simulate", refuse)
    p = la.plan(MEANS, 2, stopping=PAPER, sampling=["ebc"])
    assert p.rows[0].note == "this rule is for two clusters in one dimension"


def test_a_rule_with_a_stop_of_its_own_gets_a_row_for_it(monkeypatch):
    def own_stop(problem, rule, *, stopping, **options):
        if stopping is None and rule.name != "ebc":
            raise InvalidInput("no stop of its own")
        return la.simulate(problem, rule, stopping=stopping or PAPER, **options)

    monkeypatch.setattr("linkarms.planning._plan.simulate", own_stop)
    p = la.plan(MEANS, 2, trials=4)
    assert [(r.sampling, r.trials) for r in p.rows if r.stopping == "its own"] == [("ebc", 4)]
    assert not any(r.stopping == "its own" for r in la.plan(MEANS, 2, stopping=PAPER, trials=2).rows)


def test_table_frame_and_dict_agree():
    p = la.plan(MEANS, 2, sampling="ebc-h", stopping=PAPER, trials=20)
    (row,) = p.rows
    frame = p.to_frame()
    assert frame["mean"][0] == row.mean
    assert p.to_dict()["rules"][0]["q95"] == row.q95
    json.dumps(p.to_dict(), allow_nan=False)
    text = str(p)
    for word in (str(p.bound), f"{row.mean:,.0f} (", "best shares: 0: ", "95% quantile", "Paper(theta="):
        assert word in text


@pytest.mark.parametrize(
    "options", [{"delta": 0}, {"trials": 0}, {"max_samples": 0}, {"arms": ["a"]}, {"sampling": "no"}]
)
def test_bad_arguments(options):
    with pytest.raises(InvalidInput):
        la.plan(MEANS, 2, **options)


# -- the command line ----------------------------------------------------------------------------------------


def test_bound_prints_the_bracket_and_the_shares(capsys):
    assert run(["bound", "synthetic1", "-q"]) == 0
    out = capsys.readouterr().out
    want = la.lower_bound(la.problems.synthetic1().parameters, 3)
    assert out.startswith(
        f"{want}\nno rule promises delta=0.05 with fewer than {want.samples(0.05):,.1f} samples"
    )
    for weight in want.weights:
        assert f"{weight:.2%}" in out
    assert run(["bound", "synthetic2:mean", "-q", "--json", "--delta", "0.01", "--gap", "1e-6"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert 97.98 < answer["lower"] <= answer["upper"] < 97.99
    assert answer["samples"] == pytest.approx(answer["lower"] * 0.98 * math.log(99))


def test_a_bracket_that_is_too_wide_is_exit_1(capsys):
    assert run(["bound", "synthetic1", "-q", "--max-cuts", "3"]) == 1
    assert "max_cuts were used up" in capsys.readouterr().out
    assert run(["bound", "synthetic1", "-q", "--gap", "0"]) == 2
    assert capsys.readouterr().err.startswith("linkarms: --gap 0 is out of range")
    assert run(["bound", "nothing"]) == 2


def test_plan_prints_a_table(tmp_path, capsys):
    path = tmp_path / "guess.json"
    path.write_text(json.dumps({"parameters": MEANS, "n_clusters": 2, "arms": ["a", "b", "c", "d"]}))
    words = ["plan", str(path), "--delta", "0.01", "--trials", "10", "--seed", "4", "-q"]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert "best shares: a: " in out
    for rule in ("ebc", "ebc-h", "round-robin"):
        assert rule in out
    assert run([*words, "--json", "--sampling", "ebc-h", "--stopping", "paper", "--theta", "-10,10"]) == 0
    answer = json.loads(capsys.readouterr().out)
    want = la.plan(
        MEANS, 2, delta=0.01, sampling="ebc-h", stopping=la.stopping.Paper((-10, 10)), trials=10, seed=4
    )
    assert answer["rules"][0]["mean"] == want.rows[0].mean


def test_the_anytime_rule_comes_first_and_can_be_named():
    p = la.plan(MEANS, 2, trials=3, sampling="ebc-h")
    assert [row.stopping.split("(")[0] for row in p.rows] == ["Anytime", "Paper"]
    assert p.rows[0].mean < p.rows[1].mean
    (row,) = la.plan(MEANS, 2, trials=3, sampling="ebc-h", stopping="anytime").rows
    assert row == p.rows[0]


def test_plan_says_when_no_rule_stops(capsys):
    words = ["plan", "synthetic1", "--trials", "2", "-q", "--max-samples", "20"]
    assert run(words) == 1
    assert "2 of 2 runs did not stop within 20 samples" in capsys.readouterr().out
    assert run(["plan", "synthetic1", "--epsilon", "0.1"]) == 2
    assert "--epsilon belongs to the paper's rule" in capsys.readouterr().err


def test_the_demo_shows_the_bound(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("linkarms.cli._demo.write_out", lambda *_: None)  # the picture takes longest
    assert run(["demo", "--quiet", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert 19.068 <= answer["lower_bound"][0] <= answer["lower_bound"][1] <= 19.069
    assert answer["least_samples"] == pytest.approx(19.068 * 0.9 * math.log(19), rel=1e-4)
    assert run(["demo", "--quiet"]) == 0
    assert "fewer than 50.5 samples on average" in capsys.readouterr().out
