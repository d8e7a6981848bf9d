"""The growth of the step is timed on the same stretch of a run for every number of arms."""

import numpy as np
import pytest
from benchmarks import growth, settings, stretch
from benchmarks.ours import Ours


def test_instances_of_the_growth_curve():
    for kind in growth.KINDS:
        problem = settings.clusters(100, kind, 0).problem
        assert (problem.n_arms, problem.n_clusters, problem.n_features) == (100, 10, 5)
        assert problem.labels.tolist() == [m // 10 for m in range(100)]
        assert settings.clusters(10, kind, 0).problem.n_clusters == 5
        again = settings.clusters(100, kind, 0).problem
        np.testing.assert_array_equal(problem.parameters, again.parameters)


@pytest.mark.parametrize("rounds", [1, 3, 7])
def test_rounds_of_one_run_stay_within_the_stretch(rounds):
    setting = settings.clusters(10, "badly", 2)
    run = stretch.warm_up(setting, 2, 300.0)
    assert run.t == 30
    part = stretch.OneRun(setting, run, 300.0, rounds)
    for _ in range(rounds):
        assert part.advance() > 0.0
    assert 50 - rounds < run.t <= 50
    assert part.as_dict()["to_samples_per_arm"] == run.t / 10


def test_a_new_run_goes_through_the_steps_of_its_seed(monkeypatch):
    """Each starts where the one before it did, with samples of its own, and in as many calls as it likes."""
    setting = settings.clusters(10, "badly", 2)
    monkeypatch.setattr(stretch, "_CALL", 7)
    ends = []
    monkeypatch.setattr(setting.problem, "is_correct", lambda labels: ends.append(labels.copy()) or True)
    part = stretch.NewRuns(setting, stretch.warm_up(setting, 2, 300.0), 300.0, 2, 1e-9)
    assert part.runs_per_round == 1
    part.advance()
    part.advance()
    for seed, labels in zip((3, 4), ends, strict=True):
        run = Ours(setting, stretch.RULE, seed)
        run.advance(50)
        np.testing.assert_array_equal(run.labels, labels)


def test_a_run_that_takes_too_long_is_left_where_it_is(monkeypatch):
    setting = settings.clusters(20, "badly", 2)
    monkeypatch.setattr(stretch, "_CALL", 10)
    assert stretch.warm_up(setting, 2, 0.0) is None
    for make, last in ((stretch.NewRuns, (2, 1e-9)), (stretch.OneRun, (2,))):
        part = make(setting, stretch.warm_up(setting, 2, 300.0), 0.0, *last)
        part.advance()
        assert (part.steps, part.as_dict()["to_samples_per_arm"]) == (10, 3.5)
