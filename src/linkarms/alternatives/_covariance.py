"""The pair problem for Gaussians with full covariances: an eigenvalue problem and one root."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel


@kernel
def covariance_pair(
    theta: Array, cov: Array, w: Array, u: int, v: int, a: int, b: int, lam: Array, write: bool
) -> float:
    """Cost for covariances ``cov[m] / w[m]``; with ``write`` also moves the rows of ``lam`` to the minimiser.

    ``C = [[I_u+I_v, X], [X', I_a+I_b]]`` with ``X = I_u`` when ``u = a`` is shared; ``C = L L'``;
    ``L' J L = U diag(nu) U'``; ``b = U' L^-1 (p; q)``; the root of ``F(mu) = sum nu_i b_i^2 / (1 - mu nu_i)^2`` in
    ``(0, 1/nu_max)``. In the hard case (no root: the top eigenspace holds none of ``b``) ``mu = 1/nu_max`` and the top
    coordinate takes what is missing. The value returned is the dual's, which is never above the minimum.
    """
    d = theta.shape[1]
    shared = u == a
    c = np.zeros((2 * d, 2 * d))
    r = np.empty(2 * d)
    pp = 0.0
    qq = 0.0
    for i in range(d):
        r[i] = theta[u, i] - theta[v, i]
        r[d + i] = theta[a, i] - theta[b, i]
        pp += r[i] * r[i]
        qq += r[d + i] * r[d + i]
        for j in range(d):
            c[i, j] = cov[u, i, j] / w[u] + cov[v, i, j] / w[v]
            c[d + i, d + j] = cov[a, i, j] / w[a] + cov[b, i, j] / w[b]
            if shared:
                c[i, d + j] = cov[u, i, j] / w[u]
                c[d + i, j] = cov[u, i, j] / w[u]
    if pp >= qq:
        return 0.0
    low_tri = np.linalg.cholesky(c)
    jl = low_tri.copy()
    jl[d:] *= -1.0
    nu, vectors = np.linalg.eigh(low_tri.T @ jl)
    beta = vectors.T @ np.linalg.solve(low_tri, r)
    top = nu[2 * d - 1]
    x, hard = _root(nu, beta, top)
    mu = (1.0 - x) / top
    z = np.empty(2 * d)
    value = 0.0
    rest = 0.0
    for i in range(2 * d):
        if hard and nu[i] >= top * (1.0 - 1e-9):
            z[i] = beta[i]
            continue
        den = (1.0 - nu[i] / top) + x * nu[i] / top
        z[i] = beta[i] / den
        value -= 0.5 * mu * nu[i] * beta[i] * z[i]
        rest += nu[i] * z[i] * z[i]
    if not write:
        return max(value, 0.0)
    if hard:
        # what the constraint still lacks goes into the top eigenspace, along beta there (or any direction)
        missing = math.sqrt(max(-rest / top, 0.0))
        z[2 * d - 1] = missing if beta[2 * d - 1] >= 0.0 else -missing
    y = np.linalg.solve(low_tri.T, vectors @ (z - beta))
    for i in range(d):
        for j in range(d):
            if shared:
                lam[u, i] += cov[u, i, j] / w[u] * (y[j] + y[d + j])
            else:
                lam[u, i] += cov[u, i, j] / w[u] * y[j]
                lam[a, i] += cov[a, i, j] / w[a] * y[d + j]
            lam[v, i] -= cov[v, i, j] / w[v] * y[j]
            lam[b, i] -= cov[b, i, j] / w[b] * y[d + j]
    return max(value, 0.0)


@kernel
def _root(nu: Array, beta: Array, top: float) -> tuple[float, bool]:
    """The root of ``F`` as ``x = 1 - mu top`` in (0, 1), and whether there is none (the hard case, ``x = 0``).

    ``x`` keeps its relative precision where ``mu`` comes close to ``1 / top``.
    """
    n = nu.shape[0]
    weight = 0.0
    total = 0.0
    at_end = 0.0
    for i in range(n):
        total += beta[i] * beta[i]
        if nu[i] >= top * (1.0 - 1e-9):
            weight += beta[i] * beta[i]
        else:
            at_end += nu[i] * beta[i] * beta[i] / (1.0 - nu[i] / top) ** 2
    if weight <= 1e-26 * total and at_end < 0.0:
        return 0.0, True
    low, high = 0.0, 1.0
    x = 0.5
    for _ in range(300):
        value = 0.0
        slope = 0.0
        for i in range(n):
            ratio = nu[i] / top
            den = (1.0 - ratio) + x * ratio
            value += nu[i] * beta[i] * beta[i] / (den * den)
            slope -= 2.0 * nu[i] * ratio * beta[i] * beta[i] / (den * den * den)
        if value > 0.0:
            low = x
        else:
            high = x
        step = x - value / slope
        if abs(step - x) <= 1e-15 * x:
            break
        if low < step < high:
            x = step
        else:
            x = 0.5 * (low + high) if low > 0.01 * high else max(10.0 * low, 0.01 * high)
        if high - low <= 1e-15 * high:
            break
    return x, False
