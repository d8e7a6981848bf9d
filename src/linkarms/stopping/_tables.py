"""What the anytime rule keeps of each arm, for each ``c`` of its grid: brought up to date when the arm is sampled.

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
from linkarms.state import TINV, TLOW, TPEN, TW

__all__ = ["GAUSS", "MIX", "PRIOR", "UNIVERSAL", "evidence_kind", "fill_tables"]

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
def fill_tables(model: Model, m: int, n: int, mean: Array, theta: Array, grid: Array, tables: Array) -> None:
    """Bring arm ``m``'s columns up to date after ``n`` samples with mean ``mean`` and estimate ``theta``."""
    d = theta.shape[0]
    kind = evidence_kind(model, m)
    if kind == UNIVERSAL:
        for j in range(grid.shape[0]):
            tables[TPEN, j, m] = (
                1.0  # the share of its price that is paid: all of it, unless the rule was weakened
            )
        return
    variance = arm_variance(model, m, theta)
    regret = arm_regret(model, m, n, theta) if kind == PRIOR else 0.0
    for j in range(grid.shape[0]):
        c = grid[j]
        low, price, weight = theta[0], regret, float(n)
        if kind == GAUSS:
            weight = n / (n + c) * n
            price = 0.5 * d * math.log1p(n / c)
        elif kind == MIX:
            code, par = model.codes[m, 0], model.pars[m, 0]
            low = centred_minimiser(code, par, n, mean[0], c)
            price = -scalar_log_evidence(code, par, n, mean[0], low, c)
            weight = 1.0
        tables[TW, j, m] = weight
        tables[TINV, j, m] = variance / weight
        tables[TPEN, j, m] = price
        tables[TLOW, j, m] = low
