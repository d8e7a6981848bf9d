"""The evidence of a campaign over time, computed by a replay of its log."""

from __future__ import annotations

import json
import math
import threading
import time
from dataclasses import dataclass

from linkarms._clip import Clip
from linkarms.campaign._computer import PAGE, read_page
from linkarms.campaign._order import Order, in_order_of
from linkarms.campaign._records import moment
from linkarms.campaign._run import clip_of, retracted
from linkarms.campaign._storage import Entry, Storage
from linkarms.clusterer import BanditClusterer

__all__ = ["Look", "Trace"]


@dataclass(frozen=True)
class Look:
    """The state of a run after a number of samples.

    Attributes
    ----------
    samples : int
        How many.
    evidence, threshold : float
        The statistic of the stopping rule and the level it has to reach.
    at : float
        When the last of them was told or, in a campaign with ``in_order``, began to count; in seconds since 1970.
    labels : tuple of int
        The cluster of each arm.
    error_bound : float or None
        The smallest delta at which the rule would have stopped then.

    Examples
    --------
    >>> from linkarms.campaign import Look
    >>> look = Look(samples=120, evidence=3.5, threshold=6.1, at=0.0, labels=(0, 0, 1), error_bound=0.4)
    >>> look.evidence >= look.threshold
    False
    """

    samples: int
    evidence: float
    threshold: float
    at: float
    labels: tuple[int, ...]
    error_bound: float | None = None


class Trace:
    """The history of a campaign: a look each time the number of samples has grown by one percent.

    The log holds only samples, no evidence: a trace replays them once, and continues from there at the next call. After a retraction it
    starts again. It may be used by several threads, and computes outside of every transaction.

    Parameters
    ----------
    name : str
        The campaign.
    storage : Storage
        Where it is; see `open_storage`.
    growth : float, default 0.01
        How much the number of samples grows between two looks.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import linkarms as la
    >>> storage = la.campaign.open_storage(pathlib.Path(tempfile.mkdtemp()) / "runs.db")
    >>> rule = la.stopping.Paper(theta=(-9, 9))
    >>> lab = la.campaign.Campaign.create("lab", ["ada", "ben", "cy"], 2, family="gaussian", storage=storage, stopping=rule)
    >>> receipts = lab.add_many(["ada", "ben", "cy", "cy"], [0.0, 0.3, 5.0, 5.2])
    >>> trace = la.campaign.Trace("lab", storage)
    >>> trace.catch_up()
    1.0
    >>> [look.samples for look in trace.looks]
    [3, 4]
    >>> storage.close()
    """

    def __init__(self, name: str, storage: Storage, growth: float = 0.01) -> None:
        self.name, self.storage, self._growth = name, storage, growth
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._run: BanditClusterer | None = None
        self._clip: Clip | None = None
        #: Entries replayed so far, and entries up to which all retractions are known.
        self._seen, self._known = 0, 0
        self._order = Order(False)  # replaced when the run is loaded
        self._next, self._at = 0, 0.0
        self._looks: list[Look] = []
        self._last: Look | None = None

    @property
    def looks(self) -> list[Look]:
        """Looks so far, by number of samples; the newest state is the last one."""
        seen, last = list(self._looks), self._last
        return [*seen, last] if last is not None and (not seen or seen[-1].samples < last.samples) else seen

    def catch_up(self, seconds: float = math.inf) -> float:
        """Replay new entries for a limited time; return the share of the log that is done."""
        with self._lock:
            end, done = time.monotonic() + seconds, 0.0
            while done < 1.0:
                page, version = self._read_on()
                for entry in page:
                    for arm, value in self._order.take(entry):
                        self._take_in(arm, value, moment(entry.at).timestamp())
                    self._seen = entry.seq
                    if time.monotonic() > end:
                        break
                else:
                    if len(page) < PAGE:
                        self._seen = version
                done = self._seen / version
                if time.monotonic() > end:
                    break
            self._last = self._look()
            return done

    def _read_on(self) -> tuple[list[Entry], int]:
        """Read the next entries, and how many there are; begin again if one that was seen has been retracted since."""
        with self.storage.read(self.name) as reader:
            head = reader.head
            if self._known > head.version or any(True for _ in reader.entries(self._known, ("retract",))):
                self._forget()
            config = json.loads(head.config) if self._run is None else {}
            if self._run is None:
                self._order = Order(in_order_of(config), retracted(reader, head.version))
            page = read_page(reader, self._order.kinds, self._seen, head.version)
        if self._run is None:
            self._run, self._clip = BanditClusterer.load(config["clusterer"]), clip_of(config)
        self._known = head.version
        return page, head.version

    def _take_in(self, arm: int, value: list[float], at: float) -> None:
        if self._run is None or self._run.done:
            return
        self._run.tell(self._run.arms[arm], value if self._clip is None else self._clip.apply(value))
        self._at = at
        n = self._run.n_samples
        if n >= self._next:
            look = self._look()
            if look is not None:
                self._looks.append(look)
                self._next = math.ceil(n * (1.0 + self._growth))

    def _look(self) -> Look | None:
        if self._run is None:
            return None
        evidence, threshold = self._run.evidence_and_threshold()
        if not math.isfinite(threshold):  # some arm has no sample yet
            return None
        found = self._run.result()
        labels = tuple(int(k) for k in found.labels)
        # one tuple while the clusters stay: a service keeps the looks of many arms
        if self._looks and self._looks[-1].labels == labels:
            labels = self._looks[-1].labels
        return Look(found.samples, evidence, threshold, self._at, labels, found.error_bound)
