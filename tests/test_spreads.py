"""The spreads that rule candidates out: a quadratic below each arm's KL, and how far a user's own arm can go."""

import hashlib
from pathlib import Path

import numpy as np
import pytest
from tests.oracles.runs import CASES, make_arms, make_engine

import linkarms as la
from linkarms._jit import kernel
from linkarms.alternatives._cache import COUNTS_SIDE, HOLDS
from linkarms.alternatives._pair import arm_spread, has_quadratic
from linkarms.engine import Engine
from linkarms.sampling import resolve_sampling

LEVELS = (1e-4, 0.03, 0.5, 4.0, 60.0)


def _spread(model, m, theta, w, level):
    return arm_spread(model, m, theta, w, level), has_quadratic(model)


_spread.__qualname__ += "_" + hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
_spread = kernel(_spread)


def directions(name, d, rng):
    """Unit vectors; those of probabilities add up to zero."""
    e = rng.normal(size=(6, d))
    if name == "categorical":
        e -= e.mean(axis=1, keepdims=True)
    return e / np.linalg.norm(e, axis=1, keepdims=True)


@pytest.mark.parametrize("name", CASES)
def test_a_spread_bounds_the_divergence_up_to_its_level(name):
    rng = np.random.default_rng([5, *map(ord, name)])
    seen = 0
    for d in CASES[name][0]:
        made = make_arms(name, rng, 4, d)
        for m in range(4):
            theta, kl = made.theta[m], made.families.families[m].kl
            for level in LEVELS:
                w = float(rng.choice([0.7, 5.0, 40.0]))
                spread, quadratic = _spread(made.families.model, m, theta, w, level)
                for e in directions(name, d, rng):
                    for r in np.geomspace(1e-3, 30.0, 60):
                        x = theta + r * e
                        with np.errstate(all="ignore"):
                            try:
                                cost = w * (kl(theta, x) if d > 1 else kl(theta[0], x[0]))
                            except la.errors.LinkarmsError:
                                continue  # outside the domain
                        if not cost <= level:
                            continue
                        seen += 1
                        if quadratic:
                            assert r * r / (2.0 * spread) <= cost * (1.0 + 1e-9)
                        else:  # four arms within their reach: (r_1 + ... + r_4)^2 <= 4 (r_1^2 + ... + r_4^2)
                            assert 4.0 * r * r / (2.0 * spread) <= level * (1.0 + 1e-9)
    assert seen > 300


@pytest.mark.parametrize(("name", "own"), [("geometric", True), ("bernoulli", False), ("gaussian", False)])
def test_bounds_of_a_users_family_are_used_at_their_level_only(name, own):
    rng = np.random.default_rng(1)
    made = make_arms(name, rng, 5, 1)
    engine = make_engine(made, 3, "ebc-h", True)
    for m in (0, 1, 2, 3, 4, 0, 2, 4):
        engine.observe(m, made.grid[m][len(made.grid[m]) // 2])
    level, holds = engine._cache.levels[COUNTS_SIDE], engine._cache.levels[HOLDS + COUNTS_SIDE]
    assert holds == (level if own else 0.0)


def test_the_order_of_arms_costs_nothing():
    """A candidate is evaluated once, also where the arms of several clusters take turns."""
    rng = np.random.default_rng(3)
    means = np.repeat([[0.0, 0.0], [3.0, 0.0], [0.0, 3.5]], 8, axis=0) + 0.3 * rng.normal(size=(24, 2))
    counts = {}
    for order in ("together", "in turn"):
        at = np.arange(24) if order == "together" else np.arange(24).reshape(3, 8).T.ravel()
        problem = la.Problem(means[at], 3)
        noise = np.random.default_rng(4).normal(size=(40, 24, 2))
        engine = Engine(
            problem.arm_families,
            3,
            resolve_sampling("round-robin"),
            la.stopping.Paper((-9, 9)),
            0.1,
            np.random.default_rng(0),
        )
        for block in noise:
            for m in range(24):
                engine.observe(m, means[at[m]] + block[at[m]])
        counts[order] = engine.costs_evaluated
    assert counts["in turn"] < 1.3 * counts["together"]
