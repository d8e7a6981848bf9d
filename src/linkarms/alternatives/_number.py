"""One number that moves, whichever its cost: the KL of a family, or the rise of a centred mixture above its minimum.

The numbers of a pair problem are rows of two work arrays. ``box`` has the columns THETA (where the cost is 0), W (its weight), KAPPA
(its coefficient in the constraint), CAP, LAM, PAR (the family's known parameter), and for mixtures N, MEAN and C; ``which`` has ARM,
CODE, ADDRESS and KIND. A STUDENT number is a distance, with the cost ``a log(1 + (lam / b)^2)``, ``a`` in N and ``b`` in MEAN; a FIXED
one cannot move.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, lean
from linkarms.families._centred import (
    centred_gain,
    centred_inflection,
    centred_rise,
    centred_slope_limit,
    centred_step,
)
from linkarms.families._scalar import (
    scalar_gain,
    scalar_inflection,
    scalar_kl,
    scalar_slope_limit,
    scalar_step,
)

THETA, W, KAPPA, CAP, LAM, PAR, N, MEAN, C, COLUMNS = range(10)
ARM, CODE, ADDRESS, KIND, INT_COLUMNS = range(5)
#: What KIND says the cost is.
DIVERGENCE, MIXTURE, STUDENT, FIXED = range(4)


@lean
def number_cost(box: Array, which: Array, i: int, lam: float) -> float:
    """The cost of number ``i`` at ``lam``, without its weight."""
    code, par = which[i, CODE], box[i, PAR]
    if which[i, KIND] == MIXTURE:
        return centred_rise(code, par, box[i, N], box[i, MEAN], box[i, C], box[i, THETA], lam)
    if which[i, KIND] == STUDENT:
        return box[i, N] * math.log1p((lam / box[i, MEAN]) ** 2)
    if which[i, KIND] == FIXED:
        return 0.0 if lam == box[i, THETA] else math.inf
    return scalar_kl(code, par, which[i, ADDRESS], box[i, THETA], lam)


@lean
def number_step(box: Array, which: Array, i: int, slope: float) -> float:
    """``argmin over lam of cost(lam) - slope lam``."""
    code, par = which[i, CODE], box[i, PAR]
    if which[i, KIND] == MIXTURE:
        return centred_step(code, par, box[i, N], box[i, MEAN], box[i, C], slope)
    if which[i, KIND] == STUDENT:
        a, b = box[i, N], box[i, MEAN]
        if slope <= 0.0:
            return 0.0
        return b if slope * b >= a else slope * b * b / (a + math.sqrt(a * a - (slope * b) ** 2))
    if which[i, KIND] == FIXED:
        return box[i, THETA]
    return scalar_step(code, par, which[i, ADDRESS], box[i, THETA], slope)


@lean
def number_gain(box: Array, which: Array, i: int, slope: float, lam: float) -> float:
    """Derivative of the step in the slope."""
    code, par = which[i, CODE], box[i, PAR]
    if which[i, KIND] == MIXTURE:
        return centred_gain(code, par, box[i, N], box[i, MEAN], box[i, C], lam)
    if which[i, KIND] == STUDENT:
        a, b2, x2 = box[i, N], box[i, MEAN] ** 2, lam * lam
        return (b2 + x2) ** 2 / (2.0 * a * (b2 - x2)) if x2 < b2 else 0.0
    if which[i, KIND] == FIXED:
        return 0.0
    return scalar_gain(code, par, which[i, ADDRESS], box[i, THETA], slope, lam)


@lean
def number_slope_limit(box: Array, which: Array, i: int) -> float:
    """The slope at which the step becomes infinite."""
    code, par = which[i, CODE], box[i, PAR]
    if which[i, KIND] == MIXTURE:
        return centred_slope_limit(code, par, box[i, N], box[i, MEAN], box[i, C])
    if which[i, KIND] != DIVERGENCE:
        return math.inf
    return scalar_slope_limit(code, par, which[i, ADDRESS], box[i, THETA])


@lean
def number_inflection(box: Array, which: Array, i: int) -> float:
    """Where the cost stops being convex."""
    code, par = which[i, CODE], box[i, PAR]
    if which[i, KIND] == MIXTURE:
        return centred_inflection(code, par, box[i, N], box[i, MEAN], box[i, C])
    if which[i, KIND] != DIVERGENCE:
        return box[i, MEAN] if which[i, KIND] == STUDENT else math.inf
    return scalar_inflection(code, par, which[i, ADDRESS], box[i, THETA])
