"""simulate: seeds, threads, deltas of one trajectory, user rules, Ctrl-C."""

import math
from typing import ClassVar

import numpy as np
import pytest

import linkarms as la
from linkarms import errors
from linkarms.montecarlo import error_lower_limit, promise_is_broken

PAPER = la.stopping.Paper(theta=(-5, 5), epsilon=0.05)
PROBLEM = la.problems.synthetic1()


def test_results_do_not_depend_on_threads_rules_or_the_number_of_trials():
    one = la.simulate(PROBLEM, ["ebc", "ebc-h"], stopping=PAPER, deltas=[0.1], trials=6, seed=4)
    two = la.simulate(PROBLEM, ["ebc-h"], stopping=PAPER, deltas=[0.1], trials=9, seed=4, n_jobs=2)
    np.testing.assert_array_equal(one["ebc-h"].stopping_times, two["ebc-h"].stopping_times[:6])
    assert one.completed == 6
    assert not np.array_equal(one["ebc"].stopping_times, one["ebc-h"].stopping_times)


def test_one_trajectory_serves_every_delta():
    many = la.simulate(PROBLEM, stopping=PAPER, deltas=[0.1, 1e-4, 1e-10], trials=5, seed=2)["ebc-h"]
    for j, delta in enumerate((0.1, 1e-4, 1e-10)):
        alone = la.simulate(PROBLEM, stopping=PAPER, deltas=[delta], trials=5, seed=2)["ebc-h"]
        np.testing.assert_array_equal(alone.stopping_times[:, 0], many.stopping_times[:, j])
    assert np.all(np.diff(many.stopping_times, axis=1) >= 0)


def test_unstopped_trials_are_counted_apart():
    s = la.simulate(PROBLEM, stopping=PAPER, deltas=[0.1], trials=4, seed=1, max_samples=50)
    assert s["ebc-h"].stopping_times.tolist() == [[-1]] * 4
    assert not s["ebc-h"].errors.any()
    (row,) = s.summary()
    assert row["unstopped"] == 4
    assert row["mean"] is None
    assert "unstopped" in str(s.summary())


class Fewest(la.sampling.SamplingRule):
    name = "fewest"

    def choose(self, view):
        return int(np.argmin(view.counts + view.pending))


class Copy(la.stopping.StoppingRule):
    """The paper's rule by its own words, without its kernel."""

    name = "copy"

    def box(self, n_features):
        return PAPER.box(n_features)

    def threshold(self, view, delta):
        return PAPER.threshold(view, delta)


def test_a_users_own_rules_run_in_python_and_agree_with_the_compiled_ones():
    ours = la.simulate(PROBLEM, "round-robin", stopping=PAPER, deltas=[0.5, 0.01], trials=2, seed=6)[
        "round-robin"
    ]
    mine = la.simulate(PROBLEM, {"mine": Fewest()}, stopping=Copy(), deltas=[0.5, 0.01], trials=2, seed=6)[
        "mine"
    ]
    np.testing.assert_array_equal(mine.stopping_times, ours.stopping_times)


def test_a_rule_that_looks_at_delta_is_run_once_for_each():
    class Peeks(Fewest):
        name = "peeks"
        uses_delta = True
        seen: ClassVar = set()

        def choose(self, view):
            self.seen.add(view.delta)
            return super().choose(view)

    la.simulate(PROBLEM, Peeks(), stopping=Copy(), deltas=[0.5, 0.3], trials=1, seed=1, max_samples=30)
    assert Peeks.seen == {0.5, 0.3}


def test_an_index_that_is_no_arm_is_refused():
    class Wrong(Fewest):
        name = "wrong"

        def choose(self, view):
            return 6

    with pytest.raises(errors.InvalidInput, match="index"):
        la.simulate(PROBLEM, Wrong(), stopping=PAPER, trials=1)


def test_ctrl_c_keeps_the_trials_finished_so_far():
    class Stops(Fewest):
        name = "stops"
        asked = 0

        def choose(self, view):
            type(self).asked += 1
            if self.asked == 400:
                raise KeyboardInterrupt
            return super().choose(view)

    s = la.simulate(PROBLEM, Stops(), stopping=PAPER, deltas=[0.1], trials=10, seed=1, max_samples=100)
    assert 1 <= s.completed < 10
    assert s["stops"].stopping_times.shape == (s.completed, 1)


BAD = [
    ({"problem": 3}, "no Problem"),
    ({"rules": []}, "no rules"),
    ({"rules": ["ebc", "ebc"]}, "same name"),
    ({"rules": 5}, "no rules"),
    ({"deltas": []}, "empty"),
    ({"deltas": [2.0]}, "deltas"),
    ({"trials": 0}, "trials"),
    ({"n_jobs": 0}, "n_jobs"),
    ({"backend": "mars"}, "backend"),
    ({"stopping": ...}, "stopping is missing"),
]


@pytest.mark.parametrize(("changes", "words"), BAD)
def test_bad_arguments(changes, words):
    options = {"problem": PROBLEM, "rules": "ebc-h", "stopping": PAPER, "trials": 1} | changes
    with pytest.raises(errors.InvalidInput, match=words):
        la.simulate(options.pop("problem"), options.pop("rules"), **options)


def test_exact_binomial_limits():
    from scipy import stats

    for k, n in ((0, 10), (3, 10), (10, 10), (55, 400)):
        exact = stats.binomtest(k, n, alternative="greater").proportion_ci(0.99).low
        assert error_lower_limit(k, n) == pytest.approx(exact, abs=1e-12)
    assert not promise_is_broken(45, 400, 0.1)
    assert promise_is_broken(60, 400, 0.1)


def test_the_scaling_problem_and_names():
    p = la.problems.scaling(n_arms=8)
    assert (p.n_arms, p.n_clusters, p.n_features) == (8, 4, 5)
    assert p.labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    with pytest.raises(errors.InvalidInput, match="odd"):
        la.problems.scaling(n_arms=7)
    with pytest.raises(errors.InvalidInput, match="not unique"):
        la.Problem([0.0, 1.0, 2.0], 2)
    assert math.isclose(p.parameters[3, 0], 10.5)
