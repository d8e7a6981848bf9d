"""Points that the constraint of a pair of pairs allows, with the evidence of each arm there: an upper bound of the infimum for every ``c``.

A point is an array of shape (4, 2 + J) with a row for each of ``u, v, b, a``: the value, the arm's count when its evidence there was
computed, and that evidence for each ``c``. Arms have one parameter each.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, inlined, kernel
from linkarms.families._evidence import scalar_log_evidence
from linkarms.families._model import ScalarModel
from linkarms.families._scalar import GAUSSIAN, USER
from linkarms.state import AT, TAKEN, TERMS, State
from linkarms.stopping._pair_evidence import arm_evidence
from linkarms.stopping._tables import MIX, evidence_kind

__all__ = ["SURE", "freshen_point", "most_at", "point_below", "set_point"]

#: What a bound must be below by, as a share: more than rounding can do.
SURE = 1e-9


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


@inlined
def freshen_point(
    model: ScalarModel, state: State, grid: Array, u: int, v: int, a: int, b: int, point: Array
) -> None:
    """Bring the terms of arms that were sampled since up to date."""
    for i in range(3 if u == a else 4):
        m = u if i == 0 else v if i == 1 else b if i == 2 else a
        if point[i, TAKEN] != state.counts[m]:
            _fill_terms(model, state, grid, m, point[i])


@kernel
def point_below(
    point: Array,
    codes: Array,
    pars: Array,
    counts: Array,
    means: Array,
    grid: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    level: float,
) -> bool:
    """Whether the evidence at the point is surely below ``level`` for every ``c``; False also where that takes more than mixtures."""
    if math.isnan(point[0, AT]):
        return False
    n = 3 if u == a else 4
    for i in range(n):
        m = u if i == 0 else v if i == 1 else b if i == 2 else a
        if point[i, TAKEN] != counts[m]:
            code, par, lam = codes[m, 0], pars[m, 0], point[i, AT]
            if code in (GAUSSIAN, USER):
                return False
            for j in range(grid.shape[0]):
                point[i, TERMS + j] = scalar_log_evidence(code, par, counts[m], means[m, 0], lam, grid[j])
            point[i, TAKEN] = counts[m]
    sure = level - SURE * (1.0 + abs(level))
    for j in range(grid.shape[0]):
        total = point[0, TERMS + j] + point[1, TERMS + j] + point[2, TERMS + j]
        if n == 4:
            total += point[3, TERMS + j]
        if not total < sure:
            return False
    return True


@kernel
def most_at(point: Array, n: int, solved: Array) -> tuple[int, float]:
    """The ``c``, of those not ``solved``, with the most evidence at the point, of ``n`` arms (NaN is more than any number); -1: none."""
    best, most = -1, -math.inf
    for j in range(solved.shape[0]):
        total = point[0, TERMS + j] + point[1, TERMS + j] + point[2, TERMS + j]
        if n == 4:
            total += point[3, TERMS + j]
        if not solved[j] and not total <= most:
            best, most = j, total
    return best, most
