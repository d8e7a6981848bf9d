"""The formulas of one arm in any dimension: products of one-dimensional families, covariances, categories.

An arm's family is a row of a `Model` (see `linkarms.families._model`); the functions here take that model and the arm's
index. There are three kinds of vector arms: coordinates that are independent (``codes[m]`` >= 0), a Gaussian with a full
covariance (``codes[m, 0] == COVARIANCE``) and categories (``codes[m, 0] == CATEGORICAL``).
"""

from __future__ import annotations

import math

from linkarms._jit import Array, lean
from linkarms.families._model import CATEGORICAL, COVARIANCE, Model
from linkarms.families._scalar import (
    BERNOULLI,
    GAMMA_RATE,
    GAUSSIAN,
    POISSON,
    phi_ratio,
    phi_reach,
    scalar_estimate,
    scalar_fisher,
    scalar_kl,
    scalar_slope_limit,
)


@lean
def chart_dimension(model: Model) -> int:
    """Number of free parameters of an arm: ``d``, or ``d - 1`` for probabilities that add up to one."""
    d = model.codes.shape[1]
    return d - 1 if model.codes[0, 0] == CATEGORICAL else d


@lean
def arm_kl(model: Model, m: int, theta: Array, lam: Array) -> float:
    """``KL_m(theta, lam)`` for the vectors ``theta, lam`` of arm ``m``."""
    d = theta.shape[0]
    total = 0.0
    if model.codes[m, 0] == COVARIANCE:
        for i in range(d):
            row = 0.0
            for j in range(d):
                row += model.precision[m, i, j] * (lam[j] - theta[j])
            total += row * (lam[i] - theta[i])
        return 0.5 * total
    if model.codes[m, 0] == CATEGORICAL:
        for i in range(d):
            if lam[i] < 0.0:
                return math.inf
            # theta log(theta / lam) + lam - theta is non-negative and adds up to the KL where both sum to one
            if theta[i] > 0.0:
                total += theta[i] * phi_ratio(lam[i], theta[i], lam[i] - theta[i])
            else:
                total += lam[i]
        return total
    for i in range(d):
        total += scalar_kl(model.codes[m, i], model.pars[m, i], model.address[m, i], theta[i], lam[i])
    return total


@lean
def arm_fisher(model: Model, m: int, theta: Array) -> float:
    """Largest eigenvalue of the Fisher information of arm ``m`` (for categories: in the first ``d - 1`` probabilities)."""
    d = theta.shape[0]
    if model.codes[m, 0] == COVARIANCE:
        return model.pars[m, 0]  # precomputed: 1 / smallest eigenvalue of the covariance
    if model.codes[m, 0] == CATEGORICAL:
        # diag(1/p_i) + 11'/p_d: its largest eigenvalue solves  1/p_d = sum_i -1/(1/p_i - x), between the bounds below
        last = max(theta[d - 1], 1e-100)
        low = 0.0
        total = 0.0
        for i in range(d - 1):
            low = max(low, 1.0 / max(theta[i], 1e-100))
            total += 1.0
        high = low + total / last
        for _ in range(200):
            x = 0.5 * (low + high)
            if x in (low, high):
                break
            s = 0.0
            for i in range(d - 1):
                s += 1.0 / (x - 1.0 / max(theta[i], 1e-100))
            if s > last:
                low = x
            else:
                high = x
        return high
    largest = 0.0
    for i in range(d):
        code, par = model.codes[m, i], model.pars[m, i]
        if i > 0 and code == GAUSSIAN and model.codes[m, i - 1] == GAUSSIAN and par == model.pars[m, i - 1]:
            continue  # a Gaussian's does not depend on where it is
        largest = max(largest, scalar_fisher(code, par, model.address[m, i], theta[i]))
    return largest


@lean
def arm_variance(model: Model, m: int, theta: Array) -> float:
    """Largest variance of arm ``m`` in any direction where it is Gaussian; elsewhere one over the Fisher information."""
    if model.codes[m, 0] == COVARIANCE:
        return model.pars[m, 1]
    return 1.0 / arm_fisher(model, m, theta)


@lean
def arm_shift_kl(model: Model, m: int, theta: Array, eps: float) -> float:
    """``sum_i max(KL(theta, theta - eps e_i), KL(theta, theta + eps e_i))``, as in the paper's threshold.

    For categories a step along ``e_i`` moves the probability ``eps`` between category ``i`` and the last one.
    """
    d = theta.shape[0]
    total = 0.0
    if model.codes[m, 0] == COVARIANCE:
        for i in range(d):
            total += 0.5 * eps * eps * model.precision[m, i, i]
        return total
    if model.codes[m, 0] == CATEGORICAL:
        for i in range(d - 1):
            worst = 0.0
            for sign in (-1.0, 1.0):
                p, q = theta[i] + sign * eps, theta[d - 1] - sign * eps
                if p < 0.0 or q < 0.0:
                    return math.inf
                here = theta[i] * phi_ratio(p, theta[i], p - theta[i]) if theta[i] > 0.0 else p
                last = (
                    theta[d - 1] * phi_ratio(q, theta[d - 1], q - theta[d - 1]) if theta[d - 1] > 0.0 else q
                )
                worst = max(worst, here + last)
            total += worst
        return total
    same = 0.0
    for i in range(d):
        code, par, row = model.codes[m, i], model.pars[m, i], model.address[m, i]
        if i > 0 and code == GAUSSIAN and model.codes[m, i - 1] == GAUSSIAN and par == model.pars[m, i - 1]:
            total += same  # a Gaussian's does not depend on where it is
            continue
        up = scalar_kl(code, par, row, theta[i], theta[i] + eps)
        down = scalar_kl(code, par, row, theta[i], theta[i] - eps)
        same = max(up, down)
        total += same
    return total


@lean
def arm_estimate(model: Model, m: int, mean: Array, box: Array, theta: Array) -> None:
    """Write arm ``m``'s estimate, clipped to the box Theta (shape (d, 2)), into ``theta``."""
    d = theta.shape[0]
    if model.codes[m, 0] == COVARIANCE:
        for i in range(d):
            theta[i] = min(max(mean[i], box[i, 0]), box[i, 1])
        return
    if model.codes[m, 0] == CATEGORICAL:
        _clip_to_simplex(mean, box, theta)
        return
    for i in range(d):
        value = scalar_estimate(model.codes[m, i], model.pars[m, i], model.address[m, i], mean[i])
        theta[i] = min(max(value, box[i, 0]), box[i, 1])


@lean
def _clip_to_simplex(mean: Array, box: Array, theta: Array) -> None:
    """Nearest point of the box that sums to one: ``clip(mean + x)`` with the ``x`` that makes the sum right."""
    d = theta.shape[0]
    inside = True
    for i in range(d):
        theta[i] = mean[i]
        inside = inside and box[i, 0] <= mean[i] <= box[i, 1]
    if inside:
        return
    low, high = -1.0, 1.0
    for _ in range(200):
        x = 0.5 * (low + high)
        if x in (low, high):
            break
        s = 0.0
        for i in range(d):
            s += min(max(mean[i] + x, box[i, 0]), box[i, 1])
        if s < 1.0:
            low = x
        else:
            high = x
    for i in range(d):
        theta[i] = min(max(mean[i] + high, box[i, 0]), box[i, 1])


@lean
def kl_interval(
    code: int, par: float, address: int, theta: float, level: float, side: int, tolerance: float
) -> float:
    """The ``lam`` on one side (-1 below, 1 above) of ``theta`` at which ``KL(theta, lam)`` reaches ``level``.

    Rounded outwards, by at most ``tolerance`` of its distance from ``theta``; past the end of the domain where the KL stays below the
    level.
    """
    if side > 0 and theta > 0.0 and code in (GAMMA_RATE, POISSON):
        # KL = theta limit phi(lam / theta - 1), with limit the largest slope
        scale = theta * scalar_slope_limit(code, par, address, theta)
        return theta + theta * (phi_reach(level / scale, tolerance) + 1e-12)
    # where a quadratic with the curvature at theta would reach the level
    step = math.sqrt(2.0 * level / scalar_fisher(code, par, address, theta)) + 1e-12 * abs(theta) + 1e-300
    inner, outer = theta, theta
    for _ in range(2000):
        outer = inner + side * step
        if not scalar_kl(code, par, address, theta, outer) < level:
            break
        inner, step = outer, 2.0 * step
    for _ in range(100):
        x = 0.5 * (inner + outer)
        if x in (inner, outer):
            break
        if scalar_kl(code, par, address, theta, x) < level:
            inner = x
        else:
            outer = x
        if abs(outer - inner) <= tolerance * abs(outer - theta):
            break
    return outer


@lean
def bernoulli_upper(p: float, level: float) -> float:
    """Largest ``q`` with binary ``KL(p, q) <= level``, rounded up."""
    return min(kl_interval(BERNOULLI, 1.0, 0, p, level, 1, 1e-10), 1.0)


@lean
def arm_reach(model: Model, m: int, theta: Array, level: float) -> float:
    """How far from ``theta`` a parameter of arm ``m`` can be whose divergence is at most ``level``; an upper bound."""
    if model.codes[m, 0] == COVARIANCE:
        return math.sqrt(2.0 * level * model.pars[m, 1])
    total = 0.0
    for i in range(theta.shape[0]):
        if (
            model.codes[m, 0] == CATEGORICAL
        ):  # one probability against the rest is Bernoulli, and diverges less
            code, par, address = BERNOULLI, 1.0, 0
        else:
            code, par, address = model.codes[m, i], model.pars[m, i], model.address[m, i]
        up = kl_interval(code, par, address, theta[i], level, 1, 0.01) - theta[i]
        down = theta[i] - kl_interval(code, par, address, theta[i], level, -1, 0.01)
        total += max(up, down) ** 2
    reach = math.sqrt(total)
    # Pinsker: KL >= |x - p|^2 for probabilities
    return min(reach, math.sqrt(level)) if model.codes[m, 0] == CATEGORICAL else reach
