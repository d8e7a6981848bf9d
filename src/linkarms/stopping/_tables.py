"""What the anytime rule keeps of each arm, for each ``c`` of its grid: brought up to date when it is read.

An arm's evidence against ``lam`` is ``l(lam) = w f(lam) - p``: a weight, a cost that is zero at its minimiser, and a price. Gaussian
arms, of any known covariance: ``w = n^2 / (n + c)``, ``f = KL``, ``p = (d/2) log(1 + n/c)``. Other one-dimensional families: ``w =
1``, ``f`` the rise of the centred mixture above its minimum ``-p``. Arms with no centred mixture of such a form (products, categories,
a user's own): ``w = n``, ``f = KL``, and ``p`` the regret of a fixed prior.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, kernel
from linkarms.families._centred import centred_minimiser
from linkarms.families._evidence import scalar_log_evidence
from linkarms.families._model import CATEGORICAL, COVARIANCE, Model
from linkarms.families._prior import arm_regret
from linkarms.families._scalar import GAUSSIAN, USER
from linkarms.families._unknown import KNOWN
from linkarms.families._vector import arm_variance
from linkarms.state import DISCOUNT, TCOUNT, TINV, TLOW, TPEN, TW, State

__all__ = ["GAUSS", "MIX", "PRIOR", "UNIVERSAL", "evidence_kind", "freshen", "freshen_callbacks"]

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
def _fill(model: Model, state: State, grid: Array, j: int, m: int) -> None:
    """Arm ``m``'s entries for the ``j``-th ``c``; for all of them where ``c`` plays no part."""
    n, mean, theta, tables = state.counts[m], state.means[m], state.theta[m], state.tables
    d = theta.shape[0]
    kind = evidence_kind(model, m)
    if kind == UNIVERSAL:  # the share of its price that is paid: all of it, unless the rule was weakened
        tables[TPEN, j, m] = 1.0 / state.values[DISCOUNT]
        tables[TCOUNT, j, m] = n
        return
    variance = arm_variance(model, m, theta)
    if kind == PRIOR:
        regret = arm_regret(model, m, n, theta) / state.values[DISCOUNT]
        for i in range(grid.shape[0]):
            tables[TW, i, m], tables[TINV, i, m] = float(n), variance / n
            tables[TPEN, i, m], tables[TLOW, i, m], tables[TCOUNT, i, m] = regret, theta[0], n
        return
    c = grid[j]
    if kind == GAUSS:
        low = theta[0]
        weight = n / (n + c) * n
        price = 0.5 * d * math.log1p(n / c)
    else:
        code, par = model.codes[m, 0], model.pars[m, 0]
        low = centred_minimiser(code, par, n, mean[0], c)
        price = -scalar_log_evidence(code, par, n, mean[0], low, c)
        weight = 1.0
    tables[TW, j, m], tables[TINV, j, m] = weight, variance / weight
    tables[TPEN, j, m], tables[TLOW, j, m], tables[TCOUNT, j, m] = (
        price / state.values[DISCOUNT],
        low,
        n,
    )


@kernel
def freshen(model: Model, state: State, grid: Array, j: int, m: int) -> None:
    """Bring arm ``m``'s entries for the ``j``-th ``c`` up to date. To be called before they are read."""
    if state.tables[TCOUNT, j, m] != state.counts[m]:
        _fill(model, state, grid, j, m)


@kernel
def freshen_callbacks(model: Model, state: State, grid: Array, m: int) -> None:
    """The entries that may need a user's function, which has to fail with the sample that it fails for."""
    if evidence_kind(model, m) == PRIOR:
        _fill(model, state, grid, 0, m)
