"""A state machine: every operation of a campaign, from two objects in turn, against a model that keeps everything in lists."""

from itertools import count

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests.campaign_model import ARMS, STOPPING, Held, Model

from linkarms.campaign import STATES, Campaign, Trace
from linkarms.errors import Conflict, InvalidSample, NotFound

VALUES = st.one_of(st.sampled_from([-0.5, 0.0, 1.0, 9.0]), st.floats(-30, 30))
#: Where the arms are, roughly.
LEVEL = {"a": 0.0, "b": 1.0, "c": 9.0}
LEASE = 100.0


class Machine(Model, RuleBasedStateMachine):
    url = None  # set by the test
    in_order = False
    seen = None
    numbers = count(1)

    @initialize()
    def create(self):
        self.now = 1e6
        self.name = f"model-{next(self.numbers)}"
        made = Campaign.create(
            self.name,
            ARMS,
            2,
            storage=self.url,
            stopping=STOPPING,
            delta=0.2,
            lease=LEASE,
            clock=self.clock,
            family="gaussian",
            in_order=self.in_order,
        )
        self.handles = [made, Campaign.open(self.name, storage=self.url, clock=self.clock)]
        self.trace = Trace(self.name, made.storage)
        self.begin()
        self.keys = {}

    def clock(self):
        return self.now

    def teardown(self):
        if getattr(self, "handles", None):
            status = self.handles[0].status()
            checkup = self.handles[1].doctor()
            assert checkup.ok, checkup.difference
            self.seen["stopped"] += status.stopped
            self.seen["late"] += status.late > 0
            self.seen["retracted and late"] += status.late > 0 and status.tickets["retracted"] > 0
            self.seen["expired"] += status.expirations > 0
            self.seen["answered late"] += status.expirations > status.tickets["expired"]
        for handle in getattr(self, "handles", []):
            handle.close()

    def some(self, data):
        return data.draw(st.sampled_from(sorted(self.tickets)))

    def handle(self, data):
        return data.draw(st.sampled_from(self.handles))

    def answer(self, data, ticket):
        value = LEVEL[self.tickets[ticket].arm]
        self.handle(data).tell(ticket, value)
        self.take_in(ticket, value)

    # the operations

    @rule(data=st.data(), n=st.integers(1, 4), key=st.sampled_from([None, None, "k1", "k2", "k3"]))
    def ask(self, data, n, key):
        campaign = self.handle(data)
        self.expire()
        if key in self.keys:
            known, answer = self.keys[key]
            if known == ("ask", n):
                assert campaign.ask(n, key=key) == answer
            else:
                with pytest.raises(Conflict):
                    campaign.ask(n, key=key)
            return
        expected = self.replay()[0].ask(n)
        got = campaign.ask(n, key=key)
        assert [t.arm for t in got] == expected
        assert [t.id for t in got] == list(range(len(self.tickets) + 1, len(self.tickets) + 1 + len(got)))
        for ticket in got:
            assert ticket.expires_at.timestamp() == self.now + LEASE
            self.tickets[ticket.id] = Held(ticket.arm, "open", self.now + LEASE)
        if key:
            self.keys[key] = (("ask", n), got)

    @rule(data=st.data(), n=st.integers(1, 3))
    def measure(self, data, n):
        """What workers do all day: ask, and tell all of it."""
        before = len(self.tickets)
        self.ask(data, n, None)
        new = range(before + 1, len(self.tickets) + 1)
        if new:
            values = [LEVEL[self.tickets[t].arm] + data.draw(st.sampled_from([-0.5, 0.25])) for t in new]
            self.handle(data).tell_many(list(new), values)
            for t, v in zip(new, values, strict=True):
                self.take_in(t, v)

    @rule(data=st.data(), n=st.integers(1, 3))
    def forget(self, data, n):
        """Ask, and let the lease run out."""
        self.ask(data, n, None)
        self.now += LEASE

    @rule(data=st.data())
    def add_to_each(self, data):
        """A page of a notebook."""
        self.expire()
        values = [LEVEL[arm] + data.draw(st.sampled_from([-0.5, 0.25])) for arm in ARMS]
        if self.in_order:
            with pytest.raises(Conflict, match="in the order of asking"):
                self.handle(data).add_many(ARMS, values)
            return
        for receipt, arm, value in zip(self.handle(data).add_many(ARMS, values), ARMS, values, strict=True):
            self.tickets[receipt.ticket] = Held(arm, "told", 0.0)
            self.take_in(receipt.ticket, value)

    @precondition(lambda self: self.tickets)
    @rule(data=st.data(), value=VALUES)
    def tell(self, data, value):
        ticket = self.some(data)
        held = self.tickets[ticket]
        if held.value is not None and data.draw(st.booleans()):
            value = held.value
        self.expire()
        if self.refusal(ticket, value):
            with pytest.raises(Conflict):
                self.handle(data).tell(ticket, value)
            return
        receipt = self.handle(data).tell(ticket, value)
        self.take_in(ticket, value)
        assert (receipt.ticket, receipt.arm, receipt.number) == (ticket, held.arm, held.number)

    @precondition(lambda self: any(held.state == "expired" for held in self.tickets.values()))
    @rule(data=st.data(), value=VALUES)
    def tell_expired(self, data, value):
        """Answer a ticket whose lease has run out."""
        self.expire()
        ticket = data.draw(st.sampled_from([t for t, h in self.tickets.items() if h.state == "expired"]))
        receipt = self.handle(data).tell(ticket, value)
        self.take_in(ticket, value)
        assert (receipt.ticket, receipt.number) == (ticket, len(self.told))

    @precondition(lambda self: self.in_order and self.tickets)
    @rule(data=st.data(), n=st.integers(2, 4))
    def settle(self, data, n):
        """Tell everything that is missing, the last ticket first, and measure more: nothing waits any longer."""
        self.expire()
        for ticket in sorted(self.tickets, reverse=True):
            if self.tickets[ticket].state in ("open", "expired"):
                self.answer(data, ticket)
        self.measure(data, n)

    @precondition(lambda self: self.tickets)
    @rule(data=st.data(), values=st.lists(VALUES, min_size=1, max_size=5))
    def tell_many(self, data, values):
        tickets = [self.some(data) for _ in values]
        self.expire()
        first = {}
        for t, v in zip(tickets, values, strict=True):
            first.setdefault(t, v)
        bad = any(
            self.refusal(t, v) or (self.tickets[t].value is None and first[t] != v)
            for t, v in zip(tickets, values, strict=True)
        )
        if bad:
            with pytest.raises(Conflict):
                self.handle(data).tell_many(tickets, values)
            return
        receipts = self.handle(data).tell_many(tickets, values)
        for t, v in zip(tickets, values, strict=True):
            self.take_in(t, v)
        assert [r.number for r in receipts] == [self.tickets[t].number for t in tickets]

    @rule(
        data=st.data(), arm=st.sampled_from(ARMS), value=VALUES, key=st.sampled_from([None, None, "k1", "k4"])
    )
    def add(self, data, arm, value, key):
        campaign = self.handle(data)
        self.expire()
        if self.in_order:
            with pytest.raises(Conflict):
                campaign.add(arm, value, key=key)
            return
        if key in self.keys:
            known, answer = self.keys[key]
            if known == ("add", arm, value):
                assert campaign.add(arm, value, key=key) == answer
            else:
                with pytest.raises(Conflict):
                    campaign.add(arm, value, key=key)
            return
        receipt = campaign.add(arm, value, key=key)
        assert receipt.ticket == len(self.tickets) + 1
        self.tickets[receipt.ticket] = Held(arm, "told", 0.0)
        self.take_in(receipt.ticket, value)
        assert receipt.number == len(self.told)
        if key:
            self.keys[key] = (("add", arm, value), receipt)

    @rule(data=st.data(), key=st.sampled_from(["k1", "k4"]))
    def repeat(self, data, key):
        """The same request with its key again."""
        if key in self.keys:
            (kind, *request), answer = self.keys[key]
            self.expire()
            assert getattr(self.handle(data), kind)(*request, key=key) == answer

    @precondition(lambda self: self.tickets)
    @rule(data=st.data())
    def release(self, data):
        ticket = self.some(data)
        self.expire()
        held = self.tickets[ticket]
        if held.state in ("told", "retracted"):
            with pytest.raises(Conflict):
                self.handle(data).release(ticket)
            return
        self.handle(data).release(ticket)
        if held.state == "open" or (held.state == "expired" and self.in_order):
            held.state = "released"

    @precondition(lambda self: self.told)
    @rule(data=st.data())
    def retract(self, data):
        ticket = self.some(data)
        self.expire()
        held = self.tickets[ticket]
        if held.state not in ("told", "retracted"):
            with pytest.raises(Conflict):
                self.handle(data).retract(ticket, "why not")
            return
        self.handle(data).retract(ticket, "why not")
        held.state = "retracted"

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def retract_late(self, data):
        """Take back a sample that came after the stop: the run stays stopped."""
        ticket = data.draw(st.sampled_from(self.late))
        self.handle(data).retract(ticket, "too late")
        self.tickets[ticket].state = "retracted"

    @rule(data=st.data())
    def past_the_stop(self, data):
        """Measure with two tickets open until the run stops, then answer the two: their samples are late."""
        for _ in range(30):
            if self.handle(data).status().stopped:
                break
            self.ask(data, 1, None)
            missing = [t for t, held in sorted(self.tickets.items()) if held.state in ("open", "expired")]
            for ticket in missing[:-2]:
                self.answer(data, ticket)
        for ticket in [t for t, held in sorted(self.tickets.items()) if held.state == "open"]:
            self.answer(data, ticket)

    @rule(data=st.data(), value=st.sampled_from([float("nan"), float("inf"), [1.0, 2.0], "x"]))
    def nonsense(self, data, value):
        campaign = self.handle(data)
        self.expire()
        with pytest.raises(InvalidSample):
            campaign.add("a", value)
        with pytest.raises(NotFound):
            campaign.tell(len(self.tickets) + 1, 1.0)

    @rule(data=st.data())
    def compute(self, data):
        """Store what follows from the log, or look at what was stored without waiting for more."""
        campaign = self.handle(data)
        if data.draw(st.booleans()):
            assert campaign.compute().waiting == 0
            return
        seen = campaign.status(wait=False)
        assert seen.samples + seen.late + seen.waiting + sum(seen.held.values()) >= seen.tickets["told"]
        now = campaign.status()
        assert seen.age > 0.0 or seen == now

    @rule(seconds=st.sampled_from([1.0, 50.0, 150.0]))
    def wait(self, seconds):
        self.now += seconds

    @rule(data=st.data())
    def reopen(self, data):
        i = data.draw(st.sampled_from([0, 1]))
        self.handles[i].close()
        self.handles[i] = Campaign.open(self.name, storage=self.url, clock=self.clock)

    # what must hold

    @invariant()
    def the_status_is_the_models(self):
        if not getattr(self, "handles", None):
            return
        self.expire()
        status = self.handles[0].status()
        states = [held.state for held in self.tickets.values()]
        assert status.tickets == {state: states.count(state) for state in STATES}
        c, waiting = self.replay()
        assert status.pending == self.by_arm(t for t, held in self.tickets.items() if held.state == "open")
        assert (status.samples, status.late) == (c.n_samples, len(self.late))
        assert status.held == self.by_arm(waiting)
        self.seen["held back"] += bool(waiting)
        assert (status.awaited is None) == (not waiting)
        assert status.awaited is None or self.tickets[status.awaited].state in ("open", "expired")
        assert list(status.pulls.values()) == c.result().pulls.tolist()
        assert (status.done, status.stopped) == (c.done, c.result().stopped)
        evidence, threshold = c.evidence_and_threshold()
        assert status.evidence == evidence
        assert status.threshold == (None if threshold == float("inf") else threshold)
        assert status.expirations == self.expirations
        expired = self.expirations > 0 and ("released" in states or not self.in_order)
        assert status.conditional == (expired or "retracted" in states)

    @invariant()
    def the_trace_counts_the_same(self):
        if getattr(self, "handles", None) and self.in_order:
            self.trace.catch_up()
            c, _ = self.replay()
            last = self.trace.looks[-1] if self.trace.looks else None
            assert (last.samples if last else 0) == (c.n_samples if all(c.result().pulls) else 0)
            assert last is None or last.evidence == c.evidence_and_threshold()[0]

    @invariant()
    def the_log_gives_the_state(self):
        if not getattr(self, "handles", None):
            return
        with self.handles[0].storage.read(self.name) as log:
            entries = log.head.version
        if entries % 3 == 0:
            checkup = self.handles[1].doctor()
            assert checkup.ok, checkup.difference
            assert (checkup.samples, checkup.tickets) == (len(self.told), len(self.tickets))
