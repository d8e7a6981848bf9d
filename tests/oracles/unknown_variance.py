"""Evidence of Gaussian arms of unknown variance from its definition: priors tied to the tested mean *and* precision, integrated out."""

import numpy as np
from scipy.special import gammaln, multigammaln

GRID = 0.2 * 5.0 ** np.arange(8)
#: The weight of the part of the mixture in which all arms of a set count; the rest is for each arm alone.
TOGETHER = 0.7


#: The share of each c of the grid in the mixture.
WEIGHT = GRID**-0.1 / np.sum(GRID**-0.1)


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
    n, d = x.shape
    (a, b), tau = prior(c, d, centred), 1.0 / variance
    t = ((x - lam) ** 2).sum()
    r = ((x - x.mean(axis=0)) ** 2).sum() + c * n / (c + n) * ((x.mean(axis=0) - lam) ** 2).sum()
    top = a + 0.5 * n * d
    level = 0.5 * d * np.log(c / (c + n)) + gammaln(top) - gammaln(a) + a * np.log(b)
    return level - top * np.log(b + 0.5 * tau * r) + 0.5 * tau * t


def coordinate(x, lam, variances, c, centred=False):
    """The same with independent coordinates."""
    return sum(isotropic(x[:, [i]], lam[i], variances[i], c, centred) for i in range(x.shape[1]))


def scatters(x, lam, c):
    """Squares about the tested mean, and those that are left where the mean is integrated out; of both the shape of ``c`` and (d, d)."""
    n, middle = len(x), x.mean(axis=0)
    scatter, away = (x - middle).T @ (x - middle), np.outer(middle - lam, middle - lam)
    left = scatter + np.multiply.outer(c * n / (c + n), away)
    return np.broadcast_to(scatter + n * away, left.shape), left


def full(x, lam, covariance, c, precision=None, centred=False):
    """The same with a covariance, or its inverse: Wishart prior on the precision. ``c`` may be an array, with one precision for each."""
    n, d = x.shape
    nu, rate = wishart(c, d, centred)
    precision = np.linalg.inv(covariance) if precision is None else precision
    t, r = scatters(x, lam, c)
    level = 0.5 * d * np.log(c / (c + n)) + multigammaln(0.5 * (nu + n), d) - multigammaln(0.5 * nu, d)
    level += 0.5 * nu * d * np.log(rate) + 0.5 * n * d * np.log(2.0)
    det = np.linalg.slogdet(np.multiply.outer(rate, np.eye(d)) + precision @ r)[1]
    return level - 0.5 * (nu + n) * det + 0.5 * np.trace(precision @ t, axis1=-2, axis2=-1)


KINDS = {"isotropic": isotropic, "coordinate": coordinate, "full": full}


def least(kind, x, lam, c, centred=False):
    """The infimum over the variance, in closed form: where the derivative is zero, or the limit of a large variance.

    ``c`` may be an array. ``centred``: the prior of more than twenty arms, and of distance thresholds.
    """
    n, d = x.shape
    if kind == "isotropic":
        a, b = prior(c, d, centred)
        away = x.mean(axis=0) - lam
        squares = ((x - x.mean(axis=0)) ** 2).sum()
        t, r = squares + n * (away**2).sum(), squares + c * n / (c + n) * (away**2).sum()
        tau = np.maximum(2.0 * ((a + 0.5 * n * d) / t - b / r), 1e-300)
        return isotropic(x, lam, 1.0 / tau, c, centred)
    if kind == "coordinate":
        return sum(least("isotropic", x[:, [i]], lam[[i]], c, centred) for i in range(d))
    nu, rate = wishart(c, d, centred)
    t, r = scatters(x, lam, c)
    # in the directions of the generalised eigenvectors of t and r, each eigenvalue for itself
    root = np.linalg.cholesky(r)
    back = np.swapaxes(root, -1, -2)
    values, vectors = np.linalg.eigh(np.linalg.solve(root, np.swapaxes(np.linalg.solve(root, t), -1, -2)))
    best = np.maximum(np.asarray(nu + n)[..., None] / values - np.asarray(rate)[..., None], 1e-300)
    vectors = np.linalg.solve(back, vectors)
    return full(x, lam, None, c, (vectors * best[..., None, :]) @ np.swapaxes(vectors, -1, -2), centred)


def log_mixture(evidence):
    """Log of the weighted average over the grid of all arms together and of each alone; ``evidence`` has shape (arms, grid)."""
    evidence = np.asarray(evidence)
    parts = [np.log(TOGETHER) + evidence.sum(axis=0)]
    parts += [np.log((1.0 - TOGETHER) / len(evidence)) + own for own in evidence]
    return float(np.logaddexp.reduce(np.concatenate([part + np.log(WEIGHT) for part in parts])))
