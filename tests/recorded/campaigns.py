"""Campaigns in a database of the old version, and what they did next: reading and recording."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from tests.recorded import HERE, UNIT, whole

import linkarms as la
from linkarms.campaign import Campaign

__all__ = ["DATABASE", "NOW", "Continued", "load_campaigns", "make_campaigns"]

DATABASE = HERE / "campaigns.db"
_PATH = HERE / "campaigns.json.gz"
#: The time at which the database was written, in seconds since 1970; leases end after it.
NOW = 1.75e9
_LEASE = 1e5


@dataclass(frozen=True)
class Continued:
    """One campaign and how it went on.

    Attributes
    ----------
    name : str
        The campaign.
    status, result : dict
        `Campaign.status` and `Campaign.result` as they were stored.
    asks : list of str
        The arms of the next tickets, asked for one at a time, each told before the next.
    samples : list of list of int
        Their samples in multiples of `UNIT`.
    after : dict
        The result then.
    """

    name: str
    status: dict[str, Any]
    result: dict[str, Any]
    asks: list[str]
    samples: list[list[int]]
    after: dict[str, Any]


def load_campaigns() -> Iterator[Continued]:
    """What is known of each campaign of `DATABASE`."""
    with gzip.open(_PATH, "rt") as file:
        for line in file:
            yield Continued(**json.loads(line))


class _Measured:
    """A campaign and its true parameters."""

    def __init__(
        self, name: str, truth: dict[str, Any], n_clusters: int, now: Callable[[], float], **settings: Any
    ) -> None:
        first = np.atleast_1d(next(iter(truth.values())))
        family = settings.setdefault("family", "gaussian")
        self.rng, self.truth = np.random.default_rng(len(name)), truth
        self.campaign = Campaign.create(
            name,
            list(truth),
            n_clusters,
            storage=DATABASE,
            clock=now,
            lease=_LEASE,
            n_features=len(first),
            **settings,
        )
        self.family = la.families.resolve(family, len(truth), len(first)).families[0]

    def draw(self, arm: str) -> list[int]:
        """A sample in multiples of `UNIT`."""
        return whole(self.family.draw(self.rng, np.atleast_1d(np.array(self.truth[arm], float)), 1)[0])

    def tell(self, ticket: Any) -> tuple[str, list[int]]:
        """Measure the arm of a ticket."""
        sample = self.draw(ticket.arm)
        self.campaign.tell(ticket, (np.array(sample) * UNIT).tolist())
        return ticket.arm, sample

    def go(self, n: int) -> None:
        """Ask and tell."""
        for _ in range(n):
            for ticket in self.campaign.ask(worker="lab"):
                self.tell(ticket)


def _build(now: Callable[[], float]) -> list[_Measured]:
    line = {"ada": 0.0, "ben": 0.4, "cy": 3.0, "dan": 3.5}
    paper = la.stopping.Paper(theta=(-20, 20), epsilon=0.02)
    made = []

    new = _Measured("new", line, 2, now)
    running = _Measured("running", line, 2, now, delta=1e-6)
    running.go(30)
    running.campaign.ask(3, worker="bench 1")
    made += [new, running]

    stopped = _Measured("stopped", {"a": 0.0, "b": 0.5, "c": 9.0}, 2, now, stopping=paper)
    stopped.go(60)
    late = _Measured("stopped-with-late-samples", {"a": 0.0, "b": 0.5, "c": 9.0}, 2, now)
    tickets = late.campaign.ask(6)
    late.go(60)
    for ticket in tickets[3:]:
        late.tell(ticket)
    made += [stopped, late]

    released = _Measured("released", line, 2, now, sampling="ebc", delta=1e-6, seed=3)
    released.go(20)
    for ticket in released.campaign.ask(4)[::2]:
        released.campaign.release(ticket)
    released.campaign.add("cy", 3.25, worker="archive")
    made.append(released)

    retracted = _Measured("retracted", line, 2, now, sampling="ebc", stopping=paper, delta=1e-6)
    retracted.go(25)
    retracted.campaign.retract(7, "the probe was not calibrated")
    made.append(retracted)

    rates = {"slow": 1.0, "slower": 0.8, "fast": 6.0, "faster": 8.0}
    exponential = _Measured("rates", rates, 2, now, family="exponential", sampling="lucbboc", delta=1e-6)
    exponential.go(30)
    unknown = _Measured("unknown", line, 2, now, family="gaussian-unknown", delta=1e-6)
    unknown.go(30)
    plane = {"n": [0.0, 4.0], "ne": [0.5, 4.5], "s": [0.0, -4.0], "sw": [-0.6, -4.2], "e": [6.0, 0.0]}
    vectors = _Measured("plane", plane, 3, now, sampling="round-robin", delta=1e-6, max_samples=40)
    vectors.go(30)
    clicks = _Measured("clicks", {"a": 0.1, "b": 0.15, "c": 0.9}, 2, now, family="bernoulli", delta=1e-6)
    clicks.go(30)
    return [*made, exponential, unknown, vectors, clicks]


def make_campaigns() -> None:
    """Write the database; then go on with a copy of each campaign in memory, which the file does not see."""
    DATABASE.unlink(missing_ok=True)
    clock = iter(range(10**9))

    def now() -> float:
        return NOW - 1e4 + 1e-3 * next(clock)

    lines = []
    made = _build(now)
    for each in made:
        each.campaign.close()
    written = DATABASE.read_bytes()
    for each in made:
        campaign = each.campaign
        status, result = campaign.status().to_dict(), campaign.result().to_dict()
        steps = [each.tell(ticket) for _ in range(15) for ticket in campaign.ask()]
        asks, samples = [arm for arm, _ in steps], [sample for _, sample in steps]
        continued = Continued(campaign.name, status, result, asks, samples, campaign.result().to_dict())
        lines.append(json.dumps(asdict(continued), separators=(",", ":")) + "\n")
        print(f"campaign {campaign.name}: {status['samples']} samples, done {status['done']}", flush=True)
        campaign.close()
    DATABASE.write_bytes(written)
    for leftover in HERE.glob("campaigns.db-*"):
        leftover.unlink()
    _PATH.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
