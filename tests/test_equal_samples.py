"""Samples that are all equal, or in units of very different size: what the evidence of unknown variances makes of them."""

import numpy as np
import pytest
from scipy.stats import binom
from tests.repeats import repeats

import linkarms as la

RIGHT = [["a", "b"], ["c"]]
RUNS, DELTA = repeats(40, 200), 0.05
MODES = [
    {"n_clusters": 2},
    {"n_clusters": None},
    {"distance_threshold": 0.6},
    {"n_clusters": 2, "tolerance": 0.05},
    {"n_clusters": 2, "family": "gaussian-unknown:shared"},
]


def arms(kind, rng):
    """Three sources; the second has the same number each time, or all have few different ones."""
    if kind == "constant":
        return {
            "a": lambda: rng.normal(0.0, 1.0),
            "b": lambda: 0.5,
            "c": lambda: rng.normal(1.3, 1.0),
        }
    if kind == "constant coordinate":
        return {
            name: (lambda m=m: np.array([rng.normal(m, 1.0), 7.0]))
            for name, m in zip("abc", (0, 0.5, 1.3), strict=True)
        }
    chances = zip("abc", (0.05, 0.15, 0.5), strict=True)
    return {name: (lambda p=p: float(rng.random() < p)) for name, p in chances}


def errors(kind, options):
    """How many of the runs stopped, and how many of them with the wrong clusters."""
    stopped = wrong = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        result = la.cluster(arms(kind, rng), delta=DELTA, seed=seed, max_samples=400, **options)
        stopped += result.stopped
        wrong += result.stopped and sorted(map(sorted, result.clusters)) != RIGHT
    return stopped, wrong


@pytest.mark.filterwarnings("ignore::linkarms.errors.FamilySuggestion")
@pytest.mark.parametrize("options", MODES, ids=str)
def test_an_arm_with_equal_samples_breaks_no_promise(options):
    stopped, wrong = errors("constant", options)
    assert wrong <= binom.ppf(0.99, RUNS, DELTA)
    if "family" not in options:  # it may be anywhere
        assert stopped == 0


@pytest.mark.filterwarnings("ignore::linkarms.errors.FamilySuggestion")
@pytest.mark.parametrize("options", [MODES[0], MODES[-1]], ids=str)
def test_mostly_zeros_break_no_promise(options):
    _, wrong = errors("zeros", options)
    assert wrong <= binom.ppf(0.99, RUNS, DELTA)


@pytest.mark.parametrize("family", ["gaussian-unknown", "gaussian-unknown:coordinate"])
def test_a_column_that_is_constant_breaks_no_promise(family):
    assert errors("constant coordinate", {"n_clusters": 2, "family": family}) == (0, 0)


@pytest.mark.parametrize("options", [{}, {"shared": True}])
@pytest.mark.parametrize("more", [{"distance_threshold": 0.7}, {"n_clusters": 2}])
def test_equal_samples_say_no_more_than_nearly_equal_ones(options, more):
    samples = [[0.1, -0.2, 0.0], [0.5] * 12, [1.9, 2.1, 2.0]]
    if options:
        samples = [[0.0] * 3, [0.5] * 12, [1.9] * 3]
    rng = np.random.default_rng(4)
    values = []
    for noise in (0.0, 1e-9):
        run = la.BanditClusterer(
            arms=["a", "b", "c"], family=la.families.UnknownVariance(**options), delta=0.05, **more
        )
        for name, x in zip("abc", samples, strict=True):
            run.tell_many([name] * len(x), np.array(x) + noise * rng.normal(size=len(x)))
        values.append(run.result().evidence)
    assert values[0] <= values[1]
    assert values[0] < 0.0


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-9])
def test_columns_of_very_different_units(small):
    """A column that counts for little in the distances does not matter, however small its unit is."""
    rng = np.random.default_rng(1)
    wide = {name: rng.normal(m, 1.0, (2000, 2)) for name, m in zip("abcd", (0.0, 0.4, 5.0, 5.3), strict=True)}
    ends = []
    for unit in (small, 1e-3 * small):
        result = la.cluster({name: x * [1.0, unit] for name, x in wide.items()}, 2, delta=0.05, seed=3)
        assert result.stopped
        assert result.clusters == [["a", "b"], ["c", "d"]]
        ends.append(result.samples)
    assert ends[0] == ends[1]


def test_columns_of_which_one_follows_from_the_others_say_nothing():
    rng = np.random.default_rng(1)
    x = {name: rng.normal(m, 1.0, 500) for name, m in zip("abcd", (0.0, 0.4, 5.0, 5.3), strict=True)}
    run = la.BanditClusterer(2, list(x), n_features=2)
    for name, own in x.items():
        run.tell_many([name] * len(own), np.column_stack([own, 100.0 - own]))
    result = run.result()
    assert not result.stopped
    assert result.evidence < 0.0
