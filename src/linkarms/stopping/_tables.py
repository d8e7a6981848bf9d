"""What the anytime rule keeps of each arm, for each ``c`` of its grid: brought up to date when it is read.

An arm's evidence against ``lam`` is ``l(lam) = w f(lam) - p``: a weight, a cost that is zero at its minimiser, and a price. Gaussian
arms, of any known covariance: ``w = n^2 / (n + c)``, ``f = KL``, ``p = (d/2) log(1 + n/c)``. Other one-dimensional families: ``w =
1``, ``f`` the rise of the centred mixture above its minimum ``-p``. Arms with no centred mixture of such a form (products, categories,
a user's own): ``w = n``, ``f = KL``, and ``p`` the regret of a fixed prior.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, inlined, kernel
from linkarms.families._centred import centred_minimiser
from linkarms.families._evidence import scalar_log_evidence
from linkarms.families._model import CATEGORICAL, COVARIANCE, Model
from linkarms.families._prior import arm_regret
from linkarms.families._scalar import GAUSSIAN, USER
from linkarms.families._unknown import KNOWN
from linkarms.families._vector import arm_variance
from linkarms.state import DISCOUNT, TCOUNT, TINV, TLOW, TPEN, TW, State

__all__ = ["GAUSS", "MIX", "PRIOR", "UNIVERSAL", "evidence_kind", "fill_tables", "freshen", "freshen_pairs"]

#: The kinds of evidence; `UNIVERSAL` is that of arms with unknown variance and is not of this form.
GAUSS, MIX, PRIOR, UNIVERSAL = range(4)


@kernel
def evidence_kind(model: Model, m: int) -> int:
    """Which kind arm ``m`` has."""
    d = model.codes.shape[1]
    first = model.codes[m, 0]
    if first == COVARIANCE:
        return GAUSS
    if first == CATEGORICAL:
        return PRIOR
    gaussian = True
    for i in range(d):
        gaussian = gaussian and model.codes[m, i] == GAUSSIAN
    if gaussian:
        return GAUSS if model.address[m, 0] == KNOWN else UNIVERSAL
    return MIX if d == 1 and first != USER else PRIOR


@kernel
def fill_tables(
    model: Model,
    j: int,
    m: int,
    n: int,
    mean: Array,
    theta: Array,
    grid: Array,
    discount: float,
    tables: Array,
) -> None:
    """Arm ``m``'s entries for the ``j``-th ``c`` after ``n`` samples with mean ``mean`` and estimate ``theta``.

    Those for every ``c`` where they cost little, or where ``c`` plays no part.
    """
    d = theta.shape[0]
    kind = evidence_kind(model, m)
    if kind == MIX:
        code, par, c = model.codes[m, 0], model.pars[m, 0], grid[j]
        low = centred_minimiser(code, par, n, mean[0], c)
        tables[TW, j, m], tables[TLOW, j, m] = 1.0, low
        tables[TINV, j, m] = arm_variance(model, m, theta)
        tables[TPEN, j, m] = -scalar_log_evidence(code, par, n, mean[0], low, c) / discount
        tables[TCOUNT, j, m] = n
        return
    # of unknown variance: the share of its price that is paid. All of it, unless the rule was weakened
    variance, price = 1.0, 1.0
    if kind != UNIVERSAL:
        variance = arm_variance(model, m, theta)
    if kind == PRIOR:
        price = arm_regret(model, m, n, theta)
    for i in range(grid.shape[0]):
        weight = float(n)
        if kind == GAUSS:
            weight = n / (n + grid[i]) * n
            price = 0.5 * d * math.log1p(n / grid[i])
        tables[TW, i, m], tables[TLOW, i, m] = weight, theta[0]
        tables[TINV, i, m] = variance / weight
        tables[TPEN, i, m] = price / discount
        tables[TCOUNT, i, m] = n


@inlined
def freshen(model: Model, state: State, grid: Array, j: int, m: int) -> None:
    """Bring arm ``m``'s entries for the ``j``-th ``c`` up to date. To be called before they are read."""
    if state.tables[TCOUNT, j, m] != state.counts[m]:
        fill_tables(
            model,
            j,
            m,
            state.counts[m],
            state.means[m],
            state.theta[m],
            grid,
            state.values[DISCOUNT],
            state.tables,
        )


@inlined
def freshen_pairs(model: Model, state: State, grid: Array, j: int, u: int, v: int, a: int, b: int) -> None:
    """The same for all arms of a pair of pairs."""
    for m in (u, v, a, b):
        freshen(model, state, grid, j, m)
