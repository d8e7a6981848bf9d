"""The yardstick of ATBOC's step: the same optimum by SLSQP, from the closed forms in NumPy."""

import functools

import numpy as np
from scipy.optimize import minimize


@functools.lru_cache
def pair_table(labels):
    """Intra and inter pairs: ``u, v, a, b``, and whether ``u`` is ``a``: shape (5, H). A shared arm comes first in both pairs."""
    n, rows, labels = len(labels), [], np.array(labels)
    first, second = np.triu_indices(n, 1)
    same = labels[first] == labels[second]
    for u, v in zip(first[same], second[same], strict=True):
        for a, b in zip(first[~same], second[~same], strict=True):
            if v in (a, b):
                rows.append((v, u, v, a if b == v else b, 1))
            else:
                rows.append((u, v, u, a if b == u else b, 1) if u in (a, b) else (u, v, a, b, 0))
    return np.array(rows).T


def costs(w, theta, table):
    """Cost of each pair of pairs for unit Gaussian arms, shape (H,), and its gradient in ``w``, shape (H, M)."""
    u, v, a, b, shared = table
    i = 1.0 / w
    value, slope = np.zeros(len(u)), np.zeros((len(u), len(w)))
    p, q = theta[u] - theta[v], theta[a] - theta[b]
    pp, qq, pq = (p * p).sum(1), (q * q).sum(1), (p * q).sum(1)
    four = np.flatnonzero((shared == 0) & (qq > pp))
    g = (np.sqrt(qq[four]) - np.sqrt(pp[four])) / (i[u] + i[v] + i[a] + i[b])[four]
    value[four] = 0.5 * g**2 * (i[u] + i[v] + i[a] + i[b])[four]
    for m in (u, v, a, b):
        slope[four, m[four]] = 0.5 * (i[m[four]] * g) ** 2
    one = np.flatnonzero((shared == 1) & (qq > pp))
    u, v, b, pp, qq, pq = u[one], v[one], b[one], pp[one], qq[one], pq[one]
    iu, iv, ib = i[u], i[v], i[b]
    big, e = iu * iv + iu * ib + iv * ib, iv - ib
    s = np.sqrt(e**2 + 4.0 * big)
    nu = np.where(e >= 0, 0.5 * (s + e), 2.0 * big / np.maximum(s - e, 1e-300))
    n = np.where(e >= 0, 2.0 * big / np.maximum(s + e, 1e-300), 0.5 * (s - e))
    f, h = iu + ib + nu, iu + iv + n
    # vectors as coefficients of p and q
    ap, aq = f / np.sqrt(s * f), -iu / np.sqrt(s * f)
    bp, bq = -iu / np.sqrt(s * h), h / np.sqrt(s * h)

    def norm(x, y):
        return np.sqrt(np.maximum(x * x * pp + 2.0 * x * y * pq + y * y * qq, 0.0))

    alpha, beta = norm(ap, aq), norm(bp, bq)
    g = (qq - pp) / (s * (alpha + beta))
    value[one] = 0.5 * s * g**2
    alpha = np.maximum(alpha, 1e-300)
    k1, k2 = g * np.sqrt(f / s) / alpha, g * iu / np.sqrt(s * h) / beta
    yp = (k1 * ap + k2 * bp, k1 * aq + k2 * bq)
    k1, k2 = -g * iu / np.sqrt(s * f) / alpha, -g * np.sqrt(h / s) / beta
    yq = (k1 * ap + k2 * bp, k1 * aq + k2 * bq)
    slope[one, u] = 0.5 * (iu * norm(yp[0] + yq[0], yp[1] + yq[1])) ** 2
    slope[one, v] = 0.5 * (iv * norm(*yp)) ** 2
    slope[one, b] = 0.5 * (ib * norm(*yq)) ** 2
    return value, slope


def slsqp_optimum(theta, labels, start, tolerance=1e-6):
    """``max v`` under ``cost_h(w) >= v``, ``sum w = 1``, ``w >= 1e-6``, from ``start``: weights and value. Clusters of two arms at most."""
    n = len(theta)
    table = pair_table(tuple(labels.tolist()))
    unit = costs(np.full(n, 1.0 / n), theta, table)[0].min()

    def both(x):
        value, slope = costs(np.maximum(x[:n], 1e-9), theta, table)
        return value / unit - x[n], np.column_stack([slope / unit, -np.ones(len(value))])

    found = minimize(
        lambda x: -x[n],
        np.append(start, costs(start, theta, table)[0].min() / unit),
        jac=lambda x: np.append(np.zeros(n), -1.0),
        method="SLSQP",
        bounds=[(1e-6, 1.0)] * n + [(0.0, None)],
        constraints=[
            {"type": "ineq", "fun": lambda x: both(x)[0], "jac": lambda x: both(x)[1]},
            {
                "type": "eq",
                "fun": lambda x: x[:n].sum() - 1.0,
                "jac": lambda x: np.append(np.ones(n), 0.0),
            },
        ],
        options={"ftol": tolerance, "maxiter": 200},
    )
    w = np.maximum(found.x[:n], 1e-9)
    w /= w.sum()
    return w, costs(w, theta, table)[0].min()
