"""Sequentially valid tests of a family: log e-values that hold whenever one looks, however arms were chosen.

Each is a mixture over alternatives of a likelihood ratio in which the arm's unknown parameter has cancelled. Under the family it is a
nonnegative martingale of mean one (or a supermartingale), so by Ville's inequality it ever reaches ``1 / p`` with probability at most
``p``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from linkarms import _core
from linkarms.checks._special import log_mixed_tilt

__all__ = ["BLOCK", "excess_variance", "gamma_spread", "mixed", "poisson_spread"]

Array = NDArray[np.float64]

#: Samples that are compared with each other, given their sum.
BLOCK = 10
#: Alternatives: how many times the variance is that of the family. Equal weights.
FACTORS = np.array([1.25, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0])
#: Numbers below this share of their block's mean count as this share: zeros of a rounded clock are not evidence.
_FLOOR = 0.01


def excess_variance(squares: float, freedom: int) -> float:
    """Return the log evidence against "the variance of Gaussian samples is at most 1", with unknown means.

    Parameters
    ----------
    squares : float
        ``Q``: the sum of squares about the mean of each arm.
    freedom : int
        ``k``: the number of samples minus one per arm.

    Notes
    -----
    The recursive residuals of Gaussian samples are independent N(0, 1) whatever the mean, and their squares add up to Q. Against variance
    ``1 / t`` the likelihood ratio is ``t^(k/2) exp((1 - t) Q / 2)``, of mean at most one for every true variance up to 1 if t <= 1. With t
    uniform on (0, 1) the mixture is ``exp(Q/2) Gamma(a) P(a, Q/2) (Q/2)^-a``, ``a = k/2 + 1``, P the regularised lower incomplete gamma
    function.
    """
    if freedom <= 0 or squares <= 0.0:
        return 0.0 if freedom <= 0 else -np.inf
    return log_mixed_tilt(0.5 * freedom + 1.0, 0.5 * squares)


def poisson_spread(counts: Array) -> Array:
    """Return the log likelihood ratio of counts for each of `FACTORS`: overdispersed against Poisson, the mean unknown.

    Notes
    -----
    Given their sum s, ten Poisson counts of one mean are multinomial with equal shares. Negative binomial counts of size r are
    Dirichlet-multinomial, ``r = (s / 10) / (factor - 1)``: a function of s, so the ratio has mean one given s. Only whole blocks count.
    """
    x = _blocks(counts)
    s = x.sum(axis=1)
    x, s = x[s > 0.0], s[s > 0.0]
    log_gamma, out = _core.log_gamma, np.zeros(len(FACTORS))
    for j, factor in enumerate(FACTORS):
        r = s / BLOCK / (factor - 1.0)
        inner = (log_gamma((x + r[:, None]).ravel()).reshape(x.shape) - log_gamma(r)[:, None]).sum(axis=1)
        out[j] = float((log_gamma(BLOCK * r) - log_gamma(s + BLOCK * r) + inner + s * np.log(BLOCK)).sum())
    return out


def gamma_spread(values: Array, shape: float) -> Array:
    """Return the log likelihood ratio of positive numbers for each of `FACTORS`: wider than a gamma of this shape, the mean unknown.

    Notes
    -----
    Ten gamma samples of shape k and one scale, divided by their sum, are Dirichlet(k, ..., k). The alternative is Dirichlet(a, ..., a) with
    ``a = k / factor``. The ratio falls in every share, so raising small shares to a floor makes it smaller and keeps it valid.
    """
    x = _blocks(values)
    x = x[x.sum(axis=1) > 0.0]
    shares = np.maximum(x / x.sum(axis=1, keepdims=True), _FLOOR / BLOCK)
    logs = np.log(shares).sum(axis=1)
    log_gamma, a = _core.log_gamma, shape / FACTORS
    constant = (
        log_gamma(BLOCK * a) - BLOCK * log_gamma(a) - math.lgamma(BLOCK * shape) + BLOCK * math.lgamma(shape)
    )
    return np.asarray(len(x) * constant + (a - shape) * logs.sum())


def mixed(ratios: Array) -> float:
    """Return the log of the mean of likelihood ratios given by their logs."""
    return float(np.logaddexp.reduce(ratios) - np.log(len(ratios)))


def _blocks(values: Array) -> Array:
    whole = len(values) // BLOCK * BLOCK
    return values[:whole].reshape(-1, BLOCK)
