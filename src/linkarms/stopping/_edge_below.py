"""Whether the evidence against one pair of pairs is below a level, for whichever model: seldom needs the evidence itself.

Arms with one parameter each: any ``lambda`` that the constraint allows bounds the infimum from above, for every ``c``. One that was
the minimiser a while ago goes on doing so (``_points.py``).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import overload

from linkarms._jit import KERNEL_OPTIONS
from linkarms.alternatives._number import LAM
from linkarms.families._model import IsotropicModel, ScalarModel
from linkarms.state import AT, SCALE
from linkarms.stopping._pair_evidence import GONE, pair_evidence, scalar_at
from linkarms.stopping._points import SURE, freshen_point, most_at, set_point

__all__ = ["edge_below", "is_isotropic"]


def edge_below(model, state, grid, u, v, a, b, level, slot, box, which) -> bool:
    """Whether the evidence against ``(u, v; a, b)`` is below ``level``. A shared arm is ``u = a``; ``state.points[slot]`` belongs to
    this pair of pairs, -1 if none does. Kernels only.
    """
    raise TypeError("edge_below is called from kernels only")


def is_isotropic(model) -> bool:
    """Whether the arms are Gaussian with one variance each. Kernels only."""
    raise TypeError("is_isotropic is called from kernels only")


def _any(model, state, grid, u, v, a, b, level, slot, box, which):
    return pair_evidence(model, state, grid, u, v, a, b, level, box, which) < level


def _scalar(model, state, grid, u, v, a, b, level, slot, box, which):
    if slot < 0:
        return pair_evidence(model, state, grid, u, v, a, b, level, box, which) < level
    point = state.points[slot]
    sure = level - SURE * (1.0 + abs(level))
    solved = np.zeros(grid.shape[0], dtype=np.bool_)
    n = 3 if u == a else 4
    j = state.blocker[SCALE]
    local = not math.isnan(point[0, AT])
    while True:
        if not math.isnan(point[0, AT]):
            freshen_point(model, state, grid, u, v, a, b, point)
            j, most = most_at(point, n, solved)
            if most < sure:
                return True
        # a point that has served for a while most often needs to be moved, no more; the search beyond inflections takes long
        value = scalar_at(model, state, grid, j, u, v, a, b, level, local, box, which)
        if local and value == math.inf:
            local = False
            continue
        if not local:
            if value >= level:
                return False
            solved[j] = True
        local = False
        set_point(point, u == a, box[GONE, LAM], box[GONE + 1, LAM], box[GONE + 2, LAM], box[GONE + 3, LAM])


@overload(edge_below, jit_options=KERNEL_OPTIONS)
def _choose(model, state, grid, u, v, a, b, level, slot, box, which):
    if not isinstance(model, types.NamedTuple):
        return None
    return _scalar if model.instance_class is ScalarModel else _any


@overload(is_isotropic, jit_options=KERNEL_OPTIONS)
def _choose_isotropic(model):
    if not isinstance(model, types.NamedTuple):
        return None
    if model.instance_class is IsotropicModel:
        return lambda model: True
    return lambda model: False
