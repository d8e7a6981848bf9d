"""Evidence of Gaussian arms of unknown variance from its definition: priors tied to the tested mean *and* precision, integrated out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, multigammaln

GRID = 0.2 * 5.0 ** np.arange(8)
#: The weight of the part of the mixture in which all arms of a set count; the rest is for each arm alone.
TOGETHER = 0.7


#: The share of each c of the grid in the mixture.
WEIGHT = GRID**-0.1 / np.sum(GRID**-0.1)


@dataclass(frozen=True)
class Sums:
    """What of samples (n, d) the evidence depends on; searches make them once."""

    n: int
    mean: NDArray
    scatter: NDArray

    @property
    def d(self):
        return len(self.mean)

    @cached_property
    def squares(self):
        return np.trace(self.scatter)

    @cached_property
    def coordinates(self):
        return [Sums(self.n, self.mean[[i]], self.scatter[i : i + 1, i : i + 1]) for i in range(self.d)]


def sums(x):
    """The sums of samples (n, d); those that are sums already are returned."""
    if isinstance(x, Sums):
        return x
    away = x - x.mean(axis=0)
    return Sums(len(x), x.mean(axis=0), away.T @ away)


def prior(c, d=1, centred=False):
    """Return shape and rate of the gamma prior of the precision, over the tested one."""
    shape = 2 * c * d if centred else (4 * c + 1) * d
    return shape, shape if centred else shape / (1 + 1 / c)


def wishart(c, d, centred=False):
    """Return nu of the Wishart prior, and nu over the factor by which it expects the precision above the tested one."""
    nu = np.maximum(4 * c if centred else 8 * c + 2, d)
    return nu, nu if centred else nu / (1 + 1 / c)


def isotropic(x, lam, variance, c, centred=False):
    """Log mixture likelihood ratio of samples (n, d) with one variance: gamma prior on the precision, normal prior on the mean."""
    x = sums(x)
    n, d = x.n, x.d
    (a, b), tau = prior(c, d, centred), 1.0 / variance
    away = ((x.mean - lam) ** 2).sum()
    t, r = x.squares + n * away, x.squares + c * n / (c + n) * away
    top = a + 0.5 * n * d
    level = 0.5 * d * np.log(c / (c + n)) + gammaln(top) - gammaln(a) + a * np.log(b)
    return level - top * np.log(b + 0.5 * tau * r) + 0.5 * tau * t


def coordinate(x, lam, variances, c, centred=False):
    """The same with independent coordinates."""
    each = zip(sums(x).coordinates, lam, variances, strict=True)
    return sum(isotropic(own, place, variance, c, centred) for own, place, variance in each)


def scatters(x, lam, c):
    """Squares about the tested mean, and those that are left where the mean is integrated out; of both the shape of ``c`` and (d, d)."""
    x = sums(x)
    away = np.outer(x.mean - lam, x.mean - lam)
    left = x.scatter + np.multiply.outer(c * x.n / (c + x.n), away)
    return np.broadcast_to(x.scatter + x.n * away, left.shape), left


def full(x, lam, covariance, c, precision=None, centred=False):
    """The same with a covariance, or its inverse: Wishart prior on the precision. ``c`` may be an array, with one precision for each."""
    x = sums(x)
    n, d = x.n, x.d
    nu, rate = wishart(c, d, centred)
    precision = np.linalg.inv(covariance) if precision is None else precision
    t, r = scatters(x, lam, c)
    level = 0.5 * d * np.log(c / (c + n)) + multigammaln(0.5 * (nu + n), d) - multigammaln(0.5 * nu, d)
    level += 0.5 * nu * d * np.log(rate) + 0.5 * n * d * np.log(2.0)
    det = np.linalg.slogdet(np.multiply.outer(rate, np.eye(d)) + precision @ r)[1]
    return level - 0.5 * (nu + n) * det + 0.5 * np.trace(precision @ t, axis1=-2, axis2=-1)


KINDS = {"isotropic": isotropic, "coordinate": coordinate, "full": full}


def lowest(kind, x, lam, c, centred=False):
    """The infimum over the variance, in closed form: where the derivative is zero, or the limit of a large variance; and its gradient.

    ``c`` may be an array; the gradient with respect to ``lam`` comes last then. The variance is where the derivative is zero, so that
    it counts as constant in the gradient. ``centred``: the prior of more than twenty arms, and of distance thresholds.
    """
    x = sums(x)
    n, d, away = x.n, x.d, x.mean - lam
    kept = c * n / (c + n)
    if kind == "isotropic":
        a, b = prior(c, d, centred)
        gap = (away**2).sum()
        t, r = x.squares + n * gap, x.squares + kept * gap
        tau = np.maximum(2.0 * ((a + 0.5 * n * d) / t - b / r), 1e-300)
        rise = tau * (kept * (a + 0.5 * n * d) / (b + 0.5 * tau * r) - n)
        return isotropic(x, lam, 1.0 / tau, c, centred), np.multiply.outer(rise, away)
    if kind == "coordinate":
        each = zip(x.coordinates, lam, strict=True)
        values, slopes = zip(*(lowest("isotropic", *own, c, centred) for own in each), strict=True)
        return sum(values), np.concatenate(slopes, axis=-1)
    nu, rate = (np.asarray(part)[..., None, None] for part in wishart(c, d, centred))
    t, r = scatters(x, lam, c)
    # in the directions of the generalised eigenvectors of t and r, each eigenvalue for itself
    root = np.linalg.cholesky(r)
    back = np.swapaxes(root, -1, -2)
    values, vectors = np.linalg.eigh(np.linalg.solve(root, np.swapaxes(np.linalg.solve(root, t), -1, -2)))
    best = np.maximum((nu[..., 0] + n) / values - rate[..., 0], 1e-300)
    vectors = np.linalg.solve(back, vectors)
    precision = (vectors * best[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    kept = np.asarray(kept)[..., None, None]
    rise = (nu + n) * kept * np.linalg.solve(rate * np.eye(d) + precision @ r, precision) - n * precision
    return full(x, lam, None, c, precision, centred), rise @ away


def least(kind, x, lam, c, centred=False):
    """The value of `lowest`."""
    return lowest(kind, x, lam, c, centred)[0]


def log_mixture(evidence):
    """Log of the weighted average over the grid of all arms together and of each alone; ``evidence`` has shape (arms, grid)."""
    evidence = np.asarray(evidence)
    parts = [np.log(TOGETHER) + evidence.sum(axis=0)]
    parts += [np.log((1.0 - TOGETHER) / len(evidence)) + own for own in evidence]
    return float(np.logaddexp.reduce(np.concatenate([part + np.log(WEIGHT) for part in parts])))


def against_means(kind, arms, lam, centred=False):
    """The log mixture of several arms' samples or sums at means (arms, d), the variances at their worst; and its gradient."""
    each = [lowest(kind, x, place, GRID, centred) for x, place in zip(arms, lam, strict=True)]
    evidence, slopes = (np.array(part) for part in zip(*each, strict=True))
    value = log_mixture(evidence)
    share = TOGETHER * np.exp(evidence.sum(axis=0) - value)
    share = WEIGHT * (share + (1.0 - TOGETHER) / len(arms) * np.exp(evidence - value))
    return value, np.einsum("mc,mcd->md", share, slopes)
