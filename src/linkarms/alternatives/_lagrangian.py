"""Gaussian arms: the dual of the problem of one split.

    min 1/2 (lambda - theta)' W (lambda - theta)    subject to    |lambda_u - lambda_v|^2 >= |lambda_a - lambda_b|^2   for pairs (u, v)

with ``W`` the weights over the covariances. Let ``lambda' Q_i lambda`` be the difference of the two sides. For multipliers ``mu >= 0`` at
which ``A(mu) = W - sum_i mu_i Q_i`` is positive definite the Lagrangian has one minimum, ``lambda(mu) = theta + A^-1 Q(mu) theta``, and its
value ``D(mu)`` is a lower bound of the cost (weak duality). ``D`` is concave. Where it is largest inside the positive definite ``mu``,
``lambda(mu)`` obeys all constraints and costs ``D(mu)``: it is the minimum, and that is proved.

Arms are ``theta[i, j, c]``. With covariances ``j`` runs over the coordinates, and there is one column ``c``. Where every arm has one
variance the coordinates separate and are the columns, so that the matrix has one row for each arm.
"""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel


@kernel
def _factor(precision: Array, u: Array, v: Array, a: int, b: int, mu: Array, low: Array) -> bool:
    """Cholesky factor of ``A(mu)`` into ``low``, shape (n e, n e); False where it is not positive definite."""
    n, e = precision.shape[0], precision.shape[1]
    low[:] = 0.0
    for i in range(n):
        for j in range(e):
            for k in range(e):
                low[i * e + j, i * e + k] = precision[i, j, k]
    total = 0.0
    for i in range(mu.shape[0]):
        total += mu[i]
        for j in range(e):
            x, y = u[i] * e + j, v[i] * e + j
            low[x, x] -= mu[i]
            low[y, y] -= mu[i]
            low[x, y] += mu[i]
            low[y, x] += mu[i]
    for j in range(e):
        x, y = a * e + j, b * e + j
        low[x, x] += total
        low[y, y] += total
        low[x, y] -= total
        low[y, x] -= total
    size = n * e
    for i in range(size):
        before = low[i, i]
        for k in range(i):
            before -= low[i, k] * low[i, k]
        # the pivot of a matrix that is singular but for rounding proves nothing
        if not before > 1e-13 * abs(low[i, i]):
            return False
        root = math.sqrt(before)
        low[i, i] = root
        for j in range(i + 1, size):
            total = low[j, i]
            for k in range(i):
                total -= low[j, k] * low[i, k]
            low[j, i] = total / root
    return True


@kernel
def solve_factored(low: Array, x: Array) -> None:
    """``x``, shape (n, e, r), becomes ``A^-1 x``."""
    n, e, r = x.shape
    size = n * e
    for c in range(r):
        for i in range(size):
            total = x[i // e, i % e, c]
            for k in range(i):
                total -= low[i, k] * x[k // e, k % e, c]
            x[i // e, i % e, c] = total / low[i, i]
        for i in range(size - 1, -1, -1):
            total = x[i // e, i % e, c]
            for k in range(i + 1, size):
                total -= low[k, i] * x[k // e, k % e, c]
            x[i // e, i % e, c] = total / low[i, i]


@kernel
def add_edge(x: Array, i: int, j: int, scale: float, lam: Array) -> None:
    """Add ``scale (e_i - e_j) (lam_i - lam_j)`` to ``x``."""
    for k in range(lam.shape[1]):
        for c in range(lam.shape[2]):
            change = scale * (lam[i, k, c] - lam[j, k, c])
            x[i, k, c] += change
            x[j, k, c] -= change


@kernel
def square(lam: Array, i: int, j: int) -> float:
    total = 0.0
    for k in range(lam.shape[1]):
        for c in range(lam.shape[2]):
            total += (lam[i, k, c] - lam[j, k, c]) ** 2
    return total


@kernel
def evaluate(
    theta: Array,
    precision: Array,
    u: Array,
    v: Array,
    a: int,
    b: int,
    mu: Array,
    low: Array,
    shift: Array,
    lam: Array,
    lack: Array,
) -> float:
    """``D(mu)``, or -inf where ``A(mu)`` is not positive definite; sets its factor, ``lambda(mu)``, and what each pair lacks.

    Half of what the square of a pair lacks, ``lack``, is the gradient of ``D``.

    ``D = 1/2 shift' W shift + sum_i mu_i lack_i``: near the solution nothing cancels.
    """
    if not _factor(precision, u, v, a, b, mu, low):
        return -math.inf
    shift[:] = 0.0
    total = 0.0
    for i in range(mu.shape[0]):
        if mu[i] > 0.0:
            add_edge(shift, u[i], v[i], mu[i], theta)
            total += mu[i]
    add_edge(shift, a, b, -total, theta)
    solve_factored(low, shift)
    lam[:] = theta + shift
    value = 0.0
    n, e, r = theta.shape
    for i in range(n):
        for j in range(e):
            for k in range(e):
                for c in range(r):
                    value += 0.5 * shift[i, j, c] * precision[i, j, k] * shift[i, k, c]
    inter = square(lam, a, b)
    for i in range(mu.shape[0]):
        lack[i] = 0.5 * (inter - square(lam, u[i], v[i]))
        value += mu[i] * lack[i]
    return value


@kernel
def log_det(low: Array) -> float:
    total = 0.0
    for i in range(low.shape[0]):
        total += 2.0 * math.log(low[i, i])
    return total


@kernel
def invert(low: Array, out: Array) -> None:
    """``A^-1`` from its factor; both of shape (N, N)."""
    size = low.shape[0]
    for c in range(size):
        for i in range(size):
            total = 1.0 if i == c else 0.0
            for k in range(c, i):
                total -= low[i, k] * out[k, c]
            out[i, c] = total / low[i, i] if i >= c else 0.0
        for i in range(size - 1, -1, -1):
            total = out[i, c]
            for k in range(i + 1, size):
                total -= low[k, i] * out[k, c]
            out[i, c] = total / low[i, i]


@kernel
def edge_block(inverse: Array, e: int, u: int, v: int, x: int, y: int, square: bool) -> float:
    """Trace, or sum of squares, of ``(E_u - E_v)' A^-1 (E_x - E_y)``, an ``e`` by ``e`` matrix."""
    total = 0.0
    for j in range(e):
        for k in range(e) if square else range(j, j + 1):
            z = inverse[u * e + j, x * e + k] - inverse[u * e + j, y * e + k]
            z += inverse[v * e + j, y * e + k] - inverse[v * e + j, x * e + k]
            total += z * z if square else z
    return total


@kernel
def newton_step(hessian: Array, step: Array) -> None:
    """``step`` becomes ``hessian^-1 step``; directions in which rounding leaves no curvature get a little."""
    n = step.shape[0]
    ridge = 1e-300
    for i in range(n):
        ridge = max(ridge, 1e-13 * hessian[i, i])
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = hessian[i, j]
            for k in range(j):
                total -= low[i, k] * low[j, k]
            if i == j:
                low[i, i] = math.sqrt(max(total + ridge, ridge))
            else:
                low[i, j] = total / low[j, j]
    for i in range(n):
        for k in range(i):
            step[i] -= low[i, k] * step[k]
        step[i] /= low[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            step[i] -= low[k, i] * step[k]
        step[i] /= low[i, i]
