"""Kullback-Leibler divergences in plain NumPy, written apart from the library.

A family is a plain dict, so that it can be stored as JSON::

    {"name": "gaussian"}                                unit covariance
    {"name": "gaussian", "covariance": 2.0 | [..] | [[..]]}
    {"name": "exponential", "parameter": "rate" | "mean"}
    {"name": "gamma", "shape": 2.5, "parameter": "rate" | "mean"}
    {"name": "bernoulli"}, {"name": "poisson"}
    {"name": "categorical", "n_categories": 3}
    {"name": "product", "of": [..]}

``KL(theta, lambda)`` is the divergence of the distribution at ``lambda`` from the one at ``theta``.
"""

import numpy as np

TINY = 1e-18  # in place of a parameter 0, whose divergence is linear: its gradient would be 0 / 0
SPREAD_FLOOR = 0.05  # a scale for variables whose variance vanishes at the edge of the domain
SERIES = [0.0, 0.0] + [(-1.0) ** k / k for k in range(2, 15)]


def excess(x):
    """``x - log(1 + x)``, by its series where the difference would lose digits."""
    near = np.abs(x) < 0.03
    with np.errstate(divide="ignore"):
        far = x - np.log1p(x)
    return np.where(near, np.polynomial.polynomial.polyval(np.where(near, x, 0.0), SERIES), far)


def entropy(theta, lam):
    """``theta log(theta / lam) - theta + lam`` for arrays; lam where theta is 0."""
    positive = theta > 0.0
    safe = np.where(positive, theta, 1.0)
    return np.where(positive, safe * excess((lam - safe) / safe), lam)


def covariance(spec, d):
    given = np.asarray(spec.get("covariance", 1.0), dtype=float)
    if given.ndim == 0:
        return given * np.eye(d)
    return np.diag(given) if given.ndim == 1 else given


def scalars(spec, d):
    """The one-dimensional families of the coordinates, or None where they do not separate."""
    if spec["name"] == "product":
        return spec["of"]
    if spec["name"] == "categorical" or d > 1:
        return None
    return [spec]


def kl(spec, theta, lam):
    """Divergence of one arm; theta and lam are vectors of length d."""
    theta, lam = np.atleast_1d(theta).astype(float), np.atleast_1d(lam).astype(float)
    name = spec["name"]
    if name == "gaussian":
        shift = lam - theta
        return float(shift @ np.linalg.solve(covariance(spec, len(theta)), shift)) / 2.0
    if name == "categorical":
        return float(np.sum(entropy(theta, lam)))
    if name == "product":
        return sum(kl(s, theta[i : i + 1], lam[i : i + 1]) for i, s in enumerate(spec["of"]))
    return float(scalar_kl(spec, theta[0], lam)[0])


def scalar_kl(spec, theta, lam):
    """Divergence of a one-dimensional family at an array of lam; infinite outside the domain."""
    lam = np.asarray(lam, dtype=float)
    name = spec["name"]
    if name == "gaussian":
        return (lam - theta) ** 2 / (2.0 * covariance(spec, 1)[0, 0])
    low, high = domain(spec)
    inside = (lam >= low) & (lam <= high)
    safe = np.where(inside, lam, theta)
    with np.errstate(divide="ignore", over="ignore"):
        if name == "poisson":
            value = entropy(theta, safe)
        elif name == "bernoulli":
            value = entropy(theta, safe) + entropy(1.0 - theta, 1.0 - safe)
        elif spec["parameter"] == "rate":
            value = spec.get("shape", 1.0) * excess((safe - theta) / theta)
        else:
            at = np.maximum(safe, 1e-300)
            value = spec.get("shape", 1.0) * excess((theta - at) / at)
    return np.where(inside, value, np.inf)


def domain(spec):
    """The closed interval of a one-dimensional family's parameter."""
    if spec["name"] == "gaussian":
        return -np.inf, np.inf
    return (0.0, 1.0) if spec["name"] == "bernoulli" else (0.0, np.inf)


def variance(spec, theta):
    """Inverse Fisher information of a one-dimensional family, floored: only a scale for the solver."""
    name = spec["name"]
    if name == "gaussian":
        return covariance(spec, 1)[0, 0]
    if name == "bernoulli":
        return max(theta * (1.0 - theta), SPREAD_FLOOR**2)
    if name == "poisson":
        return max(theta, SPREAD_FLOOR**2)
    return theta**2 / spec.get("shape", 1.0)


class Cost:
    """``sum_m w_m KL(theta_m, lambda_m)`` and its gradient, for a flat vector of all lambda."""

    def __init__(self, weights, theta, specs):
        n, d = theta.shape
        self.theta = theta.ravel()
        self.root = np.zeros((n * d, n * d))
        self.low, self.high = np.full(n * d, -np.inf), np.full(n * d, np.inf)
        self.simplex = []
        self.curved = []  # coordinates whose divergence is not convex
        self.precision = np.zeros((n * d, n * d))
        groups = {"rate": [], "mean": [], "count": [], "unit": []}
        weight = np.repeat(np.asarray(weights, dtype=float), d)
        factor = weight.copy()
        for m, spec in enumerate(specs):
            here = slice(m * d, (m + 1) * d)
            parts = scalars(spec, d)
            if spec["name"] == "categorical":
                groups["count"] += range(m * d, (m + 1) * d)
                self.simplex.append(np.arange(m * d, (m + 1) * d))
                self.low[here], self.high[here] = np.where(theta[m] > 0.0, 1e-12, TINY), 1.0
                spread = np.diag([variance({"name": "bernoulli"}, t) for t in theta[m]])
            elif parts is None:
                spread = covariance(spec, d)
                self.precision[here, here] = weights[m] * np.linalg.inv(spread)
            else:
                spread = np.diag([variance(s, t) for s, t in zip(parts, theta[m], strict=True)])
                for j, s in enumerate(parts, start=m * d):
                    if s["name"] == "gaussian":
                        self.precision[j, j] = weights[m] / covariance(s, 1)[0, 0]
                        continue
                    unit = s["name"] == "bernoulli"
                    kind = "unit" if unit else "count" if s["name"] == "poisson" else s["parameter"]
                    groups[kind].append(j)
                    factor[j] *= s.get("shape", 1.0)
                    self.low[j] = 1e-9 * self.theta[j] if self.theta[j] > 0 else TINY
                    if unit:
                        self.high[j] = 1.0 - max(1e-9 * (1.0 - self.theta[j]), 1e-14)
                    if kind == "mean":
                        self.curved.append(j)
            self.root[here, here] = np.linalg.cholesky(spread) / np.sqrt(weights[m])
        self.groups = {k: np.array(v, dtype=int) for k, v in groups.items() if v}
        self.factor = factor
        self.quadratic = bool(np.any(self.precision))

    def __call__(self, x):
        value, gradient = 0.0, np.zeros_like(x)
        if self.quadratic:
            shift = x - self.theta
            gradient = self.precision @ shift
            value = 0.5 * shift @ gradient
        for kind, i in self.groups.items():
            t, lam, c = self.theta[i], x[i], self.factor[i]
            if kind == "count":
                value += c @ entropy(t, lam)
                gradient[i] = c * (lam - t) / lam
            elif kind == "unit":
                value += c @ (entropy(t, lam) + entropy(1.0 - t, 1.0 - lam))
                gradient[i] = c * (lam - t) / (lam * (1.0 - lam))
            elif kind == "rate":
                value += c @ excess((lam - t) / t)
                gradient[i] = c * (lam - t) / (lam * t)
            else:
                value += c @ excess((t - lam) / lam)
                gradient[i] = c * (lam - t) / lam**2
        return value, gradient
