"""Numbers and names in messages, in one place so that all of them read alike."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

__all__ = ["MOST_SAMPLES", "few", "least_samples", "number_of_samples", "plural"]

#: Forecasts and lower bounds above this many samples are shown as this number: nobody takes so many.
MOST_SAMPLES = 1e15
#: So many names are shown before the others are only counted.
_SHOWN = 3


def plural(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "arm"), plural(2500, "sample")
    ('1 arm', '2,500 samples')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def few(names: Sequence[Hashable]) -> str:
    """Return the first names, and how many more there are.

    Examples
    --------
    >>> few("ab"), few("abcdef")
    ("'a', 'b'", "'a', 'b', 'c' and 3 more")
    """
    more = len(names) - _SHOWN
    return ", ".join(map(repr, names[:_SHOWN])) + (f" and {more} more" if more > 0 else "")


def number_of_samples(n: float, digits: int = 0) -> str:
    """Return a computed number of samples, 10^15 for all larger ones.

    Examples
    --------
    >>> number_of_samples(12345.67, 1), number_of_samples(3e50)
    ('12,345.7', '10^15')
    """
    return "10^15" if n > MOST_SAMPLES else f"{n:,.{digits}f}"


def least_samples(delta: float, least: float, costs: object = None) -> str:
    """Return the samples that no rule can avoid, or their cost, in a sentence without its capital letter and its full stop.

    Examples
    --------
    >>> least_samples(0.05, 86.25)
    'no rule promises delta=0.05 with fewer than 86.2 samples on average'
    """
    if math.isinf(least):
        return f"no rule promises delta={delta:g}: no number of samples is enough"
    shown = number_of_samples(least, 1)
    fewer = (
        f"with fewer than {shown} samples on average"
        if costs is None
        else f"at an average cost below {shown}"
    )
    return f"no rule promises delta={delta:g} {fewer}"
