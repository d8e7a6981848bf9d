"""simulate on executors and on Dask: the same numbers everywhere, and what happens when workers die."""

import json
import multiprocessing
import os
import pickle
import sys
import threading
import types
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from tests.backend_rules import Complaining, Complaint, Counting, Fewest, Killing, Moody, Recording, Waiting

import linkarms as la
from linkarms import errors
from linkarms.cli._app import run
from linkarms.montecarlo import BackendError, _dask
from linkarms.montecarlo._run import TRIES

PAPER = la.stopping.Paper(theta=(-5, 5), epsilon=0.05)
PROBLEM = la.problems.synthetic1()
FREE = "127.0.0.1:0"  # any port


def simulate(rules=("ebc", "ebc-h"), problem=PROBLEM, stopping=PAPER, **options):
    given = {"deltas": [0.1, 1e-3], "trials": 12, "seed": 3} | options
    return la.simulate(problem, rules, stopping=stopping, **given)


def short(rule, **options):
    """Trials of a rule in Python, interrupted early: only their estimates matter."""
    return simulate({"mine": rule}, **({"max_samples": 60, "deltas": [0.5]} | options))


def assert_same(one, two, rows=slice(None)):
    assert list(one) == list(two)
    for name in one:
        np.testing.assert_array_equal(one[name].stopping_times, two[name].stopping_times[rows])
        np.testing.assert_array_equal(one[name].errors, two[name].errors[rows])
        assert one[name].stopping_times.shape == (one.completed, len(one[name].deltas))
        assert one[name].microseconds_per_sample > 0


@pytest.fixture(scope="module")
def expected():
    return simulate()


def new_processes():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def processes():
    with new_processes() as executor:
        yield executor


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=FREE
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


# -- the same numbers everywhere -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"n_jobs": 2}, {"n_jobs": 3}, {"chunk_size": 1}, {"chunk_size": 5, "n_jobs": 2}, {"chunk_size": 10**6}],
    ids=str,
)
def test_threads_and_chunks_do_not_matter(options, expected):
    assert expected.completed == 12
    assert_same(simulate(**options), expected)


def test_a_thread_pool_of_the_users(expected):
    with ThreadPoolExecutor(2) as executor:
        assert_same(simulate(backend=executor), expected)
        assert executor.submit(int, "7").result() == 7, "it was shut down"


def test_a_process_pool_of_the_users(processes, expected):
    assert_same(simulate(backend=processes), expected)
    assert_same(simulate(backend=processes, chunk_size=5), expected)
    assert processes.submit(int, "7").result() == 7, "it was shut down"


def test_dask(client, expected):
    assert len(client.nthreads()) == 2
    assert_same(simulate(backend=client), expected)
    assert_same(simulate(backend=client.scheduler.address, chunk_size=5), expected)
    assert_same(simulate(backend=client.get_executor()), expected)
    assert client.status == "running", "it was closed"


def test_dask_for_the_call(expected):
    pytest.importorskip("distributed")
    assert_same(simulate(backend="dask", n_jobs=2), expected)


def test_the_command_line_has_backends(client, capsys):
    words = ["simulate", "synthetic1", "--stopping", "paper", "--theta", "-5,5", "--trials", "4", "--json"]
    answers = []
    for backend in ("local", client.scheduler.address):
        assert run([*words, "-q", "--backend", backend]) == 0
        rows = json.loads(capsys.readouterr().out)["summary"]
        answers.append([{k: v for k, v in row.items() if k != "microseconds_per_sample"} for row in rows])
    assert answers[0] == answers[1]
    assert run([*words, "--backend", "mars"]) == 2
    assert "--backend 'mars' is unknown; give 'local', 'dask'" in capsys.readouterr().err


OWN = la.Problem([1.0, 1.2, 6.0], 2, family=Waiting())


def test_a_users_own_family_and_rules_in_other_processes(processes, client):
    box = la.stopping.Paper(theta=(0.1, 20), epsilon=0.02)
    options = {"problem": OWN, "stopping": box, "trials": 4}
    here = simulate(["ebc-h"], **options)
    theirs = la.Problem([1.0, 1.2, 6.0], 2, family="exponential")
    assert_same(simulate(["ebc-h"], **(options | {"problem": theirs})), here)
    mine = short(Counting(), trials=6)
    for backend in (processes, client):
        assert_same(simulate(["ebc-h"], backend=backend, **options), here)
        # a rule that keeps something in itself starts each trial as it was given
        assert_same(short(Counting(), trials=6, backend=backend), mine)
    assert_same(short(Counting(), trials=6, n_jobs=3, chunk_size=1), mine)


def test_a_rule_of_a_notebook_goes_to_dask_by_value(client, processes):
    here = types.ModuleType("not_on_disk")
    source = (
        "class Mine(Fewest):\n    name = 'mine'\n    def choose(self, view):\n        return int(view.t % 6)"
    )
    exec(source, here.__dict__ | {"__name__": "__main__", "Fewest": Fewest}, space := {})
    rule = space["Mine"]()
    assert type(rule).__module__ == "__main__"
    assert_same(short(rule, backend=client), short(rule))
    with pytest.raises(errors.InvalidInput, match=r"cannot be sent to other processes .*top of a module"):
        short(rule, backend=processes)


def test_a_rule_that_workers_cannot_import(processes, monkeypatch):
    module = types.ModuleType("only_here")
    monkeypatch.setitem(sys.modules, "only_here", module)
    module.Mine = type("Mine", (Fewest,), {"__module__": "only_here"})
    with pytest.raises(
        errors.InvalidInput, match=r"only_here.*must be in a module that the workers can import"
    ):
        short(module.Mine(), backend=processes)
    assert processes.submit(int, "7").result() == 7, "the pool is broken"


def test_what_a_rule_holds_must_be_copied():
    rule = Fewest()
    rule.lock = threading.Lock()
    with pytest.raises(errors.InvalidInput, match="rule 'fewest' cannot be copied"):
        short(rule)


@pytest.mark.parametrize("where", ["threads", "processes", "client"])
def test_what_a_trial_raises_arrives_as_it_was(where, request):
    backend = "local" if where == "threads" else request.getfixturevalue(where)
    with pytest.raises(Complaint, match="7: thirty is enough") as caught:
        short(Complaining(), backend=backend)
    assert caught.value.code == 7
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    notes = "".join(getattr(caught.value, "__notes__", []))
    assert (where == "threads") == (notes == "")
    assert where == "threads" or "backend_rules.py" in notes
    moody = la.Problem([1.0, 1.2, 6.0], 2, family=Moody())
    with pytest.raises(errors.CallbackError, match="not today") as caught:
        short(Fewest(), problem=moody, stopping=la.stopping.Paper(theta=(0.1, 20)), backend=backend)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


# -- workers that die ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def poison():
    """What `Killing` looks for: the estimates of trial 5."""
    Recording.seen.clear()
    short(Recording(), chunk_size=1)
    assert len(set(Recording.seen)) == 12
    return Recording.seen[5]


def test_dask_goes_on_when_a_worker_is_killed(client, poison, tmp_path):
    marker = tmp_path / "killed"
    before = set(client.run(os.getpid).values())
    found = short(Killing(poison, str(marker)), backend=client, trials=60, chunk_size=1)
    assert marker.exists()
    client.wait_for_workers(2)
    after = set(client.run(os.getpid).values())
    assert len(before - after) == 1, "one worker and no other was killed"
    assert found.completed == 60
    assert_same(found, short(Fewest(), trials=60))


def test_a_broken_process_pool_is_replaced(poison, tmp_path):
    with new_processes() as executor:
        with pytest.warns(RuntimeWarning, match="process of the executor died .* new processes") as caught:
            found = short(Killing(poison, str(tmp_path / "killed")), backend=executor, trials=30)
        assert [w.filename for w in caught] == [__file__]
        with pytest.raises(BrokenExecutor):
            executor.submit(int, "7")
    assert_same(found, short(Fewest(), trials=30))


@pytest.mark.filterwarnings("ignore:a process of the executor died:RuntimeWarning")
def test_a_chunk_that_kills_every_worker_is_named(poison):
    with new_processes() as executor, pytest.raises(BackendError) as caught:
        short(Killing(poison), backend=executor, chunk_size=2)
    text = str(caught.value)
    assert f"the chunk of trials 4 to 5 was lost {TRIES} times with its worker" in text
    assert "BrokenProcessPool" in text
    assert "\n" not in text
    found = caught.value.simulation
    assert {4, 5} & set(found.trial_numbers.tolist()) == set()
    assert_same(found, short(Fewest()), found.trial_numbers)


class Unreliable(Executor):
    """Runs chunks at once; ``fate(n)`` is the exception that meets the n-th one, or None."""

    _max_workers = 2

    def __init__(self, fate):
        self.fate, self.count = fate, 0

    def submit(self, fn, /, *args, **kwargs):
        self.count += 1
        error, future = self.fate(self.count), Future()
        if isinstance(error, BrokenExecutor) or "shutdown" in str(error):
            raise error
        future.set_exception(error) if error else future.set_result(fn(*args, **kwargs))
        return future


def test_lost_chunks_are_sent_again(expected):
    executor = Unreliable(lambda n: OSError("gone") if n in (1, 2, 4, 9) else None)
    assert_same(simulate(backend=executor, chunk_size=4), expected)
    assert executor.count == 6 + 4


def test_no_more_than_so_many_tries(expected):
    executor = Unreliable(lambda n: OSError("gone\nfor good") if n > 2 else None)
    with pytest.raises(
        BackendError, match=rf"trials 4 to 5 .* {TRIES} times .* OSError: gone for good"
    ) as caught:
        simulate(backend=executor, chunk_size=4, n_jobs=1)
    assert caught.value.simulation.trial_numbers.tolist() == [0, 1, 2, 3]
    assert_same(caught.value.simulation, expected, slice(4))
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("cannot schedule new futures after shutdown"), "takes no work .*one that is open"),
        (BrokenExecutor("all dead"), "Unreliable is broken .*all dead.*make a new one"),
        (pickle.PicklingError("a lock"), "cannot be sent .*PicklingError: a lock"),
    ],
)
def test_an_executor_that_cannot_go_on(error, words, expected):
    executor = Unreliable(lambda n: error if n > 3 else None)
    with pytest.raises(BackendError, match=words) as caught:
        simulate(backend=executor, chunk_size=2)
    assert caught.value.simulation.completed == 3
    assert_same(caught.value.simulation, expected, slice(3))


def test_an_executor_that_is_shut_down():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(BackendError, match=r"ThreadPoolExecutor takes no work .*shutdown.*one that is open"):
        simulate(backend=executor)


def test_a_scheduler_that_goes_away(monkeypatch, expected):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(_dask, "_ANSWER", 0.5)
    address = "tcp://127.0.0.1:9"
    with pytest.raises(
        errors.InvalidInput, match=rf"{address}.*no connection to a Dask scheduler.*address right"
    ):
        simulate(backend=address)
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=FREE) as cluster:
        client = distributed.Client(cluster)
        sent = []

        def submit(self, chunk):
            sent.append(chunk)
            if len(sent) == 5:  # four are sent at once, the fifth when one is finished
                client.close()
            return plain(self, chunk)

        plain = _dask.DaskPool.submit
        monkeypatch.setattr(_dask.DaskPool, "submit", submit)
        with pytest.raises(
            BackendError, match=r"connection to the Dask scheduler is lost.*\.simulation"
        ) as caught:
            simulate(backend=client, chunk_size=4)
    found = caught.value.simulation
    assert found.completed > 0
    assert_same(found, expected, found.trial_numbers)


def test_the_command_line_keeps_what_is_finished(monkeypatch, capsys):
    error = BackendError("the workers are gone")
    error.simulation = simulate(["ebc"], trials=2)

    def fail(*args, **options):
        raise error

    monkeypatch.setattr(la, "simulate", fail)
    words = ["simulate", "synthetic1", "--stopping", "paper", "--theta", "-5,5", "--trials", "4", "--json"]
    assert run(words) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["trials"] == 2
    assert "linkarms: the workers are gone" in err
    assert "interrupted after 2 of 4 trials" in err
    error.simulation = None
    assert run(words) == 2
