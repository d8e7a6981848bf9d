"""How soon the anytime rule stops: the committed results, and a slice of them computed again."""

import json
from pathlib import Path

import numpy as np
import pytest
from evidence import _anytime_tables as tables
from evidence import anytime, versions

import linkarms as la

HERE = Path(__file__).parent.parent
DATA = json.loads((HERE / "evidence" / "anytime.json").read_text())
EXPERIMENTS = anytime.experiments()
BOTH = json.loads((HERE / "evidence" / "versions.json").read_text())


def test_every_experiment_is_whole():
    assert set(EXPERIMENTS) <= set(DATA)
    for name, (*_, trials) in EXPERIMENTS.items():
        times = np.array(DATA[name]["times"])
        assert len(times) >= trials
        assert (times > 0).all()  # every run stopped


@pytest.mark.parametrize("name", tables.GOALS)
def test_mean_stopping_times(name):
    for mean, goal in zip(tables.mean(DATA, f"times/{name}")[0], tables.GOALS[name], strict=True):
        assert goal is None or mean <= goal


@pytest.mark.parametrize("name", tables.GOALS_2)
def test_mean_stopping_times_of_version_2(name):
    for mean, goal in zip(tables.mean(DATA, f"version 2/{name}")[0], tables.GOALS_2[name], strict=True):
        assert goal is None or mean <= goal


@pytest.mark.parametrize("name", [*anytime.INSTANCES, *anytime.ASKED])
def test_version_2_is_not_slower_anywhere(name):
    """On the same samples, by three standard errors of the ratio."""
    found, error = tables.version_ratio(DATA, name)
    assert (found + 3.0 * error <= 1.02).all()


def test_one_split_serves_two_pairs_and_three_and_one():
    """Both have four arms in two clusters; the figures are those of a split made for each."""
    for name, figure, allowed in zip(anytime.SPLIT, (1907.0, 1233.0), (1.08, 1.0), strict=True):
        assert tables.mean(DATA, f"version 2/{name}")[0][0] <= allowed * figure


def test_both_versions_were_run_on_every_instance():
    assert set(BOTH["instances"]) == set(versions.instances())


@pytest.mark.parametrize("name", BOTH["instances"])
def test_version_2_is_not_slower_on_other_instances(name):
    assert versions.is_settled(BOTH["instances"][name])


def test_runs_of_both_versions_computed_again():
    rng = np.random.default_rng(13)
    quick = [n for n, rows in BOTH["instances"].items() if np.mean(rows) < 500]
    for name in rng.choice(quick, size=5, replace=False):
        trial = int(rng.integers(len(BOTH["instances"][name])))
        again = versions.run(str(name), [trial])[0]
        np.testing.assert_allclose(again, BOTH["instances"][name][trial], rtol=0.1, err_msg=str(name))


def test_the_slope_of_version_2():
    bound = la.lower_bound(la.problems.synthetic1().parameters, n_clusters=3)
    means, errors = tables.mean(DATA, "version 2/slopes")
    assert (means[-1] - means[-2]) / 300.0 == pytest.approx(
        bound.lower, abs=0.02 * bound.lower + 3.0 * errors[-1] / 300.0
    )


@pytest.mark.parametrize("name", anytime.SLOPES)
def test_the_slopes_of_one_sided_evidence(name):
    """Within 2%, and three standard errors: neighbouring shifts of its priors differ by 15%."""
    problem = anytime.INSTANCES[name]()
    bound = la.lower_bound(problem.parameters, problem.n_clusters, problem.family)
    times = np.array(DATA[f"version 2/slopes/{name}"]["times"], dtype=float)
    slopes = (times[:, -1] - times[:, -2]) / 300.0
    assert slopes.mean() <= 1.02 * bound.lower + 3.0 * slopes.std(ddof=1) / np.sqrt(len(slopes))


def test_the_slope_of_one_sided_evidence_without_noise():
    """Within 1.5%: 0.47% are the shifts of the priors, the rest is EBC-H."""
    bound = la.lower_bound(la.problems.synthetic2().parameters, 3, la.problems.synthetic2().family)
    (times,) = DATA["version 2/slopes/without noise"]["times"]
    assert times[-1] - times[-2] <= 1.015 * bound.lower * 300.0


@pytest.mark.parametrize("name", tables.PAPER)
@pytest.mark.parametrize("scale", anytime.SCALES)
def test_the_grid_serves_every_scale(name, scale):
    grid = tables.mean(DATA, f"scales/{name}/{scale:g}/grid")[0][0]
    single = [tables.mean(DATA, f"scales/{name}/{scale:g}/{c:g}")[0][0] for c in anytime.SCALES[scale][1]]
    assert grid <= 1.3 * min(single)


@pytest.mark.parametrize("rule", ["ebc-h", "ebc"])
def test_slopes_tend_to_the_lower_bound(rule):
    bound = la.lower_bound(la.problems.synthetic1().parameters, n_clusters=3)
    means, errors = tables.mean(DATA, f"slopes/synthetic 1/{rule}")
    slope = (means[-1] - means[-2]) / 300.0
    assert slope == pytest.approx(bound.lower, abs=0.02 * bound.lower + 3.0 * errors[-1] / 300.0)


def test_a_slice_computed_again():
    rng = np.random.default_rng(11)
    quick = [n for n in sorted(EXPERIMENTS) if np.mean(DATA[n]["times"]) < 1500]
    for name in rng.choice(quick, size=6, replace=False):
        trial = int(rng.integers(len(DATA[name]["times"])))
        (again,), _ = anytime.run(str(name), [trial])
        # another processor may round a choice differently
        np.testing.assert_allclose(again, DATA[name]["times"][trial], rtol=0.1, err_msg=str(name))
