"""The account of a campaign's tickets: how many there are, in which states, and how many of each arm are open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from linkarms.campaign._storage import EXPIRED, OPEN, RETRACTED, STATES, TOLD, TicketRow
from linkarms.errors import StorageError

__all__ = ["REPAIR", "Account"]

#: What to do about a damaged text that can be rebuilt from the log.
REPAIR = "run `linkarms campaign doctor NAME --repair`, which rebuilds it from the log"


@dataclass
class Account:
    """How many tickets there are, and in which states.

    It is small, and every change of a campaign writes it. `Run` holds what takes long to compute.

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
        No open ticket expires before this time; none need expire then.
    """

    issued: int = 0
    told: int = 0
    expirations: int = 0
    states: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    pending: list[int] = field(default_factory=list)
    next_expiry: int | None = None

    @property
    def retractions(self) -> int:
        """Samples that were retracted; it never decreases."""
        return self.states[RETRACTED]

    @property
    def kept(self) -> int:
        """Samples that were told and not retracted."""
        return self.states[TOLD]

    def issue(self, arms: Sequence[int], state: str) -> range:
        """Return numbers for new tickets of these arms."""
        first = self.issued + 1
        self.issued += len(arms)
        self.states[state] += len(arms)
        if state == OPEN:
            for m in arms:
                self.pending[m] += 1
        return range(first, self.issued + 1)

    def move(self, arm: int, old: str, new: str) -> None:
        """Move a ticket of this arm from one state to another."""
        self.states[old] -= 1
        self.states[new] += 1
        if old == OPEN:
            self.pending[arm] -= 1

    def expire(self, rows: Sequence[TicketRow]) -> None:
        """Move open tickets whose leases are over."""
        for row in rows:
            self.move(row.arm, OPEN, EXPIRED)
        self.expirations += len(rows)

    def without(self, rows: Sequence[TicketRow]) -> Account:
        """Return a new account in which these open tickets have expired."""
        after = replace(self, states=dict(self.states), pending=list(self.pending))
        after.expire(rows)
        return after

    def by_name(self, arms: Iterable[str]) -> dict[str, int]:
        """Return the open tickets by arm, where there are any."""
        return {name: n for name, n in zip(arms, self.pending, strict=True) if n}

    def to_json(self) -> str:
        """Return the account as JSON."""
        return json.dumps(vars(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, n_arms: int) -> Account:
        """Read what `to_json` wrote; `StorageError` if it is damaged."""
        try:
            account = cls(**json.loads(text))
            account._check(n_arms)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise StorageError(f"the account of the tickets is damaged ({error}); {REPAIR}") from error
        return account

    def _check(self, n_arms: int) -> None:
        numbers = [self.issued, self.told, self.expirations, *self.states.values(), *self.pending]
        if not all(_is_count(n) for n in numbers):
            raise ValueError("a number of tickets is not a whole number from 0 on")
        if self.next_expiry is not None and type(self.next_expiry) is not int:
            raise ValueError(f"next_expiry is {self.next_expiry!r}")
        if tuple(self.states) != STATES or len(self.pending) != n_arms:
            raise ValueError("states or arms are missing")
        if sum(self.states.values()) != self.issued or sum(self.pending) != self.states[OPEN]:
            raise ValueError("the numbers of tickets do not add up")


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0
