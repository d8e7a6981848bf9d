"""ATBOC's choice, compiled: what it keeps lies in one array."""

from __future__ import annotations

import math

import numpy as np

from linkarms._jit import Array, kernel
from linkarms.alternatives._cache import Cache
from linkarms.families._model import Model
from linkarms.sampling._optimum import Cuts, keep_optimum
from linkarms.state import State, T

__all__ = ["COUNTS", "HEAD", "LOWER", "atboc_choice", "cuts_kept", "kept_size", "memory_size"]

#: How often psi may be evaluated for one sample.
_TURNS = 200
# the first entries of the memory: t when the weights were last brought up to date; cuts and evaluations; the bracket
_LAST, COUNTS, LOWER, HEAD = 0, 1, 3, 5


@kernel
def cuts_kept(n_arms: int) -> int:
    """Room for so many cuts: M are enough for a proof, and some more are worth keeping."""
    return 2 * n_arms + 8


def kept_size(n_arms: int, n_features: int) -> int:
    """`HEAD` entries, then ``w``, the sum of all ``w``, the labels; for each cut its multiplier, its arms and where they move."""
    return HEAD + 3 * n_arms + int(cuts_kept(n_arms)) * (1 + 4 + 4 * n_features)


def memory_size(n_arms: int, n_features: int) -> int:
    """What is kept, then what follows from it: the estimates at which the cuts were priced last, and their prices."""
    return kept_size(n_arms, n_features) + n_arms * n_features + int(cuts_kept(n_arms)) * n_arms


@kernel
def atboc_choice(
    model: Model, state: State, cache: Cache, n: Array, n_clusters: int, gap: float, memory: Array
) -> int:
    """The arm that is furthest behind the sum of the weights so far, or by forced exploration; ``n`` are the pulls, pending ones too.

    The weights are brought up to date once for each number of samples told, and count for all samples since the last time; before the
    first time they count as equal.
    """
    n_arms, d = state.theta.shape
    room = cuts_kept(n_arms)
    w, total = memory[HEAD : HEAD + n_arms], memory[HEAD + n_arms : HEAD + 2 * n_arms]
    labels = memory[HEAD + 2 * n_arms : HEAD + 3 * n_arms]
    t = state.info[T]
    if t > memory[_LAST]:
        at = HEAD + 3 * n_arms
        end = at + (5 + 4 * d) * room
        cuts = Cuts(
            memory[at + room : at + 5 * room].reshape((room, 4)),
            memory[at + 5 * room : end].reshape((room, 4, d)),
            memory[at : at + room],
            memory[end + n_arms * d :].reshape((room, n_arms)),
            memory[end : end + n_arms * d].reshape((n_arms, d)),
        )
        if memory[_LAST] == 0.0:
            w[:] = 1.0 / n_arms
            total[:] = (t - 1) / n_arms
            memory[_LAST] = t - 1
        for m in range(n_arms):
            if labels[m] != state.labels[m]:
                memory[COUNTS] = 0.0  # other clusters, other alternatives
                labels[m] = state.labels[m]
        keep_optimum(
            model,
            state.theta,
            state.dist,
            state.labels,
            n_clusters,
            cache,
            gap,
            _TURNS,
            w,
            cuts,
            memory[COUNTS:LOWER],
            memory[LOWER:HEAD],
        )
        for m in range(n_arms):
            total[m] += (t - memory[_LAST]) * w[m]
        memory[_LAST] = t
    fewest, pulls = 0, 0
    for m in range(n_arms):
        pulls += n[m]
        if n[m] < n[fewest]:
            fewest = m
    if n[fewest] < math.sqrt(pulls / n_arms):
        return fewest
    best, lowest = 0, np.inf
    for m in range(n_arms):
        if n[m] - total[m] < lowest:
            best, lowest = m, n[m] - total[m]
    return best
