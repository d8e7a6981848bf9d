"""simulate: seeds, threads, deltas of one trajectory, user rules, Ctrl-C, progress."""

import json
import math
import os
import signal
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest

import linkarms as la
from linkarms import _progress, errors
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

    settings = {"stopping": PAPER, "deltas": [0.1], "trials": 10, "seed": 1, "max_samples": 100}
    s = la.simulate(PROBLEM, Stops(), **settings)
    assert 1 <= s.completed < 10
    # threads may finish in another order: what is there is what the whole has at these numbers
    numbers = s.trial_numbers.tolist()
    assert numbers == sorted(set(numbers))
    assert len(numbers) == s.completed
    whole = la.simulate(PROBLEM, {"stops": Fewest()}, **settings)
    assert np.array_equal(s["stops"].stopping_times, whole["stops"].stopping_times[numbers])


EASY = la.Problem([0.0, 0.5, 9.0], 2)
EASY_PAPER = la.stopping.Paper(theta=(-10, 10), epsilon=0.05)
INTERRUPTED = """
import json, multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import linkarms as la

class Telling(la.families.Gaussian):
    drawn = 0

    def draw(self, rng, theta, size):
        type(self).drawn += 1
        if self.drawn == 90:
            sys.stdout.write("go\\n")  # at once: where output is not buffered, print writes the end of the line separately
            sys.stdout.flush()
        return super().draw(rng, theta, size)

if __name__ == "__main__":
    options = {"n_jobs": 2}
    if sys.argv[1] == "processes":
        options = {"backend": ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))}
    s = la.simulate(
        la.Problem([0.0, 0.5, 9.0], 2, family=Telling()), ["ebc-h", "round-robin"], deltas=[0.1], trials=10**6, seed=8,
        stopping=la.stopping.Paper(theta=(-10, 10), epsilon=0.05), progress=True, **options
    )
    found = {name: [s[name].stopping_times.tolist(), s[name].errors.tolist()] for name in s}
    print(json.dumps([s.completed, s.trial_numbers.tolist(), found]), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
@pytest.mark.parametrize("where", ["threads", "processes"])
def test_ctrl_c_in_a_real_process(where, tmp_path):
    (tmp_path / "child.py").write_text(INTERRUPTED)
    line = [sys.executable, "child.py", where]
    keep = {k: v for k, v in os.environ.items() if k != "LINKARMS_QUIET"}
    with subprocess.Popen(
        line, cwd=tmp_path, env=keep, text=True, stdout=-1, stderr=-1, start_new_session=True
    ) as child:
        assert child.stdout.readline() == "go\n", child.stderr.read()
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        answer = next(text for text in child.stdout if text.startswith("["))
        if where == "processes":
            os.killpg(child.pid, signal.SIGKILL)
        said = child.stderr.read()
    assert where == "processes" or child.returncode == 0
    completed, numbers, found = json.loads(answer)
    assert 0 < completed == len(numbers) < 10**6
    whole = la.simulate(
        EASY, list(found), stopping=EASY_PAPER, deltas=[0.1], trials=numbers[-1] + 1, seed=8, n_jobs=2
    )
    for name, (times, wrong) in found.items():
        np.testing.assert_array_equal(times, whole[name].stopping_times[numbers])
        np.testing.assert_array_equal(wrong, whole[name].errors[numbers])
    assert "simulating: interrupted; the finished trials are kept" in said
    assert "Traceback" not in said or where == "processes"
    assert said.count("linkarms: compiling") <= 1, "the workers did not find the kernels of the caller"


SLOW = """
import time
import linkarms as la

class Slow(la.sampling.SamplingRule):
    name = "slow"

    def choose(self, view):
        time.sleep(0.02)
        return int(view.t % 3)

la.simulate(
    la.Problem([0.0, 0.5, 9.0], 2), Slow(), stopping=la.stopping.Paper(theta=(-10, 10)), trials=8, max_samples=20,
    n_jobs=2, chunk_size=1, progress=True
)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_bar_on_a_terminal():
    import pty

    reader, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    with subprocess.Popen([sys.executable, "-c", SLOW], stderr=terminal, env=environment) as child:
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(reader, 65536):
                shown += part
        except OSError:  # Linux says so when the other side is closed
            pass
    os.close(reader)
    assert child.returncode == 0
    text = shown.decode()
    for word in ("simulating", "━", " of 8 trials, ", "/s, ", " s left"):
        assert word in text


@pytest.mark.parametrize("terminal", [False, True])
def test_plain_lines_elsewhere_and_without_rich(terminal, monkeypatch, capsys):
    if terminal:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        for name in [n for n in sys.modules if n.split(".")[0] == "rich"] + ["rich.console"]:
            monkeypatch.setitem(sys.modules, name, None)
    with _progress.Progress("simulating", every=0.0) as bar:
        bar.update(0.5, "half")
        bar.say("note")
    with _progress.Progress("hushed", enabled=False, every=0.0) as bar:
        bar.update(0.5, "half")
        bar.say("note")
    assert capsys.readouterr().err == "simulating: half\nsimulating: note\n"


def test_pace_in_words(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    pace = _progress.Pace(10_000, "trials")

    def at(seconds, done):
        clock[0] = 100.0 + seconds
        return pace.text(done)

    # the clock starts with the first result, after whatever was compiled
    assert at(50, 0) == "0 of 10000 trials"
    assert at(60, 10) == "10 of 10000 trials"
    assert at(70, 400) == "400 of 10000 trials, 39/s, 4 min 6 s left"
    assert at(260, 9900) == "9900 of 10000 trials, 49.5/s, 2 s left"
    assert at(60 + 3600, 910) == "910 of 10000 trials, 15/min, 10 h 6 min left"


def test_nothing_heavy_is_loaded_before_it_is_used():
    heavy = ["dask", "distributed", "joblib", "cloudpickle", "rich", "scipy.stats"]
    program = f"import sys, linkarms.montecarlo\nprint([m for m in {heavy} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


BAD = [
    ({"problem": 3}, "not a Problem"),
    ({"rules": []}, "no rules"),
    ({"rules": ["ebc", "ebc"]}, "same name"),
    ({"rules": 5}, "not a list of rules"),
    ({"deltas": []}, "empty"),
    ({"deltas": [2.0]}, "deltas"),
    ({"trials": 0}, "trials"),
    ({"n_jobs": 0}, "n_jobs"),
    ({"chunk_size": 0}, "chunk_size"),
    ({"max_samples": 2**64}, f"max_samples={2**64} is out of range"),
    ({"trials": 2**64}, "trials=.* is out of range"),
    ({"backend": "mars"}, "backend"),
    ({"stopping": "sometime"}, "is unknown; choose one"),
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


def test_a_simulation_can_be_made_in_parts():
    stop = la.stopping.Paper(theta=(-5, 5), epsilon=0.05)
    common = {"stopping": stop, "deltas": [0.1], "seed": 4}
    whole = la.simulate(la.problems.synthetic1(), ["ebc", "ebc-h"], trials=5, **common)
    parts = [
        la.simulate(la.problems.synthetic1(), ["ebc", "ebc-h"], trials=n, first_trial=first, **common)
        for first, n in ((0, 2), (2, 3))
    ]
    assert np.concatenate([p.trial_numbers for p in parts]).tolist() == [0, 1, 2, 3, 4]
    for rule in whole:
        together = np.concatenate([p[rule].stopping_times for p in parts])
        assert np.array_equal(together, whole[rule].stopping_times)
    with pytest.raises(la.errors.InvalidInput, match="first_trial"):
        la.simulate(la.problems.synthetic1(), trials=1, first_trial=-1, **common)
