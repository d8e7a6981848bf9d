"""Which samples of a log count, and in which order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from linkarms.campaign._storage import Entry
from linkarms.errors import InvalidInput

__all__ = ["SAMPLES", "Held", "Order", "check_in_order", "in_order_of"]

#: The log entries that hold samples.
SAMPLES = ("tell", "add")


class Held(NamedTuple):
    """Samples that are stored and wait for an earlier ticket.

    Attributes
    ----------
    pulls : list of int
        How many, by arm.
    awaited : int or None
        The ticket they wait for; None if there are none.
    released : int
        Tickets that were released so far: a release can make samples count.
    """

    pulls: list[int]
    awaited: int | None
    released: int

    @classmethod
    def read(cls, data: dict[str, Any], n_arms: int) -> Held:
        """Read a stored one; ValueError, KeyError or TypeError if it is damaged."""
        pulls, awaited = [_count(n) for n in data["pulls"]], data["awaited"]
        if len(pulls) != n_arms:
            raise ValueError("arms are missing")
        return cls(pulls, None if awaited is None else _count(awaited), _count(data["released"]))


class Order:
    """Takes the entries of a log one by one, and says which samples count with each of them.

    By default a sample counts when it is told. With ``in_order`` it counts when it and every ticket before it are told or released.
    Tickets are numbered in the order in which they are asked for, so their numbers are that order.

    Attributes
    ----------
    in_order : bool
        Whether samples count in the order of asking.
    told, kept, released : int
        Samples so far, how many of them are not retracted, and with ``in_order`` the tickets that were released.
    """

    def __init__(self, in_order: bool, skip: Iterable[int] = ()) -> None:
        self.in_order, self._skip = in_order, set(skip)
        self.told = self.kept = self.released = 0
        #: The first ticket that is neither told nor released, and what is known of later ones: None where nothing is to be counted.
        self._next, self._later = 1, dict[int, tuple[int, Any] | None]()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of entries that matter."""
        return (*SAMPLES, "release") if self.in_order else SAMPLES

    def take(self, entry: Entry) -> list[tuple[int, Any]]:
        """Return the samples that count with this entry, each as arm and value, without those of the tickets ``skip``."""
        body = json.loads(entry.body)
        samples = body.get("samples", ())
        kept = [(ticket, arm, value) for ticket, arm, value in samples if ticket not in self._skip]
        self.told += len(samples)
        self.kept += len(kept)
        if not self.in_order:
            return [(arm, value) for _, arm, value in kept]
        if entry.kind == "release":
            self.released += 1
            self._later[body["ticket"]] = None
        self._later.update({ticket: None for ticket, _, _ in samples})
        self._later.update({ticket: (arm, value) for ticket, arm, value in kept})
        counted = []
        while self._next in self._later:
            counted.append(self._later.pop(self._next))
            self._next += 1
        return [sample for sample in counted if sample is not None]

    def held(self, n_arms: int) -> Held:
        """Return how many samples wait for an earlier ticket."""
        pulls = [0] * n_arms
        for sample in self._later.values():
            if sample is not None:
                pulls[sample[0]] += 1
        return Held(pulls, self._next if any(pulls) else None, self.released)

    def state(self) -> dict[str, Any]:
        """Return what a stored state holds of it, as plain data."""
        data: dict[str, Any] = {"told": self.told, "kept": self.kept}
        if self.in_order:
            later = [[ticket, *(self._later[ticket] or (None, None))] for ticket in sorted(self._later)]
            data["order"] = {"released": self.released, "next": self._next, "later": later}
        return data

    @classmethod
    def restored(cls, in_order: bool, n_arms: int, data: dict[str, Any], skip: Iterable[int] = ()) -> Order:
        """Continue from what `state` returned; ValueError, KeyError, TypeError or IndexError if it is damaged."""
        self = cls(in_order, skip)
        self.told, self.kept = _count(data["told"]), _count(data["kept"])
        if in_order:
            order = data["order"]
            self.released, self._next = _count(order["released"]), _count(order["next"])
            self._later = {
                _count(ticket): None if arm is None else (_count(arm), value)
                for ticket, arm, value in order["later"]
            }
            self.held(n_arms)  # no arm beyond the last
        return self


def check_in_order(value: Any) -> bool:
    """Return the setting ``in_order``; `InvalidInput` for anything but True and False."""
    if not isinstance(value, bool):
        raise InvalidInput(f"in_order={value!r} is not True or False; give one of them")
    return value


def in_order_of(config: dict[str, Any]) -> bool:
    """Return whether the samples of a campaign count in the order of asking; campaigns of earlier versions do not say."""
    return check_in_order(config.get("in_order", False))


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a number of samples or tickets")
    return value
