"""psi for Gaussian arms in clusters of two arms at most: every alternative looked at once, from distances alone, compiled."""

from __future__ import annotations

import math

from linkarms._jit import Array, kernel
from linkarms.alternatives._bottleneck import FLOOR
from linkarms.alternatives._gaussian import isotropic_cost, shared_cost
from linkarms.families._model import Model
from linkarms.families._scalar import GAUSSIAN

__all__ = ["fill_partners", "pairs_psi"]


@kernel
def fill_partners(model: Model, labels: Array, partner: Array) -> bool:
    """The other arm of each arm's cluster, or -1; False where `pairs_psi` does not apply.

    It does not where a cluster has three arms or more, or an arm is no Gaussian with one variance.
    """
    n = labels.shape[0]
    for m in range(n):
        partner[m] = -1
    for m in range(n):
        if model.codes[m, 0] != GAUSSIAN:
            return False
        for j in range(m + 1, n):
            if labels[j] == labels[m]:
                if partner[m] >= 0:
                    return False
                partner[m], partner[j] = j, m
    return True


@kernel
def _shared(dist: Array, inv: Array, u: int, v: int, b: int, level: float) -> float:
    """The cost of ``(u, v)`` against ``(u, b)``, or any value >= ``level`` that it is sure to reach."""
    gap = dist[u, b] - dist[u, v]
    if gap > 0.0:
        bound: float = gap * gap / (2.0 * (4.0 * inv[u] + inv[v] + inv[b]))
        if bound >= level:
            return bound
    return shared_cost(dist[u, v], dist[u, b], dist[v, b], inv[u], inv[v], inv[b])


@kernel
def pairs_psi(model: Model, dist: Array, weights: Array, partner: Array, space: Array, found: Array) -> float:
    """psi at ``weights``, shape (M,), where `fill_partners` allows it.

    Parameters
    ----------
    model, dist (M, M), weights (M,), partner (M,)
        The problem.
    space : ndarray, shape (3 or more, M)
        The first row is filled with variance over weight; the next two are scratch space.
    found : ndarray of int, shape (4,)
        A witness from which to start, or -1 in the first place. Filled with the witness ``u, v, a, b``, an arm in both pairs as
        ``u = a``.

    Returns
    -------
    float
        psi; infinite, and ``found[0] = -1``, where there is no alternative.
    """
    n = weights.shape[0]
    inv, length, spread = space[0], space[1], space[2]
    largest = 0.0
    for m in range(n):
        largest = max(largest, weights[m])
    top = 0.0
    for m in range(n):
        inv[m] = model.pars[m, 0] / max(weights[m], FLOOR * largest)
        top = max(top, inv[m])
    # intra pairs, by their first arm
    longest, n_pairs = 0.0, 0
    for u in range(n):
        if partner[u] > u:
            length[n_pairs], spread[n_pairs] = dist[u, partner[u]], inv[u] + inv[partner[u]]
            longest = max(longest, length[n_pairs])
            n_pairs += 1
    best = math.inf
    if found[0] >= 0:
        best = isotropic_cost(dist, inv, found[0], found[1], found[2], found[3])
    for a in range(n):
        for b in range(a + 1, n):
            if b == partner[a]:
                continue
            both = inv[a] + inv[b]
            least = dist[a, b] - longest
            # no spread of four arms, and no 4 i_u + i_v + i_b, is larger than this one
            if least > 0.0 and least * least >= 2.0 * best * (both + 4.0 * top):
                continue
            e = -1
            for u in range(n):
                v = partner[u]
                if v < u:
                    continue
                e += 1
                if u in (a, b) or v in (a, b):
                    continue
                gap = max(dist[a, b] - length[e], 0.0)
                if gap * gap < 2.0 * best * (both + spread[e]):
                    best = gap * gap / (2.0 * (both + spread[e]))
                    found[0], found[1], found[2], found[3] = u, v, a, b
            if partner[a] >= 0:
                value = _shared(dist, inv, a, partner[a], b, best)
                if value < best:
                    best = value
                    found[0], found[1], found[2], found[3] = a, partner[a], a, b
            if partner[b] >= 0:
                value = _shared(dist, inv, b, partner[b], a, best)
                if value < best:
                    best = value
                    found[0], found[1], found[2], found[3] = b, partner[b], b, a
    if found[0] < 0:
        return math.inf
    for i in range(4):
        if weights[found[i]] <= 0.0:
            return 0.0  # an arm of no weight moves for free
    return best
