"""Union bounds: every wrong partition has a witness in the family, by brute force, and families are no larger than counted."""

import math
from itertools import combinations, pairwise

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
        self.size = sum(map(len, ends))  # of the cluster of the longest kept edge

    def length(self, pair):
        return self.dist[tuple(pair)]

    def family(self, name):
        e, g = self.kept, self.apart
        if name == "pairs":
            return {(x, e[0]) for x in g} | {(e[0], x) for x in e[1:]}
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


def units(covered, pieces):
    """The events of pieces: the pieces themselves, or their sets of arms."""
    return covered if pieces else {uv | ab for uv, ab in covered}


@pytest.mark.parametrize(("n", "k"), [(3, 2), (4, 2), (4, 3), (5, 2), (5, 3), (5, 4), (6, 2), (6, 3), (6, 4)])
def test_every_wrong_partition_has_a_witness(n, k):
    rng = np.random.default_rng(10 * n + k)
    everything = list(partitions(n, k))
    for _ in range(6):
        truth = Truth(rng, n, k)
        for name in ("pairs", "flat", "third", "any", "every"):
            covered = truth.family(name)
            assert all(truth.length(uv) >= truth.length(ab) for uv, ab in covered), name
            for named in everything:
                if set(named) == truth.clusters or (name == "pairs" and max(map(len, named)) > 2):
                    continue
                assert has_witness(named, truth.pairs, covered), (name, named, truth.clusters)


@pytest.mark.parametrize("pieces", [True, False])
@pytest.mark.parametrize(("n", "k"), [(n, k) for n in range(3, 10) for k in range(2, n)])
def test_families_are_no_larger_than_counted_and_weights_add_up_to_one(n, k, pieces):
    rng = np.random.default_rng(100 * n + k)
    counts = core.count_events(n, k, pieces=pieces)
    weight = [math.exp(-core.union_base(n, k, pieces, largest)) for largest in (2, 3)]
    assert weight[0] >= weight[1]
    (tolerant,) = core.count_events(n, k, tolerant=True, pieces=pieces)
    (every,) = core.count_events(n, k, promise="every-cut", pieces=pieces)
    for _ in range(20):
        truth = Truth(rng, n, k)
        n_pairs, n_rest = counts[truth.size - 2]
        pairs = units(truth.family("pairs"), pieces)
        # either family covers any partition: the smaller one is used
        rest = min((units(truth.family(name), pieces) - pairs for name in ("flat", "third")), key=len)
        assert len(pairs) <= n_pairs
        assert len(pairs) + len(rest) <= n_pairs + n_rest or len(pairs | rest) <= core.count_sets(n)
        assert len(pairs) * weight[0] + len(rest) * weight[1] <= 1 + 1e-12
        assert len(units(truth.family("any"), pieces)) <= tolerant[1] or not pieces
        assert len(units(truth.family("every"), pieces)) <= every[1] or not pieces


def shapes(n, k, most=None):
    """Sizes of k clusters of n arms."""
    most = n if most is None else most
    if k == 0:
        return [()] if n == 0 else []
    return [(s, *rest) for s in range(1, min(n, most) + 1) for rest in shapes(n - s, k - 1, s)]


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in range(3, 12) for k in range(2, n)])
def test_counts_of_pieces_are_the_largest_over_all_shapes(n, k):
    largest = {}
    for shape in shapes(n, k):
        apart = math.comb(n, 2) - sum(math.comb(s, 2) for s in shape)
        for size in shape:
            for side in range(1, size // 2 + 1):
                third, flat = apart + (n - k - 1) * side * (n - side), (n - k) * apart + n - k - 1
                found = (apart + n - k - 1, min(third, flat) - (apart + n - k - 1))
                largest[size] = tuple(map(max, largest.get(size, (0, 0)), found))
    assert core.count_events(n, k) == [largest[size] for size in range(2, n - k + 2)]


def trees(shape):
    """Kept edges for clusters of these sizes, the longest first: each cluster a path, for each place of that edge."""
    first = np.cumsum((0, *shape))
    paths = [[(m, m + 1) for m in range(a, b - 1)] for a, b in pairwise(first)]
    for path in paths:
        for place, edge in enumerate(path):
            kept = [edge, *(e for p in paths for e in p if e != edge)]
            side = (
                range(path[0][0], edge[1])
                if 2 * (place + 1) <= len(path) + 1
                else range(edge[1], path[-1][1] + 1)
            )
            yield len(path) + 1, kept, frozenset(side)


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in range(3, 10) for k in range(2, n)])
def test_counts_of_sets_are_enough_for_all_shapes(n, k):
    """Sets of arms, listed for every shape, as the pieces of the families make them."""
    counts = core.count_events(n, k, pieces=False)
    for shape in shapes(n, k):
        label = np.repeat(range(k), shape)
        pairs = [frozenset(p) for p in combinations(range(n), 2)]
        apart = [p for p in pairs if len({label[m] for m in p}) == 2]
        for size, kept, smaller in trees(shape):
            e = [frozenset(x) for x in kept]
            small = {g | e[0] for g in apart} | {e[0] | x for x in e[1:]}
            third = small | {f | x for x in e[1:] for f in pairs if len(f & smaller) == 1 and f != x}
            flat = small | {g | x for x in e for g in apart}
            n_pairs, n_rest = counts[size - 2]
            assert len(small) <= n_pairs
            assert min(len(third), len(flat)) <= n_pairs + n_rest


def test_the_sizes_of_math_md():
    assert core.count_sets(6) == 35
    assert core.count_sets(20) == 5985
    assert core.count_sets(3) == 1
    assert core.count_sets(1000) == math.comb(1000, 3) + math.comb(1000, 4)
    assert [sum(core.count_events(4, 2)[0]), sum(core.count_events(6, 3)[2])] == [7, 25]
    assert core.count_events(6, 3)[0][0] == 14  # pairs in pairs
    assert core.count_events(20, 10)[0][0] == 189
    assert core.count_events(4, 2, tolerant=True) == [(0, 10)]
    assert core.count_events(20, 0, promise="every-cut") == [(0, 19 * 189)]
    assert core.count_events(4, 0, promise="every-cut") == [(0, 15)]
    assert core.count_events(3, 0, promise="every-cut") == [
        (0, 4)
    ]  # not 3: equal distances hold in both orders
    for tolerant in (False, True):
        assert core.count_events(6, 0, promise="threshold", tolerant=tolerant) == [(0, 15)]
    # evidence that belongs to a set of arms
    assert core.count_events(3, 2, pieces=False) == [(1, 0)]
    assert core.count_events(4, 0, promise="every-cut", pieces=False) == [(0, 5)]
    assert core.count_events(4, 2, tolerant=True, pieces=False) == [(0, 5)]
    assert core.count_events(20, 0, promise="every-cut", pieces=False) == [(0, 19 * 171)]


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 10, 20, 47])
def test_sets_never_cost_more_than_all_of_them(n):
    """So version 2 has no larger threshold than version 1, whatever the shape of the named partition."""
    for k in range(2, n):
        for largest in (2, 3):
            assert core.union_base(n, k, False, largest) <= math.log(core.count_sets(n)) + 1e-12


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


def test_the_rule_gives_more_weight_to_what_pairs_need_where_that_pays():
    def bases(m, k, version=2, family="gaussian"):
        rule, families = la.stopping.Anytime(1.0, version=version), la.families.resolve(family, m, 1)
        return [rule.base(families, k, largest) for largest in (2, 3)]

    # 2 * 14 + 8 events for three pairs, 2 * 11 + 14 for a cluster of four: 36 weights of a half
    assert bases(6, 3) == pytest.approx([math.log(18), math.log(36)])
    assert bases(20, 10) == pytest.approx([math.log(1911 / 8), math.log(1911)])
    assert bases(4, 2) == pytest.approx([math.log(7)] * 2)
    by_mean = la.families.Exponential("mean")  # evidence that belongs to sets
    assert bases(4, 2, family=by_mean) == pytest.approx([math.log(4)] * 2)
    assert bases(6, 3, family=by_mean) == pytest.approx([math.log(13), math.log(26)])
    assert bases(4, 2, family="poisson") == pytest.approx([math.log(7)] * 2)  # one-sided: pieces
    one = min(bases(8, 2))
    assert bases(8, 2) == [one, one]  # some cluster must have three arms
    assert bases(6, 3, version=1) == pytest.approx([math.log(35)] * 2)
