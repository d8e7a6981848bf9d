"""Which runs are recorded: families, problems, and pairs of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.recorded import Spec, whole
from tests.recorded.geometric import Geometric

from linkarms import families as fam
from linkarms.problem import problems

__all__ = ["FILES", "Case", "Kind", "cases", "drawn"]

Array = NDArray[np.float64]

#: Places of arms between 0 and 1, and K: pairs, a chain of four beside one of three, and six arms that are hard to tell apart.
DESIGNS: dict[str, tuple[list[float], int]] = {
    "three": ([0.0, 0.06, 0.9], 2),
    "four": ([0.0, 0.05, 0.5, 0.95], 3),
    "pairs": ([0.0, 0.05, 0.45, 0.52, 0.92, 1.0], 3),
    "chain": ([0.0, 0.07, 0.13, 0.2, 0.85, 0.92, 1.0], 2),
    "hard": ([0.0, 0.15, 0.4, 0.55, 0.8, 1.0], 3),
}
ANYTIME: dict[str, Any] = {"name": "anytime"}
ONE_C: dict[str, Any] = {"name": "anytime", "c": [5.0]}
BOC: dict[str, Any] = {"name": "boc"}
SIZE: dict[str, Any] = {"name": "sample-size", "size": 12}
MAXGAP: dict[str, Any] = {"name": "maxgap"}
PAPER: dict[str, Any] = {"name": "paper"}  # theta and epsilon are the kind's
EBC, EBC_H, LMA = {"name": "ebc", "step": 1.0}, {"name": "ebc-h"}, {"name": "lma", "step": 1.0}
ROUND_ROBIN, LUCBBOC, ATBOC = {"name": "round-robin"}, {"name": "lucbboc"}, {"name": "atboc", "gap": 1e-3}
FIXED = {"name": "fixed", "size": 12}

#: Sampling rule, stopping rule, design, batch: the pairs that every kind has, then those of Gaussian arms.
PAIRS: list[tuple[dict[str, Any], dict[str, Any], str, int]] = [
    (EBC_H, ANYTIME, "three", 1),
    (EBC_H, ANYTIME, "four", 1),
    (EBC_H, ANYTIME, "pairs", 1),
    (EBC_H, ANYTIME, "chain", 1),
    (EBC_H, ANYTIME, "hard", 1),
    (EBC_H, ANYTIME, "chain", 3),
    (EBC_H, ONE_C, "pairs", 1),
    (EBC_H, ONE_C, "chain", 1),
    (EBC_H, PAPER, "four", 1),
    (EBC_H, PAPER, "chain", 1),
    (EBC_H, PAPER, "pairs", 4),
    (EBC_H, SIZE, "four", 1),
    (EBC, ANYTIME, "pairs", 1),
    (EBC, ANYTIME, "chain", 2),
    (EBC, PAPER, "hard", 1),
    (EBC, PAPER, "three", 1),
    (ROUND_ROBIN, ANYTIME, "four", 1),
    (ROUND_ROBIN, ONE_C, "three", 1),
    (ROUND_ROBIN, PAPER, "pairs", 1),
    (LUCBBOC, ANYTIME, "chain", 1),
    (LUCBBOC, PAPER, "pairs", 2),
    (LMA, ANYTIME, "pairs", 1),
    (LMA, PAPER, "chain", 3),
    (FIXED, SIZE, "three", 1),
]
GAUSSIAN_PAIRS: list[tuple[dict[str, Any], dict[str, Any], str, int]] = [
    (EBC_H, BOC, "hard", 1),
    (EBC, BOC, "four", 1),
    (LUCBBOC, BOC, "four", 1),
    (LUCBBOC, BOC, "hard", 3),
    (ATBOC, BOC, "pairs", 1),
    (ATBOC, BOC, "chain", 3),
    (ATBOC, PAPER, "hard", 1),
    (ATBOC, ANYTIME, "four", 1),
]
LINE_PAIRS: list[tuple[dict[str, Any], dict[str, Any], str, int]] = [
    ({"name": "maxgap-elim"}, MAXGAP, "three", 1),
    ({"name": "maxgap-ucb"}, MAXGAP, "chain", 1),
    ({"name": "maxgap-top2ucb"}, ANYTIME, "three", 2),
    (EBC_H, MAXGAP, "three", 1),
]


@dataclass(frozen=True)
class Kind:
    """A family (a function of M, for arms that differ), and from places to parameters."""

    file: str
    name: str
    family: Callable[[int], Any]
    place: Callable[[Array], Array]
    theta: Any = None
    epsilon: float = 0.01
    gaussian: bool = False
    line: bool = False
    steps: int = 120


@dataclass(frozen=True)
class Case:
    """A run to record: ``steps`` samples after the first of each arm (which are told without being asked for, ``rounds`` of each)."""

    spec: Spec
    batch: int
    steps: int
    rounds: int = 0


def _line(low: float, high: float) -> Callable[[Array], Array]:
    return lambda u: (low + (high - low) * u)[:, None]


def _plane(*ends: tuple[float, float]) -> Callable[[Array], Array]:
    """The first coordinate goes up with the place, the next down, and so on; every other arm is beside the line."""

    def place(u: Array) -> Array:
        side = 0.04 * (-1.0) ** np.arange(len(u))
        columns = [u if i % 2 == 0 else np.clip(1.0 - u + side, 0.0, 1.0) for i in range(len(ends))]
        return np.stack(
            [low + (high - low) * x for (low, high), x in zip(ends, columns, strict=True)], axis=1
        )

    return place


def _categories(u: Array) -> Array:
    a, b = 0.05 + 0.6 * u, 0.05 + 0.25 * (1.0 - u)
    return np.stack([a, b, 1.0 - a - b], axis=1)


def _covariances(n_arms: int) -> Any:
    rng = np.random.default_rng(5)
    a = rng.normal(size=(n_arms, 3, 3))
    return fam.Gaussian((a @ a.transpose(0, 2, 1) / 3 + 0.3 * np.eye(3)).round(6))


def _kinds() -> list[Kind]:
    wide, eight = (-10.0, 20.0), (0.0, 8.0)
    gauss = {"theta": wide, "epsilon": 0.02, "gaussian": True}
    counts = [fam.Bernoulli(), fam.Poisson(), fam.Exponential()]
    spread = [fam.UnknownVariance(draw_variance=0.4 + 0.5 * (m % 3)) for m in range(7)]
    scalar = [fam.Gaussian(0.5), fam.Exponential("mean"), fam.Poisson()]
    covariance = fam.Gaussian([[1.0, 0.4], [0.4, 2.0]])
    return [
        Kind(
            "gaussian", "gaussian-1", lambda m: fam.Gaussian(), _line(*eight), line=True, steps=200, **gauss
        ),
        Kind("gaussian", "gaussian-2", lambda m: fam.Gaussian(), _plane(eight, eight), **gauss),
        Kind("gaussian", "gaussian-5", lambda m: fam.Gaussian(), _plane(*[(0.0, 5.0)] * 5), **gauss),
        Kind(
            "gaussian",
            "gaussian-variances",
            lambda m: [fam.Gaussian(0.25 * (j + 1)) for j in range(m)],
            _plane(eight, eight),
            **gauss,
        ),
        Kind(
            "exponential", "exponential-rate", lambda m: fam.Exponential(), _line(1, 20), (0.1, 50.0), 0.001
        ),
        Kind("exponential", "exponential-mean", lambda m: fam.Exponential("mean"), _line(1, 20), (0.1, 60.0)),
        Kind("bernoulli", "bernoulli", lambda m: fam.Bernoulli(), _line(0.04, 0.96), (0.02, 0.98), 0.005),
        Kind("poisson", "poisson", lambda m: fam.Poisson(), _line(0.5, 12.5), (0.1, 30.0)),
        Kind("gamma", "gamma-rate", lambda m: fam.Gamma(3.0), _line(1, 20), (0.1, 50.0), 0.001),
        Kind("gamma", "gamma-mean", lambda m: fam.Gamma(2.5, "mean"), _line(1, 20), (0.1, 60.0)),
        Kind(
            "bounded",
            "bounded-1",
            lambda m: fam.bounded(0, 1),
            _line(0.05, 0.95),
            (-0.5, 1.5),
            gaussian=True,
            line=True,
        ),
        Kind(
            "bounded",
            "bounded-2",
            lambda m: fam.bounded([0, 0], [1, 2], True),
            _plane((0.05, 0.95), (0.1, 1.9)),
            [[-1, 2], [-1, 3]],
            gaussian=True,
        ),
        Kind("covariance", "covariance-2", lambda m: covariance, _plane(eight, eight), **gauss),
        Kind("covariance", "covariance-arms-3", _covariances, _plane(eight, eight, eight), **gauss),
        Kind("unknown", "unknown-1", lambda m: spread[:m], _line(*eight)),
        Kind("unknown", "unknown-2", lambda m: fam.UnknownVariance(), _plane(eight, eight)),
        Kind("unknown", "unknown-shared-1", lambda m: fam.UnknownVariance(True), _line(*eight)),
        Kind("unknown", "unknown-shared-2", lambda m: fam.UnknownVariance(True), _plane(eight, eight)),
        Kind("mixed", "mixed", lambda m: [scalar[j % 3] for j in range(m)], _line(0.5, 12.5), (0.1, 40.0)),
        Kind(
            "geometric", "geometric", lambda m: Geometric(), _line(0.05, 0.85), (0.01, 0.97), 0.005, steps=50
        ),
        Kind(
            "categorical",
            "categorical",
            lambda m: fam.Categorical(3),
            _categories,
            (0.02, 0.96),
            0.005,
            steps=40,
        ),
        Kind(
            "product",
            "product-2",
            lambda m: fam.Product(counts[:2]),
            _plane((0.04, 0.96), (0.5, 12.5)),
            [[0.02, 0.98], [0.1, 30.0]],
            0.005,
            steps=30,
        ),
        Kind(
            "product",
            "product-3",
            lambda m: fam.Product(counts),
            _plane((0.04, 0.96), (0.5, 12.5), (1.0, 9.0)),
            [[0.02, 0.98], [0.1, 30.0], [0.1, 40.0]],
            0.005,
            steps=30,
        ),
    ]


FILES = [*dict.fromkeys(kind.file for kind in _kinds()), "many-gaussian", "many-exponential"]


def _describe(family: Any) -> Any:
    return [f.to_dict() for f in family] if isinstance(family, list) else family.to_dict()


def _small(kind: Kind) -> Iterator[Case]:
    pairs = PAIRS + (GAUSSIAN_PAIRS if kind.gaussian else []) + (LINE_PAIRS if kind.line else [])
    for i, (sampling, stopping, design, batch) in enumerate(pairs):
        if stopping is PAPER:
            if kind.theta is None:
                continue
            stopping = {"name": "paper", "theta": kind.theta, "epsilon": kind.epsilon}
        places, k = DESIGNS[design]
        parameters = kind.place(np.array(places))
        family = kind.family(len(places))
        arms = {"name": f"{kind.name} {design}", "n_arms": len(places), "n_features": parameters.shape[1]}
        if isinstance(family, fam.Family) and family.n_arms is not None:
            family = [family.for_arm(m) for m in range(len(places))]
        yield Case(
            Spec(
                family=_describe(family),
                n_clusters=k,
                sampling=sampling,
                stopping=stopping,
                delta=0.1 if i % 2 else 0.01,
                seed=i,
                parameters=parameters.tolist(),
                **arms,
            ),
            batch,
            kind.steps,
        )


def _large(
    parameters: Array, k: int, name: str, family: Any, theta: tuple[float, float], epsilon: float
) -> Iterator[Case]:
    n, d = parameters.shape
    paper = {"name": "paper", "theta": list(theta), "epsilon": epsilon}
    pairs = [(EBC_H, ANYTIME, 1), (EBC_H, paper, 1), (EBC, paper, 1)]
    if n <= 100:
        pairs += [(EBC_H, paper, 5), (EBC, ANYTIME, 3), (LUCBBOC, paper, 1)]
    for i, (sampling, stopping, batch) in enumerate(pairs):
        spec = Spec(name, family, n, d, k, sampling, stopping, 0.05, i, parameters.tolist())
        steps = 400 if n < 10 else 150 if n <= 100 else 300
        yield Case(spec, batch, steps, rounds=0 if n <= 40 else 2)


def _groups(n: int, k: int, d: int, gap: float, spread: float, seed: int) -> Array:
    """``k`` groups of arms around centres on a line in d dimensions, rounded."""
    rng = np.random.default_rng([seed, n, k, d])
    centres = gap * np.arange(k)[:, None] + 0.2 * gap * rng.uniform(-1, 1, (k, d))
    group = np.arange(n) * k // n
    return np.asarray((centres[group] + spread * rng.uniform(-1, 1, (n, d))).round(4))


def cases(file: str) -> Iterator[Case]:
    """The runs of one file."""
    for kind in _kinds():
        if kind.file == file:
            yield from _small(kind)
    if file == "gaussian":
        p = problems.synthetic1()
        yield from _large(p.parameters, 3, "synthetic1", fam.Gaussian().to_dict(), (-10.0, 10.0), 0.02)
    if file == "exponential":
        p = problems.synthetic2()
        yield from _large(p.parameters, 3, "synthetic2", fam.Exponential().to_dict(), (0.1, 50.0), 0.001)
    sizes = ((20, 10), (40, 8), (100, 10), (300, 10), (1000, 10))
    if file == "many-gaussian":
        for n, k in sizes:
            d = 1 if n in (20, 300) else 2 if n in (40, 1000) else 5
            for name, gap, spread in (("well", 10.0, 0.5), ("badly", 0.7, 0.2)):
                parameters = _groups(n, k, d, gap, spread, 1)
                title = f"gaussian-{d} {name} separated"
                yield from _large(parameters, k, title, fam.Gaussian().to_dict(), (-30.0, 130.0), 0.02)
    if file == "many-exponential":
        for n, k in sizes:
            for name, gap, spread in (("well", 10.0, 0.5), ("badly", 0.7, 0.2)):
                parameters = 3.0 + _groups(n, k, 1, gap, spread, 2)
                title = f"exponential-rate {name} separated"
                yield from _large(parameters, k, title, fam.Exponential().to_dict(), (0.05, 300.0), 0.001)


def drawn(family: Any, spec: Spec, arm: int, rng: np.random.Generator) -> list[int]:
    """Draw a sample of an arm."""
    return whole(family.draw(rng, np.array(spec.parameters[arm]), 1)[0])
