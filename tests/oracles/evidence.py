"""The anytime rule's statistic the slow way: printed formulas, SLSQP for one pair of pairs, every split of every cluster."""

import functools
import itertools
import math

import numpy as np
from scipy import optimize
from scipy.special import digamma
from scipy.special import gammaln as lg


def arm_evidence(family, n, mean, lam, c):
    """``l(lam)`` of an arm with ``n`` samples; ``family`` is a name or ("gaussian", covariance)."""
    lam = np.atleast_1d(lam)
    if family[0] == "gaussian":
        gap = np.atleast_1d(mean) - lam
        inverse = np.linalg.inv(np.atleast_2d(family[1]))
        return n**2 / (2 * (n + c)) * gap @ inverse @ gap - len(lam) / 2 * math.log(1 + n / c)
    x, s = float(lam[0]), round(n * float(np.atleast_1d(mean)[0]), 9)
    if family == "exponential":
        return (
            n * (s / n) * x
            - (n + c + 1) * math.log(c + s * x)
            + (c + 1) * math.log(c)
            + lg(n + c + 1)
            - lg(c + 1)
        )
    if family == "exponential-mean":
        return arm_evidence("exponential", n, mean, 1 / x, c)
    if family == "poisson":
        value = n * x + c * x * math.log(c) - (c * x + s) * math.log(c + n)
        return value + (lg(c * x + s) - lg(c * x) - s * math.log(x) if s else 0.0)
    if family == "bernoulli":
        up = lg(s + c * x) - lg(c * x) - s * math.log(x) if s else 0.0
        down = lg(n - s + c * (1 - x)) - lg(c * (1 - x)) - (n - s) * math.log(1 - x) if n > s else 0.0
        return up + down - lg(n + c) + lg(c)
    raise ValueError(family)


def arm_slope(family, n, mean, lam, c):
    """The gradient of `arm_evidence` with respect to ``lam``, shape (d,)."""
    lam = np.atleast_1d(lam)
    if family[0] == "gaussian":
        return n**2 / (n + c) * np.linalg.solve(np.atleast_2d(family[1]), lam - np.atleast_1d(mean))
    x, s = float(lam[0]), round(n * float(np.atleast_1d(mean)[0]), 9)
    if family == "exponential":
        slope = s - (n + c + 1) * s / (c + s * x)
    elif family == "exponential-mean":
        slope = -float(arm_slope("exponential", n, mean, 1 / x, c)[0]) / x**2
    elif family == "poisson":
        slope = n + c * math.log(c / (c + n))
        slope += c * (digamma(c * x + s) - digamma(c * x)) - s / x if s else 0.0
    elif family == "bernoulli":
        slope = c * (digamma(s + c * x) - digamma(c * x)) - s / x if s else 0.0
        if n > s:
            y = 1 - x
            slope -= c * (digamma(n - s + c * y) - digamma(c * y)) - (n - s) / y
    else:
        raise ValueError(family)
    return np.array([slope])


def pair_evidence(families, counts, means, grid, u, v, a, b, rng, starts=3):
    """``max over c of min over lambda of sum l``, by SLSQP from many starts."""
    arms = sorted({u, v, a, b})
    d = means.shape[1]
    place = {m: i for i, m in enumerate(arms)}

    def spread(x):
        x = x.reshape(len(arms), d)
        p, q = x[place[u]] - x[place[v]], x[place[a]] - x[place[b]]
        return p @ p - q @ q

    def spread_slope(x):
        x = x.reshape(len(arms), d)
        p, q = x[place[u]] - x[place[v]], x[place[a]] - x[place[b]]
        slope = np.zeros_like(x)
        for m, part in ((u, p), (v, -p), (a, -q), (b, q)):
            slope[place[m]] += 2.0 * part
        return slope.ravel()

    bounds = []
    for m in arms:
        if families[m][0] == "gaussian":
            bounds += [(None, None)] * d
        else:
            bounds += [(1e-9, 1 - 1e-9 if families[m] == "bernoulli" else 1e4)]
    best = -math.inf
    for c in grid:

        def total(x, c=c):
            x = x.reshape(len(arms), d)
            return sum(arm_evidence(families[m], counts[m], means[m], x[i], c) for i, m in enumerate(arms))

        def slope(x, c=c):
            x = x.reshape(len(arms), d)
            return np.concatenate(
                [arm_slope(families[m], counts[m], means[m], x[i], c) for i, m in enumerate(arms)]
            )

        # over all lambda first: where that satisfies the constraint it is the answer
        found = []
        scale = np.abs(means[arms]).max() + 0.1
        for turn in range(20 * starts):
            if turn >= starts and found:
                break  # it may end outside the constraint, and then begins elsewhere
            x0 = means[arms] + (0 if turn == 0 else 0.4 * scale) * rng.normal(size=(len(arms), d))
            lows = np.array([-np.inf if lo is None else lo for lo, _ in bounds])
            highs = np.array([np.inf if hi is None else hi for _, hi in bounds])
            x0 = np.clip(x0.ravel(), lows + 1e-3, highs - 1e-3)
            for constraints in ([], [{"type": "ineq", "fun": spread, "jac": spread_slope}]):
                r = optimize.minimize(
                    total,
                    x0,
                    method="SLSQP",
                    jac=slope,
                    bounds=bounds,
                    constraints=constraints,
                    options={"maxiter": 500, "ftol": 1e-13},
                )
                if spread(r.x) >= -1e-9 * scale**2:
                    found.append(r.fun)
        best = max(best, min(found))
    return best


def splits(cluster):
    """Every way to cut a cluster in two."""
    first, *rest = cluster
    for size in range(len(rest)):
        for others in itertools.combinations(rest, size):
            left = {first, *others}
            yield left, set(cluster) - left


@functools.cache
def cuts(size):
    """Which pairs each split of a cluster of so many arms cuts, shape (splits, pairs)."""
    sides = np.array([[m in left for m in range(size)] for left, _ in splits(range(size))])
    first, second = np.triu_indices(size, 1)
    return sides[:, first] != sides[:, second]


def statistic(edge, labels):
    """``min over k, (a,b), splits of max over cut pairs`` of ``edge(u, v, a, b)``.

    Edges are asked for until those that are not below the smallest value so far join the cluster: then every split cuts one of them,
    and none can be smaller. Edges that were large for the pair before are asked for first.
    """
    n = len(labels)
    clusters = [[m for m in range(n) if labels[m] == k] for k in range(max(labels) + 1)]
    best, before = math.inf, {}
    for a, b in itertools.combinations(range(n), 2):
        if labels[a] == labels[b]:
            continue
        for cluster in clusters:
            if len(cluster) < 2:
                continue
            table, part = {}, {m: {m} for m in cluster}
            pairs = itertools.combinations(cluster, 2)
            for u, v in sorted(pairs, key=lambda pair: before.get(pair, 0.0), reverse=True):
                table[u, v] = before[u, v] = edge(u, v, a, b)
                if table[u, v] >= best:
                    whole = part[u] | part[v]
                    part.update(dict.fromkeys(whole, whole))
                    if len(whole) == len(cluster):
                        break
            else:
                edges = np.array([table[pair] for pair in itertools.combinations(cluster, 2)])
                largest = np.where(cuts(len(cluster)), edges, -math.inf).max(axis=1)
                best = min(best, float(largest.min()))
    return best


def gaussian_edges(theta, counts, grid, arms, a, b):
    """``E(u, v; a, b)`` of unit Gaussians for all pairs of ``arms``, from the closed forms as they are printed: four arms, a shared arm."""
    d, v = theta.shape[1], theta[arms]
    best = np.full((len(arms), len(arms)), -np.inf)
    q = np.linalg.norm(theta[a] - theta[b])
    p = np.linalg.norm(v[:, None] - v[None], axis=-1)
    for c in grid:
        i, price = (counts + c) / counts**2, d / 2 * np.log1p(counts / c)
        pair = i[arms][:, None] + i[arms][None]
        cost = np.maximum(q - p, 0.0) ** 2 / (2 * (pair + i[a] + i[b]))
        paid = price[arms][:, None] + price[arms][None] + price[a] + price[b]
        for x, y in ((a, b), (b, a)):
            if x in arms:
                at = list(arms).index(x)
                cost[at] = cost[:, at] = [
                    shared_gaussian(theta[x], w, theta[y], i[x], j, i[y])
                    for w, j in zip(v, i[arms], strict=True)
                ]
                paid[at] = paid[:, at] = price[x] + price[arms] + price[y]
        best = np.maximum(best, cost - paid)
    return best


def shared_gaussian(u, v, b, iu, iv, ib):
    """The cost of ``|l_u - l_v| >= |l_u - l_b|``; section 2.1 of the mathematics."""
    p, q = u - v, u - b
    delta = q @ q - p @ p
    if delta <= 0.0:
        return 0.0
    det, e = iu * iv + iu * ib + iv * ib, iv - ib
    s = math.sqrt(e * e + 4 * det)
    nu = (s + e) / 2 if e >= 0 else det / ((s - e) / 2)
    f, h = iu + ib + nu, iu + iv + det / nu
    alpha = np.linalg.norm(f * p - iu * q) / math.sqrt(s * f)
    beta = np.linalg.norm(h * q - iu * p) / math.sqrt(s * h)
    return s * (delta / (s * (alpha + beta))) ** 2 / 2


def gaussian_statistic(theta, counts, grid, labels):
    """The statistic of unit Gaussians over every cluster and inter pair, by maximum spanning trees; nothing is left out."""
    best = math.inf
    for k in range(max(labels) + 1):
        arms = np.flatnonzero(labels == k)
        if len(arms) < 2:
            continue
        for a, b in itertools.combinations(range(len(labels)), 2):
            if labels[a] != labels[b]:
                best = min(best, smallest_edge(gaussian_edges(theta, counts, grid, arms, a, b)))
    return best


def smallest_edge(table):
    """The smallest edge of a maximum spanning tree of a complete graph, by Prim's algorithm."""
    joined, reach, smallest = np.zeros(len(table), bool), table[0].copy(), math.inf
    joined[0] = True
    for _ in range(len(table) - 1):
        nxt = int(np.where(joined, -np.inf, reach).argmax())
        smallest, joined[nxt] = min(smallest, reach[nxt]), True
        reach = np.maximum(reach, table[nxt])
    return smallest
