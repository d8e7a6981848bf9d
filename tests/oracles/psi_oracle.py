"""psi by brute force: every split, every inter pair, multi-start SLSQP.

Independent of the library. The value returned is the cost of a point that was checked to be an alternative,
so it is never below the true infimum by more than rounding; with enough starts it equals it.
"""

from itertools import combinations, permutations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from tests.oracles.divergence import Cost, kl
from tests.oracles.lower import pair_bound, signed_bound


def family_list(families, n_arms):
    return [families] * n_arms if isinstance(families, dict) else list(families)


def single_linkage(parameters, K):
    """Labels 0..K-1 in order of first appearance."""
    raw = fcluster(linkage(np.asarray(parameters, dtype=float), method="single"), K, criterion="maxclust")
    order = {}
    return np.array([order.setdefault(label, len(order)) for label in raw])


def margin(lam, labels):
    """Longest spanning-tree edge in a cluster over the shortest inter distance; 1 or more: an alternative."""
    lam, labels = np.asarray(lam, dtype=float), np.asarray(labels)
    inter = cdist(lam, lam)[labels[:, None] != labels[None, :]].min()
    edge = max(
        linkage(lam[labels == k], method="single")[-1, 2]
        for k in np.unique(labels)
        if np.sum(labels == k) > 1
    )
    return edge / inter if inter > 0 else np.inf


def total_cost(weights, parameters, lam, families):
    specs = family_list(families, len(parameters))
    return sum(w * kl(s, t, x) for w, s, t, x in zip(weights, specs, parameters, lam, strict=True))


def splits(members):
    """Every split into two non-empty parts, once: the first member stays in S."""
    first, rest = members[0], members[1:]
    for size in range(len(rest)):
        for extra in combinations(rest, size):
            S = (first, *extra)
            yield S, tuple(m for m in members if m not in S)


def sign_patterns(S, T):
    """Every pattern of signs of ``lambda_u - lambda_v``, u in S and v in T, that an order of the arms has."""
    found = set()
    for order in permutations((*S, *T)):
        rank = {m: i for i, m in enumerate(order)}
        found.add(tuple(1.0 if rank[u] > rank[v] else -1.0 for u in S for v in T))
    return sorted(found)


class Subproblem:
    """The cheapest alternative for one split, one inter pair and, in d = 1, one pattern of signs."""

    def __init__(self, weights, theta, specs, S, T, a, b, signs=None):
        self.arms = sorted({*S, *T, a, b})
        at = {m: i for i, m in enumerate(self.arms)}
        self.weights = weights[self.arms]
        self.theta = theta[self.arms]
        self.n, self.d = self.theta.shape
        self.cost = Cost(self.weights, self.theta, [specs[m] for m in self.arms])
        self.S, self.T = [at[m] for m in S], [at[m] for m in T]
        self.U = np.array([u for u in self.S for _ in self.T])
        self.V = np.array([v for _ in self.S for v in self.T])
        # b is an arm outside the cluster: it can be moved without touching the intra distances
        self.a, self.b = (at[b], at[a]) if b in S or b in T else (at[a], at[b])
        self.both_free = not ({a, b} & {*S, *T})
        self.length = max(float(np.linalg.norm(self.theta[self.a] - self.theta[self.b])), 1e-12)
        self.linear = None
        if signs is not None:
            rows = np.zeros((2, len(signs), self.n))
            for i, s in enumerate(signs):
                rows[:, i, self.U[i]] += s
                rows[:, i, self.V[i]] -= s
            rows[0, :, self.a] -= 1.0
            rows[0, :, self.b] += 1.0
            rows[1, :, self.a] += 1.0
            rows[1, :, self.b] -= 1.0
            self.linear = rows.reshape(-1, self.n)

    # constraints -----------------------------------------------------------------------------------------

    def slack(self, x):
        if self.linear is not None:
            return self.linear @ x / self.length
        lam = x.reshape(self.n, self.d)
        intra = np.sum((lam[self.U] - lam[self.V]) ** 2, axis=1)
        return (intra - np.sum((lam[self.a] - lam[self.b]) ** 2)) / self.length**2

    def slack_jacobian(self, x):
        if self.linear is not None:
            return self.linear / self.length
        lam = x.reshape(self.n, self.d)
        intra, inter = lam[self.U] - lam[self.V], lam[self.a] - lam[self.b]
        rows = np.arange(len(self.U))
        J = np.zeros((len(self.U), self.n, self.d))
        J[rows, self.U] += intra
        J[rows, self.V] -= intra
        J[:, self.a] -= inter
        J[:, self.b] += inter
        return 2.0 * J.reshape(len(rows), -1) / self.length**2

    def repair(self, x):
        """A point near x that satisfies every constraint: an outside arm moves towards its partner."""
        lam = x.reshape(self.n, self.d).copy()
        for i in self.cost.simplex:
            x_arm = np.maximum(lam[i[0] // self.d], 0.0)
            lam[i[0] // self.d] = x_arm / x_arm.sum()
        reach = np.linalg.norm(lam[self.U] - lam[self.V], axis=1).min()
        gap = np.linalg.norm(lam[self.a] - lam[self.b])
        if gap > reach:
            share = 0.0
            if self.both_free:
                share = self.weights[self.b] / (self.weights[self.a] + self.weights[self.b])
            shrink = (1.0 - reach / gap) * (1.0 + 1e-14)
            step = shrink * (lam[self.b] - lam[self.a])
            lam[self.a] += share * step
            lam[self.b] -= (1.0 - share) * step
        return lam

    def value(self, lam):
        return float(self.cost(np.clip(lam.ravel(), self.cost.low, self.cost.high))[0])

    # starts ----------------------------------------------------------------------------------------------

    def collapse(self):
        """The inter pair merged at its weighted mean, or the outside arm put on the inside one."""
        return self.repair_from(self.theta, 0.0)

    def repair_from(self, lam, rho):
        lam = lam.copy()
        w = self.weights[[self.a, self.b]]
        middle = (w[0] * lam[self.a] + w[1] * lam[self.b]) / w.sum()
        half = lam[self.a] - lam[self.b]
        size = np.linalg.norm(half)
        half = half * (min(rho / size, 1.0) if size > 0 else 0.0)
        lam[self.a] = middle + half * w[1] / w.sum()
        lam[self.b] = middle - half * w[0] / w.sum()
        return lam

    def starts(self, count, rng):
        theta, n, d = self.theta, self.n, self.d
        yield theta + 1e-3 * self.length * rng.normal(size=(n, d))
        yield self.collapse() + 1e-6 * self.length * rng.normal(size=(n, d))
        spread = np.sqrt(np.diag(self.cost.root @ self.cost.root.T)).reshape(n, d)
        for i in range(max(count - 2, 0)):
            lam = theta.copy()
            if i % 4 == 3:
                lam += spread * rng.normal(size=(n, d)) * (self.length / spread.max()) * rng.uniform(0.1, 2.0)
            else:
                e = rng.normal(size=d) * (spread[self.S + self.T].mean(axis=0) if i % 2 else 1.0)
                e /= np.linalg.norm(e)
                rho = self.length * rng.uniform(0.2, 1.0)
                push = (spread.mean(axis=1) ** 2)[:, None] * e
                push /= np.abs(push[self.S + self.T]).max()
                for step in np.geomspace(0.02, 3.0, 24) * self.length:
                    lam = theta.copy()
                    lam[self.S] += step * push[self.S]
                    lam[self.T] -= step * push[self.T]
                    if np.linalg.norm(lam[self.U] - lam[self.V], axis=1).min() >= rho:
                        break
                lam = self.repair_from(lam, rho)
            yield lam
        # a divergence that flattens out may send one arm far away, alone
        for j in self.cost.curved:
            for far in (0.5, 1.0, 2.0, 4.0):
                lam = theta.copy()
                lam.flat[j] += far * max(self.length, theta.flat[j])
                yield lam
                yield self.repair(lam.ravel())

    # solution --------------------------------------------------------------------------------------------

    def solve(self, start, scale, tolerance):
        """One run of SLSQP, in variables that make the objective near a sum of squares of order one."""
        cost = self.cost
        x0 = np.clip(start.ravel(), cost.low, cost.high)
        for i in cost.simplex:
            x0[i] = np.maximum(x0[i], 1e-3)
            x0[i] /= x0[i].sum()
        root = cost.root * np.sqrt(2.0 * scale)
        diagonal = np.diag(root)

        def objective(z):
            value, gradient = cost(to_x(z))
            return value / scale, root.T @ gradient / scale

        def to_x(z):
            return np.clip(cost.theta + root @ z, cost.low, cost.high)

        z0 = np.linalg.solve(root, x0 - cost.theta)
        constraints = [
            {
                "type": "ineq",
                "fun": lambda z: self.slack(cost.theta + root @ z),
                "jac": lambda z: self.slack_jacobian(cost.theta + root @ z) @ root,
            }
        ]
        if cost.simplex:
            A = np.zeros((len(cost.simplex), len(x0)))
            for row, i in enumerate(cost.simplex):
                A[row, i] = 1.0
            constraints.append(
                {"type": "eq", "fun": lambda z: A @ (cost.theta + root @ z) - 1.0, "jac": lambda z: A @ root}
            )
        bounds = None
        if np.any(np.isfinite(cost.low)):
            bounds = list(
                zip((cost.low - cost.theta) / diagonal, (cost.high - cost.theta) / diagonal, strict=True)
            )
        with np.errstate(all="ignore"):
            found = minimize(
                objective,
                z0,
                jac=True,
                method="SLSQP",
                bounds=bounds,
                constraints=constraints,
                options={"ftol": tolerance, "maxiter": 300},
            )
        if not np.all(np.isfinite(found.x)):
            return np.inf, None
        lam = self.repair(to_x(found.x))
        value = self.value(lam)
        return (value, lam) if np.isfinite(value) else (np.inf, None)

    def minimum(self, count, rng, scale):
        """Best of many starts, then polished from the best point at the scale of its own value."""
        best, point = np.inf, None
        for start in self.starts(count, rng):
            value, lam = self.solve(start, scale, 1e-10)
            if value < best:
                best, point = value, lam
        for _ in range(2):
            if point is None or best <= 0.0:
                break
            value, lam = self.solve(point, best, 1e-15)
            if value < best:
                best, point = value, lam
        return best, point

    def embed(self, lam, theta):
        full = theta.copy()
        full[self.arms] = lam
        return full


def default_starts(theta):
    return 4 if theta.shape[1] == 1 else 24


def subproblems(weights, theta, specs, labels):
    """Every (lower bound, S, T, a, b, signs)."""
    d = theta.shape[1]
    cache = {}

    def bound(u, v, a, b, sign):
        key = (u, v, a, b, sign)
        if key not in cache:
            args = (weights, theta, specs, u, v, a, b)
            cache[key] = pair_bound(*args) if sign is None else signed_bound(*args, sign)
        return cache[key]

    inter = [(a, b) for a, b in combinations(range(len(labels)), 2) if labels[a] != labels[b]]
    for k in np.unique(labels):
        members = tuple(int(m) for m in np.flatnonzero(labels == k))
        if len(members) < 2:
            continue
        for S, T in splits(members):
            cut = [(u, v) for u in S for v in T]
            for signs in sign_patterns(S, T) if d == 1 else [None]:
                each = signs if signs else [None] * len(cut)
                for a, b in inter:
                    low = max(bound(u, v, a, b, s) for (u, v), s in zip(cut, each, strict=True))
                    yield low, S, T, a, b, signs


def cheap_alternative(weights, parameters, labels, families):
    """Cost of the best alternative in which one inter pair meets and nothing else moves: an upper bound of psi."""
    specs = family_list(families, len(weights))
    theta = np.asarray(parameters, dtype=float).reshape(len(weights), -1)
    best = np.inf
    for a, b in combinations(range(len(weights)), 2):
        if labels[a] != labels[b]:
            total = weights[a] + weights[b]
            meet = (weights[a] * theta[a] + weights[b] * theta[b]) / total
            cost = weights[a] * kl(specs[a], theta[a], meet) + weights[b] * kl(specs[b], theta[b], meet)
            best = min(best, cost)
    return best


def psi_brute(weights, parameters, labels, families, starts=None, seed=0, prune=True):
    """The infimum over all alternatives of ``sum_m w_m KL(theta_m, lambda_m)``, and where it is attained.

    Returns a dict with ``value``, ``alternative``, ``split``, ``pair`` and ``solved``, the number of problems
    solved. With ``prune`` a problem whose triangle bound exceeds a value already reached is left out.
    """
    weights, theta = np.asarray(weights, dtype=float), np.asarray(parameters, dtype=float)
    theta = theta.reshape(len(weights), -1)
    labels = np.asarray(labels)
    specs = family_list(families, len(weights))
    rng = np.random.default_rng(seed)
    starts = default_starts(theta) if starts is None else starts
    todo = sorted(subproblems(weights, theta, specs, labels), key=lambda item: item[0])
    best, answer = np.inf, None
    for _, S, T, a, b, _ in todo:
        sub = Subproblem(weights, theta, specs, S, T, a, b)
        lam = sub.repair(sub.collapse().ravel())
        value = sub.value(lam)
        if value < best:
            best, answer = value, (sub, lam, S, a, b)
    solved = 0
    for low, S, T, a, b, signs in todo:
        if prune and low >= best:
            break
        sub = Subproblem(weights, theta, specs, S, T, a, b, signs)
        value, lam = sub.minimum(starts, rng, best)
        solved += 1
        if value < best:
            best, answer = value, (sub, lam, S, a, b)
    sub, lam, S, a, b = answer
    full = sub.embed(lam, theta)
    checked = total_cost(weights, theta, full, specs)
    if margin(full, labels) < 1.0 - 1e-10 or abs(checked - best) > 1e-9 * best:
        raise AssertionError("the brute force returned a point that is no alternative, or a wrong cost")
    return {"value": checked, "alternative": full, "split": S, "pair": (a, b), "solved": solved}


def pair_brute(weights, parameters, u, v, a, b, families, starts=40, seed=0):
    """The minimum for one intra pair (u, v) against one inter pair (a, b), from every start."""
    weights, theta = np.asarray(weights, dtype=float), np.asarray(parameters, dtype=float)
    theta = theta.reshape(len(weights), -1)
    specs = family_list(families, len(weights))
    rng = np.random.default_rng(seed)
    best, answer = np.inf, theta.copy()
    for signs in [(1.0,), (-1.0,)] if theta.shape[1] == 1 else [None]:
        sub = Subproblem(weights, theta, specs, (u,), (v,), a, b, signs)
        rest = sub.repair(sub.theta.ravel())
        if sub.value(rest) <= 0.0:
            return {"value": 0.0, "alternative": theta.copy()}
        scale = sub.value(sub.repair(sub.collapse().ravel()))
        value, lam = sub.minimum(starts, rng, scale)
        if value < best:
            best, answer = value, sub.embed(lam, theta)
    return {"value": best, "alternative": answer}
