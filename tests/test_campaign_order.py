"""Campaigns that count samples in the order of asking: what waits, what makes it count, and that every replay agrees."""

import json

import numpy as np
import pytest

import linkarms as la
from linkarms.campaign import Campaign, Trace, backup
from linkarms.campaign import _limits as limits
from linkarms.campaign import _operations as operations
from linkarms.campaign._storage import FIGURES, STATE
from linkarms.errors import Conflict, InvalidInput, StorageError, TooLarge

ARMS = ["led", "neon", "arc"]
MEANS = {"led": 1.0, "neon": 1.2, "arc": 30.0}


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def create(storage, clock=None, name="lamps", **settings):
    settings = {"family": "exponential", "lease": 60.0, "in_order": True} | settings
    return Campaign.create(name, ARMS, 2, storage=storage, clock=clock, **settings)


@pytest.fixture
def lamps(storage, clock):
    with create(storage, clock) as campaign:
        yield campaign


def told_by_hand(samples):
    """A clusterer that is told these samples in this order."""
    c = la.BanditClusterer(2, ARMS, family="exponential")
    for arm, value in samples:
        c.tell(arm, value)
    return c


def agrees(campaign, samples):
    """Whether the campaign counts these samples in this order, and all its replays do so too, bit for bit."""
    c, status = told_by_hand(samples), campaign.status()
    assert (status.samples, status.evidence) == (c.n_samples, c.evidence_and_threshold()[0])
    assert campaign.result().to_dict() == c.result().to_dict() | {"reason": campaign.result().reason}
    assert Campaign.open(campaign.name, campaign.storage).status() == status
    assert campaign.doctor().ok
    trace = Trace(campaign.name, campaign.storage)
    trace.catch_up()
    last = trace.looks[-1] if trace.looks else None
    assert last is None or (last.samples, last.evidence) == (status.samples, status.evidence)
    return status


def test_an_early_sample_is_stored_at_once_and_counts_in_its_turn(lamps):
    tickets = lamps.ask(4)
    assert [t.arm for t in tickets] == ["led", "neon", "arc", "led"]
    receipt = lamps.tell(tickets[3], 0.5)
    assert receipt.number == 1
    assert lamps.tell(tickets[3], 0.5) == receipt  # the same again
    with pytest.raises(Conflict, match=r"it keeps that one: retract it if it is wrong$"):
        lamps.tell(tickets[3], 0.75)
    lamps.tell(tickets[1], 1.5)
    status = agrees(lamps, [])
    assert status.in_order
    assert (status.samples, status.held, status.awaited, status.waiting) == (0, {"led": 1, "neon": 1}, 1, 0)
    assert status.tickets["told"] == 2
    lamps.tell(tickets[0], 7.0)
    status = agrees(lamps, [("led", 7.0), ("neon", 1.5)])
    assert (status.held, status.awaited) == ({"led": 1}, 3)
    lamps.tell(tickets[2], 40.0)
    status = agrees(lamps, [("led", 7.0), ("neon", 1.5), ("arc", 40.0), ("led", 0.5)])
    assert (status.held, status.awaited) == ({}, None)
    assert [row["value"] for row in json.loads(lamps.export("json"))] == [7.0, 1.5, 40.0, 0.5]


def test_samples_that_wait_count_as_pulls_when_arms_are_chosen(lamps):
    tickets = lamps.ask(3)
    lamps.tell_many(tickets[1:], [1.5, 40.0])
    c = told_by_hand([])
    c.set_pending([1, 1, 1])  # one open ticket, two samples that wait
    assert [t.arm for t in lamps.ask(4)] == c.ask(4)


def test_a_release_makes_later_samples_count(lamps):
    tickets = lamps.ask(3)
    lamps.tell_many(tickets[1:], [1.5, 40.0])
    before = lamps.compute()
    assert (before.samples, before.age) == (0, 0.0)
    lamps.release(tickets[0])
    stale = lamps.status(wait=False)
    assert stale.age > 0.0, "the release changed what counts, so the last figures are old"
    assert stale.samples == 0
    status = agrees(lamps, [("neon", 1.5), ("arc", 40.0)])
    assert (status.held, status.conditional) == ({}, False)
    assert lamps.compute().samples == 2
    assert lamps.status(wait=False).age == 0.0
    assert lamps.doctor().ok  # with stored figures


def test_later_samples_wait_for_an_expired_ticket(lamps, clock):
    """Otherwise the end of the lease would decide that long lifetimes are left out."""
    tickets = lamps.ask(3)
    lamps.tell_many(tickets[1:], [1.5, 40.0])
    clock.now += 61.0
    status = agrees(lamps, [])
    assert (status.tickets["expired"], status.awaited, status.conditional) == (1, 1, False)
    (again,) = lamps.ask(1)
    assert again.id == 4
    lamps.tell(again, 2.0)
    lamps.tell(tickets[0], 70.0)  # late, and in its place
    status = agrees(lamps, [("led", 70.0), ("neon", 1.5), ("arc", 40.0), (again.arm, 2.0)])
    assert (status.expirations, status.conditional) == (1, False)


def test_an_expired_ticket_can_be_released_and_the_promise_says_so(lamps, clock):
    tickets = lamps.ask(3)
    lamps.tell_many(tickets[1:], [1.5, 40.0])
    clock.now += 61.0
    lamps.release(tickets[0])
    lamps.release(tickets[0])  # once is enough
    status = agrees(lamps, [("neon", 1.5), ("arc", 40.0)])
    assert status.tickets["released"] == 1
    assert status.promise.endswith(
        "1 lease(s) expired; it holds only if none of these tickets was released because its sample took long"
    )
    with pytest.raises(Conflict, match="was released"):
        lamps.tell(tickets[0], 70.0)
    assert [event.kind for event in lamps.history()][-2:] == ["expire", "release"]


def test_a_retracted_sample_no_longer_counts_and_delays_nobody(lamps):
    tickets = lamps.ask(4)
    lamps.tell_many(tickets[:2] + tickets[3:], [7.0, 1.5, 0.5])
    lamps.retract(tickets[0], "the wrong lamp")
    status = agrees(lamps, [("neon", 1.5)])
    assert status.held == {"led": 1}
    lamps.retract(tickets[3], "this one, too")  # it never counted
    status = agrees(lamps, [("neon", 1.5)])
    assert (status.held, status.awaited, status.tickets["retracted"]) == ({}, None, 2)
    lamps.tell(tickets[2], 40.0)
    agrees(lamps, [("neon", 1.5), ("arc", 40.0)])


def test_samples_without_a_ticket_are_refused(lamps):
    before = lamps.history()
    with pytest.raises(Conflict, match="has no place; ask for a ticket and tell its sample"):
        lamps.add("led", 1.0)
    with pytest.raises(Conflict, match="in the order of asking"):
        lamps.add_many(ARMS, [1.0, 2.0, 3.0], key="notebook")
    assert lamps.history() == before


def test_after_the_stop_what_waited_is_late(storage, clock):
    with create(storage, clock, max_samples=4) as lamps:
        tickets = lamps.ask(4)
        lamps.tell_many(tickets[1:], [1.5, 40.0, 0.5])
        assert lamps.ask() == []  # open and waiting samples use the budget
        clock.now += 61.0
        lamps.tell_many(lamps.ask(), [0.25])
        lamps.tell(tickets[0], 7.0)
        status = lamps.status()
        assert (status.done, status.samples, status.late, status.held) == (True, 4, 1, {})
        assert lamps.doctor().ok


def test_a_stored_state_keeps_what_waits(storage):
    """More than 256 samples: the state is stored while some wait, and another object continues from there."""
    with create(storage) as lamps:
        tickets = lamps.ask(400)
        values = np.random.default_rng(3).exponential([MEANS[t.arm] for t in tickets]).tolist()
        lamps.tell_many(tickets[:300], values[:300])
        lamps.tell_many(tickets[302:], values[302:])
        lamps.status()
        with lamps.storage.read("lamps") as reader:
            stored = json.loads(reader.computed(STATE).body)
        assert (stored["order"]["next"], len(stored["order"]["later"])) == (301, 98)
        other = Campaign.open("lamps", lamps.storage)
        other.release(301)
        other.tell(302, values[301])
        counted = [i for i in range(400) if i != 300]
        samples = [(tickets[i].arm, values[i]) for i in counted]
        c = told_by_hand(samples)
        assert c.done
        for campaign in (lamps, other, Campaign.open("lamps", lamps.storage)):
            assert campaign.result().evidence == c.result().evidence
            assert campaign.status().samples == c.n_samples
        assert lamps.doctor().ok


def test_a_repair_and_a_backup_count_the_same(tmp_path, clock):
    with create(tmp_path / "runs.db", clock) as lamps:
        tickets = lamps.ask(4)
        lamps.tell_many(tickets[1:3], [1.5, 40.0])
        clock.now += 61.0
        lamps.release(tickets[0])
        lamps.compute()
        lamps.tell(lamps.ask()[0], 0.25)
        before, table = lamps.status(), lamps.export("csv")
        assert before.awaited == 4
        backup(tmp_path / "copy.db", tmp_path / "runs.db")
        with Campaign.open("lamps", tmp_path / "copy.db", clock) as copy:
            assert (copy.status(), copy.export("csv"), copy.doctor().ok) == (before, table, True)
        with lamps.storage.write("lamps") as tx:
            tx.rebuild(tx.head.config.replace(',"in_order":true', ""), tx.head.account, [], [2])
        checkup = Campaign("lamps", lamps.storage).doctor(repair=True)
        assert checkup.repaired
        again = Campaign.open("lamps", lamps.storage)
        assert (again.status(), again.export("csv"), again.doctor().ok) == (before, table, True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"next":1', '"next":-1'),
        ('"later":[[2,1', '"later":[["2",1'),
        ('"later":[[2,1', '"later":[[2,9'),
        ('"order":', '"ordre":'),
    ],
)
def test_a_damaged_state_is_named_and_rebuilt(tmp_path, old, new):
    with create(tmp_path / "runs.db") as lamps:
        tickets = lamps.ask(2)
        lamps.tell(tickets[1], 1.5)
        computer = lamps._computer
        lamps.status()
        computer.store([computer.run.state()])
        with lamps.storage.write("lamps") as tx:
            stored = tx.computed(STATE)
            assert old in stored.body
            tx.rebuild(tx.head.config, tx.head.account, [], [])
            tx.keep(stored._replace(body=stored.body.replace(old, new)))
        with pytest.raises(StorageError, match="the stored state of the campaign is damaged"):
            Campaign.open("lamps", lamps.storage).status()
        assert not lamps.doctor().ok
        assert lamps.doctor(repair=True).repaired
        assert Campaign.open("lamps", lamps.storage).status().held == {"neon": 1}


@pytest.mark.parametrize(
    ("old", "new"), [('"pulls":[0,1,0]', '"pulls":[0,1]'), ('"awaited":1', '"awaited":"x"')]
)
def test_damaged_figures_are_named_and_rebuilt(tmp_path, old, new):
    with create(tmp_path / "runs.db") as lamps:
        lamps.tell(lamps.ask(2)[1], 1.5)
        lamps.compute()
        with lamps.storage.write("lamps") as tx:
            stored = tx.computed(FIGURES)
            assert old in stored.body
            tx.rebuild(tx.head.config, tx.head.account, [], [])
            tx.keep(stored._replace(body=stored.body.replace(old, new)))
        with pytest.raises(StorageError, match="the stored figures of the campaign are damaged"):
            Campaign.open("lamps", lamps.storage).status(wait=False)
        assert lamps.doctor(repair=True).repaired
        assert Campaign.open("lamps", lamps.storage).status().held == {"neon": 1}


def test_too_many_that_wait_stop_the_asking(lamps, monkeypatch):
    tickets = lamps.ask(4)
    lamps.tell_many(tickets[1:], [1.5, 40.0, 0.5])
    monkeypatch.setattr(operations, "LIMITS", limits.LIMITS._replace(open_tickets=2))
    with pytest.raises(TooLarge, match="3 samples wait for ticket 1; at most 2 may wait: tell or release it"):
        lamps.ask()
    lamps.tell(tickets[0], 7.0)
    assert len(lamps.ask()) == 1


@pytest.mark.parametrize("value", [1, 0, "yes", None, [True]])
def test_the_setting_is_true_or_false(tmp_path, value):
    with pytest.raises(InvalidInput, match="is not True or False; give one of them"):
        create(tmp_path / "runs.db", in_order=value)
    assert not (tmp_path / "runs.db").exists()


def test_a_campaign_without_the_setting_stores_what_it_always_did(tmp_path):
    """So databases of earlier versions, and replays of them, are the same."""
    with create(tmp_path / "runs.db", in_order=False) as lamps:
        lamps.tell(lamps.ask(2)[1], 1.5)
        lamps.compute()
        status = lamps.status()
        assert (status.in_order, status.samples, status.held, status.awaited) == (False, 1, {}, None)
        with lamps.storage.read("lamps") as reader:
            assert sorted(json.loads(reader.head.config)) == ["clusterer", "lease", "linkarms"]
            assert "held" not in json.loads(reader.computed("figures").body)
        assert sorted(json.loads(lamps._computer.run.state().body)) == ["kept", "linkarms", "run", "told"]
