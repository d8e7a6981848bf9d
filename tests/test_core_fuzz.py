"""Runs made by hypothesis: any family, goal and rules; honest, wrong, wild or tied samples; every call of the engine in any order.

``make fuzz`` runs it for five minutes under AddressSanitizer and UndefinedBehaviorSanitizer. In the suite it makes few runs.
"""

import json
import math
import os
import time
from collections import Counter

import numpy as np
from hypothesis import HealthCheck, given, reject, seed, settings
from hypothesis import strategies as st
from tests.oracles.runs import CASES, OTHERS, Samples, family_arms

import linkarms as la
from linkarms._goal import Goal
from linkarms.engine import Engine
from linkarms.sampling import resolve_sampling

SECONDS = float(os.environ.get("LINKARMS_FUZZ_SECONDS", "0"))
SAMPLING = ("ebc-h", "ebc", "round-robin", "lucbboc", "atboc")
STOPPING = {
    "anytime": la.stopping.Anytime,
    "anytime 1": lambda: la.stopping.Anytime(version=1),
    "paper": None,  # needs the box of the family
    "boc": la.stopping.BOC,
}
#: What is asked of a run, with how often.
CALLS = Counter(rule=8, arm=6, block=3, check=3, evidence=2, pending=1, save=1, back=1, reload=1, cuts=1)


@st.composite
def goals(draw, n):
    kind = draw(st.sampled_from(("clusters", "clusters", "distance", "gap")))
    tolerance = draw(st.sampled_from((0.0, 0.0, 0.1)))
    if kind == "clusters":
        return Goal(draw(st.integers(1, n)), tolerance=tolerance)
    if kind == "distance":
        return Goal(distance_threshold=draw(st.sampled_from((0.3, 1.0, 2.0))), tolerance=tolerance)
    return Goal(tolerance=tolerance)


class Run:
    """A run with what is told to it and asked of it."""

    def __init__(self, engine, samples):
        self.engine, self.samples = engine, samples
        self.saved = None

    def __repr__(self):
        e = self.engine
        families = [family.to_dict() for family in e.families.families]
        return f"Run({families}, {e.goal}, {e.sampling.name}, {e.stopping!r}, {self.samples.style}, costs={e.costs})"

    def new_engine(self):
        e = self.engine
        sampling = resolve_sampling(e.sampling.name).fresh()
        return Engine(e.families, e.goal, sampling, e.stopping, e.delta, np.random.default_rng(9), e.costs)

    def rule(self, arm):
        self.arm(self.engine.choose())

    def arm(self, arm):
        """If a user's function raises, nothing has changed."""
        before = self.engine.to_dict()
        try:
            self.engine.observe(arm, self.samples(arm))
        except la.errors.CallbackError:
            assert self.engine.to_dict() == before
            raise

    def block(self, arm):
        """A piece of a trial inside the core; it ends where an arm has no more samples, or after 20."""
        core, n = self.engine.core, self.engine.n_arms
        rows = [np.array([self.samples(m) for _ in range(6)]) for m in range(n)]
        used, at = np.zeros(n, dtype=np.int64), np.full(1, -1, dtype=np.int64)
        labels, before = np.full((1, n), -1, dtype=np.int64), core.counts.copy()
        outcome = core.run(rows, used, np.array([3.0]), at, labels, core.total + 20)
        assert (core.counts == before + used).all()
        assert used.max() <= 6
        assert (outcome.ending == "stopped") == (at[0] >= 0)
        if outcome.ending == "need_samples":
            assert used[outcome.arm] == 6

    def check(self, arm):
        delta = (0.5, 0.1, 1e-3)[arm % 3]
        if self.engine.check(delta) and not self.engine.trivial:
            threshold = self.engine.threshold(delta)
            assert self.engine.evidence() >= threshold - 1e-6 * (1.0 + abs(threshold))

    def evidence(self, arm):
        assert not math.isnan(self.engine.evidence())  # it may be below 0: log evidence less prices
        if self.engine.ready and not self.engine.trivial:
            witness = self.engine.witness
            assert witness is None or max(witness) < self.engine.n_arms

    def pending(self, arm):
        self.engine.core.add_pending(arm, 1 + arm % 3)

    def save(self, arm):
        self.saved = self.engine.core.save(), self.engine.to_dict(), self.engine.core.psi

    def back(self, arm):
        """The state before is there again, as a whole."""
        if self.saved is not None:
            self.engine.core.restore(self.saved[0])
            assert self.engine.to_dict() == self.saved[1]
            assert self.engine.core.psi == self.saved[2]

    def reload(self, arm):
        """A run that is loaded goes on as the one that was dumped. What ATBOC remembers is not in the dump of the engine."""
        if self.engine.sampling.name == "atboc":
            return
        loaded = self.new_engine()
        loaded.restore(json.loads(json.dumps(self.engine.to_dict())))
        old, new = self.engine.core, loaded.core
        for name in ("counts", "pending", "labels", "means", "estimates", "kl", "alternative"):
            assert np.array_equal(getattr(old, name), getattr(new, name), equal_nan=True), name
        assert (old.psi, old.nearest_witness) == (new.psi, new.nearest_witness)
        assert self.engine.evidence() == loaded.evidence()
        assert self.engine.choose() == loaded.choose()
        self.engine, self.saved = loaded, None

    def cuts(self, arm):
        if isinstance(self.engine.stopping, la.stopping.Anytime) and self.engine.goal.is_fixed:
            for n_clusters, labels in self.engine.core.cuts(2.0):
                assert len(set(labels.tolist())) == n_clusters

    def invariants(self):
        core = self.engine.core
        labels = core.labels.tolist()
        if not core.ready:
            assert set(labels) == {-1}
            return
        names = {}
        assert [
            names.setdefault(x, len(names)) for x in labels
        ] == labels  # clusters are numbered as they appear
        assert core.psi >= 0.0
        assert not np.isnan(core.kl).any()
        assert not np.isnan(core.alternative).any()


@st.composite
def runs(draw):
    """A new run, of families, a goal and rules that go together."""
    name = draw(st.sampled_from((*CASES, *OTHERS)))
    dimensions = OTHERS[name][1] if name in OTHERS else CASES[name][0]
    d, n = draw(st.sampled_from(dimensions)), draw(st.integers(3, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    arms = family_arms(name, rng, n, d, draw(st.sampled_from((0, 0, n // 2))))
    stop = draw(st.sampled_from(tuple(STOPPING)))
    stopping = la.stopping.Paper(arms.box, 0.002) if stop == "paper" else STOPPING[stop]()
    sampling = resolve_sampling(draw(st.sampled_from(SAMPLING))).fresh()
    costs = draw(st.sampled_from((None, None, np.linspace(1.0, 3.0, n))))
    try:
        own = np.random.default_rng(0)
        engine = Engine(arms.families, draw(goals(n)), sampling, stopping, 0.05, own, costs)
    except la.errors.InvalidInput:
        reject()
    return Run(engine, Samples(arms, draw(st.sampled_from(Samples.STYLES)), rng))


CALL = st.tuples(st.sampled_from(tuple(CALLS.elements())), st.integers(0, 2**16))


def search(number, **options):
    """Look for a run that breaks something, with this seed; return how much was tried."""
    tried = Counter()

    @settings(
        deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow], **options
    )
    @given(runs(), st.lists(CALL, min_size=8, max_size=60))
    def made_run(run, calls):
        first = [("rule", 0)] * (
            2 * run.engine.n_arms if len(calls) % 3 else 0
        )  # mostly, samples of every arm
        try:
            for call, number in first + calls:
                getattr(run, call)(number % run.engine.n_arms)
                run.invariants()
        except la.errors.CallbackError:
            assert (
                run.engine.families.has_callbacks
            )  # wild samples are too much for the functions of the test's own family
        tried.update(runs=1, calls=len(calls), samples=run.engine.core.total)

    (made_run if number is None else seed(number)(made_run))()
    return tried


def test_runs_that_hypothesis_makes():
    if not SECONDS:
        assert search(None, max_examples=40, derandomize=True)["runs"] >= 40
        return
    begin, tried, first = time.monotonic(), Counter(), int(time.time())
    while time.monotonic() < begin + SECONDS:
        print("seed", first, flush=True)
        tried += search(first, max_examples=100, database=None, print_blob=True)
        first += 1
    print(f"{dict(tried)} in {time.monotonic() - begin:.0f} s")
    assert tried["runs"] > 0
