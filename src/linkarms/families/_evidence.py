"""Log evidence of an arm's samples against a value of its parameter: centred mixtures.

``exp(l(lam))`` is the likelihood ratio of the samples, averaged over a prior that is centred at the tested value ``lam`` and weighs as
much as ``c`` samples, against ``lam`` itself. Where ``lam`` is the truth it is a non-negative martingale of mean one, so that large values
speak against ``lam`` at any time, whatever decided when the arm was sampled. The sufficient statistics are the raw ones: estimates
clipped to a Theta play no part. With no samples ``l = 0``; values below zero are meant to be kept.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, kernel
from linkarms.families._model import CATEGORICAL, COVARIANCE, Model
from linkarms.families._scalar import BERNOULLI, GAMMA_MEAN, GAMMA_RATE, GAUSSIAN, POISSON, phi

__all__ = ["arm_log_evidence", "scalar_log_evidence"]


@kernel
def _count_evidence(s: float, m: float, c: float) -> float:
    """``s log(1/m) + lgamma(s + c m) - lgamma(c m)``: the part of one category, seen ``s`` times, of probability ``m``."""
    if s <= 0.0:
        return 0.0
    if s == 1.0:
        return math.log(c)  # whatever m is, and so in the limit m = 0
    if m <= 0.0:
        return math.inf
    return math.lgamma(s + c * m) - math.lgamma(c * m) - s * math.log(m)


@kernel
def scalar_log_evidence(code: int, par: float, n: float, mean: float, lam: float, c: float) -> float:
    """``l(lam)`` after ``n`` samples with mean ``mean``; NaN for a user's own family, which has no such prior.

    ==============  ==============================================  ===============================================
    family          prior                                           with ``S = n mean``
    ==============  ==============================================  ===============================================
    Gaussian        ``N(lam, v / c)``                               ``n^2 (mean - lam)^2 / (2 v (n+c)) - log(1 + n/c) / 2``
    gamma, rate     ``rate / lam ~ Gamma(k c + 1, k c)``            ``S lam - (k(n+c)+1) log(k c + S lam) + ...``
    Bernoulli       ``Beta(c lam, c (1 - lam))``                    a ratio of beta functions
    Poisson         ``Gamma(c lam, c)``                             a ratio of gamma functions
    ==============  ==============================================  ===============================================
    """
    if n <= 0.0:
        return 0.0
    total = n * mean
    if code == GAUSSIAN:
        return n * n * (mean - lam) * (mean - lam) / (2.0 * par * (n + c)) - 0.5 * math.log1p(n / c)
    if code in (GAMMA_RATE, GAMMA_MEAN):
        x = total * (lam if code == GAMMA_RATE else par / lam)
        k = par * c
        return (
            x
            - (par * n + k + 1.0) * math.log(k + x)
            + (k + 1.0) * math.log(k)
            + math.lgamma(par * n + k + 1.0)
            - math.lgamma(k + 1.0)
        )
    if code in (BERNOULLI, POISSON):
        total = math.floor(total + 0.5)  # a count, whatever rounding has done to the mean
    if code == BERNOULLI:
        both = _count_evidence(total, lam, c) + _count_evidence(n - total, 1.0 - lam, c)
        return both - math.lgamma(n + c) + math.lgamma(c)
    if code == POISSON:
        if lam < 0.0:
            return math.inf
        # c lam phi(n/c) = n lam - c lam log(1 + n/c), without cancellation
        return c * lam * phi(n / c) - total * math.log(c + n) + _count_evidence(total, lam, c)
    return math.nan


@kernel
def arm_log_evidence(model: Model, m: int, n: float, mean: Array, lam: Array, c: float) -> float:
    """``l_m(lam)`` of arm ``m`` after ``n`` samples with the mean vector ``mean``: independent coordinates add up."""
    d = lam.shape[0]
    if n <= 0.0:
        return 0.0
    if model.codes[m, 0] == COVARIANCE:
        square = 0.0
        for i in range(d):
            for j in range(d):
                square += (mean[i] - lam[i]) * model.precision[m, i, j] * (mean[j] - lam[j])
        return n * n * square / (2.0 * (n + c)) - 0.5 * d * math.log1p(n / c)
    if model.codes[m, 0] == CATEGORICAL:  # Dirichlet(c lam)
        total = math.lgamma(c) - math.lgamma(n + c)
        for i in range(d):
            total += _count_evidence(math.floor(n * mean[i] + 0.5), lam[i], c)
        return total
    total = 0.0
    for i in range(d):
        total += scalar_log_evidence(model.codes[m, i], model.pars[m, i], n, mean[i], lam[i], c)
    return total
