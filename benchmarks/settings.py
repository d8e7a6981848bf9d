"""The problems that are timed, each with the paper's stopping rule (which never stops here: no level can be reached)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkarms.problem import Problem, problems
from linkarms.stopping import Paper

__all__ = ["Setting", "clusters", "exponential", "gaussian", "scaling"]

#: Distance between the true parameters and the ends of Theta.
_MARGIN = 10.0
_FEATURES, _CLUSTERS = 5, 10
#: Well separated: least distance of two centres, side of the cube they are drawn from, spread of an arm around its centre.
_APART, _CUBE, _WELL_SPREAD = 10.0, 15.0, 0.5
#: Badly separated: the centres' own spread (two differ by about 1 in each coordinate) and that of an arm around its centre.
_NEAR, _BAD_SPREAD = 0.7, 0.1


@dataclass(frozen=True)
class Setting:
    """A problem and the rule whose threshold is part of the step."""

    name: str
    problem: Problem
    stopping: Paper


def gaussian(name: str, problem: Problem) -> Setting:
    """Return a Gaussian problem with a Theta that is wider than its parameters by a margin."""
    low = math.floor(problem.parameters.min()) - _MARGIN
    high = math.ceil(problem.parameters.max()) + _MARGIN
    return Setting(name, problem, Paper(theta=(low, high), epsilon=0.01))


def scaling(n_arms: int) -> Setting:
    """Return the paper's run-time problem: pairs of arms in five dimensions."""
    return gaussian(f"scaling({n_arms})", problems.scaling(n_arms))


def exponential() -> Setting:
    """Return Synthetic Dataset 2 with the Theta and epsilon of the paper's Figure 3."""
    return Setting("synthetic2", problems.synthetic2(), Paper(theta=(0.1, 50.0), epsilon=0.001))


def clusters(n_arms: int, kind: str, seed: int) -> Setting:
    """Return ten clusters of equal size in five dimensions (five clusters of two where there are ten arms).

    ``kind`` is ``"well"`` (centres at least 10 apart, arms within 0.5 of them in each coordinate) or ``"badly"`` (centres about 1 apart
    in each coordinate, as much as the noise of a single sample: the clusters of the estimates are wrong for thousands of samples).
    """
    rng = np.random.default_rng([seed, n_arms])
    k = min(_CLUSTERS, n_arms // 2)
    if kind == "well":
        centres, spread = _far_apart(rng, k), _WELL_SPREAD
    else:
        centres, spread = _NEAR * rng.standard_normal((k, _FEATURES)), _BAD_SPREAD
    means = np.repeat(centres, n_arms // k, axis=0)
    means += spread * rng.uniform(-1.0, 1.0, means.shape)
    return gaussian(f"{kind} separated, M={n_arms}", Problem(means, k, family="gaussian"))


def _far_apart(rng: np.random.Generator, k: int) -> NDArray[np.float64]:
    """Return centres from a cube, one after the other; one that is too near is drawn again."""
    centres = np.empty((k, _FEATURES))
    for i in range(k):
        while True:
            centres[i] = rng.uniform(0.0, _CUBE, _FEATURES)
            if i == 0 or np.linalg.norm(centres[:i] - centres[i], axis=1).min() >= _APART:
                break
    return centres
