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
def _shared_factors(iu: float, iv: float, ib: float) -> tuple[float, float, float, float]:
    """``s, f, c`` and ``1 - c`` of the closed form for a shared arm ``u``.

    With ``j = i_v + i_b``: ``s = sqrt(j (j + 4 i_u))``, ``f = i_u + (j + s)/2``, ``c = i_u / f``.
    """
    j = iv + ib
    s = math.sqrt(j * (j + 4.0 * iu))
    half = 0.5 * (j + s)
    f = iu + half
    return s, f, iu / f, half / f  # the last without cancellation


@flat
def shared_cost(p: float, q: float, r: float, iu: float, iv: float, ib: float) -> float:
    """The cost for a shared arm ``u``, from three distances: ``p`` of u and v, ``q`` of u and b, ``r`` of v and b.

    It is ``((q^2 - p^2) / (|p - c q| + |q - c p|))^2 / (2 f)``, see `_shared_factors`, where
    ``|p - c q|^2 = c r^2 + (1 - c)(p^2 - c q^2)``. (In math.md's form ``f = h``.)
    """
    if q <= p:
        return 0.0
    _, f, c, rest = _shared_factors(iu, iv, ib)
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
    s, _, c, rest = _shared_factors(inv[u], inv[v], inv[b])
    x, y = 0.0, 0.0
    for i in range(d):
        p, q = theta[u, i] - theta[v, i], theta[u, i] - theta[b, i]
        x += (p - c * q) * (p - c * q)
        y += (q - c * p) * (q - c * p)
    x, y = math.sqrt(x), math.sqrt(y)
    g = gap * (dist[a, b] + dist[u, v]) / ((x + y) * s)
    for i in range(d):
        p, q = theta[u, i] - theta[v, i], theta[u, i] - theta[b, i]
        to_b = g / y * (q - c * p)
        to_v = g / x * (p - c * q) if x > 0.0 else to_b
        lam[u, i] += inv[u] * rest * (to_v - to_b)
        lam[v, i] -= inv[v] * (to_v + c * to_b)
        lam[b, i] += inv[b] * (to_b + c * to_v)
