"""One-sided evidence of arms with one parameter by NumPy, and its infimum over a piece by brute force.

Arms are in the order u, v, b, a; three arms mean that u = a is shared. Families: ("gamma", shape) by the rate, ("poisson",) and
("bernoulli",). Likelihoods are those of the shifted parameters themselves.
"""

import functools

import numpy as np
from scipy import optimize, special

SHIFTS = np.concatenate([[0.0], 5e-5 * 1.15 ** np.arange(83)])
CROSSING = 0.05


@functools.cache
def weights(c):
    """The weight of each shift for one c."""
    h = SHIFTS[1:] * np.sqrt(c)
    shape = (2.0 * h / (h * h + 1.0)) ** 3
    return np.concatenate([[0.02], 0.98 * shape / shape.sum()])


@functools.cache
def matrix(grid):
    """The weights for each c, one row each."""
    return np.array([weights(c) for c in grid])


def shifted(family, lam, side):
    """The alternatives of lam on one side, 1 or -1."""
    unit = {"gamma": 1.0 / np.sqrt(family[-1]) if len(family) > 1 else 1.0, "poisson": 1.0, "bernoulli": 2.0}
    theta = side * SHIFTS * unit[family[0]]
    if family[0] == "bernoulli":
        return special.expit(special.logit(lam) + theta)
    return lam * np.exp(theta)


def log_likelihood(family, n, total, x):
    """That of n samples with this sum, up to what does not depend on the parameter."""
    if family[0] == "gamma":
        return family[1] * n * np.log(x) - x * total
    if family[0] == "poisson":
        return special.xlogy(total, x) - n * x
    return special.xlogy(total, x) + special.xlog1py(n - total, -x)


def log_mixtures(family, n, total, lam, side, grid):
    """The log of an arm's mixture for each c."""
    ratio = log_likelihood(family, n, total, shifted(family, lam, side)) - log_likelihood(
        family, n, total, lam
    )
    top = ratio.max()
    return top + np.log(matrix(tuple(grid)) @ np.exp(ratio - top))


def log_evidence(family, n, total, lam, s, e, grid):
    """log E at lam, whose intra pair has the sign s and whose inter pair the sign e."""
    shared = len(lam) == 3
    sides = [np.sign(e - s) if shared else -s, s, -e, e][: len(lam)]
    grow = sum(
        log_mixtures(family, n[m], total[m], lam[m], side, grid) for m, side in enumerate(sides) if side
    )
    a = 0 if shared else 3
    cross = log_mixtures(family, n[a], total[a], lam[a], -e, grid) + log_mixtures(
        family, n[2], total[2], lam[2], e, grid
    )
    both = np.concatenate([np.log1p(-CROSSING) + grow, np.log(CROSSING) + cross])
    top = both.max()
    return top + np.log(np.exp(both - top).sum()) - np.log(len(grid))


def brute_infimum(family, n, total, grid, rng, starts=2, guesses=()):
    """The smallest log E that SLSQP finds over the whole piece, from several starts in each of its four sectors."""
    estimate = {"gamma": lambda k, x: family[-1] * k / x}.get(family[0], lambda k, x: (x + 0.5) / (k + 1.0))(
        np.asarray(n, float), np.asarray(total, float)
    )
    ends = (1e-9, 1.0 - 1e-9 if family[0] == "bernoulli" else None)
    a = 0 if len(n) == 3 else 3
    best = np.inf
    for s in (1.0, -1.0):
        for e in (1.0, -1.0):
            inter, intra = (lambda x, e=e: e * (x[a] - x[2])), (lambda x, s=s: s * (x[0] - x[1]))
            constraints = [
                {"type": "ineq", "fun": inter},
                {"type": "ineq", "fun": lambda x, f=intra, g=inter: f(x) - g(x)},
            ]
            middle = np.full(len(n), estimate.mean())
            for first in [
                middle,
                estimate,
                *guesses,
                *(estimate * rng.uniform(0.7, 1.2, size=(starts, len(n)))),
            ]:
                found = optimize.minimize(
                    lambda x, s=s, e=e: log_evidence(family, n, total, np.clip(x, *ends), s, e, grid),
                    np.clip(first, *ends),
                    method="SLSQP",
                    bounds=[ends] * len(n),
                    constraints=constraints,
                    options={"maxiter": 200, "ftol": 1e-10},
                )
                x = np.clip(found.x, *ends)
                longer = max(intra(x), 0.0)  # SLSQP ends a little outside: bring it in
                x[1], x[2] = x[0] - s * longer, x[a] - e * min(max(inter(x), 0.0), longer)
                if np.all(x > 0.0) and np.all(x < (ends[1] or np.inf)):
                    best = min(best, log_evidence(family, n, total, x, s, e, grid))
    return best
