"""Whether the evidence against one pair of pairs is below a level, for whichever model: seldom needs the evidence itself.

Arms with one parameter each: any ``lambda`` that the constraint allows bounds the infimum from above, for every ``c``. One that was
the minimiser a while ago goes on doing so, and after a sample only the terms of its arm have to be computed again.
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
from linkarms.state import AT, DISCOUNT, SCALE, TINV
from linkarms.stopping._pair_evidence import GONE, isotropic_evidence, pair_evidence, price, scalar_at
from linkarms.stopping._points import SURE, freshen_point, most_at, set_point
from linkarms.stopping._tables import freshen_pairs

__all__ = ["edge_below"]


def edge_below(model, state, grid, u, v, a, b, level, slot, box, which) -> bool:
    """Whether the evidence against ``(u, v; a, b)`` is below ``level``. A shared arm is ``u = a``; ``state.points[slot]`` belongs to
    this pair of pairs, -1 if none does. Kernels only.
    """
    raise TypeError("edge_below is called from kernels only")


def _evaluate(model, state, grid, u, v, a, b, level, slot, box, which):
    return pair_evidence(model, state, grid, u, v, a, b, level, box, which) < level


def _isotropic(model, state, grid, u, v, a, b, level, slot, box, which):
    first, tables = state.blocker[SCALE], state.tables
    freshen_pairs(model, state, grid, first, u, v, a, b)
    # the cost is at least gap^2 / (2 spread); of most candidates that is enough
    gap = state.dist[a, b] - state.dist[u, v]
    spread = tables[TINV, first, u] + tables[TINV, first, v] + tables[TINV, first, b]
    spread += 3.0 * tables[TINV, first, u] if u == a else tables[TINV, first, a]
    needed = level + price(tables, first, u, v, a, b)
    if gap > 0.0 and gap * gap >= 2.0 * needed * spread * (1.0 + SURE):
        return False
    return isotropic_evidence(state.tables, state.dist, first, u, v, a, b, level) < level


def _scalar(model, state, grid, u, v, a, b, level, slot, box, which):
    # (the terms of a point carry the whole price)
    if slot < 0 or state.values[DISCOUNT] != 1.0:
        return pair_evidence(model, state, grid, u, v, a, b, level, box, which) < level
    point = state.points[slot]
    sure = level - SURE * (1.0 + abs(level))
    solved = np.zeros(grid.shape[0], dtype=np.bool_)
    n = 3 if u == a else 4
    j = state.blocker[SCALE]
    while True:
        if not math.isnan(point[0, AT]):
            freshen_point(model, state, grid, u, v, a, b, point)
            j, most = most_at(point, n, solved)
            if most < sure:
                return True
        if scalar_at(model, state, grid, j, u, v, a, b, level, box, which) >= level:
            return False
        solved[j] = True
        set_point(point, u == a, box[GONE, LAM], box[GONE + 1, LAM], box[GONE + 2, LAM], box[GONE + 3, LAM])


_BELOW = {IsotropicModel: _isotropic, ScalarModel: _scalar}


# copied into its one caller: a call with the whole state costs as much as most answers
@overload(edge_below, jit_options=KERNEL_OPTIONS, inline="always")
def _choose(model, state, grid, u, v, a, b, level, slot, box, which):
    return _BELOW.get(model.instance_class, _evaluate) if isinstance(model, types.NamedTuple) else None
