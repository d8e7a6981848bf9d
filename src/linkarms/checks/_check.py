"""Which checks a family gets, and when their results are worth a word."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms.checks import _diagnostics as diagnostics
from linkarms.checks._evidence import excess_variance, gamma_spread, mixed, poisson_spread
from linkarms.checks._findings import Finding, make_finding
from linkarms.checks._told import Told
from linkarms.errors import InvalidInput
from linkarms.families import DEFAULT, ArmFamilies, Family, FamilyLike, resolve

__all__ = ["LEVEL", "check_model", "find_contradictions"]

Array = NDArray[np.float64]

#: The probability that samples of the family itself get any finding, all checks and arms together.
LEVEL = 0.002
#: Effects below these are not worth a word, however certain.
_SMALLEST = {"skewness": 0.5, "tails": 1.0, "dependence": 0.1, "drift": 0.2, "shared variance": 1.2}


def check_model(
    samples: Mapping[Any, ArrayLike] | Sequence[ArrayLike] | Array,
    family: FamilyLike | None = None,
    *,
    level: float = LEVEL,
) -> tuple[Finding, ...]:
    """Return what in the samples contradicts the family; empty if nothing does.

    Parameters
    ----------
    samples : dict of arrays, or a sequence of arrays
        The samples of each arm in the order in which they were measured, shape (n,) or (n, d).
    family : str, Family or a sequence with one per arm, optional
        The family that they are said to have; by default ``"gaussian-unknown"``.
    level : float, default 0.002
        The probability of any finding where there is nothing to find.

    Returns
    -------
    tuple of Finding
        What was seen, what it means for the promise, what to use instead.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.checks import check_model
    >>> rng = np.random.default_rng(1)
    >>> check_model({"left": rng.poisson(3, 200), "right": rng.poisson(9, 200)}, "poisson")
    ()
    >>> (found,) = check_model({"left": rng.poisson(3, 200), "right": rng.negative_binomial(9, 0.5, 200)}, "poisson")
    >>> found.kind, found.arms, found.breaks_promise
    ('dispersion', ('right',), True)
    """
    named: dict[Hashable, ArrayLike] = dict(samples if isinstance(samples, Mapping) else enumerate(samples))
    arrays = []
    for name, values in named.items():
        x = np.asarray(values, dtype=np.float64)
        x = x[:, None] if x.ndim == 1 else x
        if x.ndim != 2 or not np.isfinite(x).all():
            raise InvalidInput(
                f"the samples of arm {name!r} are not finite numbers of shape (n,) or (n, d); check them"
            )
        arrays.append(x)
    if not arrays:
        raise InvalidInput("there are no samples to check; give one array per arm")
    families = resolve(DEFAULT if family is None else family, len(arrays), arrays[0].shape[1])
    return find_contradictions(families, tuple(named), Told(arrays), level)


def find_contradictions(
    families: ArmFamilies, arms: Sequence[Hashable], told: Told, level: float = LEVEL
) -> tuple[Finding, ...]:
    """Return what in the samples of a run contradicts the families of its arms.

    Examples
    --------
    >>> import numpy as np
    >>> import linkarms as la
    >>> from linkarms.checks import Told, find_contradictions
    >>> counts = np.random.default_rng(1).negative_binomial(9, 0.5, (200, 1)).astype(float)
    >>> families = la.families.resolve("poisson", n_arms=1, n_features=1)
    >>> [finding.kind for finding in find_contradictions(families, ["right"], Told([counts]))]
    ['dispersion']
    """
    return _Checks(families, arms, told).findings(level)


class _Checks:
    """The results of all checks of one run, before it is known how many there are to correct for."""

    def __init__(self, families: ArmFamilies, arms: Sequence[Hashable], told: Told) -> None:
        self.arms, self.resampled = tuple(arms), told.resampled
        #: kind -> arm -> (-log p, effect); the arm None is all of them together.
        self.results: dict[str, dict[int | None, list[tuple[float, float]]]] = {}
        self.n_series = 0
        series: list[Array] = []
        gaussian: list[Array] = []
        self._ratios: list[Array] = []
        self._squares, self._freedom = 0.0, 0
        for m, x in enumerate(told.arrays()):
            family = families.families[m]
            for values, part in _series(family, x):
                self.n_series += 1
                self._of_family(m, part, values)
                smooth = np.cbrt(values) if part.name in ("exponential", "gamma") else values
                series.append(smooth)
                self._add("dependence", m, diagnostics.dependence(smooth))
                self._add("drift", m, diagnostics.drift(smooth))
                if getattr(part, "shared", False):
                    gaussian.append(values)
        self._together(series, gaussian)

    def _of_family(self, m: int, family: Family, values: Array) -> None:
        """The checks of one distribution."""
        n = len(values)
        if family.name == "gaussian" and n > 1:
            squares = float(np.sum((values - values.mean()) ** 2))
            self._squares, self._freedom = self._squares + squares, self._freedom + n - 1
            self._add("variance", m, (excess_variance(squares, n - 1), squares / (n - 1)))
        ratios: Array | None = None
        if family.name == "poisson":
            ratios, expected = poisson_spread(values), float(values.mean()) if n else 0.0
        elif family.name in ("exponential", "gamma"):
            shape = float(family.shape)  # type: ignore[attr-defined]
            ratios, expected = gamma_spread(values, shape), float(values.mean()) ** 2 / shape if n else 0.0
        if ratios is not None and n > 1 and expected > 0.0:
            self._ratios.append(ratios)
            self._add("dispersion", m, (mixed(ratios), float(values.var(ddof=1)) / expected))
        if family.name.startswith("gaussian"):
            self._add("skewness", m, diagnostics.skewness(values))
            self._add("tails", m, diagnostics.tails(values))

    def _together(self, series: list[Array], gaussian: list[Array]) -> None:
        """The checks of all arms together."""
        if self._freedom > 0:
            pooled = excess_variance(self._squares, self._freedom)
            self._add("variance", None, (pooled, self._squares / self._freedom))
        if self._ratios:
            effects = [e for found in self.results["dispersion"].values() for _, e in found]
            self._add("dispersion", None, (mixed(np.sum(self._ratios, axis=0)), float(np.median(effects))))
        self._add("dependence", None, diagnostics.pooled_dependence(series))
        self._add("shared variance", None, diagnostics.unequal_variances(gaussian))

    def _add(self, kind: str, arm: int | None, found: tuple[float, float] | None) -> None:
        if found is not None:
            self.results.setdefault(kind, {}).setdefault(arm, []).append(found)

    def findings(self, level: float) -> tuple[Finding, ...]:
        """Return what reaches the level after correction for all tests, the arms of one kind in one finding."""
        n_tests = max(len(self.results), 1) * (self.n_series + 1)
        needed = float(np.log(n_tests / level))
        found = []
        for kind, by_arm in self.results.items():
            seen = {
                arm: max((e for s, e in results if s >= needed), key=abs)
                for arm, results in by_arm.items()
                if any(s >= needed and abs(e) >= _SMALLEST.get(kind, 0.0) for s, e in results)
            }
            single = {arm: effect for arm, effect in seen.items() if arm is not None}
            if not seen:
                continue
            named = [self.arms[m] for m in single] if single else list(self.arms)
            effect = max(single.values(), key=abs) if single else seen[None]
            found.append(make_finding(kind, named, effect, together=not single, resampled=self.resampled))
        return tuple(found)


def _series(family: Family, samples: Array) -> list[tuple[Array, Family]]:
    """Return the coordinates of an arm's samples as series of numbers, each with its family; Gaussian ones in units of their declared
    standard deviation.
    """
    d = samples.shape[1]
    parts: Sequence[Any] = getattr(family, "families", None) or [family] * d
    if family.name == "gaussian" and d > 0:
        root = np.linalg.cholesky(family.matrix(d))  # type: ignore[attr-defined]
        samples = np.asarray(np.linalg.solve(root, samples.T).T, dtype=np.float64)
    elif family.name == "product":
        scale = [np.sqrt(p.matrix(1)[0, 0]) if p.name == "gaussian" else 1.0 for p in parts]
        samples = samples / np.array(scale)
    return [(np.ascontiguousarray(samples[:, i]), parts[i]) for i in range(d)]
