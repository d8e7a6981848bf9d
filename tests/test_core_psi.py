"""psi from scratch in the core, one candidate by itself, and edges that replace others in the trees of clusters."""

import math

import numpy as np
import pytest
from tests.oracles.core import model_of
from tests.oracles.plain import all_cases, bottleneck, divergences, pair_costs, plain_psi
from tests.oracles.psi_oracle import single_linkage

from linkarms import _core
from linkarms._core import testing

FAMILIES = {
    "gaussian": ({"name": "gaussian"}, lambda rng, n: rng.normal(0, 3, (n, 2))),
    "covariance": (
        {"name": "gaussian", "covariance": [[2.0, 0.7], [0.7, 1.0]]},
        lambda rng, n: rng.normal(0, 3, (n, 2)),
    ),
    "rate": ({"name": "exponential", "parameter": "rate"}, lambda rng, n: rng.uniform(0.5, 8, (n, 1))),
    "mean": ({"name": "exponential", "parameter": "mean"}, lambda rng, n: rng.uniform(0.5, 8, (n, 1))),
    "bernoulli": ({"name": "bernoulli"}, lambda rng, n: rng.uniform(0.05, 0.95, (n, 1))),
}


def instance(name, seed, n):
    family, draw = FAMILIES[name]
    rng = np.random.default_rng([seed, *map(ord, name)])
    theta = draw(rng, n)
    return model_of(family, n, theta.shape[1]), theta, rng.dirichlet(np.ones(n)), rng


@pytest.mark.parametrize("name", FAMILIES)
def test_psi_is_the_smallest_bottleneck(name):
    for seed in range(25):
        n = 4 + seed % 5
        model, theta, w, rng = instance(name, seed, n)
        k = int(rng.integers(2, n))
        w *= rng.random(n) < 0.9  # some are zero
        labels = single_linkage(theta, k)
        found = _core.psi(model, w, theta, labels)
        plain = plain_psi(model, theta, w, labels.tolist())
        assert found.witness == plain.witness
        assert found.value == (0.0 if min(w[list(plain.witness)]) == 0.0 else plain.value)
        np.testing.assert_allclose(found.kl, divergences(model, theta, w, plain.witness), rtol=1e-9)
        others = [m for m in range(n) if m not in plain.witness]
        np.testing.assert_array_equal(found.alternative[others], theta[others])


@pytest.mark.parametrize("name", FAMILIES)
def test_psi_of_clusters_that_are_not_those_of_single_linkage(name):
    for seed in range(10):
        model, theta, w, rng = instance(name, seed, 7)
        names = {}
        labels = [names.setdefault(x, len(names)) for x in rng.integers(0, 3, 7).tolist()]
        found, plain = _core.psi(model, w, theta, labels=np.array(labels)), plain_psi(model, theta, w, labels)
        assert (found.value, found.witness) == (plain.value, plain.witness)


def test_without_an_alternative_psi_is_infinite():
    model, theta, w, _ = instance("gaussian", 0, 5)
    for k in (1, 5):
        found = _core.psi(model, w, theta, single_linkage(theta, k))
        assert found.value == math.inf
        assert found.witness is None
        assert not found.kl.any()
        np.testing.assert_array_equal(found.alternative, theta)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": np.array([0, 0, 2, 1])}, "in order of first appearance, got 2"),
        ({"labels": np.array([0, 0, 1])}, "labels must have one entry per arm"),
        ({"weights": np.array([1.0, -1.0, 1.0, 1.0])}, "finite and not negative"),
        ({"weights": np.ones(3)}, "weights must have one entry per arm"),
        ({"theta": np.ones((4, 3))}, "one column per feature"),
    ],
)
def test_bad_input_is_named(arguments, words):
    model = model_of({"name": "gaussian"}, 4, 2)
    given = {
        "weights": np.ones(4),
        "theta": np.arange(8.0).reshape(4, 2) ** 2,
        "labels": np.array([0, 0, 1, 1]),
    }
    given |= arguments
    with pytest.raises(ValueError, match=words):
        _core.psi(model, **given)


@pytest.mark.parametrize("by_exchange", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_one_candidate(name, by_exchange):
    """Its value and edge where it is at most the level, and something above the level where it is not."""
    for seed in range(12):
        n = 5 + seed % 4
        model, theta, w, rng = instance(name, seed, n)
        labels = single_linkage(theta, 2)
        if name == "gaussian" and seed % 2:
            theta = np.round(theta)  # equal edges
        for edges, (a, b) in all_cases(labels.tolist()):
            costs = pair_costs(model, theta, w, [(*edge, a, b) for edge in edges])
            value, edge = bottleneck(edges, costs)
            k = int(labels[edge[0]])
            for level in (math.inf, value, 3.0 * value, *rng.choice(costs, 2).tolist()):
                found, u, v = testing.bottleneck(model, w, theta, labels, k, a, b, level, by_exchange)
                if value <= level:
                    assert (found, (u, v)) == (value, edge)
                else:
                    assert found > level


class Trees:
    """Trees of clusters, the pairs between them, and what a pair costs at least against an edge by the Gaussian formula."""

    def __init__(self, apart, n=100):
        rng = np.random.default_rng(3)
        self.labels = np.arange(n) % 5
        theta = (apart * rng.normal(size=(5, 3)))[self.labels] + rng.normal(size=(n, 3))
        weights = rng.integers(1, 6, n).astype(float)
        self.dist = np.linalg.norm(theta[:, None] - theta, axis=2)
        self.inv = 1.0 / weights
        self.trees = testing.ReplacedEdges(model_of({"name": "gaussian"}, n, 3), theta, weights, self.labels)
        self.a, self.b = np.nonzero(np.triu(self.labels[:, None] != self.labels))

    @property
    def links(self):
        return np.array([self.trees.parent(m) for m in range(len(self.labels))])

    def least(self, z, w, with_arm=None):
        """Lower bounds of the costs of the edge ``(z, w)`` against all pairs, infinite where they share an arm.

        Or against those of one arm only, whether it is of the edge or not.
        """
        gap = self.dist[self.a, self.b] - self.dist[z, w]
        spread = self.inv[z] + self.inv[w] + self.inv[self.a] + self.inv[self.b]
        bound = np.where(gap > 0.0, gap**2 / (2.0 * spread), 0.0)
        if with_arm is None:
            out = np.isin(self.a, (z, w)) | np.isin(self.b, (z, w))
        else:
            out = (self.a != with_arm) & (self.b != with_arm)
        return np.where(out, np.inf, bound)

    def edges(self, k):
        links = self.links
        return {(min(x, links[x]), max(x, links[x])) for x in self.arms(k) if links[x] >= 0}

    def arms(self, k):
        return [int(x) for x in np.flatnonzero(self.labels == k)]

    def spans(self, k):
        """Whether all arms of a cluster have the same root, and their parents are among them."""
        links, roots = self.links, set()
        for x in self.arms(k):
            for _ in range(len(self.labels)):
                if links[x] < 0:
                    break
                x = links[x]
                assert self.labels[x] == k
            roots.add(int(x))
        return len(roots) == 1 and links[roots.pop()] < 0


@pytest.mark.parametrize("rank", [0, 10])
@pytest.mark.parametrize("apart", [2.0, 8.0])
def test_a_new_edge_holds_against_every_pair(apart, rank):
    trees = Trees(apart)
    replaced = stuck = 0
    for x in range(100):
        k, up = int(trees.labels[x]), int(trees.links[x])
        if up < 0:
            continue
        bounds = trees.least(x, up)
        # others are cheaper, and a good edge against this one may fail against them
        i = int(np.argsort(bounds)[rank])
        twice = 2.002 * bounds[i]
        before, parents = trees.edges(k), trees.links
        if trees.trees.replace(x, int(trees.a[i]), int(trees.b[i]), twice):
            (new,) = trees.edges(k) - before
            assert before - trees.edges(k) == {(min(x, up), max(x, up))}
            assert trees.spans(k)
            assert trees.least(*new).min() > 0.5 * twice * (1.0 - 1e-9)
            replaced += 1
        else:
            assert np.array_equal(trees.links, parents)
            assert trees.trees.skips(x) > 0
            assert not trees.trees.replace(x, int(trees.a[i]), int(trees.b[i]), 0.0)  # it is passed over
            stuck += 1
    assert replaced >= 5 or rank > 0 or apart < 5.0
    assert stuck >= 5


@pytest.mark.parametrize("rank", [0, 10])
@pytest.mark.parametrize("apart", [2.0, 8.0])
def test_a_new_alternative_holds_against_every_pair_of_the_parent(apart, rank):
    trees = Trees(apart)
    links, replaced, kept = trees.links, 0, 0
    for x in range(100):
        u = int(links[x])
        if u < 0 or links[u] < 0:
            continue
        old = trees.trees.alternative(x)
        bounds = trees.least(*old, with_arm=u)
        i = int(np.argsort(bounds)[rank])
        b = int(trees.a[i] + trees.b[i] - u)
        twice = 2.002 * bounds[i]
        if trees.trees.replace_alternative(x, b, twice):
            z, w = trees.trees.alternative(x)
            assert trees.least(z, w, with_arm=u).min() > 0.5 * twice * (1.0 - 1e-9)
            assert u not in (z, w)
            replaced += 1
        else:
            assert trees.trees.alternative(x) == old
            kept += 1
    assert np.array_equal(trees.links, links)
    assert replaced >= 5 or rank > 0
    assert kept >= 5
