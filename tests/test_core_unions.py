"""Union bounds: every wrong partition has a witness in the family, by brute force, and families are no larger than counted."""

import math
from itertools import combinations

import numpy as np
import pytest

import linkarms as la
from linkarms._core import testing as core


def partitions(n, k):
    """All partitions of 0..n-1 into k clusters, as lists of frozensets."""

    def extend(m, blocks):
        if m == n:
            if len(blocks) == k:
                yield [frozenset(b) for b in blocks]
            return
        for i in range(len(blocks)):
            yield from extend(m + 1, [*blocks[:i], [*blocks[i], m], *blocks[i + 1 :]])
        if len(blocks) < k:
            yield from extend(m + 1, [*blocks, [m]])

    return extend(0, [])


def spanning_tree(dist):
    """Edges of the minimum spanning tree by Kruskal's algorithm, shortest first, and the components after each."""
    n = len(dist)
    label, edges = list(range(n)), []
    for pair in sorted(combinations(range(n), 2), key=lambda p: dist[p]):
        a, b = label[pair[0]], label[pair[1]]
        if a != b:
            edges.append(pair)
            label = [a if x == b else x for x in label]
    return edges


def components(n, edges):
    label = list(range(n))
    for u, v in edges:
        label = [label[u] if x == label[v] else x for x in label]
    return label


class Truth:
    """A random truth: kept edges from the longest, separated pairs from the shortest."""

    def __init__(self, rng, n, k):
        points = rng.normal(size=(n, int(rng.integers(1, 4)))) * rng.choice([0.3, 1.0, 3.0], size=(n, 1))
        self.n, self.dist = n, np.linalg.norm(points[:, None] - points, axis=-1)
        tree = spanning_tree(self.dist)
        self.tree = [frozenset(e) for e in tree]
        label = components(n, tree[: n - k])
        self.clusters = {frozenset(i for i in range(n) if label[i] == x) for x in label}
        self.pairs = [frozenset(p) for p in combinations(range(n), 2)]
        self.kept = [frozenset(e) for e in reversed(tree[: n - k])]
        apart = [p for p in self.pairs if not any(p <= c for c in self.clusters)]
        self.apart = sorted(apart, key=self.length)
        u, v = tree[n - k - 1]
        side = components(n, [e for e in tree[: n - k] if e != (u, v)])
        ends = [frozenset(i for i in range(n) if side[i] == side[x]) for x in (u, v)]
        self.smaller = min(ends, key=len)

    def length(self, pair):
        return self.dist[tuple(pair)]

    def family(self, name):
        e, g = self.kept, self.apart
        if name == "pairs":
            return {(g[0], e[0])} | {(x, g[0]) for x in g[1:]} | {(e[0], x) for x in e[1:]}
        if name == "flat":
            return {(x, y) for x in g for y in e}
        if name == "third":
            across = [p for p in self.pairs if len(p & self.smaller) == 1]
            return {(x, e[0]) for x in g} | {(f, x) for x in e[1:] for f in across}
        edges = self.kept if name == "any" else self.tree
        return {(f, x) for f in self.pairs for x in edges if f != x and self.length(f) >= self.length(x)}


def splits(cluster):
    members = sorted(cluster)
    for size in range(1, len(members)):
        for rest in combinations(members[1:], size - 1):
            side = {members[0], *rest}
            yield [frozenset((u, v)) for u in side for v in set(members) - side]


def has_witness(named, pairs, covered):
    """Whether some split of a named cluster and some pair that it separates have all their pieces covered."""
    apart = [p for p in pairs if not any(p <= c for c in named)]
    return any(
        all((uv, ab) in covered for uv in cut) for cluster in named for cut in splits(cluster) for ab in apart
    )


@pytest.mark.parametrize(("n", "k"), [(3, 2), (4, 2), (4, 3), (5, 2), (5, 3), (5, 4), (6, 2), (6, 3), (6, 4)])
def test_every_wrong_partition_has_a_witness(n, k):
    rng = np.random.default_rng(10 * n + k)
    everything = list(partitions(n, k))
    counts = core.union_sizes(n, k)
    for _ in range(6):
        truth = Truth(rng, n, k)
        for name in ("pairs", "flat", "third", "any", "every"):
            covered = truth.family(name)
            assert all(truth.length(uv) >= truth.length(ab) for uv, ab in covered), name
            if name == "pairs":
                assert len(covered) <= counts[0]
            for named in everything:
                if set(named) == truth.clusters or (name == "pairs" and max(map(len, named)) > 2):
                    continue
                assert has_witness(named, truth.pairs, covered), (name, named, truth.clusters)
        assert min(len(truth.family("flat")), len(truth.family("third"))) <= counts[1]
        tolerant, every = core.union_sizes(n, k, tolerant=True), core.union_sizes(n, k, promise="every-cut")
        assert tolerant[0] == tolerant[1]
        assert every[0] == every[1]
        assert len(truth.family("any")) <= tolerant[0]
        assert len(truth.family("every")) <= every[0]


def test_the_family_of_the_smaller_size_stays_within_it():
    """The rule uses one of flat and third, whichever has the smaller maximum: that one must never be larger."""
    rng = np.random.default_rng(5)
    for n, k in ((4, 2), (5, 2), (6, 2), (6, 3), (7, 3), (8, 2)):
        separated = math.comb(n, 2) - min(sum(math.comb(s, 2) for s in shape) for shape in shapes(n, k))
        flat = (n - k) * separated
        name = "flat" if core.union_sizes(n, k)[1] == flat else "third"
        for _ in range(30):
            assert len(Truth(rng, n, k).family(name)) <= core.union_sizes(n, k)[1]


def shapes(n, k, most=None):
    """Sizes of k clusters of n arms."""
    most = n if most is None else most
    if k == 0:
        return [()] if n == 0 else []
    return [(s, *rest) for s in range(1, min(n, most) + 1) for rest in shapes(n - s, k - 1, s)]


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in range(3, 12) for k in range(2, n)])
def test_sizes_are_the_largest_over_all_shapes(n, k):
    pairs, flat, third = 0, 0, 0
    for shape in shapes(n, k):
        apart = math.comb(n, 2) - sum(math.comb(s, 2) for s in shape)
        pairs, flat = max(pairs, apart + n - k - 1), max(flat, (n - k) * apart)
        for size in shape:
            for side in range(1, size // 2 + 1):
                third = max(third, apart + (n - k - 1) * side * (n - side))
    assert core.union_sizes(n, k) == (pairs, min(flat, third))


def test_the_sizes_of_math_md():
    assert [core.union_sizes(n, k) for n, k in ((6, 3), (20, 10), (4, 2))] == [(14, 25), (189, 819), (5, 7)]
    assert core.count_sets(6) == 35
    assert core.count_sets(20) == 5985
    assert core.count_sets(3) == 1
    assert core.count_sets(1000) == math.comb(1000, 3) + math.comb(1000, 4)
    assert core.union_sizes(4, 2, tolerant=True) == (10, 10)
    assert core.union_sizes(20, 0, promise="every-cut") == (19 * 189, 19 * 189)
    assert core.union_sizes(4, 0, promise="every-cut") == (15, 15)
    assert core.union_sizes(3, 0, promise="every-cut") == (4, 4)  # not 3: equal distances hold in both orders
    for tolerant in (False, True):
        assert core.union_sizes(6, 0, promise="threshold", tolerant=tolerant) == (15, 15)
    # evidence that belongs to a set of arms
    assert core.union_sizes(6, 3, pieces=False) == (14, 25)
    assert core.union_sizes(4, 2, pieces=False) == (5, 5)
    assert core.union_sizes(3, 2, pieces=False) == (1, 1)
    assert core.union_sizes(4, 0, promise="every-cut", pieces=False) == (5, 5)
    assert core.union_sizes(4, 2, tolerant=True, pieces=False) == (5, 5)


def test_with_a_tolerance_the_small_families_do_not_cover_but_any_does():
    """eps-wrong partitions: some split of a cluster is longer by eps than a separated pair."""
    rng = np.random.default_rng(7)
    uncovered = 0
    for _ in range(40):
        truth = Truth(rng, 5, 3)
        eps = 0.3 * truth.length(truth.apart[0])
        for named in partitions(5, 3):
            every = {
                (f, x) for f in truth.pairs for x in truth.pairs if truth.length(f) >= truth.length(x) + eps
            }
            if not has_witness(named, truth.pairs, every):
                continue  # right, up to eps
            assert has_witness(named, truth.pairs, truth.family("any") & every)
            uncovered += not has_witness(named, truth.pairs, truth.family("flat") & every)
    assert uncovered > 0


def test_the_level_depends_on_the_largest_named_cluster():
    base = [core.union_base(14, 25, 0.9, size) for size in (1, 2, 3, 4)]
    assert base == pytest.approx([math.log(14 / 0.9)] * 2 + [math.log(25 / 0.1)] * 2)
    # all to the second family: partitions into pairs use it as well
    assert core.union_base(14, 25, 0.0, 2) == core.union_base(14, 25, 0.0, 3) == pytest.approx(math.log(25))
    # a share too small to be of use
    assert core.union_base(14, 25, 0.1, 2) == pytest.approx(math.log(25 / 0.9))


def test_the_rule_splits_delta_where_that_pays():
    def bases(m, k, version=2, family="gaussian"):
        rule, families = la.stopping.Anytime(1.0, version=version), la.families.resolve(family, m, 1)
        return [rule.base(families, k, largest) for largest in (2, 3)]

    assert bases(6, 3) == pytest.approx([math.log(14 / 0.9), math.log(25 / 0.1)])
    assert bases(20, 10) == pytest.approx([math.log(189 / 0.9), math.log(819 / 0.1)])
    assert bases(4, 2) == pytest.approx([math.log(7)] * 2)  # a split would gain log(7/5 * 0.9) for pairs
    by_mean = la.families.Exponential("mean")  # evidence that belongs to sets: five, whatever the shape
    assert bases(4, 2, family=by_mean) == pytest.approx([math.log(5)] * 2)
    assert bases(4, 2, family="poisson") == pytest.approx([math.log(7)] * 2)  # one-sided: pieces
    one = min(bases(8, 2))
    assert bases(8, 2) == [one, one]  # some cluster must have three arms
    assert bases(6, 3, version=1) == pytest.approx([math.log(35)] * 2)
