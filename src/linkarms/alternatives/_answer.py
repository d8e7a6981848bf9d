"""The answer of a search: the candidate with the smallest bottleneck, of equal ones the first."""

from __future__ import annotations

import math

from linkarms._jit import Array, flat, inlined, lean
from linkarms.alternatives._cache import LAST, START, Cache
from linkarms.alternatives._exchange import exchange
from linkarms.alternatives._near import TIES
from linkarms.alternatives._parts import bottleneck
from linkarms.families._model import Model

__all__ = ["consider", "first_finite", "remember", "take_smaller"]

#: With more parts than this a cluster is far below the best value: an exchange of edges ends before it has joined them all.
_FEW = 4


@inlined
def take_smaller(value: float, k: int, a: int, b: int, best: float, found: Array) -> bool:
    """Make ``(k, a, b)``, ``a < b``, with the edge in ``found[5:]`` the answer if it is smaller, or equal and first."""
    if not value <= best:
        return False
    if value == best and found[4] >= 0:
        if a != found[2]:
            first = a < found[2]
        elif b != found[3]:
            first = b < found[3]
        else:
            first = k < found[4]
        if not first:
            return False
    found[0], found[1], found[2], found[3], found[4] = found[5], found[6], a, b, k
    return True


@flat
def remember(cache: Cache, side: int, found: Array) -> None:
    """Keep the answer ``found`` for the next search to begin with."""
    for j in range(4):
        cache.last[side, LAST, j] = found[j]


@lean
def consider(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    cache: Cache,
    side: int,
    k: int,
    a: int,
    b: int,
    best: float,
    found: Array,
) -> float:
    """The smaller of ``best`` and ``V_k(a,b)``. The trees stay as they are: other candidates have been ruled out by them."""
    a, b = min(a, b), max(a, b)
    if found[2] == a and found[3] == b and found[4] == k:
        return best
    value = bottleneck(model, theta, dist, cache, side, k, a, b, best * TIES, _FEW, found[5:])
    if value < 0.0:
        value = exchange(model, theta, dist, labels, cache, side, k, a, b, best * TIES, False, found[5:])
    return value if take_smaller(value, k, a, b, best, found) else best


@inlined
def first_finite(
    model: Model,
    theta: Array,
    dist: Array,
    labels: Array,
    n_clusters: int,
    cache: Cache,
    side: int,
    found: Array,
) -> float:
    """Where the first candidate costs infinitely much: one that does not, if there is any."""
    n, start = labels.shape[0], cache.nodes[START]
    for a in range(n):
        for b in range(a + 1, n):
            for k in range(n_clusters):
                if labels[a] != labels[b] and start[k + 1] - start[k] > 1:
                    best = consider(model, theta, dist, labels, cache, side, k, a, b, math.inf, found)
                    if best < math.inf:
                        return best
    return math.inf
