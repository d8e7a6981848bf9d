"""How far an arm can be from its estimate at a given evidence, for whichever model: the type of the model chooses the implementation when
the kernel is compiled.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import overload

from linkarms._jit import KERNEL_OPTIONS, Array, kernel
from linkarms.alternatives._number import THETA, W, number_cost
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH
from linkarms.families._model import (
    CovarianceModel,
    IsotropicModel,
    ScalarModel,
    UnknownModel,
    VectorModel,
)
from linkarms.families._vector import arm_reach
from linkarms.state import SCALE, TINV, TW
from linkarms.stopping._pair_evidence import load_number

__all__ = ["fill_evidence_reach"]


def fill_evidence_reach(model, state, grid, level, reach) -> None:
    """How far from its estimate each arm can be where its evidence is at most ``level`` above its minimum, by the ``c`` with which
    arms are chosen, whose tables must be up to date. Kernels only.
    """
    raise TypeError("fill_evidence_reach is called from kernels only")


def _no_reach(model, state, grid, level, reach):
    reach[:] = math.inf  # the evidence is not about the estimate: every candidate is looked at


def _gaussian_reach(model, state, grid, level, reach):
    inv = state.tables[TINV, state.blocker[SCALE]]
    for m in range(reach.shape[0]):
        reach[m] = math.sqrt(2.0 * level * inv[m])


def _vector_reach(model, state, grid, level, reach):
    w = state.tables[TW, state.blocker[SCALE]]
    for m in range(reach.shape[0]):
        reach[m] = arm_reach(model, m, state.theta[m], level / w[m])


@kernel
def _edge(box: Array, which: Array, level: float, scale: float, side: int) -> float:
    """Where the cost of row 0 reaches ``level`` on one side of its minimiser, rounded outwards to a hundredth."""
    start = box[0, THETA]
    inner, outer, step = start, start, scale
    for _ in range(1100):
        outer = inner + side * step
        if not box[0, W] * number_cost(box, which, 0, outer) < level:
            break
        inner, step = outer, 2.0 * step
        if step > 1e300:
            return side * math.inf  # it levels off below
    for _ in range(60):
        if abs(outer - inner) <= 0.01 * abs(outer - start):
            break
        x = 0.5 * (inner + outer)
        if box[0, W] * number_cost(box, which, 0, x) < level:
            inner = x
        else:
            outer = x
    return outer


def _scalar_reach(model, state, grid, level, reach):
    j = state.blocker[SCALE]
    box = np.empty(SCRATCH)
    which = np.empty(INT_SCRATCH, dtype=np.int64)
    for m in range(reach.shape[0]):
        load_number(model, state, grid, j, m, 0, box, which)
        theta = state.theta[m, 0]
        scale = (
            math.sqrt(state.tables[TINV, j, m] * state.tables[TW, j, m] / state.counts[m])
            + 1e-12 * abs(theta)
            + 1e-290
        )
        low, high = _edge(box, which, level, scale, -1), _edge(box, which, level, scale, 1)
        reach[m] = max(theta - low, high - theta)


_REACH = {
    IsotropicModel: _gaussian_reach,
    CovarianceModel: _gaussian_reach,
    ScalarModel: _scalar_reach,
    UnknownModel: _no_reach,
    VectorModel: _vector_reach,
}


@overload(fill_evidence_reach, jit_options=KERNEL_OPTIONS)
def _choose_reach(model, state, grid, level, reach):
    return _REACH.get(model.instance_class) if isinstance(model, types.NamedTuple) else None
