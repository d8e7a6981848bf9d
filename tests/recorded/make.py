"""Record runs with the installed engine: ``python -m tests.recorded.make FILE ...`` in the root of the repository.

Without arguments, every file is made. Samples come from one stream per run, seeded by the run's number in its file; they are rounded to
multiples of `tests.recorded.UNIT`, told in the order recorded, and the run goes on past its stop for a few samples.
"""

from __future__ import annotations

import sys
import time
from collections import deque

import numpy as np
from numpy.typing import NDArray
from tests.recorded import TELL, UNIT, Recording, Snapshot, store
from tests.recorded.adapter import Run
from tests.recorded.campaigns import make_campaigns
from tests.recorded.cases import FILES, Case, cases, drawn
from tests.recorded.dumps import make_dumps

#: Samples that are told after the first stop.
_BEYOND = 6


class _Recorder:
    """A run under way, and what is written down of it."""

    def __init__(self, case: Case, rng: np.random.Generator) -> None:
        self.case, self.rng, self.run = case, rng, Run(case.spec)
        self.events: list[int] = []
        self.arms: list[int] = []
        self.samples: list[list[int]] = []
        self.psi: list[float] = []
        self.stops: list[int] = []
        self.snapshots: list[Snapshot] = []

    def ask(self) -> int:
        """Choose an arm; its pull is pending."""
        arm = self.run.choose()
        self.run.pend(arm)
        self.events.append(arm)
        return arm

    def tell(self, arm: int) -> None:
        """Draw a sample of the arm and take it in."""
        family = self.run.families.families[arm]
        sample = drawn(family, self.case.spec, arm, self.rng)
        self.run.observe(arm, np.array(sample, dtype=np.float64) * UNIT)
        self.events.append(TELL)
        self.arms.append(arm)
        self.samples.append(sample)
        if not self.run.ready:
            return
        self.psi.append(self.run.psi)
        if self.run.check():
            self.stops.append(self.run.t)
        if self.run.t % (10 if self.case.spec.n_arms <= 100 else 100) == 0:
            self.look()

    def _evidence(self, last: bool) -> float | None:
        """The full statistic where it takes no more than seconds."""
        anytime, n = self.case.spec.stopping["name"] == "anytime", self.case.spec.n_arms
        return self.run.evidence() if not anytime or n <= 100 or (n <= 300 and last) else None

    def look(self, last: bool = False) -> None:
        """Write down more."""
        run, n = self.run, self.case.spec.n_arms
        if self.snapshots and self.snapshots[-1].t == run.t:
            self.snapshots.pop()
        tracked = run.tracked
        kl: NDArray[np.float64] = run.kl
        self.snapshots.append(
            Snapshot(
                run.t,
                self._evidence(last),
                run.threshold(),
                {int(m): float(kl[m]) for m in np.flatnonzero(kl)},
                run.labels if n <= 100 else [],
                tracked.tolist() if tracked is not None and n <= 20 else [],
            )
        )

    def go(self) -> Recording:
        """The whole run. In batches, the oldest pull but one is told first, and some are under way all the time."""
        spec = self.case.spec
        for _ in range(self.case.rounds):
            for arm in range(spec.n_arms):
                self.tell(arm)
        end = spec.n_arms * max(self.case.rounds, 1) + self.case.steps
        waiting: deque[int] = deque()
        while self.run.t < end and len(self.stops) <= _BEYOND:
            while len(waiting) < self.case.batch:
                waiting.append(self.ask())
            for _ in range(max(self.case.batch - 1, 1)):
                if len(waiting) > 1:
                    waiting.rotate(-1)
                self.tell(waiting.popleft())
        self.look(last=True)
        return Recording(
            spec,
            self.events,
            self.arms,
            self.samples,
            self.psi,
            self.stops,
            self.run.labels,
            self.snapshots,
        )


def make(file: str) -> None:
    """Record the runs of one file."""
    recordings = []
    start = time.perf_counter()
    for i, case in enumerate(cases(file)):
        rng = np.random.default_rng([FILES.index(file), i])
        recordings.append(_Recorder(case, rng).go())
        last, spec = recordings[-1], case.spec
        print(
            f"{file} {i}: {spec.name} M={spec.n_arms} {spec.sampling['name']} {spec.stopping['name']} {case.batch}: "
            f"{len(last.arms)} samples, stops {last.stops[:1]}, {time.perf_counter() - start:.1f} s",
            flush=True,
        )
    store(file, recordings)


if __name__ == "__main__":
    for each in sys.argv[1:] or [*FILES, "dumps", "campaigns"]:
        if each == "dumps":
            make_dumps()
        elif each == "campaigns":
            make_campaigns()
        else:
            make(each)
