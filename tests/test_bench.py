"""The benchmark: its yardsticks compute what the engine computes, and its report is complete. No time is asserted."""

import json

import numpy as np
import pytest
from benchmarks import growth, ours, page, settings, startup, step, stretch, trials
from benchmarks.__main__ import main
from benchmarks.clock import interleave, ratio, spread
from benchmarks.ours import Ours, Samples
from benchmarks.run import SECTIONS, run
from benchmarks.targets import TARGETS, judge
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


def test_contenders_take_turns():
    order = []
    contenders = {name: lambda name=name: order.append(name) or float(len(order)) for name in "abc"}
    times = interleave(contenders, 3)
    assert "".join(order) == "abccbaabc"
    assert times["a"].tolist() == [1.0, 6.0, 7.0]
    assert ratio(times["c"], times["a"]) == spread(np.array([3.0, 4 / 6, 9 / 7]))
    assert spread(np.array([4.0, 1.0, 2.0, 3.0, 5.0])) == {"median": 3.0, "low": 2.0, "high": 4.0}


SPREAD = {"median", "low", "high"}
STEP = {"problem", "family", "arms", "clusters", "features", "rule", "costs_per_step", "state_bytes"} | {
    "microseconds",
    "plain_numpy_microseconds",
    "numpy_microseconds",
    "loop_microseconds",
    "plain_numpy_over_linkarms",
    "numpy_over_linkarms",
    "loop_over_linkarms",
    "over_ebc_h",
    "paper_milliseconds",
}
GROWTH = {"kind", "arms", "clusters", "features", "given_up", "steps_per_round", "microseconds"} | {
    "row_microseconds",
    "over_row",
    "costs_per_step",
    "state_bytes",
    "rounds_with_wrong_clusters",
    "from_samples_per_arm",
    "to_samples_per_arm",
    "runs",
    "steps",
    "mean_microseconds",
    "ends",
    "ends_with_wrong_clusters",
}
TARGET = {"name", "what", "limit", "at_least", "unit", "figure", "met"}


@pytest.fixture
def small(monkeypatch):
    """The same sections on less."""
    monkeypatch.setitem(step._SIZE, True, (3, 100))
    monkeypatch.setitem(growth._ARMS, True, ((10, 20),))
    monkeypatch.setitem(growth._ROUNDS, True, 2)
    monkeypatch.setattr(growth, "_NEW_RUNS", 10)
    monkeypatch.setattr(stretch, "_MOST_RUNS", 3)
    monkeypatch.setitem(growth._PATIENCE, True, 300.0)
    monkeypatch.setitem(trials._ROUNDS, True, 2)
    monkeypatch.setattr(trials, "_TRIALS", {"synthetic1": {True: 3}, "synthetic2": {True: 1}})
    monkeypatch.setitem(startup._ROUNDS, True, 1)
    monkeypatch.setattr(startup, "FAMILIES", {"poisson": startup.FAMILIES["poisson"]})


def test_the_step_has_all_fields(small, capsys, tmp_path):
    kept = tmp_path / "results.json"
    code = main(["--quick", "--only", "step", "--out", str(kept)])
    assert "(a) NumPy from scratch" in capsys.readouterr().out
    report = json.loads(kept.read_text())
    assert set(report) == {"quick", "seed", "machine", *SECTIONS, "paper", "targets"}
    assert {"cpu", "cores", "python", "numpy", "scipy", "linkarms", "load_average"} <= set(report["machine"])
    assert [report[name] for name in SECTIONS if name != "step"] == [None] * 3
    assert (report["quick"], report["seed"]) == (True, 0)
    rows = report["step"]["rows"]
    assert [(r["problem"], r["rule"]) for r in rows] == [
        (problem, rule) for problem in ("scaling(4)", "scaling(20)", "synthetic2") for rule in step.RULES
    ]
    for row in rows:
        assert set(row) == STEP
        for name, kind in YARDSTICKS.items():
            timed = row["problem"] != "synthetic2" and row["rule"] in kind.rules
            for key in (f"{name}_microseconds", f"{name}_over_linkarms"):
                assert set(row[key] or ()) == (SPREAD if timed else set())
        assert row["microseconds"]["low"] <= row["microseconds"]["median"] <= row["microseconds"]["high"]
        assert row["state_bytes"] > 0
        assert row["costs_per_step"] >= 1.0
    assert [r["paper_milliseconds"] for r in rows] == [0.44, 0.62, 1.90, 3.52, None, None]
    assert report["paper"]["milliseconds"]["atboc"] == [21.1, 91.2, 348.0, 1133.0]
    assert [t["name"] for t in report["targets"]] == ["numpy", "loop", "ebc", "four", "exponential"]
    assert all(set(t) == TARGET for t in report["targets"])
    assert code == (0 if all(t["met"] for t in report["targets"]) else 1)


def test_the_whole_run_prints_all_tables_and_writes_nothing(small, capsys):
    before = page.RESULTS.read_bytes(), page.PAGE.read_bytes()
    code = main(["--quick", "--seed", "3"])
    out, _ = capsys.readouterr()
    assert code in (0, 1)
    for words in (
        "| (a) / linkarms | (a') / linkarms | (b) / linkarms |",
        "ANOTHER MACHINE",
        "badly separated",
        "| synthetic1 |",
        "| import linkarms |",
        "| la.cluster, poisson |",
        "at least 200 times",
    ):
        assert words in out
    for row in ("| 10 |", "| 20 |"):
        assert any(line.startswith(row) for line in out.splitlines())
    assert (page.RESULTS.read_bytes(), page.PAGE.read_bytes()) == before


def test_growth_has_all_fields_and_gives_up(small, monkeypatch):
    section = run("growth", quick=True, seed=1)["growth"]
    assert [(r["kind"], r["arms"]) for r in section["rows"]] == [
        ("well", 10),
        ("well", 20),
        ("badly", 10),
        ("badly", 20),
    ]
    assert all(set(row) == GROWTH and not row["given_up"] for row in section["rows"])
    for row in section["rows"]:
        assert (row["from_samples_per_arm"], row["to_samples_per_arm"]) == (3, 5.0)
        assert row["runs"] in ((2, 4, 6) if row["arms"] == 10 else (1,))
        assert row["steps"] == (20 * row["runs"] if row["arms"] == 10 else 40)
        assert row["steps_per_round"] == row["steps"] / 2
        assert row["ends"] == (row["runs"] if row["arms"] == 10 else 2)
        assert row["rounds_with_wrong_clusters"] <= row["ends_with_wrong_clusters"] <= row["ends"]
        assert row["mean_microseconds"] > 0.0
    monkeypatch.setitem(growth._PATIENCE, True, 0.0)
    report = run("growth", quick=True, seed=1)
    assert all(row["given_up"] for row in report["growth"]["rows"])
    assert len(report["growth"]["rows"]) == 4
    assert [t["figure"] for t in report["targets"]] == [None] * 6
    assert not any(t["met"] for t in report["targets"])
    assert "given up" in page.markdown(report)
    assert "Given up: the warm-up of this size or a smaller one took more than 0 s." in page.markdown(report)


def test_a_table_says_which_sizes_fell_short(small):
    report = run("growth", quick=True, seed=1)
    assert "from 3 to 5 samples per arm on average.\n" in page.markdown(report)
    assert "Given up" not in page.markdown(report)
    report["growth"]["rows"][1]["to_samples_per_arm"] = 3.25
    assert "on average; M = 20 only to 3.25.\n" in page.markdown(report)


def test_trials_are_those_of_simulate(small):
    section = run("trials", quick=True, seed=4)["trials"]
    assert [row["problem"] for row in section["rows"]] == ["synthetic1", "synthetic2"]
    first, _ = section["rows"]
    times = [
        la.simulate(la.problems.synthetic1(), "ebc-h", deltas=[0.1], trials=3, seed=seed)[
            "ebc-h"
        ].stopping_times
        for seed in (4, 5)
    ]
    assert first["samples_per_trial"] == pytest.approx(np.mean(times))
    for row in section["rows"]:
        assert 0.0 < row["inside_milliseconds"]["median"] <= row["milliseconds"]["high"]


def test_startup_runs_in_processes_of_its_own(small):
    section = run("startup", quick=True)["startup"]
    assert set(section["import_seconds"]) == SPREAD
    for key in ("help_seconds", "first_answer_seconds"):
        assert set(section[key]) == SPREAD | {"processor"}
        assert section[key]["processor"] > 0.0
    assert section["import_seconds"]["median"] < section["first_answer_seconds"]["median"]
    assert set(section["cluster_seconds"]) == {"poisson"}


@pytest.mark.parametrize("name", startup.FAMILIES)
def test_every_family_of_the_startup_gets_its_answer(name, capsys):
    """The programs that are timed in processes of their own, here without one."""
    family, draw = startup.FAMILIES[name]
    exec(startup._CLUSTER.format(family=family, draw=draw), {})
    assert "stopped" in capsys.readouterr().out


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
def test_targets_are_judged_on_both_sides(target):
    for factor in (0.5, 1.0, 2.0):
        report = {**dict.fromkeys(SECTIONS), target.section: reported(target, factor)}
        (found,) = [t for t in judge(report) if t["name"] == target.name]
        assert found["figure"] == pytest.approx(target.limit * factor)
        assert found["met"] is (factor >= 1.0 if target.at_least else factor <= 1.0)


def reported(target, factor):
    """A section in which every figure is ``factor`` times the target's limit."""
    x = {"median": float(target.limit * factor)}
    if target.section == "step":
        keys = ("plain_numpy_over_linkarms", "loop_over_linkarms", "over_ebc_h", "microseconds")
        problems = ("scaling(4)", "scaling(20)", "synthetic2")
        return {
            "rows": [
                {"problem": p, "rule": r, **dict.fromkeys(keys, x)} for p in problems for r in step.RULES
            ]
        }
    if target.section == "startup":
        keys = ("import_seconds", "help_seconds", "first_answer_seconds")
        return {**dict.fromkeys(keys, x), "cluster_seconds": {"one": {"median": 0.0}, "other": x}}
    rows = [
        {
            "kind": kind,
            "arms": arms,
            "given_up": False,
            "microseconds": {"median": 1.0} if arms == 100 else x,
            "over_row": x,
            "state_bytes": int(1e6 * x["median"]),
        }
        for kind in growth.KINDS
        for arms in (100, 1000)
    ]
    return {"rows": rows}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "steps"], "invalid choice: 'steps'"),
        (["--out", "nowhere/times.json"], "there is no directory nowhere"),
        (["--seed", "-1"], "-1 is negative"),
    ],
)
def test_bad_input_is_refused(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        main(["--quick", *words])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


def test_the_page_is_filled_between_its_marks(small):
    new = page.markdown(run("trials", quick=True))
    text = page.PAGE.read_text()
    filled = page.fill(text, new)
    assert filled == page.fill(filled, new)
    assert filled.split(page.BEGIN)[0] == text.split(page.BEGIN)[0]
    assert filled.split(page.END)[1] == text.split(page.END)[1]
    assert "| synthetic1 |" in filled
    with pytest.raises(ValueError, match="needs one"):
        page.fill("nothing here", new)


def test_the_page_shows_the_kept_figures():
    text = page.PAGE.read_text()
    assert page.filled(text) == text
