"""What a check found, in words: what was seen, what it means for the promise, what to use instead."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from linkarms._words import few

__all__ = ["Finding", "make_finding"]


@dataclass(frozen=True)
class Finding:
    """One way in which the samples contradict their family.

    Attributes
    ----------
    kind : str
        ``"variance"``, ``"dispersion"``, ``"shared variance"``, ``"skewness"``, ``"tails"``, ``"dependence"`` or ``"drift"``.
    arms : tuple
        The arms in which it was seen; all of them where only all together show it.
    effect : float
        Its size, the largest of these arms: a factor, a moment, a correlation or a number of standard deviations.
    seen, meaning, advice : str
        What was seen, what it means for the promise, what to use instead.
    breaks_promise : bool
        The promised error probability does not hold if this is true.
    sequential : bool
        The test holds whenever one looks. Otherwise it is a diagnostic for a fixed number of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.checks import check_model
    >>> samples = np.random.default_rng(0).normal(0.0, 2.0, (3, 100))
    >>> [found.kind for found in check_model(samples, family="gaussian")]
    ['variance']
    """

    kind: str
    arms: tuple[Hashable, ...]
    effect: float
    seen: str
    meaning: str
    advice: str
    breaks_promise: bool
    sequential: bool

    def __str__(self) -> str:
        return f"{self.seen}; {self.meaning}; {self.advice}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        plain = [a if isinstance(a, (int, float, str)) else str(a) for a in self.arms]
        return {**self.__dict__, "arms": plain}


_TOO_SURE = "the run trusts its samples more than they deserve, so it may be wrong more often than delta"
_BOUNDED = (
    "'bounded:LOW:HIGH' where a range is known, or clip the samples (a table or a new campaign: clip=(LOW, HIGH)), which clusters the "
    "clipped means"
)
_TABLE = "the promise is about the rows of this table, and may not hold for new samples"

#: Kind: (what was seen, what it means, what to use instead).
_WORDS: dict[str, tuple[str, str, str]] = {
    "variance": (
        "the variance is {most}{effect:.3g} times the declared one",
        _TOO_SURE,
        "leave the family out (gaussian-unknown), or declare a larger variance with 'gaussian:VARIANCE'",
    ),
    "dispersion": (
        "the variance is {most}{effect:.3g} times what the family has at this mean",
        _TOO_SURE,
        f"leave the family out (gaussian-unknown), or use {_BOUNDED}",
    ),
    "shared variance": (
        "the largest variance of an arm is {effect:.3g} times the smallest, and 'shared' takes them as equal",
        _TOO_SURE,
        "use 'gaussian-unknown' without 'shared'",
    ),
    "skewness": (
        "the samples are skewed ({most}{effect:.2g}; a Gaussian has 0)",
        "the promise is for Gaussian samples and is only approximate here, especially for arms with few samples",
        f"use {_BOUNDED}",
    ),
    "tails": (
        "there are rare, extreme samples (excess kurtosis {most}{effect:.3g}; a Gaussian has 0)",
        "the promise is for Gaussian samples and may not hold",
        f"use {_BOUNDED}",
    ),
    "dependence": (
        "samples depend on the one before (correlation {most}{effect:.2g})",
        _TOO_SURE,
        "take samples further apart or in random order, or tell averages over longer periods",
    ),
    "drift": (
        "the mean of the second half is {most}{effect:+.2g} standard deviations from that of the first",
        "an arm without a fixed mean has no cluster, so the promise does not hold",
        "sample over a shorter time, or in an order that mixes early and late",
    ),
}
_SEQUENTIAL = ("variance", "dispersion")


def make_finding(
    kind: str, arms: Sequence[Hashable], effect: float, *, together: bool, resampled: bool
) -> Finding:
    """Put a finding into words.

    Parameters
    ----------
    kind, arms, effect
        As in `Finding`.
    together : bool
        No single arm shows it, all of them together do.
    resampled : bool
        The samples are the rows of a table from which the run drew with replacement.
    """
    what, meaning, advice = _WORDS[kind]
    order_only = kind in ("dependence", "drift")
    if order_only and resampled:
        meaning = _TABLE
        if kind == "dependence":
            what = what.replace("samples depend on the one before", "rows depend on the one before")
    if kind == "dependence" and effect < 0.0 and not resampled:
        meaning = "the promise is for independent samples; with negative correlations it usually errs on the safe side"
    text = what.format(effect=effect, most="up to " if len(arms) > 1 and not together else "")
    if kind != "shared variance":
        text = f"{_who(arms, together)}: {text}"
    return Finding(
        kind,
        tuple(arms),
        float(effect),
        text,
        meaning,
        advice,
        not (order_only and resampled),
        kind in _SEQUENTIAL,
    )


def _who(arms: Sequence[Hashable], together: bool) -> str:
    if together:
        return "all arms together"
    return f"arm{'s' if len(arms) > 1 else ''} {few(arms)}"
