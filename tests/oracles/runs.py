"""Runs to compare engines on: arms of every family near ties, and samples that are honest, wrong, wild or tied."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from tests.test_user_family import Geometric

import linkarms as la
from linkarms import families as f
from linkarms.engine import Engine
from linkarms.families import ArmFamilies, resolve

RULES = {"ebc-h": la.sampling.EBCH, "ebc": la.sampling.EBC, "round-robin": la.sampling.RoundRobin}


class Unbounded(la.stopping.StoppingRule):
    """Never stops and clips nothing, so that estimates come to the ends of their domains."""

    name = "unbounded"

    def threshold(self, view, delta):
        return math.inf


class Coordinate(NamedTuple):
    """Where true parameters lie, Theta, samples with many ties, and samples that throw an estimate far away."""

    truth: tuple[float, float]
    box: tuple[float, float]
    grid: tuple[float, ...]
    far: tuple[float, ...]


REAL = Coordinate((-3.0, 3.0), (-9.0, 9.0), (-1.0, 0.0, 1.0, 2.0), (-60.0, 60.0))
POSITIVE = Coordinate((0.3, 6.0), (0.15, 12.0), (0.0, 0.5, 1.0), (0.0, 40.0))
COUNT = POSITIVE._replace(grid=(0.0, 1.0, 2.0, 3.0), far=(0.0, 60.0))
SHARE = Coordinate((0.06, 0.94), (0.03, 0.97), (0.0, 1.0), (0.0, 1.0))
FAILURES = SHARE._replace(grid=(0.0, 1.0, 2.0), far=(0.0, 60.0))
GEOMETRIC = Geometric()  # one object, so that its functions are compiled once
MIXED = [  # parameters that all of them have, in one box
    (f.Gaussian(0.5), SHARE._replace(grid=REAL.grid, far=REAL.far)),
    (f.Exponential(), SHARE._replace(grid=POSITIVE.grid, far=POSITIVE.far)),
    (f.Bernoulli(), SHARE),
    (f.Poisson(), SHARE._replace(grid=COUNT.grid, far=COUNT.far)),
    (f.Exponential("mean"), SHARE._replace(grid=POSITIVE.grid, far=POSITIVE.far)),
    (GEOMETRIC, FAILURES),
]


def _covariances(rng, size, d):
    x = rng.standard_normal((size, d, d))
    return x @ np.swapaxes(x, 1, 2) + 0.3 * np.eye(d)


def _one(family, *coordinates):
    return (len(coordinates),), lambda rng, n, d: family, lambda m, d: list(coordinates)


def _gaussian(dimensions, family):
    return dimensions, family, lambda m, d: [REAL] * d


#: name -> dimensions, family for ``rng, M, d``, coordinates of arm ``m`` for ``d``
CASES: dict[str, tuple[tuple[int, ...], Any, Any]] = {
    "gaussian": _gaussian((1, 2, 3), lambda rng, n, d: "gaussian"),
    "variances": _gaussian((1, 2, 3), lambda rng, n, d: [f.Gaussian(v) for v in rng.uniform(0.2, 5.0, n)]),
    "covariance": _gaussian((2, 3), lambda rng, n, d: f.Gaussian(_covariances(rng, 1, d)[0])),
    "covariances": _gaussian((2, 3), lambda rng, n, d: f.Gaussian(_covariances(rng, n, d))),
    "rate": _one("exponential", POSITIVE),
    "mean": _one(f.Exponential("mean"), POSITIVE),
    "gamma": _one(f.Gamma(2.5), POSITIVE),
    "gamma mean": _one(f.Gamma(2.5, "mean"), POSITIVE),
    "bernoulli": _one("bernoulli", SHARE),
    "poisson": _one("poisson", COUNT),
    "geometric": _one(GEOMETRIC, FAILURES),
    "mixed": (
        (1,),
        lambda rng, n, d: [MIXED[m % len(MIXED)][0] for m in range(n)],
        lambda m, d: [MIXED[m % len(MIXED)][1]],
    ),
    "product": _one(f.Product([f.Gaussian(), f.Exponential()]), REAL, POSITIVE),
    "counts": _one(f.Product([f.Bernoulli(), f.Poisson()]), SHARE, COUNT),
    "categorical": ((3, 4), lambda rng, n, d: f.Categorical(d), lambda m, d: []),
}
#: Families that have the samples of another case: name -> that case, dimensions, the family.
OTHERS = {
    "bounded": ("bernoulli", (1,), f.Bounded(0.0, 1.0)),
    "unknown isotropic": ("gaussian", (1, 2), f.UnknownVariance()),
    "unknown shared": ("gaussian", (1, 2), f.UnknownVariance(shared=True)),
    "unknown coordinate": ("gaussian", (2,), f.UnknownVariance(covariance="coordinate")),
    "unknown full": ("gaussian", (2,), f.UnknownVariance(covariance="full")),
}
#: Those whose pair problem is searched (slowly), and the others.
VECTORS = ("product", "counts", "categorical")
SOLVED = tuple(name for name in CASES if name not in VECTORS)


class Arms(NamedTuple):
    """Families, true parameters (M, d), Theta (d, 2), and for each arm the samples of `Coordinate`, shape (n, d)."""

    families: ArmFamilies
    theta: np.ndarray
    box: np.ndarray
    grid: list[np.ndarray]
    far: list[np.ndarray]


def make_arms(name: str, rng: np.random.Generator, n: int, d: int, chain: int = 0) -> Arms:
    """``n`` arms near ties, or ``chain`` of them in a row and the others alone."""
    if chain:
        gap = 0.5 / n
        place = np.append(gap * np.arange(chain), 1.0 - 2.1 * gap * np.arange(n - chain))
        place = rng.permutation(place)[:, None] + rng.normal(0.0, 0.1 * gap, (n, d))
    else:
        place = rng.integers(0, 4, (n, d)) / 3.0 + rng.normal(0.0, 0.02, (n, d))
    place = np.clip(place, 0.0, 1.0)
    _, family, coordinates = CASES[name]
    families = resolve(family(rng, n, d), n, d)
    if name == "categorical":
        theta = (0.2 + place) / (0.2 + place).sum(axis=1, keepdims=True)
        return Arms(families, theta, np.tile([0.02, 0.9], (d, 1)), [np.eye(d)] * n, [np.eye(d)] * n)
    rows = [coordinates(m, d) for m in range(n)]
    low, high = np.moveaxis(np.array([[c.truth for c in row] for row in rows]), -1, 0)
    grid = [np.array(list(itertools.product(*(c.grid for c in row)))) for row in rows]
    far = [np.array(list(itertools.product(*(c.far for c in row)))) for row in rows]
    return Arms(families, low + place * (high - low), np.array([c.box for c in rows[0]]), grid, far)


def family_arms(name: str, rng: np.random.Generator, n: int, d: int, chain: int = 0) -> Arms:
    """The same for a name of `CASES` or `OTHERS`."""
    if name not in OTHERS:
        return make_arms(name, rng, n, d, chain)
    case, _, family = OTHERS[name]
    return make_arms(case, rng, n, d, chain)._replace(families=resolve(family, n, d))


def make_engine(arms: Arms, n_clusters: int, rule: str, clipped: bool, seed: int = 0) -> Engine:
    """With the paper's stopping rule, which clips estimates to Theta, or with none."""
    stop = la.stopping.Paper(arms.box, 0.002) if clipped else Unbounded()
    return Engine(arms.families, n_clusters, RULES[rule](), stop, 0.05, np.random.default_rng(seed))


class Samples:
    """The next sufficient statistic of an arm.

    ``honest`` draws; ``wrong`` ones at first, of another arm's parameter; ``jumps``: bursts that throw one arm far away, from where
    honest draws bring it back; ``ties``: few values.
    """

    STYLES = ("honest", "wrong", "jumps", "ties")

    def __init__(self, arms: Arms, style: str, rng: np.random.Generator) -> None:
        self.arms, self.style, self.rng = arms, style, rng
        self.order = rng.permutation(len(arms.theta))
        self.t = 0
        self.burst = (0, 0, 0)  # an arm, its row of `far`, the end of the burst

    def __call__(self, m: int) -> np.ndarray:
        self.t += 1
        arms, rng, family = self.arms, self.rng, self.arms.families.families[m]
        if self.style == "jumps" and self.t >= self.burst[2]:
            arm = int(rng.integers(len(arms.theta)))
            self.burst = (arm, int(rng.integers(len(arms.far[arm]))), self.t + int(rng.integers(2, 16)))
        if self.style == "ties":
            value = arms.grid[m][rng.integers(len(arms.grid[m]))]
        elif self.style == "jumps" and m == self.burst[0]:
            value = arms.far[m][self.burst[1]]
        else:
            wrong = self.style == "wrong" and self.t < 3 * len(arms.theta)
            value = family.draw(rng, arms.theta[self.order[m] if wrong else m], 1)[0]
        return family.statistics(np.asarray(value, dtype=np.float64)[None])[0]


def told(engine: Engine, samples: Samples, steps: int, asked: float):
    """Arms and samples, one at a time: with probability ``asked`` the rule chooses the arm, otherwise chance."""
    for _ in range(steps):
        by_rule = samples.rng.random() < asked
        arm = engine.choose() if by_rule else int(samples.rng.integers(len(engine.core.counts)))
        yield arm, samples(arm)
