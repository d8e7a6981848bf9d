"""Every step of a run equals the plain definition from scratch, and what the engine keeps is a pure function of its state."""

import json
import math
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from tests.oracles.plain import divergences, plain_partition, plain_psi, searched, simplex, tolerance
from tests.oracles.runs import CASES, RULES, SOLVED, VECTORS, Samples, make_arms, make_engine, told
from tests.repeats import repeats

import linkarms as la
from linkarms.engine import Engine


def restored(engine, into=None):
    """An engine, a new one unless given, with the dump of this one."""
    if into is None:
        rng = np.random.default_rng(99)
        into = Engine(engine.families, engine.n_clusters, engine.sampling, engine.stopping, engine.delta, rng)
    into.restore(json.loads(json.dumps(engine.to_dict())))
    return into


def assert_same(one, other):
    """Bit for bit."""
    a, b = one.core, other.core
    for name in (
        "counts",
        "pending",
        "means",
        "estimates",
        "labels",
        "ready",
        "ambiguous",
        "psi",
        "threshold_base",
    ):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    for name in ("kl", "alternative", "ebc_weights", "ebc_weight_sum"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert a.nearest_witness == b.nearest_witness


class Seen:
    """What a run shows of psi, copied, so that a test can spoil it."""

    def __init__(self, engine):
        core = engine.core
        self.model, self.n_clusters, self.ambiguous = engine.families.model, engine.n_clusters, core.ambiguous
        self.theta, self.lam, self.kl = core.estimates.copy(), core.alternative.copy(), core.kl.copy()
        self.labels, self.counts = core.labels.tolist(), core.counts.copy()
        self.psi, self.witness = core.psi, core.nearest_witness


def near(x, y, rel):
    """Equal up to ``rel`` times the largest entry."""
    return bool(np.all(np.abs(np.subtract(x, y)) <= rel * np.max(np.abs(y))))


def check_partition(seen):
    names = {}
    assert [names.setdefault(x, len(names)) for x in seen.labels] == seen.labels
    assert len(names) == seen.n_clusters
    if not seen.ambiguous:
        assert seen.labels == plain_partition(seen.theta, seen.n_clusters)


@contextmanager
def where_searched(seen, weights):
    """Compare psi, unless some search over directions gave up: then its value depends on how it was asked for. Call it for psi."""
    try:
        yield cache(lambda: plain_psi(seen.model, seen.theta, weights, seen.labels))
    except AssertionError:
        if searched(seen.model, seen.theta, weights, seen.labels):
            raise


def check_psi(seen):
    """Evidence, witness and KL."""
    room, weights = tolerance(seen.model), seen.counts.astype(float)
    arms = set(seen.witness)
    assert set(np.flatnonzero(seen.kl)) <= arms
    assert set(np.flatnonzero((seen.lam != seen.theta).any(axis=1))) <= arms
    with where_searched(seen, weights) as plain:
        if seen.model.kind == "vector":
            assert near(seen.psi, plain().value, room)
            assert seen.witness in plain().witnesses
        else:
            assert (seen.psi, seen.witness) == (plain().value, plain().witness)
        assert near(seen.kl, divergences(seen.model, seen.theta, weights, seen.witness), room)


def check_seen(seen):
    check_partition(seen)
    check_psi(seen)


def check_choice(engine):
    """The arm that is chosen, by the words of the rules; pending pulls count."""
    core, seen = engine.core, Seen(engine)
    n = core.counts + core.pending
    arm, fewest, total = engine.choose(), int(n.argmin()), n.sum()
    if n[fewest] < max(math.sqrt(total / len(n)), 1) or engine.sampling.name == "round-robin":
        assert arm == fewest
    elif engine.sampling.name == "ebc":
        assert arm == int(np.argmin(n / total - core.ebc_weight_sum / core.total))
    else:
        with where_searched(seen, n) as plain:
            allowed = set()
            for witness in plain().witnesses if core.pending.any() else [seen.witness]:
                kl = divergences(seen.model, seen.theta, n, witness)
                most = np.flatnonzero(kl >= kl.max() * (1.0 - 2.0 * tolerance(seen.model))).tolist()
                allowed |= set(most) if kl.max() > 0.0 else {min(witness, key=lambda m: (n[m], m))}
            assert arm in allowed


def check_ascent(engine, before, total):
    """EBC's weights are one step from those ``before``, along the KL at a minimiser of psi there; their sum was ``total``."""
    seen, w = Seen(engine), engine.core.ebc_weights
    assert np.array_equal(engine.core.ebc_weight_sum, total + w)
    if not engine.ready:
        return
    # a minimiser that is searched is known to the square root of what its value is known to
    room = 1e-3 if seen.model.kind == "vector" else 1e-9
    eta = engine.sampling.step / math.sqrt(engine.core.total)
    with where_searched(seen, before) as plain:
        steps = [eta * divergences(seen.model, seen.theta, before, x) for x in plain().witnesses]
        assert any(np.max(np.abs(simplex(before + g) - w)) <= room * (1.0 + g.max()) for g in steps)


def check(engine):
    seen = Seen(engine)
    assert engine.evidence() == (0.0 if engine.ambiguous else seen.psi)
    check_partition(seen)
    check_psi(seen)
    check_choice(engine)


def follow(engine, script, dumps=()):
    """Take in the arms and samples of ``script`` and check every step; returns how often the partition changed.

    An engine that was loaded before the sample, and all that were loaded at ``dumps``, take it in as well.
    """
    fresh, spare, loaded, changes = restored(engine), restored(engine), [], 0
    for t, (arm, value) in enumerate(script):
        labels = engine.core.labels.tolist()
        w, w_sum = engine.core.ebc_weights.copy(), engine.core.ebc_weight_sum.copy()
        for one in (engine, fresh, *loaded):
            one.observe(arm, value)
        for one in (fresh, *loaded):
            assert_same(engine, one)
        if engine.sampling.name == "ebc":
            check_ascent(engine, w, w_sum)
        if engine.ready:
            check(engine)
            changes += labels != engine.core.labels.tolist()
        if t in dumps:
            loaded.append(fresh)
        fresh = restored(engine)
        if t % 3 == 0:  # one that has seen something else before
            restored(engine, spare)
        for one in (fresh, *loaded, *([spare] if t % 3 == 0 else [])):
            assert_same(engine, one)
            assert one.choose() == engine.choose()
    return changes


@st.composite
def runs(draw, name, arms=(3, 9), large=False):
    """An engine, samples for it, and the share of arms that the rule chooses."""
    n = draw(st.integers(*arms))
    k = draw(st.integers(2, 4 if large else n - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chain = n - k + 1 if large or draw(st.booleans()) else 0
    made = make_arms(name, rng, n, draw(st.sampled_from(CASES[name][0])), chain)
    rule, clipped = draw(st.sampled_from(list(RULES))), draw(st.booleans())
    if name in VECTORS and rule == "ebc":
        clipped = True  # searches at the end of the domain with weights of zero can take a minute
    engine = make_engine(made, k, rule, clipped, int(rng.integers(1000)))
    samples = Samples(made, draw(st.sampled_from(Samples.STYLES)), rng)
    return engine, samples, draw(st.sampled_from([0.0, 0.5, 1.0]))


@pytest.mark.parametrize("name", SOLVED)
@settings(max_examples=repeats(5, 9))
@given(data=st.data())
def test_every_step_equals_the_plain_definition(name, data):
    engine, samples, asked = data.draw(runs(name))
    steps = 12 if name in ("geometric", "mixed") else 45  # a family in Python is slow
    follow(engine, told(engine, samples, steps, asked), dumps=(2, 9, 30))


def _swap_labels(seen):
    seen.labels[1], seen.labels[2] = seen.labels[2], seen.labels[1]


SPOILED = {
    "evidence": lambda seen: setattr(seen, "psi", seen.psi * (1.0 + 3e-9)),
    "partition": _swap_labels,
    "witness": lambda seen: setattr(seen, "witness", (*seen.witness[:2], seen.witness[0], seen.witness[3])),
    "KL of the witness": lambda seen: np.multiply(seen.kl, 1.0 + 3e-9, out=seen.kl),
    "KL of another arm": lambda seen: seen.kl.__setitem__(4, 1e-30),
    "alternative": lambda seen: seen.lam.__setitem__(4, seen.theta[4] + 1e-12),
    "estimate": lambda seen: np.multiply(seen.theta, 1.0 + 1e-7, out=seen.theta),
    "count": lambda seen: np.add.at(seen.counts, seen.witness[0], 1),
}


@pytest.mark.parametrize("what", [None, *SPOILED])
def test_the_checks_find_what_is_wrong(what):
    engine = make_engine(make_arms("gaussian", np.random.default_rng(0), 5, 1), 3, "ebc-h", clipped=True)
    for m, value in enumerate([0.1, 0.15, 0.4, 0.46, 0.9]):
        for _ in range(9 - m):
            engine.observe(m, np.array([value]))
    seen = Seen(engine)
    assert 4 not in seen.witness
    check_partition(seen)
    check_psi(seen)
    if what is not None:
        SPOILED[what](seen)
        with pytest.raises(AssertionError):
            check_seen(seen)


@pytest.mark.parametrize("name", ["gaussian", "covariance", "rate", "bernoulli"])
@settings(max_examples=repeats(2, 4))
@given(data=st.data())
def test_a_cluster_of_nearly_all_arms(name, data):
    engine, samples, asked = data.draw(runs(name, (12, 16), large=True))
    for m in range(len(engine.core.counts)):
        engine.observe(m, samples(m))
    follow(engine, told(engine, samples, 25, asked), dumps=(8,))


@pytest.mark.parametrize("name", ["gaussian", "covariances", "rate", "mean", "bernoulli", "mixed"])
@settings(max_examples=14)
@given(data=st.data())
def test_very_unequal_counts(name, data):
    # one arm then has nearly all of the room to move, and bounds that give it to every arm are tight
    engine, samples, asked = data.draw(runs(name))
    n = len(engine.core.counts)
    for m in range(n):
        engine.observe(m, samples(m))
    dump = engine.to_dict()
    dump["counts"] = samples.rng.choice([1, 2, 50, 10**4, 10**7], n).tolist()
    engine.restore(dump)
    # waiting times of 0 have rates that psi refuses as parameters, or means whose costs are next to no number at all
    sizes = np.abs(engine.core.estimates)
    assume(np.all((sizes == 0.0) | ((sizes > 1e-50) & (sizes < 1e50))))
    check(engine)
    follow(engine, told(engine, samples, 4, asked), dumps=(0,))


def test_equal_arms_at_the_edge_of_their_domain():
    # arms whose estimates are 0 have no spread, and a bound from it and from a gap of zero would be no number
    engine = make_engine(make_arms("bernoulli", np.random.default_rng(0), 8, 1), 7, "ebc-h", clipped=False)
    dump = engine.to_dict()
    dump["counts"] = [10000, 50, 10001, 2, 2, 10000, 50, 2]
    dump["means"] = [[0.0], [1.0], [0.0], [0.5], [1.0], [0.0], [1.0], [0.5]]
    engine.restore(dump)
    for arm in (2, 0, 5):
        engine.observe(arm, np.array([0.0]))
        assert_same(engine, restored(engine))


@pytest.mark.parametrize("gap", [1e-3, 1e-4])
def test_a_bernoulli_arm_leaves_the_end_of_its_domain(gap):
    # the light arm has to come half of the way to the heavy one that is apart; how much is known of it depends on the path
    found = la.psi([1e6, 1e6, 1.0], [1.0 - gap, 1.0, 1.0], 2, "bernoulli")
    assert found.value == pytest.approx(-math.log1p(-gap / 2.0), rel=1e-4)


@pytest.mark.parametrize("name", VECTORS)
@settings(max_examples=7, phases=[Phase.generate])  # to shrink an example takes too long
@given(data=st.data())
def test_every_step_of_vector_families(name, data):
    engine, samples, asked = data.draw(runs(name, (3, 4)))
    follow(engine, told(engine, samples, 8, asked), dumps=(4,))


@pytest.mark.parametrize("name", VECTORS)
def test_no_arm_of_a_vector_family_moves_where_the_cut_is_tied(name):
    for value in (0.25, 0.5, 1.0):
        theta = np.array([[0.0, 1.0], [value, 1.0], [2.0 * value, 1.0]]) / 4.0
        if name == "categorical":
            theta = np.column_stack([theta, 1.0 - theta.sum(axis=1)])
        found = la.psi([3, 1, 2], theta, 2, CASES[name][1](None, 3, theta.shape[1]))
        assert found.ambiguous
        assert np.array_equal(found.alternative, theta)
        assert not found.kl.any()


@pytest.mark.parametrize(
    ("name", "d"), [("gaussian", 1), ("gaussian", 2), ("variances", 2), ("bernoulli", 1), ("poisson", 1)]
)
@settings(max_examples=15)
@given(data=st.data())
def test_exact_ties(name, d, data):
    n = data.draw(st.integers(3, 7))
    arms = make_arms(name, np.random.default_rng(0), n, d)
    value = st.sampled_from(arms.grid[0].tolist())
    first = data.draw(st.lists(value, min_size=n, max_size=n))
    more = data.draw(st.lists(st.tuples(st.integers(0, n - 1), value), max_size=16))
    k, rule = data.draw(st.integers(2, n - 1)), data.draw(st.sampled_from(list(RULES)))
    engine = make_engine(arms, k, rule, clipped=False)
    follow(engine, [(m, np.array(x)) for m, x in [*enumerate(first), *more]], dumps=(n - 1,))


@pytest.mark.parametrize(
    ("name", "n", "k", "rule", "style", "asked"),
    [
        ("gaussian", 5, 3, "ebc-h", "honest", 1.0),
        ("rate", 4, 3, "ebc-h", "jumps", 0.3),
        ("bernoulli", 5, 3, "ebc", "honest", 0.5),
        ("poisson", 4, 2, "ebc-h", "ties", 0.8),
        ("variances", 6, 3, "ebc", "jumps", 1.0),
    ],
)
def test_long_runs(name, n, k, rule, style, asked):
    rng = np.random.default_rng(n)
    arms = make_arms(name, rng, n, 1)
    engine = make_engine(arms, k, rule, clipped=True)
    steps = repeats(300, 600)
    dumps = (steps // 6, 3 * steps // 4)
    changes = follow(engine, told(engine, Samples(arms, style, rng), steps, asked), dumps)
    assert changes >= 10  # otherwise nothing was tested


@pytest.mark.parametrize("name", ["gaussian", "covariances", "rate", "gamma mean", "poisson", "mixed"])
@settings(max_examples=repeats(6, 12))
@given(data=st.data())
def test_pending_pulls_count_for_the_choice_only(name, data):
    engine, samples, asked = data.draw(runs(name))
    core, rng, n = engine.core, samples.rng, len(engine.core.counts)
    for arm, value in told(engine, samples, 3 * n, asked):
        engine.observe(arm, value)
    for size in (1, n, 2 * n):
        before, batch = restored(engine), []
        for _ in range(size):
            arm = engine.choose()
            assert restored(engine).choose() == arm
            if engine.ready:
                check_choice(engine)
            core.add_pending(arm, 1)
            batch.append(arm)
        kept = core.pending.copy()
        core.set_pending(np.zeros(n, dtype=np.int64))
        assert_same(engine, before)
        core.set_pending(kept)
        for arm in rng.permutation(batch).tolist():
            value = samples(arm)
            engine.observe(arm, value)
            core.add_pending(arm, -1)
            assert_same(engine, restored(engine))
        if engine.ready:
            check(engine)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("seed", [1654, *range(repeats(15, 60))])
def test_batches_are_as_good_as_a_load(seed, d):
    """Several arms move between two searches, and the partition with them."""
    rng = np.random.default_rng(seed)
    n_arms, n_clusters = int(rng.integers(5, 10)), int(rng.integers(2, 4))
    centres = 2.0 * rng.normal(size=(n_arms, d))
    run = la.BanditClusterer(n_clusters, n_arms, n_features=d, family="gaussian")
    for turn in range(12):
        batch = run.ask(4 if turn else n_arms)
        run.tell_many(batch, [rng.normal(size=d) + centres[m] for m in batch])
        again = la.BanditClusterer.load(run.dump())
        assert run._engine.core.psi == again._engine.core.psi
