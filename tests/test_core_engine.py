"""Runs inside the core: whole trials against single steps, saved runs, what has been told, pending pulls, and one thread at a time."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import linkarms as la
from linkarms import _core
from linkarms.engine import Engine
from linkarms.families import resolve
from linkarms.sampling import resolve_sampling

PROBLEM = la.problems.synthetic1()
STOPS = {
    "anytime": la.stopping.Anytime(),
    "paper": la.stopping.Paper(theta=(-9, 9), epsilon=0.1),
    "boc": la.stopping.BOC(),
}


def engine_of(sampling="ebc-h", stopping="anytime", seed=0, problem=PROBLEM):
    rule = resolve_sampling(sampling).fresh()
    return Engine(
        problem.arm_families, problem.n_clusters, rule, STOPS[stopping], 0.05, np.random.default_rng(seed)
    )


def samples_of(problem, seed, size):
    rng = np.random.default_rng(seed)
    return [rng.normal(x, 1.0, (size, problem.n_features)) for x in problem.parameters]


def run(engine, samples, levels, budget=10**9, used=None):
    """The outcome, the samples used, the stopping times and the partitions named then."""
    n, j = len(samples), len(levels)
    used = np.zeros(n, dtype=np.int64) if used is None else used
    at, labels = np.full(j, -1, dtype=np.int64), np.full((j, n), -1, dtype=np.int64)
    outcome = engine.core.run(samples, used, np.array(levels), at, labels, budget)
    return outcome, used, at, labels


def state_of(engine):
    """All that one can see of a run."""
    core = engine.core
    arrays = (core.counts, core.pending, core.means, core.estimates, core.labels, core.kl, core.alternative)
    return [x.tolist() for x in arrays] + [core.psi, core.evidence(), core.nearest_witness, engine.to_dict()]


# ---- whole trials


@pytest.mark.parametrize("stopping", STOPS)
@pytest.mark.parametrize("sampling", ["ebc-h", "ebc", "round-robin", "lucbboc", "atboc"])
def test_a_trial_is_its_steps(sampling, stopping):
    samples, deltas = samples_of(PROBLEM, 4, 900), (1e-3, 0.2, 0.01)
    levels = [STOPS[stopping].level(d) for d in deltas]
    whole, single = engine_of(sampling, stopping), engine_of(sampling, stopping)
    outcome, used, at, labels = run(whole, samples, levels)
    assert outcome.ending == "stopped"
    expected, taken = {}, np.zeros(6, dtype=np.int64)
    while len(expected) < 3:
        for j, delta in enumerate(deltas):
            if j not in expected and single.check(delta):
                expected[j] = (single.core.total, single.core.labels.tolist())
        if len(expected) < 3:
            m = single.choose()
            single.observe(m, samples[m][taken[m]])
            taken[m] += 1
    assert_array_equal(used, taken)
    assert [(int(t), x.tolist()) for t, x in zip(at, labels, strict=True)] == [expected[j] for j in range(3)]
    assert state_of(whole) == state_of(single)


def test_a_trial_comes_back_for_samples_and_goes_on():
    """Blocks, lists of different lengths, and one array per arm give the same trial; the arm that has no more is named."""
    samples, level = samples_of(PROBLEM, 5, 500), [10.0]
    _, used, at, _ = run(engine_of(), samples, level)
    other, taken, endings = engine_of(), np.zeros(6, dtype=np.int64), set()
    given = [x[: 7 + 3 * m] for m, x in enumerate(samples)]
    while True:
        outcome, _, at_other, _ = run(other, given, level, used=taken)
        endings.add(outcome.ending)
        if outcome.ending == "stopped":
            break
        assert outcome.ending == "need_samples"
        assert outcome.arm == other.choose()
        assert taken[outcome.arm] == len(given[outcome.arm])
        given[outcome.arm] = samples[outcome.arm][: len(given[outcome.arm]) + 20]
    assert endings == {"stopped", "need_samples"}
    assert_array_equal(taken, used)
    assert at_other == at
    block = np.array(samples)
    assert run(engine_of(), block, level)[2] == at


def test_a_budget_ends_a_trial_where_it_can_go_on():
    samples, level = samples_of(PROBLEM, 5, 500), [10.0]
    at = run(engine_of(), samples, level)[2]
    engine, used = engine_of(), np.zeros(6, dtype=np.int64)
    outcome, _, stopped, labels = run(engine, samples, level, budget=50, used=used)
    assert (outcome.ending, outcome.arm, engine.core.total) == ("budget", -1, 50)
    assert stopped == [-1]
    assert (labels == -1).all()
    assert run(engine, samples, level, used=used)[2] == at


def test_trials_of_the_wrong_shape_are_refused():
    good, level = samples_of(PROBLEM, 5, 5), [1.0]
    engine = engine_of()
    with pytest.raises(ValueError, match="do not fit"):
        run(engine, good[:5], level, used=np.zeros(5, dtype=np.int64))
    with pytest.raises(ValueError, match="n_features"):
        run(engine, [x[:, :1].copy() for x in good], level)
    with pytest.raises(ValueError, match="negative"):
        run(engine, good, level, used=np.full(6, -1, dtype=np.int64))
    with pytest.raises(TypeError):  # would be written to a copy
        engine.core.run(
            good, np.zeros(6, dtype=np.int32), np.array(level), np.array([-1]), np.full((1, 6), -1), 9
        )
    assert engine.core.total == 0


# ---- saved runs


@pytest.mark.parametrize("sampling", ["ebc-h", "ebc", "atboc"])
def test_a_restored_run_goes_on_as_if_nothing_had_been_told_since(sampling):
    engine, twin, rng = engine_of(sampling), engine_of(sampling), np.random.default_rng(3)
    for t in range(150):
        m = engine.choose()
        assert m == twin.choose()
        x = rng.normal(PROBLEM.parameters[m])
        if t % 10 == 9:  # a sample that is taken back, and views that stay valid
            means, labels, saved = engine.core.means, engine.core.labels, engine.core.save()
            engine.observe(t % 6, 100.0 * rng.normal(size=2))
            engine.core.add_pending(2, 5)
            engine.core.restore(saved)
            assert_array_equal(means, twin.core.means)
            assert_array_equal(labels, twin.core.labels)
        engine.observe(m, x)
        twin.observe(m, x)
    assert state_of(engine) == state_of(twin)


def test_a_copy_is_restored_only_where_it_was_made():
    here, there = engine_of(), engine_of()
    with pytest.raises(ValueError, match="another engine"):
        there.core.restore(here.core.save())


class Fallible(la.families.ScalarFamily):
    """Unit Gaussians whose divergence fails when asked for the n-th time."""

    name, left = "fallible", -1

    @staticmethod
    def kl(x, y):
        Fallible.left -= 1
        if Fallible.left == 0:
            raise ArithmeticError("not now")
        return (x - y) ** 2 / 2

    @staticmethod
    def step(x, slope):
        return x + slope

    @staticmethod
    def fisher(x):
        return 1.0

    def draw(self, rng, theta, size):
        return rng.normal(theta, 1.0, (size, 1))


@pytest.mark.parametrize("call", [1, 3, 20, 60, 150])
def test_a_sample_for_which_a_function_fails_leaves_no_trace(call):
    families = resolve(Fallible(), 4, 1)

    def make():
        rule = resolve_sampling("ebc-h")
        return Engine(families, 2, rule, la.stopping.Anytime(), 0.05, np.random.default_rng(0))

    engine, twin, rng, failed = make(), make(), np.random.default_rng(call), 0
    for t in range(30):
        m = t % 4
        x = rng.normal([0.0, 0.5, 3.0, 3.3][m], 1.0, 1)
        if t % 7 == 6:
            before, error, Fallible.left = state_of(engine), None, call
            try:
                engine.observe(m, 5.0 + x)
            except la.errors.CallbackError as raised:
                error = raised
            Fallible.left = -1
            if error is None:  # it was asked less often
                twin.observe(m, 5.0 + x)
            else:
                failed += 1
                assert isinstance(error.__cause__, ArithmeticError)
                assert state_of(engine) == before
        engine.observe(m, x)
        twin.observe(m, x)
    assert state_of(engine) == state_of(twin)
    assert failed > 0 or call == 150


# ---- what has been told


def told_of(core, **changes):
    told = core.told()
    names = ("counts", "pending", "means", "moments", "weights", "weight_sum", "scale")
    return _core.Told(**{name: getattr(told, name) for name in names} | changes)


@pytest.mark.parametrize(
    "change",
    [
        {"counts": [1, 2, 3]},
        {"counts": [-1, 1, 1, 1, 1, 1]},
        {"counts": [2**40, 1, 1, 1, 1, 1]},
        {"pending": [0, 0, 0, 0, 0, -2]},
        {"means": np.zeros((6, 3))},
        {"weights": [0.0]},
        {"scale": 9},
        {"scale": -1},
    ],
)
def test_what_cannot_have_been_told_is_refused_and_changes_nothing(change):
    engine = engine_of()
    for m, x in enumerate(PROBLEM.parameters):
        engine.observe(m, x)
    before = state_of(engine)
    with pytest.raises(ValueError, match=r"\w"):
        engine.core.set_told(told_of(engine.core, **change))
    assert state_of(engine) == before


def test_bad_arms_and_samples_are_refused():
    engine = engine_of()
    for arm in (-1, 6):
        with pytest.raises(ValueError, match="out of range"):
            engine.core.observe(arm, np.zeros(2))
        with pytest.raises(ValueError, match="out of range"):
            engine.core.add_pending(arm, 1)
    with pytest.raises(ValueError, match="3 numbers; it needs 2"):
        engine.core.observe(0, np.zeros(3))
    with pytest.raises(ValueError, match="none of them negative"):
        engine.core.set_pending(np.full(6, -1))
    with pytest.raises(ValueError, match="n_clusters=7"):
        _core.Engine(PROBLEM.arm_families.model, 7)
    assert engine.core.total == 0


# ---- pending pulls


@pytest.mark.parametrize("stopping", ["anytime", "paper"])
@pytest.mark.parametrize("seed", range(3))
def test_pending_pulls_are_chosen_for_as_if_they_had_been_made(stopping, seed):
    """EBC-H asks psi again after each pull, and after samples that move an arm far; here from scratch, at samples and pulls together."""
    means = np.array([0.0, 1.0, 2.1, 6.0, 7.0, 8.2, 14.0, 15.0])
    problem = la.Problem(means, n_clusters=3)
    engine, rng, checked = engine_of(stopping=stopping, problem=problem), np.random.default_rng(seed), 0
    for m in [*range(8)] * 3:
        engine.observe(m, rng.normal(means[m], 1.0, 1))
    grid = STOPS["anytime"].grid(engine.families)
    for _ in range(300):
        m = engine.choose()
        n = (engine.core.counts + engine.core.pending).astype(float)
        if n.min() >= np.sqrt(n.sum() / 8):
            c = grid[engine.core.told().scale] if stopping == "anytime" else 0.0
            psi = la.psi(n / (n + c) * n, engine.core.estimates, 3, family="gaussian", refine=False)
            assert psi.kl[m] == pytest.approx(psi.kl.max(), rel=1e-9)
            checked += 1
        engine.core.add_pending(m, 1)
        if rng.uniform() < 0.3:  # one of them comes in
            arm = int(np.argmax(engine.core.pending))
            engine.observe(arm, rng.normal(means[arm], 5.0, 1))
            engine.core.add_pending(arm, -1)
    assert checked > 100


# ---- threads


def test_a_run_in_use_is_refused_to_another_thread_and_to_its_own_functions():
    seen = []

    class Curious(Fallible):
        name = "curious"

        @staticmethod
        def kl(x, y):
            try:
                engine.core.choose()
            except RuntimeError as error:
                seen.append(str(error))
            return (x - y) ** 2 / 2

    families = resolve(Curious(), 4, 1)
    stop = la.stopping.Anytime()
    engine = Engine(families, 2, resolve_sampling("ebc-h"), stop, 0.05, np.random.default_rng(0))
    for m, x in enumerate([0.0, 0.5, 3.0, 3.3]):
        engine.observe(m, np.array([x]))
    assert seen
    assert all("in use" in text for text in seen)


def test_runs_on_several_threads_do_not_meet():
    samples = [samples_of(PROBLEM, seed, 3000) for seed in range(4)]
    alone = [run(engine_of(), x, [200.0])[2].tolist() for x in samples]
    found = [None] * 4

    def work(i):
        found[i] = run(engine_of(), samples[i], [200.0])[2].tolist()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == alone
    assert all(t[0] > 0 for t in found)
