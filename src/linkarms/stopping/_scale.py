"""Which ``c`` of the anytime rule's grid suits the arms: the one that gives the most evidence against psi's witness."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import overload

from linkarms._jit import KERNEL_OPTIONS, Array, kernel
from linkarms.alternatives._number import LAM
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH
from linkarms.families._model import IsotropicModel, Model, ScalarModel
from linkarms.state import DISCOUNT, SCALE, TERMS, WITNESS, State
from linkarms.stopping._pair_evidence import GONE, isotropic_evidence, pair_evidence, scalar_at, shared_first
from linkarms.stopping._points import SURE, freshen_point, most_at, set_point
from linkarms.stopping._tables import freshen_pairs

__all__ = ["likeliest_scale"]


def _best_scale(model, state, grid, u, v, a, b) -> int:
    """The index of that ``c``; a shared arm is ``u = a``. Kernels only."""
    raise TypeError("_best_scale is called from kernels only")


def _any(model, state, grid, u, v, a, b):
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    scale, best, most = state.blocker[SCALE], state.blocker[SCALE], -math.inf
    for j in range(grid.shape[0]):
        state.blocker[SCALE] = j  # the search for a value above -inf ends with the first c
        value = pair_evidence(model, state, grid, u, v, a, b, -math.inf, box, which)
        if value > most:
            best, most = j, value
    state.blocker[SCALE] = scale
    return best


def _isotropic(model, state, grid, u, v, a, b):
    best, most = state.blocker[SCALE], -math.inf
    freshen_pairs(model, state, grid, 0, u, v, a, b)
    for j in range(grid.shape[0]):
        value = isotropic_evidence(state.tables, state.dist, j, u, v, a, b, -math.inf)
        if value > most:
            best, most = j, value
    return best


def _scalar(model, state, grid, u, v, a, b):
    # psi's alternative bounds what each c can give: most need no search
    n, lam = 3 if u == a else 4, state.lam
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    point = np.empty((4, TERMS + grid.shape[0]))
    solved = np.zeros(grid.shape[0], dtype=np.bool_)
    best, most = state.blocker[SCALE], -math.inf
    weakened = state.values[DISCOUNT] != 1.0
    set_point(point, u == a, lam[u, 0], lam[v, 0], lam[b, 0], lam[a, 0])
    for turn in range(grid.shape[0]):
        if weakened:  # (the terms of a point carry the whole price)
            j = turn
        else:
            freshen_point(model, state, grid, u, v, a, b, point)
            j, above = most_at(point, n, solved)
            if above < most - SURE * (1.0 + abs(most)):
                break
        value = scalar_at(model, state, grid, j, u, v, a, b, -math.inf, False, box, which)
        solved[j] = True
        if value > most or (value == most and j < best):
            best, most = j, value
        set_point(point, u == a, box[GONE, LAM], box[GONE + 1, LAM], box[GONE + 2, LAM], box[GONE + 3, LAM])
    return best


_SCALE = {IsotropicModel: _isotropic, ScalarModel: _scalar}


@overload(_best_scale, jit_options=KERNEL_OPTIONS, inline="always")
def _choose(model, state, grid, u, v, a, b):
    return _SCALE.get(model.instance_class, _any) if isinstance(model, types.NamedTuple) else None


@kernel
def likeliest_scale(model: Model, state: State, grid: Array) -> int:
    """The ``c`` that gives the most evidence against psi's witness; as it was where there is no choice."""
    info = state.info
    if info[WITNESS] < 0 or grid.shape[0] < 2:
        return int(state.blocker[SCALE])
    u, v, a, b = shared_first(info[WITNESS], info[WITNESS + 1], info[WITNESS + 2], info[WITNESS + 3])
    return int(_best_scale(model, state, grid, u, v, a, b))
