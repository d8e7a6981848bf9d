"""Aligned evidence by SciPy, and its infimum over a piece by brute force.

Arms are in the order u, v, b, a; three arms mean that u = a is shared.
"""

import numpy as np
from scipy import optimize, special


def difference(lam, i, j):
    """Difference of two rows, and the same with length one; of equal rows the first unit vector."""
    d = lam[..., i, :] - lam[..., j, :]
    size = np.linalg.norm(d, axis=-1, keepdims=True)
    first = np.eye(lam.shape[-1])[0]
    return d, np.where(size > 0.0, d / np.where(size > 0.0, size, 1.0), first)


def directions(lam):
    """The unit vector of each arm, zero where it has none; lam may be a stack."""
    shared = lam.shape[-2] == 3
    f, e = difference(lam, 0, 1)[1], difference(lam, 0 if shared else 3, 2)[1]
    if not shared:
        return np.stack([-f, f, -e, e], axis=-2)
    turn = np.linalg.norm(e - f, axis=-1, keepdims=True)
    return np.stack([np.where(turn > 0.0, (e - f) / np.where(turn > 0.0, turn, 1.0), 0.0), f, -e], axis=-2)


def one_sided(n, c, y):
    """phi_{N,c}(y) of section 10 of math.md."""
    z = n * y / np.sqrt(n + c)
    return np.log(2.0) + special.log_ndtr(z) + z * z / 2.0 - 0.5 * np.log1p(n / c)


def log_evidence(lam, x, counts, variances, grid, ratio, isotropic):
    """log E at lam, of shape (..., arms, d); x and counts may have the same leading axes."""
    lam = np.asarray(lam, dtype=float)
    arms, d = lam.shape[-2:]
    n = directions(lam)
    shift = x - lam
    scale = np.sqrt(np.asarray(variances))
    # (..., 1, arms) beside the grid's (J, 1)
    along = (np.sum(shift * n, axis=-1) / scale)[..., None, :]
    square = (np.sum(shift * shift, axis=-1) / scale**2)[..., None, :]
    still = ~np.any(n != 0.0, axis=-1)[..., None, :]
    inter = np.isin(np.arange(arms), [0, 2] if arms == 3 else [2, 3])
    k, c = np.asarray(counts, dtype=float)[..., None, :], np.asarray(grid, dtype=float)[:, None]
    tight = ratio * c
    turns = inter & (d > 1)
    rest = np.where(turns, k * tight / (k + tight), k)
    across = np.where(turns, k**2 * square / (2.0 * (k + tight)) - d / 2.0 * np.log1p(k / tight), 0.0)
    aligned = np.sum(across + np.where(still, 0.0, one_sided(rest, c, along)), axis=-1)
    free, size = np.where(inter, square, along**2), np.where(inter, d, 1)
    plain = k**2 * free / (2.0 * (k + c)) - size / 2.0 * np.log1p(k / c)
    parts = [
        np.log(1.0 - isotropic) + aligned,
        np.log(isotropic / 2) + np.sum(np.where(inter, plain, 0.0), axis=-1),
        np.log(isotropic / 2) + np.sum(plain, axis=-1),
    ]
    return special.logsumexp(np.concatenate(parts, axis=-1), axis=-1) - np.log(len(c))


def slack(lam):
    """|lam_u - lam_v| - |lam_a - lam_b|: not negative inside the piece."""
    a = 0 if lam.shape[-2] == 3 else 3
    return np.linalg.norm(lam[..., 0, :] - lam[..., 1, :], axis=-1) - np.linalg.norm(
        lam[..., a, :] - lam[..., 2, :], axis=-1
    )


def moved_inside(lam):
    """The same with b moved towards a until the piece has it."""
    out = np.array(lam, dtype=float)
    a = 0 if out.shape[-2] == 3 else 3
    r = np.linalg.norm(out[..., 0, :] - out[..., 1, :], axis=-1, keepdims=True)
    d = out[..., 2, :] - out[..., a, :]
    size = np.linalg.norm(d, axis=-1, keepdims=True)
    out[..., 2, :] = out[..., a, :] + d * np.minimum(1.0, r * (1.0 - 1e-12) / np.maximum(size, 1e-300))
    return out


def brute_infimum(x, counts, variances, grid, ratio, isotropic, starts, rng, guesses=()):
    """The smallest log E that SLSQP finds from several starts, and where; always at a point of the piece."""
    arms, d = x.shape
    size = arms * d
    a = 0 if arms == 3 else 3

    def value(z):
        return log_evidence(z.reshape(-1, arms, d), x, counts, variances, grid, ratio, isotropic)

    def gradient(z, h=1e-6):
        stack = np.concatenate([z + h * np.eye(size), z - h * np.eye(size)])
        f = value(stack)
        return (f[:size] - f[size:]) / (2.0 * h)

    def constraint(z):
        lam = z.reshape(arms, d)
        return np.sum((lam[0] - lam[1]) ** 2) - np.sum((lam[a] - lam[2]) ** 2)

    def normal(z):
        lam, out = z.reshape(arms, d), np.zeros((arms, d))
        out[0] += 2.0 * (lam[0] - lam[1])
        out[1] -= 2.0 * (lam[0] - lam[1])
        out[a] -= 2.0 * (lam[a] - lam[2])
        out[2] += 2.0 * (lam[a] - lam[2])
        return out.ravel()

    reach = np.linalg.norm(x[a] - x[2])
    first = [np.asarray(g) for g in guesses]
    first += [
        moved_inside(x + reach * rng.choice([0.05, 0.3, 0.7]) * rng.normal(size=x.shape))
        for _ in range(starts)
    ]
    best = (np.inf, x)
    for lam in first:
        found = optimize.minimize(
            lambda z: float(value(z)[0]),
            lam.ravel(),
            jac=gradient,
            method="SLSQP",
            constraints=[{"type": "ineq", "fun": constraint, "jac": normal}],
            options={"maxiter": 80, "ftol": 1e-9},
        )
        for z in (found.x, lam.ravel()):
            inside = moved_inside(z.reshape(arms, d))
            here = float(log_evidence(inside, x, counts, variances, grid, ratio, isotropic))
            best = min(best, (here, inside), key=lambda pair: pair[0])
    return best
