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

from linkarms._jit import KERNEL_OPTIONS, Array, inlined
from linkarms.alternatives._number import LAM
from linkarms.families._evidence import scalar_log_evidence
from linkarms.families._model import IsotropicModel, ScalarModel
from linkarms.state import AT, DISCOUNT, SCALE, TAKEN, TERMS, State
from linkarms.stopping._pair_evidence import GONE, arm_evidence, isotropic_evidence, pair_evidence, scalar_at
from linkarms.stopping._tables import MIX, evidence_kind, freshen_pairs

__all__ = ["edge_below", "set_point"]

#: A bound must be below the level by this share of it: more than rounding can do.
SURE = 1e-9


def edge_below(model, state, grid, u, v, a, b, level, slot, box, which) -> bool:
    """Whether the evidence against ``(u, v; a, b)`` is below ``level``. A shared arm is ``u = a``; ``state.points[slot]`` belongs to
    this pair of pairs, -1 if none does. Kernels only.
    """
    raise TypeError("edge_below is called from kernels only")


@inlined
def set_point(point: Array, shared: bool, x: float, y: float, z: float, w: float) -> None:
    """Let ``u, v, b, a`` be at ``x, y, z, w``; ``b`` comes nearer to ``a`` by what the constraint lacks."""
    if shared:
        w = x
    lack = abs(w - z) - abs(x - y)
    if lack > 0.0:
        z += lack if w > z else -lack
    point[0, AT], point[1, AT], point[2, AT], point[3, AT] = x, y, z, w
    point[:, TAKEN] = -1.0


@inlined
def _fill_terms(model: ScalarModel, state: State, grid: Array, m: int, terms: Array) -> None:
    """The evidence of arm ``m`` where the point has it, for each ``c``."""
    lam, n, mean = terms[AT], state.counts[m], state.means[m, 0]
    code, par = model.codes[m, 0], model.pars[m, 0]
    mixture = evidence_kind(model, m) == MIX
    for j in range(grid.shape[0]):
        if mixture:
            terms[TERMS + j] = scalar_log_evidence(code, par, n, mean, lam, grid[j])
        else:
            terms[TERMS + j] = arm_evidence(model, state, grid, j, m, lam)
    terms[TAKEN] = n


def _evaluate(model, state, grid, u, v, a, b, level, slot, box, which):
    return pair_evidence(model, state, grid, u, v, a, b, level, box, which) < level


def _isotropic(model, state, grid, u, v, a, b, level, slot, box, which):
    first = state.blocker[SCALE]
    freshen_pairs(model, state, grid, first, u, v, a, b)
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
            # the c, of those not solved, with the most evidence at the point (NaN is more than any number)
            for i in range(n):
                m = u if i == 0 else v if i == 1 else b if i == 2 else a
                if point[i, TAKEN] != state.counts[m]:
                    _fill_terms(model, state, grid, m, point[i])
            most = -math.inf
            for i in range(grid.shape[0]):
                total = point[0, TERMS + i] + point[1, TERMS + i] + point[2, TERMS + i]
                if n == 4:
                    total += point[3, TERMS + i]
                if not solved[i] and not total <= most:
                    j, most = i, total
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
