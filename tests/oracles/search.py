"""What the incremental search keeps, checked by its definitions, along walks of samples."""

import numpy as np
from tests.oracles.plain import all_cases, divergences, floored, pair_costs, plain_psi, tolerance
from tests.oracles.runs import CASES, Samples, make_arms

from linkarms._core import testing

#: Limits so small that every way of searching is taken: few attachments, short lists, classes of spreads from the start.
SMALL = {"most_slots": 2, "most_listed": 12, "classes_from": 2}
#: The same without lists.
NO_LIST = {**SMALL, "most_listed": 1}


class Walk:
    """Arms whose samples come one by one, and a search that follows their estimates."""

    def __init__(self, model, theta, n_clusters, **limits):
        self.model, self.theta, self.n_clusters, self.limits = model, np.array(theta), n_clusters, limits
        self.weights = np.ones(len(theta))
        self.search = self.fresh()

    def fresh(self):
        """A search that knows nothing."""
        return testing.SearchRun(
            self.model, self.theta.copy(), self.weights.copy(), self.n_clusters, **self.limits
        )

    def step(self, m, value):
        self.weights[m] += 1.0
        self.theta[m] += (value - self.theta[m]) / self.weights[m]
        self.search.step(m, self.theta[m].copy(), self.weights[m])

    @property
    def dist(self):
        # as the core adds them up, so that they are equal to the last bit
        squares = np.zeros((len(self.theta), len(self.theta)))
        for column in self.theta.T:
            squares += (column[:, None] - column) ** 2
        return np.sqrt(squares)


def walk_of(name, seed, n, k, **limits):
    """A walk through samples of one of the styles of `Samples`; the arms that take turns in an order of their own."""
    rng = np.random.default_rng([seed, *map(ord, name)])
    made = make_arms(name, rng, n, CASES[name][0][-1], chain=n - k + 1 if seed % 2 else 0)
    samples = Samples(made, Samples.STYLES[seed % len(Samples.STYLES)], rng)
    box = np.array(made.box)

    def estimate(m, mean):
        return made.families.model.estimate(m, mean, box)

    return MeanWalk(made.families.model, [samples(m) for m in range(n)], k, estimate, limits), samples, rng


class MeanWalk(Walk):
    """A walk of estimates that are functions of the means of samples."""

    def __init__(self, model, statistics, n_clusters, estimate, limits):
        self.means, self.estimate = np.array(statistics), estimate
        super().__init__(model, [estimate(m, x) for m, x in enumerate(self.means)], n_clusters, **limits)

    def step(self, m, value):
        self.weights[m] += 1.0
        self.means[m] += (value - self.means[m]) / self.weights[m]
        self.theta[m] = self.estimate(m, self.means[m].copy())
        self.search.step(m, self.theta[m].copy(), self.weights[m])


def assert_same(one, other):
    """Bit for bit."""
    assert one.value == other.value
    assert one.witness == other.witness
    assert np.array_equal(one.kl, other.kl)
    assert np.array_equal(one.alternative, other.alternative)


def check_trees(walk, memory):
    """Each cluster hangs from one root by edges of its own."""
    labels, parent = walk.search.labels, memory["parent"]
    for k in range(labels.max() + 1):
        arms = np.flatnonzero(labels == k)
        assert np.sum(parent[arms] < 0) == 1
        for x in arms.tolist():
            for _ in arms:
                if parent[x] < 0:
                    break
                assert labels[parent[x]] == k
                x = parent[x]
            assert parent[x] < 0
    hangs = np.flatnonzero(parent >= 0)
    return hangs, parent[hangs]


def check_attachments(walk, memory):
    """Each arm is attached to one of its cluster; what is kept as a bound of the cost is one, and so are the bounds of bounds."""
    labels, dist = walk.search.labels, walk.dist
    assert np.array_equal(
        memory["length"], np.where(memory["parent"] < 0, memory["length"], edge_lengths(walk, memory))
    )
    u, b = np.nonzero(labels[:, None] != labels)
    several = np.bincount(labels)[labels[u]] > 1
    assert np.all(memory["nearest"][memory["class_of"][b], u] <= dist[u, b])
    u, b = u[several], b[several]
    v = memory["attached"][u, b].astype(int)
    assert np.array_equal(labels[v], labels[u])
    assert np.all(v != u)
    room = tolerance(walk.model)
    cost = attachment_costs(walk, u, v, b)
    assert np.all(memory["bound"][u, b] <= cost * (1.0 + room) + 1e-300)
    assert np.all(memory["block_bound"][u, b] <= memory["bound"][u, b])
    assert np.all(memory["least_bound"][u] <= memory["bound"][u, b])


def edge_lengths(walk, memory):
    return walk.dist[np.arange(len(walk.theta)), memory["parent"]]


def attachment_costs(walk, u, v, b):
    """``cost(u,v; u,b)``: for arms of one variance by the formula of docs/benchmarks.md, for all arrays at once."""
    if walk.model.kind != "isotropic":
        pairs = zip(u.tolist(), v.tolist(), u.tolist(), b.tolist(), strict=True)
        return np.array(pair_costs(walk.model, walk.theta, walk.weights, pairs))
    dist = walk.dist
    variance = np.array([walk.model.variance(m, walk.theta[m].copy()) for m in range(len(walk.theta))])
    spread = variance / floored(walk.weights)
    p, q, r = dist[u, v], dist[u, b], dist[v, b]
    j = spread[v] + spread[b]
    f = spread[u] + 0.5 * (j + np.sqrt(j * (j + 4.0 * spread[u])))
    c, product = spread[u] / f, 0.5 * (p**2 + q**2 - r**2)
    length = [np.sqrt(np.maximum(x**2 - 2.0 * c * product + (c * y) ** 2, 0.0)) for x, y in ((p, q), (q, p))]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(q > p, ((q - p) * (q + p) / np.add(*length)) ** 2 / (2.0 * f), 0.0)


def check_list(walk, memory):
    """All candidates up to the level are listed, each once; known costs are the costs, others are below them."""
    labels, room = walk.search.labels.tolist(), tolerance(walk.model)
    assert max(np.bincount(labels)) <= 2
    cases = [(*edge, *ab) for edges, ab in all_cases(labels) for edge in edges]
    costs = dict(zip(cases, pair_costs(walk.model, walk.theta, walk.weights, cases), strict=True))
    listed = [(tuple(map(int, row[:4])), row[4], row[5]) for row in memory["listed"]]
    names = [name for name, _, _ in listed]
    assert len(set(names)) == len(names)
    assert {name for name, cost in costs.items() if cost <= memory["list_level"] * (1.0 - room)} <= set(names)
    for name, value, known in listed:
        assert value <= costs[name] * (1.0 + room)
        assert not known or value == costs[name]
    assert walk.search.value <= memory["list_level"]


def check_memory(walk):
    """What has been kept; returns which of it there was."""
    memory = walk.search.memory()
    check_trees(walk, memory)
    if "attached" in memory:
        check_attachments(walk, memory)
    if "listed" in memory:
        check_list(walk, memory)
    return {"attached", "listed"} & set(memory)


def check_answer(walk):
    """psi, witness and divergences by the plain definition."""
    search = walk.search
    plain = plain_psi(walk.model, walk.theta, walk.weights, search.labels.tolist())
    assert (search.value, search.witness) == (plain.value, plain.witness)
    kl = divergences(walk.model, walk.theta, walk.weights, search.witness)
    np.testing.assert_allclose(search.kl, kl, rtol=1e-9, atol=1e-12 * kl.max())
