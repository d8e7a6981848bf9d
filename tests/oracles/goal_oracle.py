"""psi and T* under a distance threshold, with a tolerance and with costs, by brute force: every piece by SLSQP.

Independent of the library. A *piece* is one way of being wrong (math.md 7.1 and 8): two arms of two clusters meet, a cluster comes apart
by one split, or, for a fixed K, a split of a cluster against a pair of two clusters. Every value is the cost of a point that satisfies
the constraints, so it is above the infimum, if anything.
"""

from itertools import combinations

import numpy as np
from scipy.optimize import linprog
from tests.oracles.divergence import Cost, kl
from tests.oracles.psi_oracle import Subproblem, sign_patterns, splits


class Piece(Subproblem):
    """The cheapest parameters that are wrong in one way.

    ``split`` is a pair (S, T) of parts of a cluster, or None; ``pair`` two arms of two clusters, or None. In d = 1 ``signs`` says on
    which side each arm of S is of each arm of T. In d > 1 with a tolerance, ``met`` asks the pair to meet, where the length of their
    difference has no gradient.
    """

    def __init__(self, weights, theta, specs, goal, split, pair, signs=None, met=False):
        S, T = split or ((), ())
        self.key = (split, pair, signs, met)
        self.arms = sorted({*S, *T, *(pair or ())})
        at = {m: i for i, m in enumerate(self.arms)}
        self.weights, self.theta = weights[self.arms], theta[self.arms]
        self.n, self.d = self.theta.shape
        self.cost = Cost(self.weights, self.theta, [specs[m] for m in self.arms])
        self.S, self.T = [at[m] for m in S], [at[m] for m in T]
        self.U = np.array([u for u in self.S for _ in self.T], dtype=int)
        self.V = np.array([v for _ in self.S for v in self.T], dtype=int)
        self.has_pair = pair is not None
        if self.has_pair:
            a, b = pair
            self.a, self.b = (at[b], at[a]) if b in S or b in T else (at[a], at[b])
            self.both_free = not ({a, b} & {*S, *T})
        self.signs, self.met = signs, met
        r, eps = goal.get("distance_threshold"), goal.get("tolerance", 0.0)
        self.apart = eps if r is None else r + eps
        self.near = 0.0 if r is None else r - eps
        reach = np.linalg.norm(self.theta[:, None] - self.theta[None], axis=2).max()
        self.length = max(reach, self.apart, 1e-9)

    def slack(self, x):
        lam = x.reshape(self.n, self.d)
        intra = lam[self.U] - lam[self.V]
        inter = lam[self.a] - lam[self.b] if self.has_pair else np.zeros(self.d)
        if self.d == 1:
            far = intra[:, 0] * self.signs if self.signs else np.zeros(0)
            if not self.has_pair:
                found = far - self.apart
            elif not self.signs:
                found = self.near - np.array([inter[0], -inter[0]])
            else:
                found = np.concatenate([far - inter[0], far + inter[0]]) - self.apart
        elif not self.has_pair:
            found = np.linalg.norm(intra, axis=1) - self.apart
        elif not self.S:
            found = (self.near**2 - inter @ inter)[None] / self.length
        elif self.met:
            found = np.concatenate([np.linalg.norm(intra, axis=1) - self.apart, inter, -inter])
        else:
            found = np.linalg.norm(intra, axis=1) - np.linalg.norm(inter) - self.apart
        return found / self.length

    def slack_jacobian(self, x):
        lam = x.reshape(self.n, self.d)
        count, rows = len(self.U), np.arange(len(self.U))
        J = np.zeros((count, self.n, self.d))
        if count:
            intra = lam[self.U] - lam[self.V]
            if self.d == 1:
                unit = np.array(self.signs)[:, None]
            else:
                unit = intra / np.maximum(np.linalg.norm(intra, axis=1, keepdims=True), 1e-300)
            J[rows, self.U] += unit
            J[rows, self.V] -= unit
        if self.has_pair:
            inter = lam[self.a] - lam[self.b]
            plus = np.zeros((self.d, self.n, self.d))
            plus[np.arange(self.d), self.a, np.arange(self.d)] = 1.0
            plus[np.arange(self.d), self.b, np.arange(self.d)] = -1.0
            if self.d == 1 and count:
                J = np.concatenate([J - plus, J + plus])
            elif self.d == 1:
                J = np.concatenate([-plus, plus])
            elif not count:
                J = -2.0 * np.tensordot(inter, plus, axes=1)[None] / self.length
            elif self.met:
                J = np.concatenate([J, plus, -plus])
            else:
                J = J - np.tensordot(inter / max(np.linalg.norm(inter), 1e-300), plus, axes=1)
        return J.reshape(len(J), -1) / self.length

    def repair(self, x):
        """A point near x that satisfies the constraints: the pair comes closer, then the cluster is stretched."""
        lam = x.reshape(self.n, self.d).copy()
        gap = 0.0
        if self.has_pair:
            gap = np.linalg.norm(lam[self.a] - lam[self.b])
            allowed = 0.0 if self.met else np.inf if self.S else self.near
            if gap > allowed:
                share = 0.0
                if self.both_free:
                    share = self.weights[self.b] / (self.weights[self.a] + self.weights[self.b])
                step = (1.0 - allowed / gap) * (lam[self.b] - lam[self.a])
                lam[self.a] += share * step
                lam[self.b] -= (1.0 - share) * step
                gap = allowed
        if self.S:
            reach = np.linalg.norm(lam[self.U] - lam[self.V], axis=1).min()
            wanted = gap + self.apart
            if 0.0 < reach < wanted:
                inside = self.S + self.T
                shared = self.has_pair and self.a in inside
                pivot = lam[self.a].copy() if shared else lam[inside].mean(axis=0)
                lam[inside] = pivot + (lam[inside] - pivot) * (wanted / reach) * (1.0 + 1e-15)
        return lam

    def wrong(self, lam):
        """Whether a point satisfies the constraints up to rounding, with every arm in its domain."""
        inside = np.clip(lam.ravel(), self.cost.low, self.cost.high)
        return bool(np.all(self.slack(inside) >= -1e-9))

    def value(self, lam):
        return super().value(lam) if self.wrong(lam) else np.inf

    def starts(self, count, rng):
        theta, n, d = self.theta, self.n, self.d
        yield theta + 1e-3 * self.length * rng.normal(size=(n, d))
        spread = np.sqrt(np.diag(self.cost.root @ self.cost.root.T)).reshape(n, d)
        for i in range(count - 1):
            lam = theta + 0.3 * (i % 2) * self.length * rng.normal(size=(n, d)) * spread / spread.max()
            if self.has_pair:
                lam[self.b] += rng.uniform(0.0, 1.0) * (lam[self.a] - lam[self.b])
            if self.S:
                e = rng.normal(size=d) * spread[self.S + self.T].mean(axis=0)
                e *= self.length * rng.uniform(0.1, 1.0) / np.linalg.norm(e)
                lam[self.S] += e * rng.uniform()
                lam[self.T] -= e * rng.uniform()
            yield lam
        for j in self.cost.curved:  # one arm goes far away, alone
            for far in (1.0, 3.0):
                lam = theta.copy()
                lam.flat[j] += far * max(self.length, theta.flat[j])
                yield lam

    def least(self, count, rng):
        """The minimum over all starts, and where it is; 0 where the parameters themselves are wrong."""
        if self.wrong(self.theta):
            return 0.0, self.theta
        typical = float(np.mean(self.weights)) * self.length**2
        return self.minimum(count, rng, max(typical, 1e-12))

    def again(self, points):
        """The minimum from known points."""
        best, point = np.inf, None
        for start in points:
            scale = super().value(start)
            value, lam = self.solve(start, scale, 1e-15) if scale > 0.0 else (0.0, start)
            if value < best:
                best, point = value, lam
        return best, point


def pieces(weights, theta, specs, labels, goal):
    """Every way in which these labels could be wrong."""
    d = theta.shape[1]
    inter = [(a, b) for a, b in combinations(range(len(labels)), 2) if labels[a] != labels[b]]
    by_threshold = goal.get("distance_threshold") is not None
    if by_threshold:
        yield from (Piece(weights, theta, specs, goal, None, pair) for pair in inter)
    for k in np.unique(labels):
        members = tuple(int(m) for m in np.flatnonzero(labels == k))
        for split in splits(members) if len(members) > 1 else ():
            for signs in sign_patterns(*split) if d == 1 else [None]:
                for pair in [None] if by_threshold else inter:
                    for met in (False, True) if pair and d > 1 else (False,):
                        yield Piece(weights, theta, specs, goal, split, pair, signs, met)


def pair_cost(weights, theta, specs, goal, u, v, pair, starts, rng):
    """The pair problem: arms u and v come apart (None: only ``pair`` meets), against ``pair`` for a fixed K."""
    d = theta.shape[1]
    split = None if u is None else ((u,), (v,))
    found = np.inf
    for signs in [(1.0,), (-1.0,)] if split and d == 1 else [None]:
        for met in (False, True) if split and pair and d > 1 else (False,):
            piece = Piece(weights, theta, specs, goal, split, pair, signs, met)
            found = min(found, piece.least(starts, rng)[0])
    return found


def psi(weights, theta, specs, labels, goal, starts, rng):
    """The infimum over all parameters at which the labels are wrong."""
    return min(piece.least(starts, rng)[0] for piece in pieces(weights, theta, specs, labels, goal))


class TStar:
    """``1/T* = max psi(w)`` over ``w >= 0, costs . w = 1`` by cutting planes: every point that is wrong bounds psi by a linear function."""

    def __init__(self, theta, specs, labels, goal, costs, starts, rng):
        self.theta, self.specs, self.labels, self.goal = theta, specs, labels, goal
        self.costs, self.starts, self.rng = costs, starts, rng
        self.points, self.last, self.cuts = {}, {}, []

    def cut(self, piece, point):
        inside = np.clip(point.ravel(), piece.cost.low, piece.cost.high)
        full = piece.embed(inside.reshape(point.shape), self.theta)
        self.cuts.append([kl(s, t, x) for s, t, x in zip(self.specs, self.theta, full, strict=True)])

    def psi(self, w, thorough):
        """psi at w. A piece is left out if its value elsewhere proves that it is not the least: values are monotone in w."""
        todo = list(pieces(w, self.theta, self.specs, self.labels, self.goal))
        best = np.inf

        def bound(piece):
            if piece.key not in self.last:
                return 0.0
            value, at = self.last[piece.key]
            return value * float(np.min(w[piece.arms] / at[piece.arms]))

        for piece in sorted(todo, key=bound):
            if not thorough and bound(piece) >= best:
                continue
            known = self.points.setdefault(piece.key, [])
            value, point = piece.again(known[-2:]) if known else (np.inf, None)
            if thorough or point is None:
                other = piece.least(self.starts, self.rng)
                if other[0] < value * (1.0 - 1e-8):
                    value, point = other
            if point is None:
                continue  # nothing satisfies the constraints
            known.append(point)
            self.last[piece.key] = (value, w)
            self.cut(piece, point)
            best = min(best, value)
        return best

    def ceiling(self, scale):
        """The linear program over all cuts: an upper bound of max psi, and where it is. ``scale`` is about its size."""
        n, k = len(self.theta), self.costs
        rows = np.column_stack([-np.array(self.cuts) / scale, np.ones(len(self.cuts))])
        found = linprog(
            np.append(np.zeros(n), -1.0),
            A_ub=rows,
            b_ub=np.zeros(len(rows)),
            A_eq=np.append(k, 0.0)[None],
            b_eq=[1.0],
            bounds=[(0.0, None)] * n + [(None, None)],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        return -found.fun * scale, found.x[:n]

    def solve(self, gap=1e-5, rounds=100):
        """T*, how well it is known, and the rounds it took."""
        n, k = len(self.theta), self.costs
        best_w = w = 1.0 / (n * k)
        best, turn = -np.inf, 0
        for turn in range(rounds):
            value = self.psi(w, thorough=False)
            if value > best:
                best, best_w = value, w
            ceiling, corner = self.ceiling(best)
            if ceiling <= best * (1.0 + gap):
                checked = self.psi(best_w, thorough=True)
                if checked >= best * (1.0 - gap):
                    break
                best = checked  # a start found less
            pull = 0.4 if turn % 3 else 0.9
            w = np.maximum(pull * corner + (1.0 - pull) * best_w, 1e-6 / (n * k))
            w = w / (w @ k)
        return 1.0 / best, ceiling / best - 1.0, turn + 1
