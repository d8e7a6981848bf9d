"""Limits of a campaign, and rules for names. Every limit of `linkarms.campaign` is stated and enforced here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

from linkarms._validate import check_integer, check_number
from linkarms.errors import InvalidInput, TooLarge

__all__ = ["LIMITS", "Limits", "check_arms", "check_batch", "check_lease", "check_name", "check_text"]


class Limits(NamedTuple):
    """Limits of a campaign; anything larger is refused with `TooLarge`.

    Attributes
    ----------
    arms, features : int
        Arms per campaign, numbers per sample.
    batch : int
        Tickets per ask, samples per batch.
    open_tickets : int
        Tickets that are open at the same time; samples that may wait for an earlier ticket when more are asked for.
    text : int
        Characters in the name of a worker or an arm, or in a key.
    reason : int
        Characters in the reason for a retraction.
    lease : float
        Seconds of a lease: ten years.

    Examples
    --------
    >>> from linkarms.campaign import LIMITS
    >>> LIMITS.arms, LIMITS.batch
    (1000, 10000)
    """

    arms: int = 1_000
    features: int = 100
    batch: int = 10_000
    open_tickets: int = 100_000
    text: int = 200
    reason: int = 1_000
    lease: float = 10 * 366 * 86_400.0


#: The limits in force.
LIMITS = Limits()

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_name(name: Any) -> str:
    """The name of a campaign: letters, digits, points, dashes, underscores; it begins with a letter or a digit."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        shown = repr(name) if len(repr(name)) <= 60 else repr(name)[:57] + "..."
        raise InvalidInput(
            f"{shown} is not a valid campaign name; use up to 100 letters, digits, '.', '-' and '_', a letter or digit first"
        )
    return name


def check_text(what: str, text: Any, limit: int = LIMITS.text) -> str:
    """A text that every database and every terminal can hold: not empty, not too long, no control characters."""
    if not isinstance(text, str) or not text:
        raise InvalidInput(f"{what}={text!r} is not text; give a string that is not empty")
    if len(text) > limit:
        raise TooLarge(f"{what} has {len(text)} characters; at most {limit} are allowed")
    bad = next((c for c in text if unicodedata.category(c) in ("Cc", "Cs")), None)
    if bad is not None:
        raise InvalidInput(f"{what}={text!r} contains the control character {bad!r}; leave it out")
    return text


def check_arms(arms: Any) -> list[str]:
    """The names of the arms: strings."""
    if isinstance(arms, str) or not isinstance(arms, Sequence):
        raise InvalidInput(f"arms={arms!r} is not a list of names; give a list of strings, one per arm")
    if len(arms) > LIMITS.arms:
        raise TooLarge(f"there are {len(arms)} arms; a campaign takes at most {LIMITS.arms}")
    return [check_text("the name of an arm", arm) for arm in arms]


def check_batch(what: str, n: Any) -> int:
    """The size of a batch: at least 1, and not above the limit."""
    size = check_integer(what, n, 1)
    if size > LIMITS.batch:
        raise TooLarge(f"{what}={size} is too much at once; at most {LIMITS.batch} are allowed")
    return size


def check_lease(seconds: Any) -> float:
    """The seconds for which a ticket is given."""
    return check_number("lease", seconds, 0.0, LIMITS.lease)
