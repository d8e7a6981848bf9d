"""Computing is done outside of transactions: nobody waits for it who need not, and it gives what the log gives."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest

import linkarms as la
from linkarms.campaign import Campaign, _propose, _run, open_storage
from linkarms.errors import StorageError

ARMS = ["ada", "ben", "cy", "dot"]
TRUTH = dict(zip(ARMS, [0.0, 0.4, 5.0, 5.3], strict=True))
PAPER = {"family": "gaussian", "stopping": la.stopping.Paper(theta=(-10, 10))}
#: What of a clusterer takes long where there are many arms.
COMPUTATIONS = ("tell_many", "ask", "result", "snapshot", "restore", "evidence_and_threshold")


@pytest.fixture
def lab(storage):
    with Campaign.create("lab", ARMS, 2, storage=storage, **PAPER) as campaign:
        yield campaign


def values(tickets, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(TRUTH[t.arm]) for t in tickets]


def test_nothing_is_computed_inside_a_transaction_that_writes(lab, monkeypatch):
    """The whole life of a campaign, while every computation looks whether the write lock is held."""
    inside, computed = [], set()
    write = lab.storage.write

    @contextmanager
    def watched(*given):
        with write(*given) as tx:
            inside.append(True)
            try:
                yield tx
            finally:
                inside.pop()

    monkeypatch.setattr(lab.storage, "write", lambda name, known=False: watched(name, known))

    def watch(name):
        real = getattr(la.BanditClusterer, name)

        def checked(self, *given):
            assert not inside, f"{name} is computed inside a transaction"
            computed.add(name)
            return real(self, *given)

        monkeypatch.setattr(la.BanditClusterer, name, checked)

    for name in COMPUTATIONS:
        watch(name)
    while tickets := lab.ask(4):
        lab.tell_many(tickets, values(tickets))
    lab.add_many(ARMS, [0.0, 0.5, 5.0, 5.5])
    lab.retract(tickets[0] if tickets else 1, "spilled")
    lab.compute()
    lab.overview()
    (ticket,) = lab.ask(1) or [None]
    if ticket:
        lab.release(ticket)
    assert lab.doctor(repair=True).ok
    assert computed == set(COMPUTATIONS) - {"evidence_and_threshold"}
    inside.append(True)
    with pytest.raises(AssertionError, match="is computed inside a transaction"):
        lab.ask(1)


class Slow:
    """Holds up whoever shows samples to a clusterer, until it is told to let go."""

    def __init__(self, monkeypatch):
        self.begun, self.go_on = threading.Event(), threading.Event()
        real = la.BanditClusterer.tell_many

        def tell_many(clusterer, *given):
            self.begun.set()
            assert self.go_on.wait(60)
            return real(clusterer, *given)

        monkeypatch.setattr(la.BanditClusterer, "tell_many", tell_many)


def test_nobody_waits_for_a_long_computation(storage, lab, monkeypatch):
    """Another campaign in the same database, and samples for the same one, while a stop is being computed."""
    other = Campaign.create("other", ARMS, 2, storage=storage, **PAPER)
    held = other.ask(1)[0]
    lab.add_many(ARMS * 50, [TRUTH[arm] for arm in ARMS * 50])
    slow, found = Slow(monkeypatch), []
    thread = threading.Thread(target=lambda: found.append(lab.status()))
    thread.start()
    assert slow.begun.wait(60)
    other.tell(held, 0.5)
    other.add("ben", 0.5)
    lab.add("ada", 9.0)
    seen = lab.status(wait=False)
    assert (seen.tickets["told"], seen.samples, seen.waiting, seen.stopped) == (201, 0, 201, False)
    assert seen.age > 0
    assert lab.overview(wait=False).recent[0].value == (9.0,)
    assert not found
    slow.go_on.set()
    thread.join(60)
    # what was told meanwhile is not waited for
    assert (found[0].tickets["told"], found[0].stopped, found[0].waiting, found[0].age) == (200, True, 0, 0.0)
    assert lab.status().tickets["told"] == 201
    assert lab.doctor().ok
    other.close()


def test_the_last_figures_are_shared(lab, storage):
    """`compute` in one process is seen by others, also after a restart; without it they say how far behind they are."""
    tickets = lab.ask(8)
    lab.tell_many(tickets[:4], values(tickets[:4]))
    fresh = Campaign.open("lab", storage=storage)
    before = fresh.status(wait=False)
    assert (before.samples, before.waiting, before.computed_version, before.clusters) == (0, 4, 0, [])
    assert before.pending == dict.fromkeys(ARMS, 1)
    computed = lab.compute()
    assert (computed.samples, computed.waiting, computed.age) == (4, 0, 0.0)
    for reader in (fresh, Campaign.open("lab", storage=storage)):
        assert reader.status(wait=False) == computed
        assert reader.result(wait=False).to_dict() == lab.result().to_dict()
        overview = reader.overview(wait=False)
        assert overview.means.tolist() == lab.overview().means.tolist()
        assert overview.moments.tolist() == lab.overview().moments.tolist()
        reader.close()
    lab.tell_many(tickets[4:], values(tickets[4:]))
    with Campaign.open("lab", storage=storage) as later:
        behind = later.status(wait=False)
        assert (behind.samples, behind.waiting) == (4, 4)
        assert behind.computed_version == computed.version < behind.version
        assert behind.counted_until == computed.counted_until
        assert later.status().samples == 8
        assert later.status(wait=False).waiting == 0, "what this object computed itself it knows"


def test_figures_survive_storage_exactly(storage):
    """Unknown variances, arms without a sample, a stop: what is read is what was computed."""
    family = la.families.UnknownVariance()
    with Campaign.create("var", ["a", "b", "c"], 2, storage=storage, family=family) as var:
        for arms, numbers in ((["a"], [1 / 3]), (["b", "c"] * 3, [0.1, 7.0, 0.2, 7.1, 0.4, 7.3])):
            var.add_many(arms, numbers)
            var.compute()
            with Campaign.open("var", storage=storage) as other:
                seen, own = other.overview(wait=False), var.overview()
            assert seen.status == own.status
            assert seen.result.to_dict() == own.result.to_dict()
            assert seen.moments.tolist() == own.moments.tolist()
            assert seen.result.parameters.tolist() == own.result.parameters.tolist()


def test_a_state_that_is_behind_is_completed_from_the_log(lab, storage, monkeypatch):
    """A state is stored now and then; what came later is counted again by whoever opens the campaign."""
    monkeypatch.setattr(_run, "_WORTH", (10, 1e9))
    monkeypatch.setattr(la.campaign._computer, "PAGE", 3)
    rng = np.random.default_rng(3)
    versions = set()
    for i in range(30):
        (ticket,) = lab.ask(1)
        lab.tell(ticket, rng.normal(0, 3))
        if i == 20:
            lab.retract(ticket, "spilled")
        with Campaign.open("lab", storage=storage) as other:
            assert other.status() == lab.status()
        with lab.storage.read("lab") as reader:
            versions.add((reader.head.state_version, reader.head.version - reader.head.state_version > 3))
    assert len({version for version, _ in versions}) >= 3
    assert any(behind for _, behind in versions)
    assert lab.doctor().ok


def between(monkeypatch, act):
    """Do something after arms were chosen and before tickets are given out for them."""
    real, calls = _run.Run.choose, []

    def choose(self, n, account):
        arms = real(self, n, account)
        calls.append(arms)
        act(len(calls))
        return arms

    monkeypatch.setattr(_run.Run, "choose", choose)
    return calls


def test_two_who_ask_at_once_get_what_they_would_one_after_the_other(lab, storage, monkeypatch):
    other, got = Campaign.open("lab", storage=storage), []
    calls = between(monkeypatch, lambda n: got.extend(other.ask(2)) if n == 1 else None)
    own = lab.ask(2)
    assert [t.arm for t in got] == ["ada", "ben"]
    assert [t.arm for t in own] == ["cy", "dot"], "arms were chosen again, with the other tickets open"
    assert len({t.id for t in (*got, *own)}) == 4
    assert len(calls) == 3
    other.close()
    assert lab.doctor().ok


def test_who_always_loses_gets_tickets_all_the_same(lab, storage, monkeypatch):
    other = Campaign.open("lab", storage=storage)
    asking = []

    def ask_too(_):
        if not asking:
            asking.append(True)
            other.ask(1)
            asking.pop()

    calls = between(monkeypatch, ask_too)
    tickets = lab.ask(3)
    assert len(tickets) == 3
    assert len(calls) == 2 * _propose._TRIES
    other.close()
    assert lab.doctor().ok


def test_samples_that_come_meanwhile_do_not_hold_up_an_ask(lab, storage, monkeypatch):
    held = lab.ask(2)
    other = Campaign.open("lab", storage=storage)
    calls = between(monkeypatch, lambda n: other.tell(held[n - 1], 1.0))
    lab.ask(1)
    assert len(calls) == 1
    assert lab.status().samples == 1
    lab.ask(1)
    other.close()
    assert lab.status().samples == 2
    assert lab.doctor().ok


def test_the_budget_and_the_limit_hold_also_in_a_race(storage, monkeypatch):
    with Campaign.create("budget", ARMS, 2, storage=storage, **PAPER, max_samples=5) as lab:
        other = Campaign.open("budget", storage=storage)
        between(monkeypatch, lambda n: other.add("ada", 1.0))
        assert len(lab.ask(5)) == 4
        assert lab.ask(5) == []
        other.close()


def test_the_same_key_in_a_race_is_one_request(lab, storage, monkeypatch):
    other, got = Campaign.open("lab", storage=storage), []
    between(monkeypatch, lambda n: got.extend(other.ask(2, key="k")) if n == 1 else None)
    assert lab.ask(2, key="k") == got
    assert lab.status().tickets["open"] == 2
    other.close()


def test_a_retraction_while_others_compute(lab, storage, monkeypatch):
    """A state that still holds the retracted sample is not stored over the one without it."""
    monkeypatch.setattr(_run, "_WORTH", (1, 0.0))
    tickets = lab.ask(8)
    lab.tell_many(tickets, values(tickets))
    other = Campaign.open("lab", storage=storage)
    between(monkeypatch, lambda n: other.retract(tickets[3], "spilled") if n == 1 else None)
    lab.ask(1)
    with lab.storage.read("lab") as reader:
        assert reader.computed("state").retractions == 1
    assert lab.status().samples == 7
    assert lab.status() == other.status()
    other.close()
    assert lab.doctor().ok


def test_two_retractions_at_once(lab, storage, monkeypatch):
    tickets = lab.ask(8)
    lab.tell_many(tickets, values(tickets))
    other, done = Campaign.open("lab", storage=storage), []
    real = _run.Run.begin_again

    def begin_again(self, skip=()):
        real(self, skip)
        if not done:
            done.append(True)
            other.retract(tickets[1], "first")

    monkeypatch.setattr(_run.Run, "begin_again", begin_again)
    lab.retract(tickets[2], "second")
    assert lab.status().tickets["retracted"] == 2
    assert lab.status().samples == 6
    other.close()
    assert lab.doctor().ok


class Enough(Exception):
    pass


def test_a_computation_that_is_interrupted_loses_nothing(lab):
    for _ in range(3):
        lab.add_many(ARMS * 3, [TRUTH[arm] for arm in ARMS * 3])

    def stop(part, text):
        if part > 0.6:
            raise Enough(text)

    for _ in range(2):
        with pytest.raises(Enough, match="entry 3 of 4"):
            lab.compute(progress=stop)
    seen = []
    assert lab.compute(progress=lambda part, text: seen.append(text)).samples == 36
    assert seen[-1] == "entry 4 of 4"
    assert lab.doctor().ok


def test_a_state_from_the_middle_of_a_replay_leaves_out_what_is_retracted_later(lab, storage, monkeypatch):
    """A replay that was killed in the middle stored a state from before the retracted sample; the next one goes on from there."""
    monkeypatch.setattr(_run, "_WORTH", (1, 0.0))
    monkeypatch.setattr(la.campaign._computer, "PAGE", 2)
    for arm in ARMS * 2:
        lab.add(arm, TRUTH[arm])
    lab.retract(7, "spilled")
    with lab.storage.write("lab") as tx:
        tx.rebuild(tx.head.config, tx.head.account, [], [])  # everything that was computed is gone

    def killed(part, text):
        if part > 0.5:
            raise Enough(text)

    with pytest.raises(Enough), Campaign.open("lab", storage=storage) as first:
        first.compute(progress=killed)
    with lab.storage.read("lab") as reader:
        assert 1 < reader.head.state_version < 8
    with Campaign.open("lab", storage=storage) as second:
        assert second.status().samples == 7
        assert second.doctor().ok
    assert lab.status().samples == 7


def test_a_sample_that_cannot_be_counted_is_named_and_can_be_retracted(lab, monkeypatch):
    lab.add_many(ARMS, [0.0, 0.5, 5.0, 5.5])
    bad = lab.add("ada", 13.0)
    lab.add("ben", 0.25)
    real = la.BanditClusterer.tell_many

    def tell_many(self, arms, numbers):
        if [13.0] in numbers:
            raise OverflowError("too large")
        real(self, arms, numbers)

    monkeypatch.setattr(la.BanditClusterer, "tell_many", tell_many)
    for look in (lab.status, lambda: lab.ask(1), lab.compute):
        with pytest.raises(
            StorageError, match=r"samples of log entry 3 cannot be counted \(too large\); retract"
        ):
            look()
    assert lab.status(wait=False).waiting == 6
    lab.retract(bad.ticket, "the decimal point slipped")
    assert lab.status().samples == 5
    assert len(lab.ask(1)) == 1


def test_storing_what_was_computed_is_not_needed(tmp_path, monkeypatch):
    """A look succeeds also where its computation cannot be stored."""
    monkeypatch.setattr(_run, "_WORTH", (1, 0.0))
    path = tmp_path / "runs.db"
    with Campaign.create("lab", ARMS, 2, storage=path, **PAPER) as lab:
        lab.add_many(ARMS, [0.0, 0.5, 5.0, 5.5])
    storage = open_storage(path)
    with Campaign.open("lab", storage=storage) as lab:

        def refuse(*_, **__):
            raise StorageError("the disk is full")

        monkeypatch.setattr(storage, "write", refuse)
        assert lab.status().samples == 4
        with pytest.raises(StorageError, match="the disk is full"):
            lab.compute()
