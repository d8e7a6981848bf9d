"""The pair problem for any other family in d >= 2: a safe lower bound.

Every ``lambda`` that costs at most ``c`` keeps arm ``m`` where ``KL_m <= c / w_m``. There the KL is at least a quadratic,
``KL(theta, lambda) >= (lambda - theta)' V^-1 (lambda - theta) / 2``, and the Gaussian problem with covariance ``V`` is a lower
bound. Its minimiser obeys the same constraint, so its true cost is an upper bound ``c``, with which the quadratic is chosen
again. Between the two lies the truth; only the lower one is ever used for stopping.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._covariance import covariance_pair
from linkarms.families._model import CATEGORICAL, COVARIANCE, VectorModel
from linkarms.families._scalar import BERNOULLI, GAUSSIAN, scalar_fisher, scalar_kl
from linkarms.families._vector import arm_kl, bernoulli_upper, kl_interval


@kernel
def dominating_variance(
    code: int, par: float, address: int, theta: float, level: float, tolerance: float
) -> float:
    """The smallest ``v`` known to give ``KL(theta, x) >= (x - theta)^2 / (2 v)`` wherever ``KL(theta, x) <= level``.

    For gamma and Poisson ``(x - theta)^2 / (2 KL(theta, x))`` increases in ``x``: its value at the upper end. For Bernoulli the
    largest variance in between. The larger the ``tolerance``, the sooner it is found, and the larger it is.
    """
    if code == GAUSSIAN:
        return par
    high = kl_interval(code, par, address, theta, level, 1, tolerance)
    if code == BERNOULLI:
        low = max(kl_interval(code, par, address, theta, level, -1, tolerance), 0.0)
        high = min(high, 1.0)
        if low <= 0.5 <= high:
            return 0.25
        return max(low * (1.0 - low), high * (1.0 - high))
    divergence = scalar_kl(code, par, address, theta, high)
    if divergence == math.inf:
        return math.inf
    at_end = (high - theta) * (high - theta) / (2.0 * divergence)
    return max(at_end, 1.0 / scalar_fisher(code, par, address, theta)) * (1.0 + 1e-9)


@kernel
def _fill_covariance(
    model: VectorModel, m: int, theta: Array, level: float, basis: Array, out: Array
) -> None:
    """The dominating covariance of arm ``m`` where its KL is at most ``level``, in the coordinates of ``basis``."""
    d, dd = basis.shape
    if model.codes[m, 0] == COVARIANCE:
        out[:] = model.covariance[m]
        return
    if model.codes[m, 0] != CATEGORICAL:
        out[:] = 0.0
        for i in range(d):
            out[i, i] = dominating_variance(
                model.codes[m, i], model.pars[m, i], model.address[m, i], theta[i], level, 1e-10
            )
        return
    # On the segment the curvature is diag(p_i / x_i^2) >= diag(p_i / upper_i^2); Pinsker: KL >= |x - p|^2 always.
    precision = np.empty(d)
    smallest = math.inf
    for i in range(d):
        upper = max(bernoulli_upper(theta[i], level), theta[i])
        precision[i] = theta[i] / (upper * upper) if theta[i] > 0.0 else 0.0
        smallest = min(smallest, precision[i])
    if smallest < 2.0:
        weakest = np.zeros((dd, dd))
        for i in range(d):
            for j in range(dd):
                for k in range(dd):
                    weakest[j, k] += basis[i, j] * precision[i] * basis[i, k]
        if np.linalg.eigvalsh(weakest)[0] < 2.0:
            precision[:] = 2.0
    information = np.zeros((dd, dd))
    for i in range(d):
        for j in range(dd):
            for k in range(dd):
                information[j, k] += basis[i, j] * precision[i] * basis[i, k]
    out[:] = np.linalg.inv(information) * (1.0 + 1e-9)


@kernel
def tangent_basis(model: VectorModel) -> Array:
    """Orthonormal coordinates: the identity, or for probabilities the directions that add up to zero (Helmert's)."""
    d = model.codes.shape[1]
    if model.codes[0, 0] != CATEGORICAL:
        return np.eye(d)
    basis = np.zeros((d, d - 1))
    for j in range(1, d):
        norm = math.sqrt(j * (j + 1.0))
        for i in range(j):
            basis[i, j - 1] = 1.0 / norm
        basis[j, j - 1] = -j / norm
    return basis


@kernel
def dominating_pair(
    model: VectorModel,
    theta: Array,
    w: Array,
    u: int,
    v: int,
    a: int,
    b: int,
    level: float,
    basis: Array,
    point: Array,
    aim: Array,
) -> tuple[float, float]:
    """A lower bound of the cost, and the cost of a feasible ``point`` near the minimum (rows ``u, v, b, a``, the last unless shared).

    ``aim`` becomes the minimiser of the quadratic problem, brought into the domain: where the sampling rules look when the bounds are
    far apart. As soon as the lower bound reaches ``level`` the search ends.
    """
    d = theta.shape[1]
    pp = 0.0
    qq = 0.0
    for i in range(d):
        pp += (theta[u, i] - theta[v, i]) ** 2
        qq += (theta[a, i] - theta[b, i]) ** 2
    dd = basis.shape[1]
    arms = np.array([u, v, b, a]) if u != a else np.array([u, v, b])
    n = arms.shape[0]
    if pp >= qq:
        for i in range(n):
            point[i] = theta[arms[i]]
            aim[i] = theta[arms[i]]
        return 0.0, 0.0
    last = 3 if n == 4 else 0  # where arm a is
    small = np.zeros((n, dd))
    weights = np.empty(n)
    for i in range(n):
        weights[i] = w[arms[i]]
        for j in range(dd):
            for k in range(d):
                small[i, j] += theta[arms[i], k] * basis[k, j]
    # a first feasible point: the inter pair meets
    for i in range(n):
        point[i] = theta[arms[i]]
    meet = (w[a] * theta[a] + w[b] * theta[b]) / (w[a] + w[b])
    point[2] = meet
    point[last] = meet
    upper = w[a] * arm_kl(model, a, theta[a], meet) + w[b] * arm_kl(model, b, theta[b], meet)
    covariance = np.empty((n, dd, dd))
    aim[:n] = point[:n]
    best = 0.0
    for _ in range(6):
        for i in range(n):
            _fill_covariance(model, arms[i], theta[arms[i]], upper / weights[i], basis, covariance[i])
        if not _well_scaled(covariance, weights):
            break  # at this price an arm may go nearly anywhere: nothing is known
        moved = small.copy()
        value = covariance_pair(small, covariance, weights, 0, 1, last, 2, moved, True)
        best = max(best, min(value, upper))
        trial = np.empty((n, d))
        cost = 0.0
        for i in range(n):
            for k in range(d):
                trial[i, k] = theta[arms[i], k]
                for j in range(dd):
                    trial[i, k] += basis[k, j] * (moved[i, j] - small[i, j])
            cost += weights[i] * arm_kl(model, arms[i], theta[arms[i]], trial[i])
            aim[i] = trial[i]
            _into_domain(model, arms[i], theta[arms[i]], aim[i])
        if best >= level:
            break
        if not cost < upper * (1.0 - 1e-3):
            if cost < upper:
                upper = cost
                point[:n] = trial
            break
        upper = cost
        point[:n] = trial
    return best, upper


@kernel
def _well_scaled(covariance: Array, weights: Array) -> bool:
    """Whether the variances are finite and of comparable size, so that the eigenvalue problem can be trusted."""
    smallest, largest = math.inf, 0.0
    for i in range(covariance.shape[0]):
        for k in range(covariance.shape[1]):
            variance = covariance[i, k, k] / weights[i]
            smallest, largest = min(smallest, variance), max(largest, variance)
    return largest < 1e12 * smallest


@kernel
def _into_domain(model: VectorModel, m: int, theta: Array, x: Array) -> None:
    """Shorten the step from ``theta`` to ``x`` until its divergence is finite."""
    for _ in range(60):
        if arm_kl(model, m, theta, x) < math.inf:
            return
        for k in range(x.shape[0]):
            x[k] = 0.5 * (x[k] + theta[k])
    x[:] = theta
