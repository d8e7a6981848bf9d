"""Campaigns that count samples in the order of asking: what waits, what makes it count, and that every replay agrees."""

import heapq
import json

import numpy as np
import pytest
from scipy import stats
from tests.service_thread import local_service

import linkarms as la
from linkarms.campaign import Campaign, Trace, backup
from linkarms.campaign import _limits as limits
from linkarms.campaign import _operations as operations
from linkarms.campaign._order import Order
from linkarms.campaign._storage import FIGURES, STATE, Entry
from linkarms.cli._app import run
from linkarms.client import Client
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


def lifetimes(campaign, n, seed, workers=4):
    """Several workers measure ``n`` lifetimes and tell each one when it ends.

    Returns the samples in the order of asking, the same in the order in which they ended, and the results after each of them.
    """
    rng = np.random.default_rng(seed)
    running, asked, ended, results = [], {}, [], []

    def begin(now):
        (ticket,) = campaign.ask()
        asked[ticket.id] = (ticket.arm, rng.exponential(3.0 if ticket.arm == "arc" else 1.0))
        heapq.heappush(running, (now + asked[ticket.id][1], ticket.id))

    for _ in range(workers):
        begin(0.0)
    while running:
        now, ticket = heapq.heappop(running)
        campaign.tell(ticket, asked[ticket][1])
        ended.append(asked[ticket])
        results.append(campaign.result())
        if len(asked) < n:
            begin(now)
    return [asked[i] for i in sorted(asked)], ended, results


def test_lifetimes_told_when_they_end(tmp_path):
    """Without the setting, what counts is what ended first, so the values decide; with it, what was asked for first."""
    with create(tmp_path / "runs.db", name="told", in_order=False) as campaign:
        asked, ended, results = lifetimes(campaign, 20, seed=1)
        assert ended != asked
        for n, result in enumerate(results, start=1):
            assert result.to_dict() == told_by_hand(ended[:n]).result().to_dict()
    with create(tmp_path / "runs.db", name="asked") as campaign:
        asked, ended, results = lifetimes(campaign, 20, seed=2)
        assert ended != asked
        for n, result in enumerate(results, start=1):
            assert result.samples <= n
            assert result.to_dict() == told_by_hand(asked[: result.samples]).result().to_dict()
        assert len({result.samples for result in results}) > 5
        assert results[-1].samples == 20


def entry(seq, kind, **body):
    return Entry(seq, seq, kind, None, None, None, json.dumps(body), "")


def first_counted(order, values, arms):
    """The first sample that counts if every sample is told when it ends: its arm and its value."""
    for seq, i in enumerate(np.argsort(values), start=1):
        counted = order.take(entry(seq, "tell", samples=[[int(i) + 1, arms[i], float(values[i])]]))
        if counted:
            return counted[0]
    raise AssertionError("every ticket was told")


def test_the_first_sample_that_counts_is_an_ordinary_one():
    """Two arms with one exponential lifetime each. In the order of asking, the first sample that counts has the arm's distribution. In the
    order told it is the shorter one: below the median with probability 3/4. So it is if only the order within each arm is kept, because
    the value decides which arm comes first. An exact binomial test at level 1e-6, with 2,000 runs, tells them apart.

    The likelihood ratio 2 exp(-x) of rate 2 has mean 1 for an ordinary sample, and 4/3 for the shorter of two. It is at most 2, so by
    Hoeffding's inequality a mean of 2,000 is 1/6 off with probability at most exp(-27).
    """
    rng, n = np.random.default_rng(8), 2_000
    draws = rng.exponential(size=(n, 2))
    first = {
        in_order: np.array([first_counted(Order(in_order), x, [0, 1])[1] for x in draws])
        for in_order in (True, False)
    }
    below = {in_order: int((x < np.log(2.0)).sum()) for in_order, x in first.items()}
    assert abs(np.mean(2.0 * np.exp(-first[True])) - 1.0) < 1 / 6
    assert np.mean(2.0 * np.exp(-first[False])) > 1.0 + 1 / 6
    assert stats.binomtest(below[True], n, 0.5).pvalue > 1e-6
    assert stats.binomtest(below[False], n, 0.5, alternative="greater").pvalue < 1e-6
    assert stats.binomtest(below[False], n, 0.75).pvalue > 1e-6


def test_on_the_command_line(tmp_path, capsys):
    at = ["--storage", str(tmp_path / "runs.db")]

    def words(*args, code=0):
        assert run(["campaign", *args, *at]) == code
        got = capsys.readouterr()
        return got.out if code == 0 else got.err

    made = words(
        "create", "lamps", "--arms", ",".join(ARMS), "-k", "2", "--family", "exponential", "--in-order"
    )
    assert "samples count in the order of asking" in made
    words("ask", "lamps", "-n", "3")
    words("tell", "lamps", "3", "40")
    words("tell", "lamps", "2", "1.5")
    assert "2 samples wait until ticket 1 is told or released: neon 1, arc 1\n" in words("status", "lamps")
    status = json.loads(words("status", "lamps", "--json"))
    assert (status["in_order"], status["held"], status["awaited"]) == (True, {"neon": 1, "arc": 1}, 1)
    refused = words("add", "lamps", "led", "1.0", code=2)
    assert refused.startswith("linkarms: this campaign counts samples in the order of asking")
    assert refused.count("\n") == 1
    words("release", "lamps", "1")
    assert "wait until" not in words("status", "lamps")
    assert "is sound" in words("doctor", "lamps")


def test_over_http(tmp_path):
    with local_service(tmp_path / "runs.db") as service:
        url = service.server.url
        with Client.create("lamps", ARMS, 2, url=url, family="exponential", in_order=True) as lamps:
            tickets = lamps.ask(3)
            lamps.tell(tickets[2], 40.0)
            status = lamps.status()
            assert (status.in_order, status.held, status.awaited) == (True, {"arc": 1}, 1)
            with pytest.raises(Conflict, match="ask for a ticket and tell its sample"):
                lamps.add("led", 1.0)
            lamps.tell_many(tickets[:2], [7.0, 1.5])
            assert (lamps.status().samples, lamps.status().held) == (3, {})
            assert lamps.doctor().ok
        with pytest.raises(InvalidInput, match="in_order: Input should be a valid boolean"):
            Client.create("other", ARMS, 2, url=url, in_order="yes")
        with Client.create("other", ARMS, 2, url=url) as other:
            assert not other.status().in_order
