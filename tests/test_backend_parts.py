"""What the backends are made of: problems and rules that pickle, chunks, tasks, and backends that do not exist."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from tests.backend_rules import Waiting

import linkarms as la
from linkarms import errors, families
from linkarms.client import Client
from linkarms.montecarlo import _task
from linkarms.montecarlo._chunks import SECONDS, Chunks

PAPER = la.stopping.Paper(theta=(-5, 5), epsilon=0.05)
PROBLEM = la.problems.synthetic1()

FAMILIES = [
    ("gaussian", [0.0, 0.5, 4.0]),
    (families.Gaussian([[2.0, 0.5], [0.5, 1.0]]), [[0, 0], [0, 1], [5, 5]]),
    (families.bounded(0, 1), [0.1, 0.2, 0.9]),
    ("exponential", [1.0, 1.2, 9.0]),
    (families.Gamma(2.0, "mean"), [1.0, 1.2, 9.0]),
    ("bernoulli", [0.1, 0.2, 0.9]),
    ("poisson", [1.0, 1.2, 9.0]),
    (families.Categorical(3), [[0.2, 0.3, 0.5], [0.2, 0.35, 0.45], [0.8, 0.1, 0.1]]),
    (families.Product([families.Poisson(), families.Gaussian()]), [[1, 0], [1, 1], [5, 5]]),
    (["gaussian", families.Gaussian(2.0), "poisson"], [0.5, 1.0, 5.0]),
    (Waiting(), [1.0, 1.2, 6.0]),
]


@pytest.mark.parametrize(("family", "parameters"), FAMILIES, ids=lambda x: str(x)[:30])
def test_problems_and_families_pickle(family, parameters):
    problem = la.Problem(parameters, 2, family=family, arms=["a", "b", "c"])
    again = pickle.loads(pickle.dumps(problem))
    assert again.arms == problem.arms
    assert again.labels.tolist() == problem.labels.tolist()
    model = problem.arm_families.model
    other = again.arm_families.model
    assert (other.kind, other.n_arms, other.n_features) == (model.kind, model.n_arms, model.n_features)
    for m, theta in enumerate(problem.parameters):
        near = problem.parameters[(m + 1) % 3]
        assert other.kl(m, theta, near) == model.kl(m, theta, near)
        assert other.fisher(m, theta) == model.fisher(m, theta)
    for old, new, theta in zip(problem.families, again.families, problem.parameters, strict=True):
        assert old == new
        draws = [f.draw(np.random.default_rng(1), theta, 3) for f in (old, new)]
        assert np.array_equal(*draws)


def test_rules_pickle():
    for rule in (la.sampling.EBC(0.5), la.sampling.EBCH(), la.sampling.RoundRobin(), PAPER):
        again = pickle.loads(pickle.dumps(rule))
        assert type(again) is type(rule)
        assert again.to_dict() == rule.to_dict()


def continued(run):
    """The dump after four more samples, of the pending pulls first."""
    for arm in [*run.pending, *run.ask(2)]:
        run.tell(arm, 1.0)
    return run.dump()


def middle(family, parameters, sampling="ebc-h"):
    """A run with pending pulls and samples."""
    problem = la.Problem(parameters, 2, family=family, arms=["a", "b", "c"])
    run = la.BanditClusterer(
        2, problem.arms, problem.n_features, family=family, sampling=sampling, delta=1e-9, seed=7
    )
    rng = np.random.default_rng(2)
    for _ in range(4):
        for arm in run.ask(3):
            m = problem.arms.index(arm)
            run.tell(arm, problem.families[m].draw(rng, problem.parameters[m], 1)[0])
    run.ask(2)
    return run


@pytest.mark.parametrize("again", [lambda run: pickle.loads(pickle.dumps(run)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize(("family", "parameters"), FAMILIES, ids=lambda x: str(x)[:30])
def test_runs_are_pickled_and_copied_in_the_middle_and_share_nothing(family, parameters, again):
    run = middle(family, parameters)
    before = run.dump()
    other = again(run)
    assert (other.dump(), other.pending, other.ask(3)) == (before, run.pending, run.ask(3))
    assert [x.tolist() for x in other.result().fit.samples] == [x.tolist() for x in run.result().fit.samples]
    before = run.dump()
    other.release(next(iter(other.pending)))
    assert run.dump() == before != other.dump()


@pytest.mark.parametrize("sampling", ["ebc", "lma", "lucbboc", "atboc", "round-robin"])
def test_rules_of_copied_runs_continue(sampling):
    runs = [run := middle(*FAMILIES[0], sampling), copy.copy(run), pickle.loads(pickle.dumps(run))]
    assert len({continued(run) for run in runs}) == 1


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_runs_continue_in_another_process(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    run = middle(Waiting(), [1.0, 1.2, 6.0])
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:
        assert pool.submit(continued, run).result() == continued(run)


def test_what_holds_connections_says_why_it_cannot_be_pickled(tmp_path):
    lab = la.campaign.Campaign.create("lab", ["a", "b", "c"], 2, storage=tmp_path / "runs.db")
    for held, words in ((lab, "open it again"), (Client("lab", "http://127.0.0.1:9"), "make another one")):
        for act in (pickle.dumps, copy.deepcopy):
            with pytest.raises(errors.LinkarmsError, match=words):
                act(held)


def test_chunks_grow_to_half_a_second_and_shrink_at_the_end():
    chunks = Chunks(1000)
    assert [chunks.take(2, False) for _ in range(2)] == [(0, 1, 0), (1, 2, 0)]
    chunks.learn(2, 2 * 0.005)
    assert chunks.take(2, False) == (2, 2 + round(SECONDS / 0.005), 0)
    sizes = []
    while (chunk := chunks.take(2, False)) is not None:
        sizes.append(chunk.stop - chunk.start)
    assert sum(sizes) == 1000 - 2 - 100
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (100, 1)


def test_a_chunk_lost_twice_runs_alone():
    chunks = Chunks(3, 1)
    first = chunks.take(2, False)
    chunks.put_back(first)
    again = chunks.take(2, True)
    assert again == (0, 1, 1)
    chunks.put_back(again)
    assert chunks.take(2, True) is None
    assert chunks.take(2, False) == (0, 1, 2)
    assert chunks.take(2, True) == (1, 2, 0)


def test_a_worker_with_another_linkarms_is_refused():
    task = _task.Task(PROBLEM, (la.sampling.EBCH(),), (PAPER,), (0.1,), 0, 100)
    packed = _task.pack(task, "pickle")
    assert len(_task.run_chunk(packed, 0, 2).trials) == 2
    other = _task.Packed(packed.data, "0.0.1", packed.digest)
    outcome = _task.run_chunk(other, 0, 2)
    assert outcome.trials == []
    with pytest.raises(errors.InvalidInput, match=r"another linkarms.*0\.0\.1.*install the same"):
        raise outcome.failure.error


def test_dask_that_is_not_installed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(errors.MissingDependency, match=r"pip install 'linkarms\[dask\]'"):
        la.simulate(PROBLEM, stopping=PAPER, trials=1, backend="dask")


@pytest.mark.parametrize("backend", ["mars", "host:8786", ThreadPoolExecutor, None, 3])
def test_unknown_backends(backend):
    with pytest.raises(errors.InvalidInput, match="unknown; give 'local', 'dask', the address"):
        la.simulate(PROBLEM, stopping=PAPER, trials=1, backend=backend)
