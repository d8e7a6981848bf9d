"""Yardstick (a): the step in plain vectorised NumPy, with care, for Gaussian arms of unit variance.

All pairs of pairs at once, no Python loop over them; operations work in place. From one sample to the next it keeps only numbers that do
not depend on the partition: counts, means, squared distances, the arms' parts of the threshold. The partition, the index arrays of its
pairs and all costs are found again for each sample; `benchmarks.yardsticks.numpy_kept` keeps more.

With ``i_m = 1 / w_m``, ``p = theta_u - theta_v`` and ``q = theta_a - theta_b``::

    four arms:    cost = (|q| - |p|)^2 / (2 (i_u + i_v + i_a + i_b))
    shared u = a: j = i_v + i_b;  s = sqrt(j (j + 4 i_u));  f = i_u + (j + s)/2;  c = i_u/f
                  cost = ((|q|^2 - |p|^2) / (|p - c q| + |q - c p|))^2 / (2 f)

The second is the closed form for a shared arm, written with fewer operations.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.settings import Setting
from benchmarks.yardsticks.pairs import Pairs, partition
from benchmarks.yardsticks.record import Start
from linkarms.sampling import EBC

__all__ = ["PlainNumpyStep"]

Floats = NDArray[np.float64]
_FLOOR = 1e-12
_LOG_2PI = math.log(2.0 * math.pi)


class PlainNumpyStep:
    """The state of a run and its step; see `benchmarks.yardsticks.record.Yardstick`."""

    rules = ("ebc-h", "ebc")

    #: The pairs of the partition, once there is one.
    pairs: Pairs
    #: Every intra pair is known to be shorter than every inter pair.
    ordered = False

    def __init__(self, setting: Setting, rule: str, start: Start) -> None:
        problem, stop = setting.problem, setting.stopping
        n, d = int(problem.n_arms), int(problem.n_features)
        self.n_arms, self.d, self.k = n, d, problem.n_clusters
        self.ebc, self.step = rule == "ebc", EBC().step
        self.epsilon, self.log_volume = stop.epsilon, stop.log_volume(problem.arm_families)
        self.low, self.high = stop.box(d).T.copy()
        self.counts = start.counts.astype(np.float64)
        self.t = int(start.counts.sum())
        self.means, self.w, self.w_sum = start.means.copy(), *start.weights.copy()
        self.theta = np.clip(self.means, self.low, self.high)
        self.lam, self.kl, self.gradient = self.theta.copy(), np.zeros(n), np.zeros(n)
        self.squares = ((self.theta[:, None] - self.theta) ** 2).sum(axis=2)
        self.inv = 1.0 / self.counts
        self.penalty = np.array([self._penalty(x) for x in self.counts.tolist()])
        self.base = float(self.penalty.sum())
        self.difference, self.row, self.ones = np.empty((n, d)), np.empty(n), np.ones(d)
        self.mean_rows, self.theta_rows = list(self.means), list(self.theta)

    def run(self, arms: NDArray[np.int64], statistics: Floats) -> tuple[Floats, NDArray[np.int64]]:
        """Take in the samples one by one; return psi and the next arm after each."""
        evidence, chosen = np.empty(len(arms)), np.empty(len(arms), dtype=np.int64)
        for i, m in enumerate(arms.tolist()):
            evidence[i] = self.observe(m, statistics[i])
            chosen[i] = self.choose()
        return evidence, chosen

    def observe(self, m: int, statistic: Floats) -> float:
        """Take in one sample of arm ``m``; return psi(N)."""
        self.t += 1
        count = float(self.counts[m]) + 1.0
        self.counts[m] = count
        self.inv[m] = 1.0 / count
        mean = self.mean_rows[m]
        mean += (statistic - mean) / count
        theta, row = self.theta_rows[m], self.row
        np.maximum(mean, self.low, out=theta)
        np.minimum(theta, self.high, out=theta)
        np.subtract(self.theta, theta, out=self.difference)
        np.multiply(self.difference, self.difference, out=self.difference)
        np.dot(self.difference, self.ones, out=row)
        self.squares[m] = row
        self.squares[:, m] = row
        self.penalty[m] = self._penalty(count)
        self.base = float(self.penalty.sum())
        self._find_partition()
        if self.ebc:
            self._ascend()
        return self._psi(self.inv, self.kl)

    def choose(self) -> int:
        """Return the next arm: forced exploration, then the rule."""
        fewest = int(self.counts.argmin())
        if self.counts[fewest] < math.sqrt(self.t / self.n_arms):
            return fewest
        if self.ebc:
            return int((self.counts / self.t - self.w_sum / self.t).argmin())
        return int(self.kl.argmax())

    def _penalty(self, count: float) -> float:
        z = self.epsilon * math.sqrt(0.5 * count)
        mass = math.log(math.erf(z)) if z < 1.0 else math.log1p(-math.erfc(z))
        half = 0.5 * self.d
        shift = count * self.epsilon * self.epsilon
        return half * (math.log(count) - 2.0 * mass - _LOG_2PI + shift) + self.log_volume

    def _find_partition(self) -> None:
        """Find the partition by single linkage, and the pairs of its clusters with their lengths."""
        self.pairs = Pairs(partition(self.squares, self.k))
        self._lengths()

    def _lengths(self) -> None:
        # mode="clip": with "raise", take() would buffer its output
        self.squares.take(self.pairs.flat, out=self.pairs.length, mode="clip")
        np.sqrt(self.pairs.length, out=self.pairs.length)

    def _ascend(self) -> None:
        """Take EBC's gradient step at w and project onto the simplex."""
        self._psi(1.0 / np.maximum(self.w, _FLOOR * self.w.max()), self.gradient)
        x = self.w + self.step / math.sqrt(self.t) * self.gradient
        x -= x.max()
        falling = np.sort(x)[::-1]
        tau = (np.cumsum(falling) - 1.0) / np.arange(1, self.n_arms + 1)
        last = int(np.flatnonzero(falling > tau)[-1])
        np.maximum(x - tau[last], 0.0, out=self.w)
        self.w_sum += self.w

    def _psi(self, inv: Floats, kl: Floats) -> float:
        """Return psi, with ``lam`` and ``kl`` at the minimiser."""
        pairs, cost = self.pairs, self.pairs.cost
        inv.take(pairs.ends, out=pairs.ends_inv, mode="clip")
        np.add(pairs.ends_inv[0], pairs.ends_inv[1], out=pairs.room)
        np.subtract(pairs.columns[0], pairs.rows[0], out=cost)
        if not self.ordered:
            np.maximum(cost, 0.0, out=cost)
        np.multiply(cost, cost, out=cost)
        np.add(pairs.columns[1], pairs.rows[1], out=pairs.total)
        np.divide(cost, pairs.total, out=cost)
        pairs.flat_cost[pairs.shared] = self._shared_costs(inv)
        if not pairs.larger:
            row, column = divmod(int(cost.argmin()), pairs.n_inter)
        else:
            row, column = self._bottleneck(cost)
        self._solve(inv, kl, row, column)
        return 0.5 * float(cost[row, column])

    def _shared_costs(self, inv: Floats) -> Floats:
        """Return twice the costs of the pairs of pairs that share an arm."""
        pairs = self.pairs
        sides, norms = pairs.sides, pairs.norms
        j, s, f, c = pairs.work
        self.squares.take(pairs.shared_flat, out=sides, mode="clip")
        inv.take(pairs.shared_arms, out=pairs.shared_inv, mode="clip")
        iu, iv, ib = pairs.shared_inv
        np.add(iv, ib, out=j)
        np.multiply(iu, 4.0, out=s)
        s += j
        s *= j
        np.sqrt(s, out=s)
        s += j
        s *= 0.5  # (j + s)/2
        np.add(iu, s, out=f)
        s /= f  # 1 - c, without cancellation
        np.divide(iu, f, out=c)
        # |p - c q|^2 = c |p - q|^2 + (1 - c)(|p|^2 - c |q|^2), and the same with p and q exchanged
        np.multiply(sides[1::-1], c, out=norms)
        np.subtract(sides[:2], norms, out=norms)
        norms *= s
        c *= sides[2]
        norms += c
        np.maximum(norms, 0.0, out=norms)
        np.sqrt(norms, out=norms)
        np.subtract(sides[1], sides[0], out=j)
        if not self.ordered:
            np.maximum(j, 0.0, out=j)
        np.add(norms[0], norms[1], out=s)
        j /= s
        j *= j
        j /= f
        return j

    def _bottleneck(self, cost: Floats) -> tuple[int, int]:
        """Return row and column of the least bottleneck, over the clusters of two and those of three arms and more."""
        best, found = math.inf, (-1, -1)
        pairs = self.pairs
        if len(pairs.twos):
            twos = cost[pairs.twos]
            row, column = divmod(int(twos.argmin()), pairs.n_inter)
            best, found = float(twos[row, column]), (int(pairs.twos[row]), column)
        for rows in pairs.larger:
            values, edges = _spanning_tree_minima(cost, rows)
            column = int(values.argmin())
            if values[column] < best:
                best, found = float(values[column]), (int(edges[column]), column)
        return found

    def _solve(self, inv: Floats, kl: Floats, row: int, column: int) -> None:
        """Find ``lambda*`` and its KL for the pairs in ``row`` and ``column``."""
        ends = self.pairs.ends
        u, v = ends[:, row].tolist()
        a, b = ends[:, self.pairs.n_intra + column].tolist()
        if v in (a, b):
            u, v = v, u
        if u == b:
            a, b = b, a
        theta = self.theta_rows
        p, q = theta[u] - theta[v], theta[a] - theta[b]
        long, short = float(self.pairs.inter_length[column]), float(self.pairs.intra_length[row])
        iu, iv, ia, ib = (float(inv[m]) for m in (u, v, a, b))
        if u != a:
            g = (long - short) / (iu + iv + ia + ib)
            q *= g / long
            p *= g / short if short > 0.0 else 0.0
            arms: tuple[int, ...] = (u, v, a, b)
            moves: tuple[Floats, ...] = (iu * p, -iv * p, -ia * q, ib * q)
            values = tuple(0.5 * (i * g) ** 2 for i in (iu, iv, ia, ib))
        else:
            j = iv + ib
            s = math.sqrt(j * (j + 4.0 * iu))
            half = 0.5 * (j + s)
            c = iu / (iu + half)
            rest = half / (iu + half)
            x, y = p - c * q, q - c * p
            along_x, along_y = math.sqrt(x.dot(x)), math.sqrt(y.dot(y))
            g = (long - short) * (long + short) / (s * (along_x + along_y))
            x *= g / along_x
            y *= g / along_y
            arms = (u, v, b)
            moves = (iu * rest * (x - y), -iv * (x + c * y), ib * (c * x + y))
            values = tuple(0.5 * float(move.dot(move)) for move in moves)
        np.copyto(self.lam, self.theta)
        kl.fill(0.0)
        for m, move, value in zip(arms, moves, values, strict=True):
            self.lam[m] += move
            kl[m] = value


def _spanning_tree_minima(cost: Floats, rows: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
    """Return the smallest edge of a maximum spanning tree of one cluster, for every inter pair at once, and its row (Prim's algorithm)."""
    every = np.arange(cost.shape[1])
    near = cost[rows[0]]
    edge = np.repeat(rows[0][:, None], len(every), axis=1)
    joined = np.zeros(near.shape, dtype=bool)
    joined[0] = True
    near[0] = -1.0
    smallest = np.full(len(every), math.inf)
    smallest_edge = np.zeros(len(every), dtype=np.intp)
    for _ in range(len(rows) - 1):
        best = near.argmax(axis=0)
        value, via = near[best, every], edge[best, every]
        less = value < smallest
        smallest[less], smallest_edge[less] = value[less], via[less]
        joined[best, every] = True
        next_rows = rows[best].T
        candidate = cost[next_rows, every]
        nearer = candidate > near
        near[nearer], edge[nearer] = candidate[nearer], next_rows[nearer]
        near[joined] = -1.0
    return smallest, smallest_edge
