"""The state of a campaign in memory: a clusterer that is told the samples of the log, in the order in which they count."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._clip import Clip, check_clip
from linkarms._samples import as_sample
from linkarms._version import __version__
from linkarms.campaign._account import REPAIR, Account
from linkarms.campaign._order import Held, Order, in_order_of
from linkarms.campaign._storage import STATE, Computed, Entry, Reader
from linkarms.clusterer import BanditClusterer
from linkarms.errors import InvalidDump, InvalidInput, LinkarmsError, StorageError

__all__ = ["Run", "Watcher", "clip_of", "retracted"]

#: A function that is called with the share that is done and a text. An exception from it ends the work.
Watcher = Callable[[float, str], None]

#: Samples that the clusterer is told at once.
_CHUNK = 1_000
#: A state is stored after so many samples, or so many seconds of computing, since the last stored one.
_WORTH = (256, 0.05)


class Run:
    """A clusterer, and how far it is in the log.

    The clusterer is a function of the samples that are not retracted, in the order in which they count (see `Order`), and of nothing
    else: it counts them until it is done, and ignores later ones. It can be computed again from the log, bit for bit.

    Attributes
    ----------
    clusterer : BanditClusterer
        The clusterer; it learns about open tickets when it chooses arms.
    arms : tuple of str
        The names of the arms.
    clip : Clip or None
        The range to which samples are clipped before the clusterer is told; the log holds them as they were measured.
    lease : float
        Seconds for which a ticket is given unless `ask` says otherwise.
    sampling, stopping : str
        The names of the rules.
    version, retractions : int
        The last log entry it has seen, and how many retractions it knows of.
    order : Order
        Samples in those entries, and which of them count.
    at : int
        The time of the last one; 0 before the first.
    """

    def __init__(self, config: str) -> None:
        try:
            data = json.loads(config)
            self.clusterer = BanditClusterer.load(data["clusterer"])
            self.lease = float(data["lease"])
            self.clip = clip_of(data)
            self.order = Order(in_order_of(data))
            settings = json.loads(data["clusterer"])
            self.sampling, self.stopping = (
                str(settings["sampling"]["name"]),
                str(settings["stopping"]["name"]),
            )
        except (InvalidDump, InvalidInput, ValueError, KeyError, TypeError, RecursionError) as error:
            raise StorageError(f"the settings of the campaign are damaged ({error}); {REPAIR}") from error
        self.arms = tuple(str(arm) for arm in self.clusterer.arms)
        self._first = self.clusterer.snapshot()
        self.version = self.retractions = self.at = 0
        self._fresh = True
        self._unsaved = [0.0, 0.0]

    @property
    def late(self) -> int:
        """Number of stored samples that are not counted because the run was done."""
        return self.order.kept - self.clusterer.n_samples - sum(self.held.pulls)

    @property
    def held(self) -> Held:
        """The samples that wait for an earlier ticket; none once the run is done."""
        found = self.order.held(len(self.arms))
        return Held([0] * len(self.arms), None, found.released) if self.clusterer.done else found

    def begin_again(self, skip: Iterable[int] = ()) -> None:
        """Go back to the beginning of the log, to replay it without the samples of the tickets ``skip``."""
        gone = set(skip)
        self.order = Order(self.order.in_order, gone)
        if not self._fresh:
            self.clusterer.restore(self._first)
        self.version, self.retractions, self.at = 0, len(gone), 0
        self._fresh, self._unsaved = True, [0.0, 0.0]

    def feed(self, entries: Iterable[Entry], progress: Callable[[int], None] | None = None) -> None:
        """Count the samples of the next log entries; ``progress`` is called with the number of each.

        If this raises, the run is in the middle of an entry; call `begin_again` or `restore` next.
        """
        began = time.perf_counter()
        for entry in entries:
            before = self.order.kept
            counted = self.order.take(entry)
            for i in range(0, len(counted), _CHUNK):
                if progress is not None:
                    progress(entry.seq)
                self._show(entry, counted[i : i + _CHUNK])
            self.version, self.at = entry.seq, entry.at
            self._unsaved[0] += self.order.kept - before
        self._unsaved[1] += time.perf_counter() - began

    def _show(self, entry: Entry, samples: list[tuple[int, Any]]) -> None:
        if self.clusterer.done:
            return
        self._fresh = False
        names = self.clusterer.arms
        try:
            values = [value if self.clip is None else self.clip.apply(value) for _, value in samples]
            self.clusterer.tell_many([names[arm] for arm, _ in samples], values)
        except (LinkarmsError, ArithmeticError) as error:
            raise StorageError(
                f"the samples of log entry {entry.seq} cannot be counted ({error}); retract the sample that causes it"
            ) from error
        self.clusterer.late.clear()

    def check_samples(
        self, arms: Sequence[Any], values: Sequence[Any]
    ) -> tuple[list[int], NDArray[np.float64]]:
        """Return the indices of the arms and the samples as they are stored, or raise what `BanditClusterer.tell_many` would."""
        if self.clip is None:
            return self.clusterer.check_samples(arms, values)
        measured = [
            np.atleast_1d(as_sample(value, f" of arm {arm!r}"))
            for arm, value in zip(arms, values, strict=False)  # the next line compares their numbers
        ]
        indices, counted = self.clusterer.check_samples(
            arms, [self.clip.apply(x) for x in measured] + list(values)[len(measured) :]
        )
        return indices, np.array(measured).reshape(counted.shape)

    def choose(self, n: int, account: Account) -> list[int]:
        """Return the arms of the next ``n`` pulls; fewer at the end of the budget, none once done.

        Open tickets, and samples that wait for an earlier ticket, count as pulls.
        """
        self.clusterer.set_pending([a + b for a, b in zip(account.pending, self.held.pulls, strict=True)])
        index = {name: m for m, name in enumerate(self.clusterer.arms)}
        return [index[name] for name in self.clusterer.ask(n)]

    def budget_left(self, account: Account) -> int | None:
        """Return how many more tickets the budget allows; None without one."""
        most = self.clusterer.max_samples
        return None if most is None else max(most - account.kept - sum(account.pending), 0)

    @property
    def worth_storing(self) -> bool:
        """Whether computing the state again would take long enough to justify storing it."""
        samples, seconds = self._unsaved
        return samples >= _WORTH[0] or seconds >= _WORTH[1] or (samples > 0 and self.clusterer.done)

    def state(self) -> Computed:
        """Return the state to be stored; floating-point numbers survive bit for bit."""
        self.clusterer.set_pending([0] * len(self.arms))
        data: dict[str, Any] = {"linkarms": __version__, **self.order.state()}
        data["run"] = self.clusterer.snapshot()
        body = json.dumps(data, allow_nan=False, separators=(",", ":"))
        self._unsaved = [0.0, 0.0]
        return Computed(STATE, self.retractions, self.version, self.at, body)

    def restore(self, stored: Computed, skip: Iterable[int] = ()) -> None:
        """Continue from a stored state, without the samples of the tickets ``skip`` from here on."""
        try:
            data = json.loads(stored.body)
            order = Order.restored(self.order.in_order, len(self.arms), data, skip)
            self._fresh = False
            self.clusterer.restore(data["run"])
        except (InvalidDump, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
            raise StorageError(f"the stored state of the campaign is damaged ({error}); {REPAIR}") from error
        self.order = order
        self.version, self.retractions, self.at = stored.version, stored.retractions, stored.at
        self._unsaved = [0.0, 0.0]


def retracted(reader: Reader, last: int) -> set[int]:
    """Return the tickets whose samples were retracted up to log entry ``last``."""
    found = takewhile(lambda entry: entry.seq <= last, reader.entries(kinds=("retract",)))
    return {int(json.loads(entry.body)["ticket"]) for entry in found}


def clip_of(config: dict[str, Any]) -> Clip | None:
    """Return the range to which the samples of a campaign are clipped; None without one, as in campaigns of earlier versions."""
    return None if config.get("clip") is None else check_clip(config["clip"])
