"""The pair problem for Gaussians with one variance per arm: closed forms.

Intra pair ``(u, v)``, inter pair ``(a, b)``; if they share an arm it is ``u = a``. ``inv[m] = variance_m / w_m``.
"""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, lean


@flat
def isotropic_bound(dist: Array, inv: Array, u: int, v: int, a: int, b: int) -> float:
    """A lower bound of the cost from distances alone; exact for four different arms.

    Four arms: ``(|q| - |p|)^2 / (2 (i_u + i_v + i_a + i_b))``; shared arm ``u = a``:
    ``(|q| - |p|)^2 / (2 (4 i_u + i_v + i_b))``.
    """
    gap = dist[a, b] - dist[u, v]
    if gap <= 0.0:
        return 0.0
    spread = 4.0 * inv[u] + inv[v] + inv[b] if u == a else (inv[u] + inv[v]) + (inv[a] + inv[b])
    return gap * gap / (2.0 * spread)


@flat
def _shared_norms(
    theta: Array, dist: Array, inv: Array, u: int, v: int, b: int
) -> tuple[float, float, float, float, float]:
    """``s, f, h, alpha, beta`` of the closed form for a shared arm ``u``."""
    iu, iv, ib = inv[u], inv[v], inv[b]
    det = iu * iv + iu * ib + iv * ib
    e = iv - ib
    s = math.sqrt(e * e + 4.0 * det)
    if e >= 0.0:
        nu = (s + e) / 2.0
        n = det / nu
    else:
        n = (s - e) / 2.0
        nu = det / n
    f = iu + ib + nu
    h = iu + iv + n
    aa = 0.0
    bb = 0.0
    for i in range(theta.shape[1]):
        p = theta[u, i] - theta[v, i]
        q = theta[u, i] - theta[b, i]
        x = f * p - iu * q
        y = h * q - iu * p
        aa += x * x
        bb += y * y
    return s, f, h, math.sqrt(aa / (s * f)), math.sqrt(bb / (s * h))


@flat
def shared_cost(p: float, q: float, r: float, iu: float, iv: float, ib: float) -> float:
    """The cost for a shared arm ``u``, from three distances: ``p`` of u and v, ``q`` of u and b, ``r`` of v and b.

    In the closed form ``f = h``. With ``j = i_v + i_b``, ``f = i_u + (j + sqrt(j (j + 4 i_u)))/2`` and ``c = i_u / f`` it becomes
    ``((q^2 - p^2) / (|p - c q| + |q - c p|))^2 / (2 f)``, where ``|p - c q|^2 = c r^2 + (1 - c)(p^2 - c q^2)``.
    """
    if q <= p:
        return 0.0
    j = iv + ib
    half = 0.5 * (j + math.sqrt(j * (j + 4.0 * iu)))
    f = iu + half
    c, rest = iu / f, half / f  # rest = 1 - c, without cancellation
    # rounding may leave a square just below zero where p is parallel to q
    x = math.sqrt(max(c * r * r + rest * (p * p - c * q * q), 0.0))
    y = math.sqrt(max(c * r * r + rest * (q * q - c * p * p), 0.0))
    g = (q - p) * (q + p) / (x + y)
    return 0.5 * g * g / f


@flat
def isotropic_cost(dist: Array, inv: Array, u: int, v: int, a: int, b: int) -> float:
    """The cost of the cheapest ``lambda`` with ``|lambda_u - lambda_v| >= |lambda_a - lambda_b|``."""
    if u != a:
        return isotropic_bound(dist, inv, u, v, a, b)
    return shared_cost(dist[u, v], dist[u, b], dist[v, b], inv[u], inv[v], inv[b])


@lean
def isotropic_solution(
    theta: Array, dist: Array, inv: Array, u: int, v: int, a: int, b: int, lam: Array
) -> None:
    """Move rows ``u, v, a, b`` of ``lam`` (a copy of ``theta``) to the minimiser."""
    d = theta.shape[1]
    gap = dist[a, b] - dist[u, v]
    if gap <= 0.0:
        return
    if u != a:
        g = gap / (inv[u] + inv[v] + inv[a] + inv[b])
        for i in range(d):
            q = (theta[a, i] - theta[b, i]) / dist[a, b]
            # equal arms move apart along any direction: the inter pair's
            p = (theta[u, i] - theta[v, i]) / dist[u, v] if dist[u, v] > 0.0 else q
            lam[u, i] += inv[u] * g * p
            lam[v, i] -= inv[v] * g * p
            lam[a, i] -= inv[a] * g * q
            lam[b, i] += inv[b] * g * q
        return
    iu = inv[u]
    s, f, h, alpha, beta = _shared_norms(theta, dist, inv, u, v, b)
    g = gap * (dist[a, b] + dist[u, v]) / (s * (alpha + beta))
    for i in range(d):
        p = theta[u, i] - theta[v, i]
        q = theta[u, i] - theta[b, i]
        unit_b = (h * q - iu * p) / (math.sqrt(s * h) * beta)
        unit_a = (f * p - iu * q) / (math.sqrt(s * f) * alpha) if alpha > 0.0 else unit_b
        yp = g * (math.sqrt(f / s) * unit_a + iu / math.sqrt(s * h) * unit_b)
        yq = -g * (iu / math.sqrt(s * f) * unit_a + math.sqrt(h / s) * unit_b)
        lam[u, i] += iu * (yp + yq)
        lam[v, i] -= inv[v] * yp
        lam[b, i] -= inv[b] * yq
