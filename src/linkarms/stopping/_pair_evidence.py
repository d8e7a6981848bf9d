"""The evidence against one pair of pairs, for whichever model: the type of the model chooses the implementation when the kernel is
compiled.

``max over the grid of c of the infimum of sum over the 3 or 4 arms of l_m(lambda_m)``, over all ``lambda`` with
``|lambda_u - lambda_v| >= |lambda_a - lambda_b|``. The arms' prices may make it negative.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, no-any-return"

from __future__ import annotations

import math

from numba import types
from numba.extending import overload

from linkarms._jit import KERNEL_OPTIONS, Array, inlined, kernel
from linkarms.alternatives._angles import vector_pair
from linkarms.alternatives._covariance import covariance_pair
from linkarms.alternatives._gaussian import shared_cost
from linkarms.alternatives._linear import convex_cost, linear_cost
from linkarms.alternatives._number import (
    ADDRESS,
    ARM,
    CODE,
    DIVERGENCE,
    FIXED,
    KAPPA,
    KIND,
    LAM,
    MEAN,
    MIXTURE,
    PAR,
    STUDENT,
    THETA,
    C,
    N,
    W,
)
from linkarms.alternatives._scalar import load_constraint
from linkarms.families._evidence import scalar_log_evidence
from linkarms.families._model import (
    CovarianceModel,
    IsotropicModel,
    Model,
    ScalarModel,
    UnknownModel,
    VectorModel,
)
from linkarms.families._scalar import scalar_kl
from linkarms.families._unknown import LOG_PREDICTIVE, MEAN_FROM, PREDICTED, SHARED, SQUARES
from linkarms.state import SCALE, TINV, TLOW, TPEN, TW, State
from linkarms.stopping._tables import MIX, evidence_kind, freshen, freshen_pairs

__all__ = [
    "GONE",
    "arm_evidence",
    "edge_evidence",
    "isotropic_evidence",
    "load_number",
    "pair_evidence",
    "scalar_at",
    "shared_first",
]


def pair_evidence(model, state, grid, u, v, a, b, level, box, which) -> float:
    """The evidence against ``(u, v; a, b)``, or any value >= ``level`` that it is sure to reach. A shared arm is ``u = a``. Kernels
    only."""
    raise TypeError("pair_evidence is called from kernels only")


@inlined
def shared_first(u: int, v: int, a: int, b: int) -> tuple[int, int, int, int]:
    """The pairs with a shared arm, if there is one, first in both."""
    if v in (a, b):
        u, v = v, u
    return (u, v, b, a) if u == b else (u, v, a, b)


@kernel
def edge_evidence(
    model: Model,
    state: State,
    grid: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    level: float,
    box: Array,
    which: Array,
) -> float:
    """`pair_evidence` for pairs in any order."""
    u, v, a, b = shared_first(u, v, a, b)
    return pair_evidence(model, state, grid, u, v, a, b, level, box, which)


@kernel
def price(tables: Array, j: int, u: int, v: int, a: int, b: int) -> float:
    """The prices of the arms of a pair of pairs; a shared arm ``u = a`` pays once."""
    total = tables[TPEN, j, u] + tables[TPEN, j, v] + tables[TPEN, j, b]
    return total if u == a else total + tables[TPEN, j, a]


@kernel
def isotropic_evidence(
    tables: Array, dist: Array, first: int, u: int, v: int, a: int, b: int, level: float
) -> float:
    """The evidence for Gaussians with one variance per arm, from tables that are up to date; ``first`` is the ``c`` to begin with."""
    best = -math.inf
    p, q, r = dist[u, v], dist[a, b], dist[v, b]
    gap = max(q - p, 0.0)
    n = tables.shape[1]
    for turn in range(n):
        j = first + turn if first + turn < n else first + turn - n
        iu, iv, ib = tables[TINV, j, u], tables[TINV, j, v], tables[TINV, j, b]
        if u == a:
            value = shared_cost(p, q, r, iu, iv, ib)
        else:
            value = gap * gap / (2.0 * (iu + iv + ib + tables[TINV, j, a]))
        value -= price(tables, j, u, v, a, b)
        best = max(best, value)
        if best >= level:
            break
    return best


def _isotropic(model, state, grid, u, v, a, b, level, box, which):
    first = state.blocker[SCALE]
    freshen_pairs(model, state, grid, first, u, v, a, b)
    return isotropic_evidence(state.tables, state.dist, first, u, v, a, b, level)


def _covariance(model, state, grid, u, v, a, b, level, box, which):
    best = -math.inf
    for turn in range(grid.shape[0]):
        j = (turn + state.blocker[SCALE]) % grid.shape[0]
        freshen_pairs(model, state, grid, j, u, v, a, b)
        value = covariance_pair(
            state.theta, model.covariance, state.tables[TW, j], u, v, a, b, state.theta, False
        )
        best = max(best, value - price(state.tables, j, u, v, a, b))
        if best >= level:
            break
    return best


def _vector(model, state, grid, u, v, a, b, level, box, which):
    best = -math.inf
    for turn in range(grid.shape[0]):
        j = (turn + state.blocker[SCALE]) % grid.shape[0]
        freshen_pairs(model, state, grid, j, u, v, a, b)
        cost = price(state.tables, j, u, v, a, b)
        value = vector_pair(
            model, state.theta, state.tables[TW, j], u, v, a, b, level + cost, state.theta, False, box, which
        )
        best = max(best, value - cost)
        if best >= level:
            break
    return best


@kernel
def load_number(
    model: ScalarModel, state: State, grid: Array, j: int, m: int, i: int, box: Array, which: Array
) -> None:
    """Arm ``m`` with the ``j``-th ``c`` into row ``i`` of the work arrays."""
    which[i, ARM], which[i, CODE], which[i, ADDRESS] = m, model.codes[m, 0], model.address[m, 0]
    box[i, PAR], box[i, THETA], box[i, W] = model.pars[m, 0], state.tables[TLOW, j, m], state.tables[TW, j, m]
    which[i, KIND] = DIVERGENCE
    if evidence_kind(model, m) == MIX:
        which[i, KIND] = MIXTURE
        box[i, N], box[i, MEAN], box[i, C] = state.counts[m], state.means[m, 0], grid[j]


#: The rows of ``box``, from this one on, in which `scalar_at` leaves where the arms went.
GONE = 4


@kernel
def scalar_at(
    model: ScalarModel,
    state: State,
    grid: Array,
    j: int,
    u: int,
    v: int,
    a: int,
    b: int,
    level: float,
    local: bool,
    box: Array,
    which: Array,
) -> float:
    """The infimum for the ``j``-th ``c``: over both signs of the intra pair. If it is at least ``level``, any such value. ``local``: an
    upper bound of it, from the part where all costs are convex.

    The constraint keeps the sign that the inter pair has where the evidence is smallest. It is implied by the true one whatever that
    sign, so that the value is never too large.
    """
    freshen_pairs(model, state, grid, j, u, v, a, b)
    tables = state.tables
    cost = price(tables, j, u, v, a, b)
    p = tables[TLOW, j, u] - tables[TLOW, j, v]
    q = tables[TLOW, j, a] - tables[TLOW, j, b]
    if abs(p) >= abs(q):
        box[GONE, LAM], box[GONE + 1, LAM] = tables[TLOW, j, u], tables[TLOW, j, v]
        box[GONE + 2, LAM], box[GONE + 3, LAM] = tables[TLOW, j, b], tables[TLOW, j, a]
        return -cost
    best = math.inf
    for turn in range(2):
        sign = 1.0 if (p >= 0.0) == (turn == 0) else -1.0
        n = load_constraint(u, v, a, b, sign, 1.0 if q >= 0.0 else -1.0, box, which)
        for i in range(n):
            load_number(model, state, grid, j, which[i, ARM], i, box, which)
        if local:
            value = convex_cost(box, which, n)
        else:
            value = linear_cost(box, which, n, min(level + cost, best))
        if value < best:
            best = value
            for i in range(n):
                box[GONE + i, LAM] = box[i, LAM]
    return best - cost


@kernel
def arm_evidence(model: ScalarModel, state: State, grid: Array, j: int, m: int, lam: float) -> float:
    """``l_m(lam)`` with the ``j``-th ``c``."""
    if evidence_kind(model, m) == MIX:
        return scalar_log_evidence(
            model.codes[m, 0], model.pars[m, 0], state.counts[m], state.means[m, 0], lam, grid[j]
        )
    freshen(model, state, grid, j, m)
    rise = scalar_kl(model.codes[m, 0], model.pars[m, 0], model.address[m, 0], state.tables[TLOW, j, m], lam)
    return state.tables[TW, j, m] * rise - state.tables[TPEN, j, m]


def _scalar(model, state, grid, u, v, a, b, level, box, which):
    first = state.blocker[SCALE]
    best = scalar_at(model, state, grid, first, u, v, a, b, level, False, box, which)
    if best >= level:
        return best
    x, y, z, w = box[GONE, LAM], box[GONE + 1, LAM], box[GONE + 2, LAM], box[GONE + 3, LAM]
    for turn in range(1, grid.shape[0]):
        j = (turn + first) % grid.shape[0]
        # Where the arms went for the first c bounds the infimum for another from above: most need no search. (To pass over one that
        # would have been larger is safe.)
        above = arm_evidence(model, state, grid, j, u, x) + arm_evidence(model, state, grid, j, v, y)
        above += arm_evidence(model, state, grid, j, b, z)
        if u != a:
            above += arm_evidence(model, state, grid, j, a, w)
        if above <= best:
            continue
        best = max(best, scalar_at(model, state, grid, j, u, v, a, b, level, False, box, which))
        if best >= level:
            break
    return best


@kernel
def _predicted_distance(moments: Array, u: int, v: int) -> float:
    """Distance between the means of the predicted samples of two arms."""
    total = 0.0
    for i in range(MEAN_FROM, moments.shape[1]):
        total += (moments[u, i] - moments[v, i]) ** 2
    return math.sqrt(total)


@kernel
def _best_likelihood(n: float, d: int, squares: float) -> float:
    """Minus the log likelihood of ``n`` samples with the variance that suits them best, ``squares`` about the tested means."""
    return 0.5 * n * d * (math.log(2.0 * math.pi * squares / (n * d)) + 1.0)


@kernel
def _one_variance(moments: Array, u: int, v: int, a: int, b: int, p: float, q: float, paid: float) -> float:
    """The arms share their variance: the likelihood depends on the squares alone, and so on the Gaussian pair cost."""
    d = moments.shape[1] - MEAN_FROM
    n, squares, total = 0.0, 0.0, 0.0
    spread = 0.0
    for i in range(3 if u == a else 4):
        m = u if i == 0 else v if i == 1 else b if i == 2 else a
        k = moments[m, PREDICTED]
        n += k
        squares += moments[m, SQUARES]
        total += moments[m, LOG_PREDICTIVE]
        spread = spread + 1.0 / k if k > 0.0 else math.inf
    cost = 0.0
    if spread < math.inf and q > p:
        if u == a:
            r = _predicted_distance(moments, v, b)
            cost = shared_cost(
                p, q, r, 1.0 / moments[u, PREDICTED], 1.0 / moments[v, PREDICTED], 1.0 / moments[b, PREDICTED]
            )
        else:
            cost = (q - p) ** 2 / (2.0 * spread)
    if squares <= 0.0:
        return -math.inf
    return 0.5 * n * d * math.log1p(2.0 * cost / squares) + paid * (total + _best_likelihood(n, d, squares))


@kernel
def _own_variances(
    moments: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    gap: float,
    paid: float,
    level: float,
    box: Array,
    which: Array,
) -> float:
    """Each arm has its own variance: how far each moves, with ``r_u + r_v + r_a + r_b >= gap``, a shared arm counted twice.

    That is the triangle inequality; for four arms nothing is lost by it.
    """
    d = moments.shape[1] - MEAN_FROM
    total = 0.0
    n = 3 if u == a else 4
    for i in range(n):
        m = u if i == 0 else v if i == 1 else b if i == 2 else a
        k, squares = moments[m, PREDICTED], moments[m, SQUARES]
        if squares <= 0.0:  # at most one predicted sample, or equal ones: any mean is possible
            return -math.inf
        total += paid * (moments[m, LOG_PREDICTIVE] + _best_likelihood(k, d, squares))
        which[i, ARM], which[i, KIND] = m, STUDENT
        box[i, N], box[i, MEAN] = 0.5 * k * d, math.sqrt(squares / k)
        box[i, THETA], box[i, W], box[i, KAPPA] = 0.0, 1.0, 2.0 if u == a and i == 0 else 1.0
    if gap <= 0.0:
        return total
    which[n, KIND] = FIXED
    box[n, THETA], box[n, W], box[n, KAPPA] = gap, 1.0, -1.0
    return total + linear_cost(box, which, n + 1, level - total)


def _unknown(model, state, grid, u, v, a, b, level, box, which):
    moments = state.moments
    p, q = _predicted_distance(moments, u, v), _predicted_distance(moments, a, b)
    freshen(model, state, grid, 0, u)
    paid = state.tables[TPEN, 0, u]
    if model.address[0, 0] == SHARED:
        return _one_variance(moments, u, v, a, b, p, q, paid)
    return _own_variances(moments, u, v, a, b, q - p, paid, level, box, which)


_EVIDENCE = {
    IsotropicModel: _isotropic,
    CovarianceModel: _covariance,
    ScalarModel: _scalar,
    UnknownModel: _unknown,
    VectorModel: _vector,
}


@overload(pair_evidence, jit_options=KERNEL_OPTIONS)
def _choose_evidence(model, state, grid, u, v, a, b, level, box, which):
    return _EVIDENCE.get(model.instance_class) if isinstance(model, types.NamedTuple) else None
