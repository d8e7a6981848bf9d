"""What a search for psi remembers, as a few arrays: where it ended, spanning trees of the clusters, attachments of the arms.

Nothing here is part of the state of a run: it says where to begin, and what need not be looked at. Whatever it holds, the minimum found is
the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkarms._jit import kernel
from linkarms.alternatives._pair import INT_SCRATCH, SCRATCH

__all__ = ["Cache", "new_cache"]

#: The two sets of weights: those of the samples, and any others (EBC's own, those of pending pulls).
COUNTS_SIDE, FREE_SIDE = range(2)
# rows of Cache.nodes
ORDER, PARENT, UP, MEMBERS, START, DIRTY, N_NODES = range(7)
# rows of Cache.lengths
SPAN, LENGTH, NEAR, N_LENGTHS = range(4)
# rows of Cache.trees, on each side
LINK, CHILD, SIBLING, ENTER, LEAVE, ALT_U, ALT_V, MATE, CLASS = range(9)
PART, STACK, REST, JOIN_U, JOIN_V, SIZE, CHOSEN, STUCK, SAVED, SKIP, SCANNED, SLOTS = range(9, 21)
# rows of Cache.arms, on each side
WEIGHT, SPREAD, LEAST, EDGE, ALT_EDGE, FRONT, FRONT_SPREAD, JOIN, GRADIENT = range(9)
TWO_LENGTH, TWO_SPREAD, TWO_SHARED, SLOT_LENGTH = range(9, 13)
#: To how many arms an arm is attached at most: so many rows from `SLOTS` and `SLOT_LENGTH` on. (They are the bits of one integer, too.)
N_SLOTS = 60
# entries of Cache.flags, on each side; `LINKED`: whether nodes and lengths hold the present partition
VALID, LINKED, FILLED, MANY, COSTS, LISTED, N_FLAGS = range(7)
#: Further entries of Cache.levels, after those of the sides.
OF_C, SLACK, HOLDS, WIDEST, ABOUT = 2, 3, 4, 6, 8
LISTED_TO, LONGEST, BROADEST, LARGEST, N_LEVELS = 10, 12, 14, 16, 18
#: The entry of Cache.calls after those of `linkarms.alternatives._pair.pair_addresses`.
SEARCH = 2
# rows of Cache.last, on each side
LAST, GUESS, N_STARTS = range(3)
# rows of Cache.listed, on each side
LIST_U, LIST_V, LIST_A, LIST_B, EXACT, N_LISTED = range(6)
#: From so many arms on, nearest foreign arms are kept for classes of spreads, and for so many of them.
LARGE, N_CLASSES = 64, 12
#: Arms that are looked at in one go: a loop of fixed length and no branches becomes vector instructions.
BLOCK = 16
#: So many candidates have room in a list, and four for each arm.
ROOM_OF_LIST = 64


class Cache(NamedTuple):
    """The arrays; which rows are what is said by the constants above.

    Attributes
    ----------
    nodes : ndarray of int64, shape (6, M + 1)
        The minimum spanning tree when it was last made (an order in which parents come first, and the parents), the same without the
        edges between clusters (up), the arms of each cluster (members, from start[k] on), the arms pulled since the tree
        was made (their number comes last).
    lengths : ndarray, shape (3, M)
        Lengths of the tree's edges when it was made; present lengths of those inside clusters, 0 for a root; lower bounds of
        each arm's distance from its nearest arm of another cluster.
    trees : ndarray of int64, shape (2, 36, M + 1)
        By side: spanning trees of the clusters whose edges are dear, see ``_trees.py`` (link; -1 for a root); another arm of the
        cluster of each arm, the one it was attached to last; its class of spread; scratch; the arms of its
        cluster to which it is attached, see ``_attach.py``, -1 for none.
    arms : ndarray, shape (2, 28, M)
        By side: weights; spreads, see `linkarms.alternatives._pair.arm_spread`; the least of each row of ``floors``; the lengths of
        the trees' edges, by their lower ends, and of the alternative ones, -1 where they are not known; scratch; of clusters of two,
        for both arms, length and spread of the edge, and its spread against a pair that shares the arm, see ``_shortlist.py``; and
        each arm's distances from those that it is attached to.
    attach : ndarray of int8, shape (2, M, M)
        By side, for arms ``u`` and ``b`` of different clusters: which of its slots ``u`` is attached to against ``b``.
    shared : ndarray, shape (2, M, M)
        By side: what that attachment costs against ``(u, b)`` at least.
    floors : ndarray, shape (2, M, M / 16)
        By side: lower bounds of ``shared``, one for every 16 arms ``b``.
    reach : ndarray, shape (2, C, C + 1)
        By side: how long a pair must be, by the classes of its arms, to cost more than psi against all edges of the trees; for
        each class the largest of these comes last.
    near : ndarray, shape (2, C + 1, M)
        By side and class of spread: lower bounds of each arm's distance from its nearest foreign arm of that class. In the last row the
        largest spread of each class, negative for a class without arms, and that of all.
    listed : ndarray of int64, shape (2, 5, L)
        By side, the candidates of a list, see ``_shortlist.py``: ``u, v, a, b``, and whether their costs are known.
    worth : ndarray, shape (2, L)
        By side: these costs, or lower bounds of them.
    flags : ndarray of int64, shape (2, 6)
        By side: whether the trees belong to the present partition; whether nodes and lengths do; whether attachments and near are
        those of the present weights; whether a cluster has more than two arms; pair costs evaluated so far; how many candidates are
        in the list, -1 where there is none.
    levels : ndarray, shape (18,)
        By side, the level at which the spreads hold; then the ``c`` of the weights of the samples, negative where there is none yet;
        how much the difference of two lengths may be off because of rounding; by side, the least level at which bounds from the
        spreads may be used, see `linkarms.alternatives._pair.has_quadratic`; where the classes of spreads begin; a level a little
        above the last value of psi; up to which level all candidates are in the list; the
        longest edge of clusters of two, the largest spread of one, and of an arm, or more.
    last : ndarray of int64, shape (2, 2, 4)
        By side, what a search begins with, ``u, v, a, b``: the last answer, -1 where there is none, and room for a guess.
    box, which : ndarray
        Scratch space for pair problems.
    answer : ndarray of int64, shape (7,)
        Scratch space for the answer of a search.
    moved : ndarray, shape (M, d)
        Scratch space for ``lambda*``.
    calls : ndarray of int64, shape (3,)
        Addresses of kernels; see `linkarms.alternatives._search.psi_addresses`.
    """

    nodes: NDArray[np.int64]
    lengths: NDArray[np.float64]
    trees: NDArray[np.int64]
    arms: NDArray[np.float64]
    attach: NDArray[np.int8]
    shared: NDArray[np.float64]
    floors: NDArray[np.float64]
    reach: NDArray[np.float64]
    near: NDArray[np.float64]
    listed: NDArray[np.int64]
    worth: NDArray[np.float64]
    flags: NDArray[np.int64]
    levels: NDArray[np.float64]
    last: NDArray[np.int64]
    box: NDArray[np.float64]
    which: NDArray[np.int64]
    answer: NDArray[np.int64]
    moved: NDArray[np.float64]
    calls: NDArray[np.int64]


@kernel
def new_cache(n_arms: int, n_features: int, calls: NDArray[np.int64]) -> Cache:
    """A cache in which nothing is known."""
    classes = 1 if n_arms < LARGE else N_CLASSES
    trees = np.full((2, SLOTS + N_SLOTS, n_arms + 1), -1, dtype=np.int64)
    trees[:, SKIP] = 0
    flags = np.zeros((2, N_FLAGS), dtype=np.int64)
    flags[:, LISTED] = -1
    room = ROOM_OF_LIST + 4 * n_arms
    return Cache(
        np.zeros((N_NODES, n_arms + 1), dtype=np.int64),
        np.zeros((N_LENGTHS, n_arms)),
        trees,
        np.zeros((2, SLOT_LENGTH + N_SLOTS, n_arms)),
        np.zeros((2, n_arms, n_arms), dtype=np.int8),
        np.zeros((2, n_arms, n_arms)),
        np.zeros((2, n_arms, (n_arms + BLOCK - 1) // BLOCK)),
        np.zeros((2, classes, classes + 1)),
        np.zeros((2, classes + 1, n_arms)),
        np.zeros((2, N_LISTED, room), dtype=np.int64),
        np.zeros((2, room)),
        flags,
        np.full(N_LEVELS, -1.0),
        np.full((2, N_STARTS, 4), -1, dtype=np.int64),
        np.zeros(SCRATCH),
        np.zeros(INT_SCRATCH, dtype=np.int64),
        np.zeros(7, dtype=np.int64),
        np.zeros((n_arms, n_features)),
        calls,
    )
