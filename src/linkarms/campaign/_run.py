"""The state of a campaign in memory: a clusterer and the account of tickets; written as the snapshot, made again by a replay."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkarms.campaign._storage import OPEN, STATES
from linkarms.clusterer import BanditClusterer
from linkarms.errors import InvalidDump, StorageError

__all__ = ["Account", "Run"]

#: Samples that a replay hands to the clusterer at once.
_CHUNK = 5_000


@dataclass
class Account:
    """How many tickets there are, and in which states.

    Attributes
    ----------
    issued, told : int
        The last ticket and the last sample that got a number.
    expirations : int
        Leases that ever expired.
    states : dict
        Tickets in each state.
    pending : list of int
        Open tickets of each arm.
    next_expiry : int or None
        No open ticket expires before: a bound, not necessarily reached.
    """

    issued: int = 0
    told: int = 0
    expirations: int = 0
    states: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    pending: list[int] = field(default_factory=list)
    next_expiry: int | None = None

    def issue(self, arms: Sequence[int], state: str) -> range:
        """Numbers for new tickets of these arms."""
        first = self.issued + 1
        self.issued += len(arms)
        self.states[state] += len(arms)
        if state == OPEN:
            for m in arms:
                self.pending[m] += 1
        return range(first, self.issued + 1)

    def move(self, arm: int, old: str, new: str) -> None:
        """A ticket of this arm goes from one state to another."""
        self.states[old] -= 1
        self.states[new] += 1
        if old == OPEN:
            self.pending[arm] -= 1


class Run:
    """A clusterer and the account of its tickets.

    The clusterer is a function of the samples that are not retracted, in the order in which they were stored, and of nothing else:
    it takes them in until it is done. What comes later is not shown to it.
    """

    def __init__(self, config: str) -> None:
        try:
            data = json.loads(config)
            self.clusterer = BanditClusterer.load(data["clusterer"])
            self.lease = float(data["lease"])
        except (InvalidDump, ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"the settings of the campaign are damaged ({error}); restore a copy"
            ) from error
        self.account = Account(pending=[0] * len(self.clusterer.arms))

    @property
    def arms(self) -> tuple[str, ...]:
        """The names of the arms."""
        return tuple(str(a) for a in self.clusterer.arms)

    @property
    def late(self) -> int:
        """Samples that are stored and that the clusterer has not seen."""
        return self.account.states["told"] - self.clusterer.n_samples

    def snapshot(self) -> str:
        """The state as JSON; floating-point numbers survive bit for bit."""
        self.clusterer.set_pending(self.account.pending)
        data = {"account": vars(self.account), "run": self.clusterer.snapshot()}
        return json.dumps(data, allow_nan=False, separators=(",", ":"))

    def restore(self, snapshot: str) -> None:
        """Go on from a snapshot."""
        try:
            data = json.loads(snapshot)
            self.account = Account(**data["account"])
            self.clusterer.restore(data["run"])
        except (InvalidDump, ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"the snapshot of the campaign is damaged ({error}); restore a copy, the log is its truth"
            ) from error

    def choose(self, n: int) -> list[int]:
        """The arms of the next ``n`` pulls, open tickets counted as pulls; fewer at the end of the budget, none once done."""
        self.clusterer.set_pending(self.account.pending)
        index = {name: m for m, name in enumerate(self.clusterer.arms)}
        return [index[name] for name in self.clusterer.ask(n)]

    def feed(self, arms: Sequence[int], values: Sequence[Any]) -> None:
        """Show samples to the clusterer, as long as it is not done."""
        if arms and not self.clusterer.done:
            self.clusterer.tell_many([self.clusterer.arms[m] for m in arms], values)
            self.clusterer.late.clear()

    def feed_log(self, bodies: Iterable[str], skip: set[int]) -> None:
        """Show the samples of log entries to the clusterer, without those of the tickets ``skip``."""
        arms: list[int] = []
        values: list[Any] = []
        for body in bodies:
            for ticket, arm, value in json.loads(body)["samples"]:
                if ticket not in skip:
                    arms.append(arm)
                    values.append(value)
            if len(arms) >= _CHUNK:
                self.feed(arms, values)
                arms, values = [], []
        self.feed(arms, values)

    def pending_by_name(self, less: Iterable[int] = ()) -> dict[str, int]:
        """Open tickets by arm, where there are any, without those of the arms ``less``."""
        away = Counter(less)
        left = {
            name: n - away[m] for m, (name, n) in enumerate(zip(self.arms, self.account.pending, strict=True))
        }
        return {name: n for name, n in left.items() if n}
