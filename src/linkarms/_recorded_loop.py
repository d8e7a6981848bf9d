"""The loops of `BanditClusterer.fit`: one pull at a time, and over recorded samples inside the native core.

`BanditClusterer.fit` draws one record, tells it, and asks again. For records in memory the core does the same in one call, in
the same order and with the same decisions. It comes back when an arm needs its next block of random draws, and when somebody wants to look.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from linkarms._samples import check_samples, is_sample
from linkarms.engine import Engine

if TYPE_CHECKING:
    from linkarms.clusterer import BanditClusterer

__all__ = ["Recorded", "Source", "check_records", "looks_of", "pull_until_done", "run_recorded"]


class Source(Protocol):
    """Where samples come from; see `linkarms.arms`."""

    def pull(self, index: int) -> Any:
        """Return one sample of an arm."""


def pull_until_done(
    clusterer: BanditClusterer, source: Source, callback: Callable[[BanditClusterer], None] | None
) -> None:
    """Pull arms one at a time until the run is done; ``callback(clusterer)`` after every sample."""
    index = {name: m for m, name in enumerate(clusterer.arms)}
    while not clusterer.done:
        (arm,) = clusterer.ask()
        try:
            clusterer.tell(arm, source.pull(index[arm]))
        except BaseException:
            clusterer.release(arm)
            raise
        if callback is not None:
            callback(clusterer)


@runtime_checkable
class Recorded(Source, Protocol):
    """Records in memory, each arm with its own order of draws; `linkarms.arms.RecordedArms` is one."""

    @property
    def replace(self) -> bool:
        """Return whether records are drawn with replacement."""

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Return the names of the arms."""

    @property
    def records(self) -> tuple[NDArray[np.float64], ...]:
        """Return the records of each arm, shape (n, d)."""

    def upcoming(self, index: int) -> NDArray[np.int64]:
        """Return the records of an arm that are drawn next, as far as that is decided."""

    def skip(self, index: int, n: int) -> None:
        """Count the next ``n`` of them as pulled."""

    def refill(self, index: int) -> None:
        """Decide on more draws of an arm, or raise `linkarms.errors.ArmExhausted`."""


def check_records(engine: Engine, source: Recorded) -> None:
    """Raise `InvalidSample` for the first record that its arm's family does not take."""
    for m, (name, records) in enumerate(zip(source.names, source.records, strict=True)):
        if not is_sample(engine.families.families[m], records).all():
            check_samples(engine.families, [m] * len(records), [name] * len(records), list(records))


def looks_of(callback: Any, clusterer: object) -> tuple[int, Callable[[], int]] | None:
    """Return when a callback with ``next_look`` wants to look at the run, and how; None without a callback."""
    if callback is None:
        return None

    def look() -> int:
        callback(clusterer)
        return int(callback.next_look)

    return int(callback.next_look), look


def run_recorded(
    engine: Engine,
    source: Recorded,
    budget: int | None,
    looks: tuple[int, Callable[[], int]] | None = None,
) -> bool:
    """Pull recorded arms until the rule stops or the budget is used up; return whether the rule stopped.

    Parameters
    ----------
    engine : Engine
        A run whose rules and families the core knows, with nothing pending.
    source : Recorded
        The records; its place moves on as if each sample had been pulled.
    budget : int or None
        The number of samples, earlier ones included, at which to end.
    looks : tuple of int and callable, optional
        The function is called when the run has so many samples, and returns the number at which to be called again.

    Raises
    ------
    linkarms.errors.ArmExhausted
        The arm that is next has no record left; the run is as it was before that pull.
    """
    core, families = engine.core, engine.families.families
    statistics = [
        family.statistics(records) for family, records in zip(families, source.records, strict=True)
    ]
    level = np.array([engine.stopping.level(engine.delta)])
    stopped_at, labels = np.array([-1]), np.full((1, core.n_arms), -1)
    last = np.iinfo(np.int64).max if budget is None else budget
    drawn = [x[source.upcoming(m)] for m, x in enumerate(statistics)]
    used = np.zeros(core.n_arms, np.int64)
    next_look, look = looks or (None, None)
    while True:
        until = last if look is None or next_look is None else min(last, max(next_look, core.total + 1))
        outcome = core.run(drawn, used, level, stopped_at, labels, until)
        for m in np.flatnonzero(used):
            source.skip(int(m), int(used[m]))
            drawn[m] = drawn[m][used[m] :]
        used[:] = 0
        if outcome.ending == "stopped":
            return True
        if outcome.ending == "need_samples":
            source.refill(outcome.arm)
            drawn[outcome.arm] = statistics[outcome.arm][source.upcoming(outcome.arm)]
        elif core.total >= last:
            return False
        elif look is not None:
            next_look = look()
