"""Which rules there are, and how to set them up for a guess of the parameters."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import linkarms.sampling
import linkarms.stopping
from linkarms._goal import Goal
from linkarms.alternatives._local import domain_box
from linkarms.errors import InvalidInput
from linkarms.families import ArmFamilies
from linkarms.sampling import SamplingRule, View
from linkarms.stopping import Anytime, Paper, StoppingRule

__all__ = ["Guess", "sampling_rules", "shipped", "stopping_rules"]

Rule = TypeVar("Rule", bound=SamplingRule | StoppingRule)

#: Theta is the guess, widened on both sides by this many times its width.
_ROOM = 1.0
#: The paper's rule is given an epsilon that costs at most this share of the optimal psi.
_SHARE = 0.1


class Guess(View):
    """What a rule would see after very many samples in the proportions ``weights``, if the guess were right.

    Parameters
    ----------
    theta : ndarray, shape (M, d)
        The guess.
    labels : ndarray of int, shape (M,)
        Its partition.
    weights : ndarray, shape (M,)
        Proportions of samples.
    goal : int or Goal
        What is asked for; a number is K.
    families, delta
        As in `View`.
    """

    def __init__(
        self,
        theta: NDArray[np.float64],
        labels: NDArray[np.int64],
        weights: NDArray[np.float64],
        goal: int | Goal,
        families: ArmFamilies,
        delta: float,
    ) -> None:
        self.t = 10**9
        self.counts = np.maximum(np.rint(self.t * weights).astype(np.int64), 1)
        self.pending = np.zeros_like(self.counts)
        self.estimates, self.labels = theta, labels
        self.goal = goal if isinstance(goal, Goal) else Goal(goal)
        self.n_clusters, self.n_arms = int(labels.max()) + 1, len(theta)
        self.delta, self.families = delta, families
        self.rng = np.random.default_rng(0)


def shipped(package: ModuleType, base: type[Rule]) -> list[type[Rule]]:
    """Return the rules that a package exports, without baselines; a rule that is added there is found automatically."""
    found = [getattr(package, name) for name in package.__all__]
    return [
        cls
        for cls in found
        if isinstance(cls, type) and issubclass(cls, base) and hasattr(cls, "name") and not cls.baseline
    ]


def sampling_rules() -> list[SamplingRule]:
    """Return the sampling rules of the package with their defaults."""
    rules = []
    for cls in shipped(linkarms.sampling, SamplingRule):  # type: ignore[type-abstract]
        try:
            rules.append(cls())
        except TypeError:
            continue  # it has no default settings
    return rules


def stopping_rules(guess: Guess, psi: float) -> tuple[list[StoppingRule], dict[str, str]]:
    """Return the stopping rules of the package, set up for the guess, and why others cannot be; ``psi`` is the optimal one, ``1 / T*``."""
    rules: list[StoppingRule] = []
    refused: dict[str, str] = {}
    found = shipped(linkarms.stopping, StoppingRule)  # type: ignore[type-abstract]
    for cls in sorted(found, key=lambda cls: cls is not Anytime):  # the default rule first
        if issubclass(cls, Paper):
            paper = _paper(guess, psi)
            if paper is None:
                refused[cls.name] = "no theta strictly inside the domain of the family contains the guess"
            else:
                rules.append(paper)
            continue
        try:
            rules.append(cls())
        except TypeError:
            refused[cls.name] = "it needs settings; give it as stopping="
    return rules, refused


def _paper(guess: Guess, psi: float) -> Paper | None:
    """The paper's rule with Theta around the guess and an epsilon that suits it; None where no Theta fits."""
    theta = guess.estimates
    low, high = theta.min(axis=0), theta.max(axis=0)
    width = np.full_like(low, _ROOM * max(float((high - low).max()), 1e-12))
    box = domain_box(guess.families)
    least, most = box[:, :, 0].max(axis=0), box[:, :, 1].min(axis=0)
    # at an end of the domain: three quarters of the way there
    with np.errstate(invalid="ignore"):
        low = np.maximum(low - width, np.where(np.isfinite(least), least + 0.25 * (low - least), -np.inf))
        high = np.minimum(high + width, np.where(np.isfinite(most), most - 0.25 * (most - high), np.inf))
    sides = np.column_stack([_round(low, -1), _round(high, 1)])
    if not np.all(np.isfinite(sides)) or np.any(sides[:, 0] >= sides[:, 1]):
        return None
    top = math.floor(math.log10(float(width.max())))
    for epsilon in (c * 10.0**p for p in range(top, top - 14, -1) for c in (5.0, 2.0, 1.0)):
        rule = Paper(sides[0] if len(np.unique(sides, axis=0)) == 1 else sides, float(f"{epsilon:.1g}"))
        try:
            rule.check(guess.families)
        except InvalidInput:
            continue
        if rule.eta(guess, epsilon) <= _SHARE * psi:
            return rule
    return None


def _round(values: NDArray[np.float64], direction: int) -> NDArray[np.float64]:
    """Two digits, towards the guess: a box is easier to read, and stays inside the domain."""
    with np.errstate(divide="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.maximum(np.abs(values), 1e-300))) - 1.0)
    return np.asarray(unit * (np.ceil(values / unit) if direction < 0 else np.floor(values / unit)))
