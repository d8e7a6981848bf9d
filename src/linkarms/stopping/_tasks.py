"""What the anytime rule asks of its kernels, in one that is called by its address.

It is large and seldom run: compiled by itself it is not compiled again with each of its callers, nor at all where another rule stops.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from linkarms._jit import Array, address_of, kernel
from linkarms.families._model import Model
from linkarms.state import State
from linkarms.stopping._blocker import find_blocker
from linkarms.stopping._scale import likeliest_scale
from linkarms.stopping._statistic import fill_statistic

__all__ = ["FILL", "FIND", "RESCALE", "anytime_address", "anytime_task"]

FIND, FILL, RESCALE = range(3)


@kernel
def anytime_task(model: Model, state: State, grid: Array, n_clusters: int, task: int, level: float) -> int:
    """``FIND``: whether some candidate forbids a stop at ``level``; ``FILL`` the statistic; ``RESCALE``: the ``c`` by which to choose."""
    if task == FIND:
        return 1 if find_blocker(model, state, grid, n_clusters, level) else 0
    if task == FILL:
        fill_statistic(model, state, grid, n_clusters)
        return 0
    return likeliest_scale(model, state, grid)


def anytime_address(model: Model, state: State) -> int:
    """Where `anytime_task` for this type of model lies in this process."""
    kind = numba.typeof(model)  # type: ignore[no-untyped-call]
    if kind not in _ADDRESSES:
        _ADDRESSES[kind] = address_of(anytime_task, model, state, np.zeros(0), 1, 0, 0.0)
    return _ADDRESSES[kind]


_ADDRESSES: dict[Any, int] = {}
