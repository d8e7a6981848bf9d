"""The yardsticks of the benchmarks compute what the engine computes, and the engine gets what they get."""

import numpy as np
import pytest
from benchmarks import ours, settings, step
from benchmarks.ours import Ours, Samples
from benchmarks.yardsticks import YARDSTICKS
from benchmarks.yardsticks.pairs import partition
from benchmarks.yardsticks.record import check, check_evidence, record

import linkarms as la
from linkarms.linkage import single_linkage

THREE = la.Problem([(0, 0), (0.9, 0), (1.8, 0.1), (4.3, 0.2), (4.4, 1.0), (8, 8)], 3, family="gaussian")
SETTINGS = {
    "pairs": settings.scaling(8),
    "synthetic1": settings.gaussian("synthetic1", la.problems.synthetic1()),
    "a cluster of three": settings.gaussian("a cluster of three", THREE),
    "clusters that are wrong": settings.clusters(20, "badly", 3),
}
STEPS = 250


@pytest.fixture(scope="module")
def tracks():
    """The engine's own steps, from two samples of each arm on."""
    return {
        (name, rule): record(s, rule, 2 * s.problem.n_arms, STEPS, 5)
        for name, s in SETTINGS.items()
        for rule in step.RULES
    }


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(
    ("yardstick", "rule"), [(name, rule) for name, kind in YARDSTICKS.items() for rule in kind.rules]
)
def test_yardsticks_agree_with_the_engine(tracks, name, rule, yardstick):
    track = tracks[name, rule]
    built = YARDSTICKS[yardstick](track.setting, rule, track.start)
    check(yardstick, built, track, STEPS - 50)
    evidence, chosen = built.run(track.arms[-50:], track.statistics[-50:])
    check_evidence(yardstick, evidence, track.evidence[-50:])
    assert chosen.shape == (50,)


def test_the_plain_loop_refuses_what_it_does_not_have(tracks):
    track = tracks["pairs", "ebc"]
    with pytest.raises(ValueError, match="no 'ebc'"):
        YARDSTICKS["loop"](track.setting, "ebc", track.start)
    loop = YARDSTICKS["loop"](track.setting, "ebc-h", track.start)
    with pytest.raises(ValueError, match="out of range"):
        loop.run(np.array([8]), np.zeros((1, 5)))
    with pytest.raises(ValueError, match="one column per feature"):
        loop.run(np.array([0]), np.zeros((1, 4)))


def test_what_the_two_steps_in_numpy_keep(tracks):
    """(a) builds its pairs for every sample, (a') as often as the partition changes."""
    track = tracks["synthetic1", "ebc-h"]
    made = {}
    for name in ("plain_numpy", "numpy"):
        built = YARDSTICKS[name](track.setting, track.rule, track.start)
        pairs = []  # held, so that no two have the same id
        for m, statistic in zip(track.arms.tolist(), track.statistics, strict=True):
            built.observe(m, statistic)
            pairs.append(built.pairs)
        made[name] = len(set(map(id, pairs)))
    assert made["plain_numpy"] == STEPS
    assert made["numpy"] < STEPS / 10


def test_a_recorded_step_is_psi_of_the_counts(tracks):
    track = tracks["a cluster of three", "ebc-h"]
    counts, sums = track.start.counts.copy(), track.start.means * track.start.counts[:, None]
    for i in range(STEPS):
        counts[track.arms[i]] += 1
        sums[track.arms[i]] += track.statistics[i]
        if i % 25 == 0:
            found = la.psi(counts, sums / counts[:, None], THREE.n_clusters, family="gaussian", refine=False)
            np.testing.assert_allclose([track.evidence[i], *track.kl[i]], [found.value, *found.kl], rtol=1e-7)


def test_the_trajectories_ask_for_spanning_trees(tracks):
    """Otherwise clusters of three arms and more, and changes of the partition, would not be tested."""
    track = tracks["clusters that are wrong", "ebc-h"]
    counts, sums = track.start.counts.copy(), track.start.means * track.start.counts[:, None]
    seen = set()
    for arm, statistic in zip(track.arms, track.statistics, strict=True):
        counts[arm] += 1
        sums[arm] += statistic
        seen.add(tuple(single_linkage(sums / counts[:, None], 10)[0]))
    assert len(seen) > 5
    assert max(np.bincount(labels).max() for labels in seen) >= 4


@pytest.mark.parametrize("fault", ["psi", "threshold", "kl", "arm"])
def test_a_yardstick_that_computes_something_else_is_refused(tracks, fault):
    track = tracks["synthetic1", "ebc-h"]

    class Faulty(YARDSTICKS["numpy"]):
        def run(self, arms, statistics):
            evidence, chosen = super().run(arms, statistics)
            if fault == "psi":
                evidence *= 1 + 1e-8
            elif fault == "threshold":
                self.base *= 1 + 1e-8
            elif fault == "kl":
                self.kl[self.kl > 0] *= 1 + 1e-8
            else:
                chosen = (chosen + 1) % 6
            return evidence, chosen

    with pytest.raises(la.LinkarmsError, match="computes something else"):
        check("faulty", Faulty(track.setting, track.rule, track.start), track, 50)


def test_another_psi_in_a_round_is_refused():
    with pytest.raises(la.LinkarmsError, match="another psi"):
        check_evidence("faulty", np.array([1.0, 2.0 + 1e-8]), np.array([1.0, 2.0]))


def test_partition_is_single_linkage():
    rng = np.random.default_rng(4)
    for n, k in [(5, 2), (12, 5), (20, 10), (20, 19)]:
        x = rng.standard_normal((n, 3))
        squares = ((x[:, None] - x) ** 2).sum(axis=2)
        np.testing.assert_array_equal(partition(squares, k), single_linkage(x, k)[0])


@pytest.mark.parametrize(
    "problem", [la.problems.synthetic1(), la.problems.synthetic2()], ids=["gaussian", "exponential"]
)
def test_what_an_arm_gives_does_not_depend_on_how_it_is_asked(problem):
    one, other = Samples(problem, 3), Samples(problem, 3)
    other.top_up()
    for m in [0, 1, 0, 0, 5, 1, 0]:
        np.testing.assert_array_equal(one.take(m), other.values[m, other.used[m]])
        other.used[m] += 1
        other.top_up()


def test_the_engine_goes_on_for_as_many_steps_as_it_is_told(monkeypatch):
    monkeypatch.setattr(ours, "_MOST", 16)  # arms run out of samples under way
    run = Ours(settings.scaling(4), "ebc-h", 1)
    assert run.samples.block == 16
    run.advance(300)
    run.advance(7)
    assert run.t == 307
    monkeypatch.undo()
    track = record(settings.scaling(4), "ebc-h", 4, 303, 1)
    counts = track.start.counts + np.bincount(track.arms, minlength=4)
    np.testing.assert_array_equal(run.counts, counts)
