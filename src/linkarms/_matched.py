"""A source of samples whose arms are those of a run, in the run's order."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms._recorded_loop import Recorded, Source
from linkarms.errors import InvalidInput

if TYPE_CHECKING:
    from linkarms.clusterer import BanditClusterer

__all__ = ["matched"]


def matched(run: BanditClusterer, source: Source) -> Source:
    """Return a source whose arm at place ``m`` is arm ``m`` of a run: by name, or by position where the run's arms are only numbered.

    Parameters
    ----------
    run : BanditClusterer
        The run that will pull.
    source : Source
        Where its samples come from. One without ``names`` knows positions only.

    Raises
    ------
    linkarms.errors.InvalidInput
        The source has other arms, or samples of another length.
    """
    names = tuple(getattr(source, "names", run.arms))
    if len(names) != len(run.arms):
        raise InvalidInput(
            f"the source has {len(names)} arms and the run {len(run.arms)}; give a source of the same arms"
        )
    place = {name: i for i, name in enumerate(names)}
    strange = [name for name in run.arms if name not in place]
    numbered = run.arms == tuple(range(len(names)))
    if strange and not (numbered and len(strange) == len(names)):
        raise InvalidInput(
            f"arm {strange[0]!r} of the run is not in the source, whose arms are {', '.join(map(repr, names[:8]))}"
            f"{', ...' if len(names) > 8 else ''}; give the run those names"
        )
    d = run.n_features if run.done else getattr(source, "n_features", run.n_features)
    if d != run.n_features:
        raise InvalidInput(
            f"a sample of the source has {d} number(s) and one of the run {run.n_features}; give the run n_features={d}"
        )
    places = [place[name] for name in run.arms if name in place]
    if places in ([], list(range(len(names)))):
        return source
    return _RecordedInOrder(source, places) if isinstance(source, Recorded) else _InOrder(source, places)


class _InOrder:
    """The arms of a source in another order."""

    def __init__(self, source: Source, places: list[int]) -> None:
        self._source, self._places = source, places

    def pull(self, index: int) -> Any:
        return self._source.pull(self._places[index])


class _RecordedInOrder(_InOrder):
    """The same for records in memory; `linkarms._recorded_loop.Recorded` says what the methods do."""

    _source: Recorded

    @property
    def replace(self) -> bool:
        return self._source.replace

    @property
    def names(self) -> tuple[Hashable, ...]:
        return tuple(self._source.names[place] for place in self._places)

    @property
    def records(self) -> tuple[NDArray[np.float64], ...]:
        return tuple(self._source.records[place] for place in self._places)

    def upcoming(self, index: int) -> NDArray[np.int64]:
        return self._source.upcoming(self._places[index])

    def skip(self, index: int, n: int) -> None:
        self._source.skip(self._places[index], n)

    def refill(self, index: int) -> None:
        self._source.refill(self._places[index])
