"""Families as text, ``NAME[:WORD...]``: one syntax for Python, the command line, JSON files and HTTP."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Literal, NamedTuple, cast

from linkarms._family_syntax import SYNTAX
from linkarms.errors import InvalidInput
from linkarms.families._base import Family
from linkarms.families._counts import Bernoulli, Categorical, Poisson
from linkarms.families._gamma import Exponential, Gamma
from linkarms.families._gaussian import Bounded, Gaussian
from linkarms.families._product import Product
from linkarms.families._unknown import Shape, UnknownVariance

__all__ = ["parse"]


class _Unreadable(Exception):
    """The words after a family's name do not fit; the message says which."""


class _Form(NamedTuple):
    """How a family is written, the least and largest number of words after its name, and the family of those words."""

    text: str
    least: int
    most: int
    make: Callable[[list[str], int | None], Family]


def parse(text: str, n_features: int | None = None) -> Family:
    """Return the family that ``text`` names.

    Parameters
    ----------
    text : str
        A name with what is known after colons, as listed in `SYNTAX`. With commas, one family per coordinate.
    n_features : int, optional
        Numbers in one sample; ``categorical`` alone has as many categories.

    Returns
    -------
    Family

    Examples
    --------
    >>> from linkarms.families import parse
    >>> parse("gamma:2:mean").to_dict()
    {'name': 'gamma', 'shape': 2.0, 'parameter': 'mean'}
    """
    parts = text.split(",")
    if len(parts) == 1:
        return _one(text, n_features)
    coordinates = [_one(part, None) for part in parts]
    try:
        return Product(coordinates)
    except InvalidInput as error:
        raise InvalidInput(f"family={_shown(text)}: {error}") from error


def _one(text: str, n_features: int | None) -> Family:
    name, *words = (word.strip() for word in text.split(":"))
    if name not in _FORMS:
        raise InvalidInput(f"family={_shown(text)} is unknown; choose {SYNTAX}")
    form = _FORMS[name]
    try:
        if not form.least <= len(words) <= form.most:
            raise _Unreadable("too few words" if len(words) < form.least else "too many words")
        return form.make(words, n_features)
    except _Unreadable as error:
        raise InvalidInput(f"family={_shown(text)}: {error}; write {form.text}") from None
    except InvalidInput as error:
        raise InvalidInput(f"family={_shown(text)}: {error}") from error


def _shown(text: str) -> str:
    """What a message repeats of a user's text."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _number(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _Unreadable(f"{_shown(word)} is not a number")
    return value


def _unknown(words: list[str], n_features: int | None) -> UnknownVariance:
    """Without a word nothing is assumed about the shape: vectors have a covariance."""
    word = words[0] if words else "full" if (n_features or 1) > 1 else "isotropic"
    if word == "shared":
        return UnknownVariance(shared=True)
    if word not in ("isotropic", "coordinate", "full"):
        raise _Unreadable(f"{_shown(word)} is neither 'isotropic', 'coordinate', 'full' nor 'shared'")
    return UnknownVariance(covariance=cast(Shape, word))


def _parameter(words: list[str]) -> Literal["rate", "mean"]:
    if words and words[0] not in ("rate", "mean"):
        raise _Unreadable(f"{_shown(words[0])} is neither 'rate' nor 'mean'")
    return "mean" if words == ["mean"] else "rate"


def _categories(words: list[str], n_features: int | None) -> int:
    if words and not re.fullmatch(r"[0-9]{1,9}", words[0]):
        raise _Unreadable(f"{_shown(words[0])} is not a whole number")
    if words:
        return int(words[0])
    if n_features is None:
        raise _Unreadable("the number of categories is missing")
    return n_features


_FORMS = {
    "gaussian": _Form(
        "gaussian (variance 1) or gaussian:VARIANCE", 0, 1, lambda w, _: Gaussian(*map(_number, w))
    ),
    "gaussian-unknown": _Form(
        "gaussian-unknown, or after a colon isotropic, coordinate, full or shared", 0, 1, _unknown
    ),
    "bounded": _Form("bounded:LOW:HIGH", 2, 2, lambda w, _: Bounded(_number(w[0]), _number(w[1]))),
    "exponential": _Form(
        "exponential (by the rate) or exponential:mean", 0, 1, lambda w, _: Exponential(_parameter(w))
    ),
    "gamma": _Form(
        "gamma:SHAPE (by the rate) or gamma:SHAPE:mean",
        1,
        2,
        lambda w, _: Gamma(_number(w[0]), _parameter(w[1:])),
    ),
    "bernoulli": _Form("bernoulli", 0, 0, lambda w, _: Bernoulli()),
    "poisson": _Form("poisson", 0, 0, lambda w, _: Poisson()),
    "categorical": _Form("categorical:CATEGORIES", 0, 1, lambda w, d: Categorical(_categories(w, d))),
}
