"""What plain data from outside has to be: small checks that are put together, and run before anything is built from the data.

A check takes a value and its place in words, and raises `Damage` that names both.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from typing import Any

from linkarms._validate import COUNT

__all__ = ["COUNT", "Check", "Damage", "flag", "many", "maybe", "numbers", "record", "text", "whole"]

Check = Callable[[Any, str], None]


class Damage(ValueError):
    """What is wrong with the data, in words."""


def _damage(value: Any, where: str, wanted: str) -> Damage:
    return Damage(f"{where} is {reprlib.repr(value)}, not {wanted}")


def flag(value: Any, where: str) -> None:
    """True or false."""
    if type(value) is not bool:
        raise _damage(value, where, "true or false")


def text(most: int) -> Check:
    """A string of at most so many characters."""

    def check(value: Any, where: str) -> None:
        if type(value) is not str or len(value) > most:
            raise _damage(value, where, f"a text of at most {most} characters")

    return check


def whole(low: int, high: int = COUNT) -> Check:
    """A whole number in this range, ends included."""

    def check(value: Any, where: str) -> None:
        if type(value) is not int or not low <= value <= high:
            raise _damage(value, where, f"a whole number from {low} to {high}")

    return check


def numbers(*shape: int, low: float, high: float, integers: bool = False) -> Check:
    """Lists in lists of this shape, -1 for any length, with numbers in this range; without a shape, one number."""
    types = {int} if integers else {int, float}
    wanted = f"a {'whole ' if integers else ''}number from {low:g} to {high:g}"

    def check(value: Any, where: str) -> None:
        if shape:
            _check_length(value, where, shape[0])
        if len(shape) > 1:
            for i, part in enumerate(value):
                inner(part, f"{where}[{i}]")
            return
        for i, x in enumerate(value if shape else [value]):
            if type(x) not in types or not low <= x <= high:
                raise _damage(x, f"{where}[{i}]" if shape else where, wanted)

    inner = numbers(*shape[1:], low=low, high=high, integers=integers) if len(shape) > 1 else check
    return check


def many(item: Check, n: int = -1) -> Check:
    """A list, of length ``n`` if given, of such items."""

    def check(value: Any, where: str) -> None:
        _check_length(value, where, n)
        for i, part in enumerate(value):
            item(part, f"{where}[{i}]")

    return check


def maybe(item: Check) -> Check:
    """Null, or such an item."""

    def check(value: Any, where: str) -> None:
        if value is not None:
            item(value, where)

    return check


def record(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with these members; ``optional`` ones may be missing, and others are left to the caller that reads them."""

    def check(value: Any, where: str) -> None:
        if type(value) is not dict:
            raise _damage(value, where, "an object")
        for name, item in required.items():
            if name not in value:
                raise Damage(f"{where} has no {name!r}")
            item(value[name], f"{where}.{name}")
        for name, item in (optional or {}).items():
            if name in value:
                item(value[name], f"{where}.{name}")

    return check


def _check_length(value: Any, where: str, n: int) -> None:
    if type(value) is not list or (n >= 0 and len(value) != n):
        raise _damage(value, where, "a list" if n < 0 else f"a list of length {n}")
