"""Isotropic evidence averaged over the grid of c: the closed form's shifts, and the infimum of the average by brute force."""

import numpy as np
import pytest
from scipy import optimize, special
from tests.oracles import aligned as oracle
from tests.oracles import evidence as slow
from tests.repeats import repeats

from linkarms import _core
from linkarms._core import testing as core

GRID = np.array([0.2 * 5.0**j for j in range(8)])


def random_arms(rng, arms, d):
    x = rng.normal(size=(arms, d))
    a = 0 if arms == 3 else 3
    x[1] = x[0] + 0.5 * rng.normal(size=d)
    x[2] = x[a] + 2.0 * rng.normal(size=d)
    return x


def lengths(x):
    a = 0 if len(x) == 3 else 3
    return (
        float(np.linalg.norm(x[0] - x[1])),
        float(np.linalg.norm(x[a] - x[2])),
        float(np.linalg.norm(x[1] - x[2])),
        len(x) == 3,
    )


def minimise(x, value, gradient, rng, starts):
    """Smallest value by SLSQP over the piece."""
    a = 0 if len(x) == 3 else 3
    best = np.inf

    def constraint(z):
        lam = z.reshape(x.shape)
        return np.sum((lam[0] - lam[1]) ** 2) - np.sum((lam[a] - lam[2]) ** 2)

    for _ in range(starts):
        start = oracle.moved_inside(x + rng.normal(size=x.shape))
        found = optimize.minimize(
            lambda z: value(z.reshape(x.shape)),
            start.ravel(),
            jac=lambda z: gradient(z.reshape(x.shape)).ravel(),
            method="SLSQP",
            constraints=[{"type": "ineq", "fun": constraint}],
            options={"maxiter": 300, "ftol": 1e-12},
        )
        best = min(best, float(value(oracle.moved_inside(found.x.reshape(x.shape)))))
    return best


@pytest.mark.parametrize("arms", [3, 4])
def test_shifts_are_those_of_the_closed_form(arms):
    rng = np.random.default_rng(arms)
    for _ in range(repeats(10, 20)):
        x = random_arms(rng, arms, 2)
        spread = np.append(rng.uniform(0.1, 2.0, size=arms), [0.0] * (4 - arms))
        cost, square = core.pair_shifts(*lengths(x), spread.tolist())
        if lengths(x)[0] >= lengths(x)[1]:
            assert cost == 0.0
            assert not any(square)
            continue
        assert sum(s / (2 * i) for s, i in zip(square, spread, strict=True) if i > 0) == pytest.approx(
            cost, rel=1e-9
        )
        i = spread[:arms, None]
        brute = minimise(
            x,
            lambda lam, x=x, i=i: np.sum((lam - x) ** 2 / (2 * i)),
            lambda lam, x=x, i=i: (lam - x) / i,
            rng,
            3,
        )
        assert cost == pytest.approx(brute, rel=1e-6)


@pytest.mark.parametrize(("arms", "d"), [(3, 1), (4, 1), (3, 2), (4, 2), (3, 4)])
def test_the_average_is_bracketed(arms, d):
    rng = np.random.default_rng(10 * arms + d)
    better = 0
    for _ in range(repeats(4, 8)):
        x = random_arms(rng, arms, d)
        counts = rng.integers(3, 150, size=arms).astype(float)
        weights = counts**2 / (counts + GRID[:, None])
        prices = d / 2 * np.log1p(counts / GRID[:, None]).sum(axis=1)

        def terms(lam, weights=weights, prices=prices, x=x):
            return weights @ np.sum((lam - x) ** 2, axis=1) / 2 - prices - np.log(len(GRID))

        def gradient(lam, weights=weights, terms=terms, x=x):
            g = special.softmax(terms(lam))
            return (g @ weights)[:, None] * (lam - x)

        padded = np.concatenate([weights, np.zeros((len(GRID), 4 - arms))], axis=1)
        lower, upper, share = core.average_over_grid(
            *lengths(x), padded.tolist(), prices.tolist(), np.inf, -np.inf
        )
        brute = minimise(x, lambda lam, terms=terms: special.logsumexp(terms(lam)), gradient, rng, 4)
        assert lower <= brute + 1e-7
        assert upper >= brute - 1e-5
        assert upper - lower < 1e-4
        # never below the best c alone, which pays log J
        single = []
        for j in range(len(GRID)):
            spread = [1.0 / w if w > 0 else 0.0 for w in padded[j]]
            single.append(core.pair_shifts(*lengths(x), spread)[0] - prices[j] - np.log(len(GRID)))
        assert lower >= max(single) - 1e-6
        better += lower > max(single) + 0.3
        # any shares give a safe bound: the ones found give the lower
        for g in (np.array(share), rng.dirichlet(np.ones(len(GRID)))):
            blended = g @ padded
            cost = core.pair_shifts(*lengths(x), [1.0 / w if w > 0 else 0.0 for w in blended])[0]
            bound = cost - g @ prices - special.xlogy(g, g * len(GRID)).sum()
            assert bound <= brute + 1e-7
            assert bound <= lower + 1e-6
        assert core.pair_shifts(*lengths(x), [1.0 / w if w > 0 else 0.0 for w in np.array(share) @ padded])[
            0
        ] - np.array(share) @ prices - special.xlogy(
            share, np.array(share) * len(GRID)
        ).sum() == pytest.approx(lower)
        # questions about a level
        ask = (*lengths(x), padded.tolist(), prices.tolist())
        assert core.average_over_grid(*ask, lower - 0.01, lower - 0.01)[0] >= lower - 0.01
        assert core.average_over_grid(*ask, upper + 0.01, upper + 0.01)[1] < upper + 0.01
    assert better >= repeats(2, 4)


def test_the_statistic_of_a_run_is_the_bottleneck_over_the_average():
    """Every candidate, every edge of its cluster, against what an engine says at levels on both sides."""
    rng, compared, further, runs = np.random.default_rng(12), 0, 0, repeats(7, 12)
    for _ in range(runs):
        n, d, k = int(rng.integers(4, 9)), int(rng.integers(1, 4)), 2
        means = 0.4 * rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 2, (n, 1))
        counts = rng.integers(1, 50, n)
        model = _core.Model([_core.Arm.coordinates([_core.gaussian(1.0)] * d)] * n, d)

        def told(scale, model=model, k=k, n=n, counts=counts, means=means):
            rule = _core.AnytimeStop(grid=GRID.tolist(), version=2)
            engine = _core.Engine(model, k, sampling=_core.EbcH(), stopping=rule)
            zeros = [0.0] * n
            engine.set_told(
                _core.Told(
                    counts=counts, pending=[0] * n, means=means, weights=zeros, weight_sum=zeros, scale=scale
                )
            )
            return engine

        engine = told(0)
        labels = np.array(engine.labels)

        def edge(u, v, a, b, engine=engine):
            return engine.evidence_against((u, v, a, b))

        wanted = slow.statistic(edge, labels.tolist())
        # a question about one level is answered by a proof of its own, which may reach further in d >= 2: there the value of an edge
        # is proved to within 0.002, or to where its search gave up
        above = 1e-4 if d == 1 else 0.2
        found = engine.evidence()
        assert wanted - 1e-9 * (1 + abs(wanted)) <= found <= wanted + above
        further += found != pytest.approx(wanted, rel=1e-9, abs=1e-9)
        assert d > 1 or found == pytest.approx(wanted, rel=1e-9, abs=1e-9)
        for side in (-1e-4, above):
            other = told(5)
            assert other.check(wanted + side - other.threshold_base) == (side < 0)
        compared += 1
    assert compared == runs
    assert further <= 1
