"""Recorded arms as problems: what is drawn, what is true, and fixed sample sizes."""

import pickle

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

import linkarms as la
from linkarms.arms import RecordedArms, resampled_problem
from linkarms.errors import InvalidInput
from linkarms.montecarlo import fixed_size_errors

RECORDS = {"a": [1.0, 2.0, 6.0], "b": [3.5], "c": [30.0, 50.0]}


def same_partition(x, y):
    x, y = np.asarray(x), np.asarray(y)
    return np.array_equal(x[:, None] == x[None], y[:, None] == y[None])


def test_the_truth_is_that_of_the_records():
    p = resampled_problem(RECORDS, 2, la.families.Exponential("mean"))
    assert p.arms == ("a", "b", "c")
    assert p.parameters.ravel().tolist() == [3.0, 3.5, 40.0]
    assert p.labels.tolist() == [0, 0, 1]
    rates = resampled_problem(RECORDS, 2, "exponential")
    assert rates.parameters.ravel() == pytest.approx([1 / 3, 1 / 3.5, 1 / 40])


def test_draws_are_records_each_as_often():
    p = resampled_problem(RECORDS, 2)
    n = 9000
    x = p.families[0].draw(np.random.default_rng(1), p.parameters[0], n)
    assert x.shape == (n, 1)
    counts = np.array([(x == v).sum() for v in RECORDS["a"]])
    assert counts.sum() == n
    # chi-squared with 2 degrees of freedom exceeds 27.6 with probability 1e-6
    assert ((counts - n / 3) ** 2 / (n / 3)).sum() < 27.6


def test_columns_are_drawn_independently():
    columns = {"a": ([1.0, 2.0], [1.0, 2.0, 4.5]), "b": ([5.0, 5.5], [5.0])}
    p = resampled_problem(columns, 1, independent=True)
    assert p.parameters.tolist() == [[1.5, 2.5], [5.25, 5.0]]
    x = p.families[0].draw(np.random.default_rng(2), p.parameters[0], 6000)
    pairs = [(u, v) for u in (1.0, 2.0) for v in (1.0, 2.0, 4.5)]
    counts = np.array([np.all(x == pair, axis=1).sum() for pair in pairs])
    assert counts.sum() == 6000
    assert ((counts - 1000) ** 2 / 1000).sum() < 35.9  # 5 degrees of freedom, 1e-6
    rows = resampled_problem({"a": [[1.0, 1.0], [2.0, 2.0]], "b": [[9.0, 9.0]]}, 1)
    y = rows.families[0].draw(np.random.default_rng(2), rows.parameters[0], 50)
    assert np.all(y[:, 0] == y[:, 1])


def test_simulations_draw_from_the_records():
    """With one record an arm there is nothing to learn after the first samples, and no error."""
    p = resampled_problem({"a": [0.0], "b": [0.1], "c": [3.0]}, 2)
    stop = la.stopping.Paper(theta=(-5, 5), epsilon=0.05)
    s = la.simulate(p, ["ebc-h"], stopping=stop, deltas=[0.1], trials=4, seed=3)
    assert len(set(s["ebc-h"].stopping_times.ravel())) == 1
    assert not s["ebc-h"].errors.any()


def test_two_sets_of_records_are_told_apart_and_can_be_sent():
    a, b = (resampled_problem({"x": [1.0, v], "y": [7.0]}, 1).families[0] for v in (2.0, 3.0))
    assert a != b
    again = pickle.loads(pickle.dumps(a))
    assert again == a
    assert again.support == "any finite number"
    exponential = resampled_problem(RECORDS, 2, "exponential").families[0]
    assert exponential.domain == la.families.Exponential().domain
    assert exponential.open_domain


def test_bad_records():
    with pytest.raises(InvalidInput, match=r"arm 'b': record 1 .* is not a number >= 0"):
        resampled_problem({"a": [1.0], "b": [2.0, -1.0]}, 1, "exponential")
    with pytest.raises(InvalidInput, match="different numbers of columns"):
        resampled_problem({"a": ([1.0], [2.0]), "b": ([1.0],)}, 1, independent=True)
    with pytest.raises(InvalidInput, match="product family cannot be used"):
        resampled_problem({"a": [[1.0, 2.0]], "b": [[3.0, 1.0]]}, 1, "exponential")
    with pytest.raises(InvalidInput, match="missing or not finite"):
        resampled_problem({"a": [1.0, np.nan], "b": [1.0]}, 1)


def test_records_are_shown():
    arms = RecordedArms({"a": [1.0, 2.0], "b": [[3.0]]})
    assert [r.tolist() for r in arms.records] == [[[1.0], [2.0]], [[3.0]]]


def test_fixed_sizes_against_scipy():
    """The samples of `simulate` by their documented seeds, the estimates and the linkage by NumPy and SciPy."""
    p = la.problems.synthetic1()
    sizes = [1, 3, 300]
    wrong = fixed_size_errors(p, sizes, trials=12, seed=5)
    found = np.zeros_like(wrong)
    for i in range(12):
        x = []
        for m in range(p.n_arms):
            rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(i, m)))
            x.append(p.parameters[m] + np.vstack([rng.standard_normal((256, 2)) for _ in range(2)]))
        for j, n in enumerate(sizes):
            labels = fcluster(linkage([s[:n].mean(axis=0) for s in x], "single"), 3, "maxclust")
            found[i, j] = not same_partition(labels, p.labels)
    assert np.array_equal(wrong, found)
    assert wrong[:, 0].any()
    assert not wrong[:, 2].any()


def test_fixed_sizes_see_what_round_robin_sees():
    """A rule that stops after ``n`` rounds of round robin names the same partition."""

    class Rounds(la.stopping.StoppingRule):
        name = "rounds"

        def statistic(self, view):
            return float(view.counts.min())

        def threshold(self, view, delta):
            return 4.0

    p = resampled_problem({i: np.random.default_rng(i).exponential(1 + i % 3, 40) for i in range(6)}, 3)
    s = la.simulate(p, ["round-robin"], stopping=Rounds(), deltas=[0.1], trials=30, seed=8)
    assert np.all(s["round-robin"].stopping_times == 24)
    wrong = fixed_size_errors(p, [4], trials=30, seed=8)
    assert np.array_equal(wrong, s["round-robin"].errors)
    assert 0 < wrong.sum() < 30


def test_fixed_sizes_are_clipped_and_checked():
    p = la.Problem([0.0, 4.0, 10.0], 2)
    assert not fixed_size_errors(p, [50], trials=5).any()
    assert fixed_size_errors(
        p, [50], trials=5, box=np.array([[-5.0, 4.5]])
    ).all()  # 10 becomes 4.5, and joins 4
    with pytest.raises(InvalidInput, match="sizes are empty"):
        fixed_size_errors(p, [])
    with pytest.raises(InvalidInput, match="sizes=0"):
        fixed_size_errors(p, [0])
