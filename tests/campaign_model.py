"""The model of a campaign: all tickets and samples in lists, and everything computed from them again each time."""

from collections import Counter
from dataclasses import dataclass

import linkarms as la
from linkarms.errors import Conflict

ARMS = ["a", "b", "c"]
#: Two clusters that some ten samples tell apart, so that runs stop, and not at once.
STOPPING = la.stopping.Paper(theta=(-20, 20))


@dataclass
class Held:
    """A ticket as the model knows it."""

    arm: str
    state: str
    expires: float
    value: float | None = None
    number: int | None = None


class Model:
    """What the tickets are; a subclass has ``now``, the time, and ``in_order``, whether samples count in the order of asking."""

    def begin(self):
        self.tickets = {}
        self.told = []  # numbers of the tickets, in the order of their samples
        self.expirations = 0
        self.begun = None  # the clusterer of the last replay, and what it was told
        self.late = []  # tickets told after the stop, as of the last replay

    def expire(self):
        """What is over has expired, whoever looks."""
        for held in self.tickets.values():
            if held.state == "open" and held.expires <= self.now:
                held.state = "expired"
                self.expirations += 1

    def in_turn(self):
        """The tickets whose samples count, in their order, and those whose samples wait for an earlier ticket."""
        kept = [ticket for ticket in self.told if self.tickets[ticket].state == "told"]
        if not self.in_order:
            return kept, []
        missing = [t for t, held in self.tickets.items() if held.state in ("open", "expired")]
        first = min(missing, default=float("inf"))
        return sorted(t for t in kept if t < first), [t for t in kept if t > first]

    def by_arm(self, tickets):
        found = Counter(self.tickets[ticket].arm for ticket in tickets)
        return {arm: found[arm] for arm in ARMS if found[arm]}

    def replay(self):
        """A clusterer that is told what counts until it is done, and the tickets whose samples wait."""
        counting, waiting = self.in_turn()
        c, counted = self._started(counting)
        for ticket in counting[len(counted) :]:
            if c.done:
                break
            c.tell(self.tickets[ticket].arm, self.tickets[ticket].value)
            counted.append(ticket)
        self.late = counting[len(counted) :]
        if c.done:
            self.late, waiting = self.late + waiting, []
        pulls = self.by_arm([*waiting, *(t for t, held in self.tickets.items() if held.state == "open")])
        c.set_pending([pulls.get(arm, 0) for arm in ARMS])
        return c, waiting

    def _started(self, counting):
        """The clusterer of the last replay and what it was told, if that is how the samples begin; else a new one."""
        if self.begun is None or self.begun[1] != counting[: len(self.begun[1])]:
            c = la.BanditClusterer(2, ARMS, stopping=STOPPING, delta=0.2, family="gaussian")
            self.begun = c, []
        return self.begun

    def take_in(self, ticket, value):
        held = self.tickets[ticket]
        if held.value is None:
            held.state, held.value = "told", value
            self.told.append(ticket)
            held.number = len(self.told)

    def refusal(self, ticket, value):
        """The error that telling this ticket must raise, if any."""
        held = self.tickets[ticket]
        if held.value is not None:
            return None if held.value == value else Conflict
        return Conflict if held.state == "released" else None
