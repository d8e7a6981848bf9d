"""Vectors of probabilities under one linear constraint."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.families._scalar import phi_ratio


@kernel
def _categorical_step(p: Array, w: float, y: Array, out: Array) -> None:
    """``argmin over probabilities x of w KL(p, x) - y.x``: ``x_i = w p_i / (nu - y_i)`` with the ``nu`` that makes them add up to one.

    A category of probability zero takes part only where its ``y_i`` is the largest: then ``nu = y_i`` and it gets what the others leave.
    """
    d = p.shape[0]
    top = -math.inf
    low = -math.inf
    for i in range(d):
        top = max(top, y[i])
        if p[i] > 0.0:
            low = max(low, y[i] + w * p[i])
    high = max(top + w, low)
    low = max(low, top)
    total = 0.0
    free = -1
    for i in range(d):
        if p[i] <= 0.0 and y[i] >= low:
            free = i
    if free >= 0:
        for i in range(d):
            total += w * p[i] / (low - y[i]) if p[i] > 0.0 else 0.0
        if total < 1.0:
            for i in range(d):
                out[i] = w * p[i] / (low - y[i]) if p[i] > 0.0 else 0.0
            out[free] = 1.0 - total
            return
    nu = 0.5 * (low + high)
    for _ in range(100):
        total = 0.0
        slope = 0.0
        for i in range(d):
            if p[i] > 0.0:
                x = w * p[i] / (nu - y[i])
                total += x
                slope -= x / (nu - y[i])
        if total > 1.0:
            low = nu
        else:
            high = nu
        # Newton on 1/total, which is nearly linear
        step = nu + (total - 1.0) * total / -slope
        if abs(step - nu) <= 1e-16 * (abs(nu) + w):
            break
        nu = step if low < step < high else 0.5 * (low + high)
    total = 0.0
    for i in range(d):
        out[i] = w * p[i] / (nu - y[i]) if p[i] > 0.0 else 0.0
        total += out[i]
    for i in range(d):
        out[i] /= total


@kernel
def simplex_linear_cost(
    theta: Array, w: Array, arms: Array, n: int, kappa: Array, level: float, point: Array
) -> float:
    """Minimum of ``sum_m w_m KL(theta_m, lambda_m)`` over probabilities with ``sum_m kappa_m . lambda_m >= 0``; ``point`` is the minimiser.

    Maximises the concave dual in one multiplier; the value is that of the dual, hence never above the minimum.
    """
    d = theta.shape[1]
    start = 0.0
    gain = 0.0
    for i in range(n):
        m = arms[i]
        for k in range(d):
            start += kappa[i, k] * theta[m, k]
            gain += kappa[i, k] * kappa[i, k] * theta[m, k] / w[m]
            point[i, k] = theta[m, k]
    if start >= 0.0:
        return 0.0
    y = np.empty(d)
    low, high = 0.0, math.inf
    g_low, g_high = start, 0.0
    mu = -start / gain if gain > 0.0 else 1.0
    value = 0.0
    for _ in range(200):
        g = 0.0
        value = 0.0
        scale = 0.0
        for i in range(n):
            m = arms[i]
            for k in range(d):
                y[k] = mu * kappa[i, k]
            _categorical_step(theta[m], w[m], y, point[i])
            for k in range(d):
                g += kappa[i, k] * point[i, k]
                scale += abs(kappa[i, k] * point[i, k])
                if theta[m, k] > 0.0:
                    value += (
                        w[m] * theta[m, k] * phi_ratio(point[i, k], theta[m, k], point[i, k] - theta[m, k])
                    )
                else:
                    value += w[m] * point[i, k]
        value -= mu * g
        if value >= level or abs(g) <= 1e-15 * scale:
            break
        if g > 0.0:
            high, g_high = mu, g
        else:
            low, g_low = mu, g
        if high == math.inf:
            mu *= 2.0
            if mu > 1e250:
                return math.inf
            continue
        # the secant, kept away from the ends of the bracket
        x = (low * g_high - high * g_low) / (g_high - g_low)
        width = high - low
        if width <= 1e-15 * high:
            break
        mu = min(max(x, low + 0.02 * width), high - 0.02 * width) if width > 1e-7 * high else x
        if mu <= low or mu >= high:
            break
    return max(value, 0.0)
