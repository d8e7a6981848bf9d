"""What campaigns do, on both databases."""

import csv
import io
import json
import threading
from datetime import UTC, datetime

import numpy as np
import pyarrow.parquet
import pytest

import linkarms as la
from linkarms.campaign import Campaign
from linkarms.errors import Conflict, NotFound

ARMS = ["ada", "ben", "cy", "dot"]
TRUTH = dict(zip(ARMS, [0.0, 0.4, 5.0, 5.3], strict=True))
PAPER = la.stopping.Paper(theta=(-10, 10))


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lab(storage, clock):
    with Campaign.create(
        "lab", ARMS, 2, storage=storage, stopping=PAPER, clock=clock, lease=60, family="gaussian"
    ) as campaign:
        yield campaign


def finish(campaign, seed=0, batch=4):
    """Measure until the campaign is done."""
    rng = np.random.default_rng(seed)
    while tickets := campaign.ask(batch):
        campaign.tell_many(tickets, [rng.normal(TRUTH[t.arm]) for t in tickets])


def test_from_nothing_to_a_result(lab):
    finish(lab)
    result, status = lab.result(), lab.status()
    assert result.stopped
    assert result.clusters == [["ada", "ben"], ["cy", "dot"]]
    assert status.clusters == result.clusters
    assert status.promise == "stopped: the clusters are wrong with probability at most 0.05"
    assert not status.conditional
    assert lab.ask(3) == []
    assert lab.doctor().ok


def test_the_same_arms_and_answers_as_a_clusterer(lab):
    """A campaign chooses and concludes as `BanditClusterer` does, sample by sample."""
    c = la.BanditClusterer(2, ARMS, stopping=PAPER, family="gaussian")
    rng = np.random.default_rng(5)
    while not c.done:
        n = int(rng.integers(1, 4))
        tickets = lab.ask(n)
        assert [t.arm for t in tickets] == c.ask(n)
        for t in tickets:
            value = rng.normal(TRUTH[t.arm])
            c.tell(t.arm, value)
            lab.tell(t, value)
    assert lab.status().evidence == c.evidence_and_threshold()[0]
    assert lab.result().to_dict() == c.result().to_dict()


def test_tickets_are_leases(lab, clock):
    first, second = lab.ask(2, worker="w1")
    assert (first.arm, second.arm, first.worker) == ("ada", "ben", "w1")
    assert first.expires_at == datetime.fromtimestamp(clock.now + 60, tz=UTC)
    assert lab.ask(1)[0].arm == "cy"
    clock.now += 60
    status = lab.status()
    assert status.tickets == {"open": 0, "told": 0, "released": 0, "expired": 3, "retracted": 0}
    assert status.pending == {}
    assert status.conditional
    again = lab.ask(2, worker="w2", lease=10)
    assert [t.arm for t in again] == ["ada", "ben"]
    assert {t.id for t in again}.isdisjoint({first.id, second.id})
    assert again[0].expires_at == datetime.fromtimestamp(clock.now + 10, tz=UTC)
    # a late answer is accepted once, besides that of the ticket that replaced it
    receipt = lab.tell(first, 0.1)
    assert lab.tell(first, 0.1) == receipt
    with pytest.raises(Conflict):
        lab.tell(first, 0.2)
    lab.tell(again[0], 0.3)
    status = lab.status()
    assert status.pulls["ada"] == 2
    assert status.pending == {"ben": 1}
    assert status.expirations == 3
    assert "conditional: 3 lease(s) expired" in status.promise
    assert "conditional" in lab.result().reason
    assert lab.doctor().ok


def test_a_clock_that_is_set_back_a_little_does_not_turn_time(lab, clock):
    lab.ask(1)
    clock.now -= 30
    (ticket,) = lab.ask(1)
    times = [event.at for event in lab.history()]
    assert times == sorted(times)
    assert ticket.expires_at == datetime.fromtimestamp(clock.now + 90, tz=UTC)


TEN_YEARS = 10 * 365 * 86_400


def test_a_clock_that_jumps_ten_years_ahead_and_back(lab, clock):
    """Leases go on expiring after their time, whenever they were given."""
    before = lab.ask(1)[0]
    clock.now += TEN_YEARS
    wrong = lab.ask(2)  # in the moment in which the clock is wrong
    clock.now -= TEN_YEARS - 20
    assert lab.status().tickets["open"] == 2
    after = lab.ask(1)[0]
    assert after.expires_at == datetime.fromtimestamp(clock.now + 60, tz=UTC)
    clock.now += 59
    assert lab.status().tickets["open"] == 3
    clock.now += 1
    assert lab.status().tickets == {"open": 0, "told": 0, "released": 0, "expired": 4, "retracted": 0}
    fresh = lab.ask(4)
    assert {t.arm for t in fresh} == set(ARMS)
    for ticket in (before, *wrong, after, *fresh):
        lab.tell(ticket, TRUTH[ticket.arm])
    assert [e.kind for e in lab.history()][:6] == ["create", "ask", "expire", "ask", "clock", "ask"]
    assert lab.doctor().ok
    assert lab.doctor().samples == 8


@pytest.mark.parametrize("seed", range(5))
def test_leases_end_whatever_the_clock_does(tmp_path, seed):
    """A clock that is set at random: a lease is a minute too long at most, and another one each time the clock is set back."""
    rng, clock = np.random.default_rng(seed), Clock()
    with Campaign.create(
        "lab", ARMS, 2, storage=tmp_path / "x.db", stopping=PAPER, clock=clock, lease=100, family="gaussian"
    ) as lab:
        passed, lost, given = 0.0, 0.0, {}
        for _ in range(60):
            step = rng.uniform(0, 40)
            passed, clock.now = passed + step, clock.now + step
            if rng.random() < 0.3:
                jump = rng.choice([1e9, 1e5, 200.0, 30.0]) * rng.choice([-1, 1])
                clock.now += jump
                lost += 60.0 if jump < 0 else 0.0
            (ticket,) = lab.ask(1)
            given[ticket.id] = (passed, lost)
            rows = json.loads(lab.export("json"))
            late = {t for t, (when, loss) in given.items() if passed - when > 160 + lost - loss}
            assert not late & {row["ticket"] for row in rows if row["state"] == "open"}
        assert late
        assert [e.kind for e in lab.history()].count("clock") >= 3
        assert lab.doctor().ok


def test_the_same_value_is_counted_once_and_another_refused(lab):
    a, b, _ = lab.ask(3)
    receipts = lab.tell_many([a, b], [0.5, 0.25])
    before = lab.status()
    assert [r.number for r in receipts] == [1, 2]
    assert lab.tell_many([b, a, b], [0.25, 0.5, 0.25]) == [receipts[1], receipts[0], receipts[1]]
    assert lab.tell(a.id, 0.5) == receipts[0]
    with pytest.raises(Conflict, match=r"ticket 1 was told with another value, 0.5"):
        lab.tell(a, 0.75)
    assert lab.status() == before
    assert before.samples == 2


def test_a_batch_is_stored_whole_or_not_at_all(lab):
    a, b, c = lab.ask(3)
    lab.tell(a, 1.0)
    before = lab.export("csv")
    for tickets, values, error in (
        ([b, c], [1.0, float("nan")], la.errors.InvalidSample),
        ([b, a], [1.0, 2.0], Conflict),
        ([b, 99], [1.0, 1.0], NotFound),
        ([b, b], [1.0, 2.0], Conflict),
        ([b, c], [1.0], la.errors.InvalidInput),
    ):
        with pytest.raises(error):
            lab.tell_many(tickets, values)
        assert lab.export("csv") == before
    assert lab.status().samples == 1
    assert lab.doctor().ok


def test_keys(lab, clock):
    tickets = lab.ask(3, worker="w", key="k1")
    assert lab.ask(3, worker="w", key="k1") == tickets
    assert lab.status().tickets["open"] == 3
    for other in (lambda: lab.ask(2, worker="w", key="k1"), lambda: lab.ask(3, worker="v", key="k1")):
        with pytest.raises(Conflict, match="'k1' was used for another request"):
            other()
    with pytest.raises(Conflict):
        lab.add("ada", 1.0, key="k1")
    receipt = lab.add("ada", 1.0, worker="w", key="k2")
    clock.now += 1
    assert lab.add("ada", 1.0, worker="w", key="k2") == receipt
    with pytest.raises(Conflict):
        lab.add("ada", 2.0, worker="w", key="k2")
    batch = lab.tell_many(tickets, [0.1, 0.2, 0.3], key="k3")
    assert lab.tell_many(tickets, [0.1, 0.2, 0.3], key="k3") == batch
    with pytest.raises(Conflict):
        lab.tell_many(tickets[:2], [0.1, 0.2], key="k3")
    many = lab.add_many(["cy", "dot"], [5.0, 5.5], key="k4")
    assert lab.add_many(["cy", "dot"], [5.0, 5.5], key="k4") == many
    # a key is remembered for what was answered, also when that was nothing new
    assert lab.tell_many(tickets, [0.1, 0.2, 0.3], key="k5") == batch
    with pytest.raises(Conflict):
        lab.add("ada", 1.0, key="k5")
    assert lab.status().samples == 6
    assert lab.doctor().ok


def test_samples_that_nobody_asked_for(lab):
    asked = lab.ask(1)[0]
    receipt = lab.add("ada", 0.5, worker="notebook")
    status = lab.status()
    assert status.pulls["ada"] == 1
    assert status.pending == {"ada": 1}, "the open ticket stays open"
    assert receipt.ticket == 2
    lab.tell(asked, 0.25)
    assert lab.status().pending == {}
    lab.retract(receipt.ticket, "a page was torn")
    assert lab.status().pulls["ada"] == 1


def test_release(lab):
    a, b = lab.ask(2)
    lab.release(a)
    lab.release(a)
    assert lab.status().tickets["released"] == 1
    assert not lab.status().conditional
    with pytest.raises(Conflict, match="ticket 1 was released"):
        lab.tell(a, 1.0)
    lab.tell(b, 1.0)
    with pytest.raises(Conflict, match="is told and cannot be released"):
        lab.release(b)
    assert lab.ask(1)[0].arm == "ada"


def test_retraction_counts_anew(lab):
    values = {"ada": 0.1, "ben": 0.2, "cy": 5.0, "dot": 5.5}
    tickets = lab.ask(8)
    lab.tell_many(tickets, [values[t.arm] + t.id / 100 for t in tickets])
    lab.retract(tickets[5], "wrong arm")
    c = la.BanditClusterer(2, ARMS, stopping=PAPER, family="gaussian")
    for t in tickets[:5] + tickets[6:]:
        c.tell(t.arm, values[t.arm] + t.id / 100)
    assert lab.status().evidence == c.evidence_and_threshold()[0]
    assert lab.result().parameters.tolist() == c.result().parameters.tolist()
    status = lab.status()
    assert status.conditional
    assert "1 sample(s) were retracted" in status.promise
    lab.retract(tickets[5], "said twice")
    assert [e.reason for e in lab.history() if e.kind == "retract"] == ["wrong arm"]
    assert lab.tell(tickets[5], values["ben"] + 0.06).number == 6, "the receipt is what it was"
    with pytest.raises(Conflict):
        lab.tell(tickets[5], 0.0)
    (held,) = lab.ask(1)
    with pytest.raises(Conflict, match="has no sample to retract"):
        lab.retract(held, "never measured")
    assert lab.doctor().ok


def test_the_answer_freezes_at_the_stop(lab):
    finish(lab, batch=1)
    frozen = lab.result().to_dict()
    lab.add("ada", 9.0)
    late = lab.add("dot", -9.0)
    assert lab.result().to_dict() == frozen
    status = lab.status()
    assert status.late == 2
    assert status.tickets["told"] == frozen["samples"] + 2
    assert lab.history()[-1].tickets == (late.ticket,)
    lab.retract(late.ticket, "as an example")
    assert {k: v for k, v in lab.result().to_dict().items() if k != "reason"} == {
        k: v for k, v in frozen.items() if k != "reason"
    }
    assert lab.doctor().ok


def test_a_stop_inside_a_batch_freezes_there(lab):
    tickets = lab.ask(400)
    rng = np.random.default_rng(2)
    values = [rng.normal(TRUTH[t.arm]) for t in tickets]
    lab.tell_many(tickets, values)
    c = la.BanditClusterer(2, ARMS, stopping=PAPER, family="gaussian")
    for t, value in zip(tickets, values, strict=True):
        if not c.done:
            c.tell(t.arm, value)
    assert c.done
    assert lab.status().samples == c.n_samples < 400
    assert lab.status().late == 400 - c.n_samples
    assert lab.result().labels.tolist() == c.result().labels.tolist()
    assert lab.doctor().ok


def test_retracting_a_sample_of_the_answer_opens_it_again(lab):
    tickets = lab.ask(400)
    rng = np.random.default_rng(3)
    lab.tell_many(tickets, [rng.normal(TRUTH[t.arm]) for t in tickets])
    stopped = lab.status()
    lab.retract(tickets[0], "the first one was a trial")
    status = lab.status()
    assert status.tickets["told"] == 399
    assert status.stopped
    # a sample that came after the old stop may be needed for the new one
    assert status.samples >= stopped.samples - 1
    assert status.conditional
    assert lab.doctor().ok


def test_exports(lab, tmp_path, clock):
    a, b, c = lab.ask(3, worker="=cmd()")
    lab.tell_many([a, b], [-0.5, 1 / 3])
    lab.release(c)
    lab.add("dot", 5.0)
    text = lab.export("csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == ["ticket", "arm", "value", "worker", "told_at", "state"]
    assert [row["worker"] for row in rows] == ["'=cmd()", "'=cmd()", "'=cmd()", ""]
    assert [row["value"] for row in rows] == ["-0.5", repr(1 / 3), "", "5.0"]
    assert [row["state"] for row in rows] == ["told", "told", "released", "told"]
    assert datetime.fromisoformat(rows[0]["told_at"]) == datetime.fromtimestamp(clock.now, tz=UTC)
    assert rows[2]["told_at"] == ""
    data = json.loads(lab.export("json"))
    assert data[0]["worker"] == "=cmd()"
    assert data[1]["value"] == 1 / 3
    assert data[2]["value"] is None
    table = pyarrow.parquet.read_table(io.BytesIO(lab.export("parquet")))
    assert table.to_pylist() == data
    for kind, content in (("csv", text.encode()), ("parquet", None)):
        assert lab.export(kind, tmp_path / f"out.{kind}") is None
        assert content is None or (tmp_path / f"out.{kind}").read_bytes() == content
    assert sorted(p.name for p in tmp_path.glob("*out*")) == ["out.csv", "out.parquet"]


@pytest.mark.parametrize("bad", ["=1+1", "+x", "-x", "@x"])
def test_cells_that_a_spreadsheet_would_run(tmp_path, bad):
    with Campaign.create(
        "x", [bad, "b", "c"], 2, storage=tmp_path / "x.db", stopping=PAPER, family="gaussian"
    ) as campaign:
        campaign.add(bad, -1.0, worker=bad)
        assert campaign.export("csv").splitlines()[1].startswith(f"1,'{bad},-1.0,'{bad},")


def test_history(lab, clock):
    (a,) = lab.ask(1, worker="w", key="k")
    lab.tell(a, 1.0)
    lab.retract(a, "spilled")
    found = lab.history()
    assert [(e.seq, e.kind) for e in found] == [(1, "create"), (2, "ask"), (3, "tell"), (4, "retract")]
    assert (found[1].worker, found[1].key, found[1].tickets) == ("w", "k", (1,))
    assert found[3].reason == "spilled"
    assert lab.history(after=1, limit=2) == found[1:3]
    assert lab.history(limit=0) == []


def test_threads_share_one_object(lab):
    failed = []

    def work(number):
        try:
            for i in range(12):
                (ticket,) = lab.ask(1, worker=f"w{number}")
                lab.tell(ticket, TRUTH[ticket.arm] + i / 100)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert lab.status().tickets["told"] == 48
    assert lab.doctor().ok
