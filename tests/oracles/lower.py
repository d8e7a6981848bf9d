"""Lower bounds that let the brute force skip hopeless cases, from the triangle inequality alone.

For one intra pair ``(u, v)`` and one inter pair ``(a, b)`` an alternative has
``|lambda_u - lambda_v| >= |lambda_a - lambda_b|``. If arm ``m`` moves by ``r_m``, the first distance grows
by at most ``r_u + r_v`` and the second shrinks by at most ``r_a + r_b``, so ``sum_m c_m r_m >= gap`` with
``gap = |theta_a - theta_b| - |theta_u - theta_v|`` and ``c_m`` = 2 for an arm of both pairs, else 1. The
cheapest way to spend such a budget, each arm at the least divergence that a move of length ``r_m`` can cost,
is a lower bound. It is found on a grid, with moves rounded *down*, so it stays a lower bound.
"""

import numpy as np
from tests.oracles.divergence import covariance, scalar_kl, scalars

UNITS = 48


def budget(costs, gap):
    """Lower bound of ``min sum_i f_i(g_i)`` over ``g >= 0`` with ``sum g_i >= gap``; each f_i nondecreasing.

    A move of ``g_i`` is at least ``floor(g_i / step)`` steps, and rounding loses less than one step an item.
    """
    if gap <= 0.0:
        return 0.0
    grid = np.arange(UNITS + 1) * (gap / UNITS)
    spend = np.arange(UNITS + 1)
    rest = np.maximum(spend[:, None] - spend[None, :], 0)
    total = np.where(spend == 0, 0.0, np.inf)  # total[j]: least cost of at least j steps so far
    for f in costs:
        total = np.min(total[rest] + np.asarray(f(grid))[None, :], axis=1)
    return float(total[max(UNITS - len(costs) + 1, 0)])


def pair_bound(weights, theta, specs, u, v, a, b):
    """Lower bound for any dimension, without regard to direction."""
    d = theta.shape[1]
    gap = np.linalg.norm(theta[a] - theta[b]) - np.linalg.norm(theta[u] - theta[v])
    costs = []
    for m in {u, v, a, b}:
        c = (m in (u, v)) + (m in (a, b))
        parts = scalars(specs[m], d)
        if specs[m]["name"] == "gaussian":
            top = np.linalg.eigvalsh(covariance(specs[m], d))[-1]
            costs.append(lambda g, c=c, k=weights[m] / (2.0 * top): k * (g / c) ** 2)
        elif parts is None:
            # Pinsker: KL >= |x|_1^2 / 2, and |x|_1^2 >= 2 |x|_2^2 because the coordinates of x sum to 0
            costs.append(lambda g, c=c, k=weights[m]: k * (g / c) ** 2)
        else:
            # the length of a move is at most the sum of its coordinates' lengths
            for s, t in zip(parts, theta[m], strict=True):
                costs.append(lambda g, c=c, k=weights[m], s=s, t=t: k * _either(s, t, g / c))
    return budget(costs, gap)


def _either(spec, t, r):
    return np.minimum(scalar_kl(spec, t, t + r), scalar_kl(spec, t, t - r))


def signed_bound(weights, theta, specs, u, v, a, b, sign):
    """Lower bound in d = 1 for ``sign * (lambda_u - lambda_v) >= |lambda_a - lambda_b|``."""
    best = 0.0
    for inter in (1.0, -1.0):
        kappa = np.zeros(len(theta))
        kappa[u] += sign
        kappa[v] -= sign
        kappa[a] -= inter
        kappa[b] += inter
        costs = [
            lambda g, k=weights[m], s=specs[m], t=theta[m, 0], c=kappa[m]: k * scalar_kl(s, t, t + g / c)
            for m in np.flatnonzero(kappa)
        ]
        best = max(best, budget(costs, -float(kappa @ theta[:, 0])))
    return best
