"""The growth of the step is timed on the same stretch of a run for every number of arms."""

import numpy as np
import pytest

from linkarms.bench import _growth, _settings, _stretch
from linkarms.bench._ours import Ours


def test_instances_of_the_growth_curve():
    for kind in _growth.KINDS:
        problem = _settings.clusters(100, kind, 0).problem
        assert (problem.n_arms, problem.n_clusters, problem.n_features) == (100, 10, 5)
        assert problem.labels.tolist() == [m // 10 for m in range(100)]
        assert _settings.clusters(10, kind, 0).problem.n_clusters == 5
        again = _settings.clusters(100, kind, 0).problem
        np.testing.assert_array_equal(problem.parameters, again.parameters)


@pytest.mark.parametrize("rounds", [1, 3, 7])
def test_rounds_of_one_run_stay_within_the_stretch(rounds):
    setting = _settings.clusters(10, "badly", 2)
    run = _stretch.warm_up(setting, 2, 300.0)
    assert run.t == 30
    stretch = _stretch.OneRun(setting, run, 300.0, rounds)
    for _ in range(rounds):
        assert stretch.advance() > 0.0
    assert 50 - rounds < run.t <= 50
    assert stretch.as_dict()["to_samples_of_each_arm"] == run.t / 10


def test_a_new_run_goes_through_the_steps_of_its_seed(monkeypatch):
    """Each starts where the one before it did, with samples of its own, and in as many calls as it likes."""
    setting = _settings.clusters(10, "badly", 2)
    monkeypatch.setattr(_stretch, "_CALL", 7)
    ends = []
    monkeypatch.setattr(setting.problem, "is_correct", lambda labels: ends.append(labels.copy()) or True)
    stretch = _stretch.NewRuns(setting, _stretch.warm_up(setting, 2, 300.0), 300.0, 2, 1e-9)
    assert stretch.runs_a_round == 1
    stretch.advance()
    stretch.advance()
    for seed, labels in zip((3, 4), ends, strict=True):
        run = Ours(setting, _stretch.RULE, seed)
        run.advance(50)
        np.testing.assert_array_equal(run.engine.state.labels, labels)


def test_a_run_that_takes_too_long_is_left_where_it_is(monkeypatch):
    setting = _settings.clusters(20, "badly", 2)
    monkeypatch.setattr(_stretch, "_CALL", 10)
    assert _stretch.warm_up(setting, 2, 0.0) is None
    for make, last in ((_stretch.NewRuns, (2, 1e-9)), (_stretch.OneRun, (2,))):
        stretch = make(setting, _stretch.warm_up(setting, 2, 300.0), 0.0, *last)
        stretch.advance()
        assert (stretch.steps, stretch.as_dict()["to_samples_of_each_arm"]) == (10, 3.5)
