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

from linkarms._jit import KERNEL_OPTIONS, Array, kernel
from linkarms.alternatives._number import LAM
from linkarms.families._model import ScalarModel
from linkarms.state import AT, DISCOUNT, SCALE, TAKEN, TERMS, State
from linkarms.stopping._pair_evidence import GONE, arm_evidence, pair_evidence, scalar_at

__all__ = ["edge_below", "set_point"]

#: A bound must be below the level by this share of it: more than rounding can do.
SURE = 1e-9


def edge_below(model, state, grid, u, v, a, b, level, slot, box, which) -> bool:
    """Whether the evidence against ``(u, v; a, b)`` is below ``level``. A shared arm is ``u = a``; ``state.points[slot]`` belongs to
    this pair of pairs, -1 if none does. Kernels only.
    """
    raise TypeError("edge_below is called from kernels only")


@kernel
def set_point(point: Array, shared: bool, x: float, y: float, z: float, w: float) -> None:
    """Let ``u, v, b, a`` be at ``x, y, z, w``; ``b`` comes nearer to ``a`` by what the constraint lacks."""
    if shared:
        w = x
    lack = abs(w - z) - abs(x - y)
    if lack > 0.0:
        z += lack if w > z else -lack
    point[0, AT], point[1, AT], point[2, AT], point[3, AT] = x, y, z, w
    point[:, TAKEN] = -1.0


@kernel
def _most_at(
    model: ScalarModel,
    state: State,
    grid: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    point: Array,
    solved: Array,
) -> tuple[int, float]:
    """The ``c``, of those not solved, with the most evidence at the point, and how much that is (NaN is more than any number)."""
    n = 3 if u == a else 4
    for i in range(n):
        m = u if i == 0 else v if i == 1 else b if i == 2 else a
        if point[i, TAKEN] != state.counts[m]:
            for j in range(grid.shape[0]):
                point[i, TERMS + j] = arm_evidence(model, state, grid, j, m, point[i, AT])
            point[i, TAKEN] = state.counts[m]
    best, most = -1, -math.inf
    for j in range(grid.shape[0]):
        if solved[j]:
            continue
        total = 0.0
        for i in range(n):
            total += point[i, TERMS + j]
        if not total <= most:
            best, most = j, total
    return best, most


def _evaluate(model, state, grid, u, v, a, b, level, slot, box, which):
    return pair_evidence(model, state, grid, u, v, a, b, level, box, which) < level


def _scalar(model, state, grid, u, v, a, b, level, slot, box, which):
    # (the terms of a point carry the whole price)
    if slot < 0 or state.values[DISCOUNT] != 1.0:
        return pair_evidence(model, state, grid, u, v, a, b, level, box, which) < level
    point = state.points[slot]
    sure = level - SURE * (1.0 + abs(level))
    solved = np.zeros(grid.shape[0], dtype=np.bool_)
    j = state.blocker[SCALE]
    known = not math.isnan(point[0, AT])
    while True:
        if known:
            j, most = _most_at(model, state, grid, u, v, a, b, point, solved)
            if most < sure:
                return True
        if scalar_at(model, state, grid, j, u, v, a, b, level, box, which) >= level:
            return False
        solved[j], known = True, True
        set_point(point, u == a, box[GONE, LAM], box[GONE + 1, LAM], box[GONE + 2, LAM], box[GONE + 3, LAM])


@overload(edge_below, jit_options=KERNEL_OPTIONS)
def _choose(model, state, grid, u, v, a, b, level, slot, box, which):
    if not isinstance(model, types.NamedTuple):
        return None
    return _scalar if model.instance_class is ScalarModel else _evaluate
