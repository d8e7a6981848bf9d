"""Arms of unknown variance that have samples and yet no evidence: equal samples, or a covariance that is singular.

The core treats such arms in the same way (`cpp/family/variance_shape.cpp`): they may be anywhere, so a run on them does not stop.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkarms._words import few
from linkarms.engine import Engine
from linkarms.stopping import Anytime

__all__ = [
    "Silent",
    "columns_in_words",
    "columns_that_follow",
    "follows_in_words",
    "silent_arms",
    "silent_in_words",
]

Array = NDArray[np.float64]

#: A covariance is singular if less than this share of the variance of a column is left once those before it are known.
_LEAST_REST = 1e-12
#: Columns whose share of another one is smaller than this are not named.
_NAMED = 1e-6
#: So many kinds of silence are told apart in words.
_GROUPS = 2
#: While a run goes on, arms with fewer samples beyond the least number are not mentioned.
_ENOUGH = 8


@dataclass(frozen=True)
class Silent:
    """An arm without evidence, and the columns that are the reason: constant ones, or ones of which the last follows from the others."""

    arm: int
    columns: tuple[int, ...]
    constant: bool


def silent_arms(engine: Engine, rows: Array | None, *, ended: bool) -> list[Silent]:
    """Return the arms whose samples give no evidence because of how they vary; none if the rule is not the anytime one.

    ``rows`` are `BanditClusterer.moments`, or None if variances are known.
    """
    if rows is None or not isinstance(engine.stopping, Anytime) or engine.trivial or not engine.ready:
        return []
    kind, d = engine.families.families[0].variances, engine.families.n_features
    least = (d + 1 if kind == "full" else 2) + (0 if ended else _ENOUGH)
    found = [
        silent
        for m in np.flatnonzero(engine.core.counts >= least)
        if (silent := _silent(int(m), kind, d, rows[m]))
    ]
    if kind == "shared":  # the variance is that of all arms of a set, and only sets without any are silent
        deciding = {m for m in engine.witness or () if m >= 0}
        return found if deciding and not rows[list(deciding), 3].any() else []
    return found


def _silent(m: int, kind: str, d: int, moments: Array) -> Silent | None:
    """Judge one arm by a row of `BanditClusterer.moments`."""
    every = tuple(range(d))
    if kind in ("separate", "shared"):
        return None if moments[3] > 0.0 else Silent(m, every, True)
    scatter = moments[4 + d :]
    if kind == "coordinate":
        covariance = np.diag(scatter)
    else:
        covariance = np.zeros((d, d))
        covariance[np.tril_indices(d)] = scatter
        covariance += np.tril(covariance, -1).T
    constant = tuple(int(i) for i in np.flatnonzero(np.diag(covariance) <= 0.0))
    if constant:
        return Silent(m, constant, True)
    follows = columns_that_follow(covariance) if kind == "full" else ()
    return Silent(m, follows, False) if follows else None


def columns_that_follow(covariance: Array) -> tuple[int, ...]:
    """Return the first column that follows from those before it, after those from which it follows; empty if there is none.

    No variance may be 0.
    With columns in units of their standard deviations, the square of a pivot of the Cholesky factor is the share of variance that is left.
    """
    units = np.sqrt(np.diag(covariance))
    scaled = covariance / np.outer(units, units)
    with suppress(np.linalg.LinAlgError):
        if (np.diag(np.linalg.cholesky(scaled)) ** 2 > _LEAST_REST).all():
            return ()
    lower = np.zeros_like(scaled)
    for k in range(len(scaled)):
        lower[k, :k] = np.linalg.solve(lower[:k, :k], scaled[:k, k])
        rest = 1.0 - lower[k, :k] @ lower[k, :k]
        if not rest > _LEAST_REST:
            shares = np.linalg.solve(lower[:k, :k].T, lower[k, :k])
            return (*(int(j) for j in np.flatnonzero(np.abs(shares) > _NAMED)), k)
        lower[k, k] = np.sqrt(rest)
    return ()


def columns_in_words(columns: Sequence[int], features: Sequence[str] | None) -> str:
    """Return the names of columns; their numbers, from 0, if they have none."""
    names = [str(i) if features is None else repr(features[i]) for i in columns]
    noun = f"{'coordinate' if features is None else 'column'}{'s' if len(names) > 1 else ''}"
    return f"{noun} {', '.join(names[:-1])}{' and ' if len(names) > 1 else ''}{names[-1]}"


def follows_in_words(columns: Sequence[int], features: Sequence[str] | None) -> str:
    """Say what `columns_that_follow` found."""
    return (
        f"{columns_in_words(columns[-1:], features)} follows from {columns_in_words(columns[:-1], features)}"
    )


def silent_in_words(
    silent: Sequence[Silent], arms: Sequence[Hashable], features: Sequence[str] | None, n_features: int
) -> str:
    """Name arms and columns, and say what to do."""
    alike: dict[tuple[tuple[int, ...], bool], list[Hashable]] = {}
    for one in silent:
        alike.setdefault((one.columns, one.constant), []).append(arms[one.arm])
    seen = []
    for (columns, constant), named in alike.items():
        of_arms = f"of arm{'s' if len(named) > 1 else ''} {few(named)}"
        if constant and len(columns) == n_features:
            seen.append(f"all samples {of_arms} are equal")
        elif constant:
            is_are = "are" if len(columns) > 1 else "is"
            seen.append(f"{columns_in_words(columns, features)} {is_are} constant in the samples {of_arms}")
        else:
            seen.append(f"{follows_in_words(columns, features)} in the samples {of_arms}")
    what = f"{', '.join(seen[:_GROUPS])}{', and more' if len(seen) > _GROUPS else ''}"
    out = "arms" if seen[0].startswith("all") else "columns"
    advice = f"leave such {out} out, tell numbers that are rounded less, or give a known variance ('gaussian:VARIANCE')"
    if out == "columns":
        advice += " or, if all columns are equally noisy, 'gaussian-unknown:isotropic'"
    if not silent[0].constant:
        advice += ", or, if they are independent, 'gaussian-unknown:coordinate'"
    return f"{what}, and as long as that is so the run does not stop; {advice}"
