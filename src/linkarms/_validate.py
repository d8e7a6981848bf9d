"""Checks of arguments, in one place so that their messages are alike in the API, the command line and elsewhere."""

from __future__ import annotations

import math
import numbers
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms.errors import InvalidInput

__all__ = [
    "COUNT",
    "LARGEST",
    "LARGEST_NAME",
    "NARROWEST",
    "VARIANCES",
    "CostsLike",
    "check_bounds",
    "check_costs",
    "check_count",
    "check_delta",
    "check_integer",
    "check_n_clusters",
    "check_names",
    "check_number",
    "check_parameters",
    "check_seed",
    "check_weights",
    "place_finder",
]

#: The largest absolute value of a sample or a parameter: the square of a difference, times a number of samples, divided by a variance,
#: stays far below the largest floating-point number, about 1.8e308.
LARGEST = 1e50
#: The largest number that may be the name of an arm.
LARGEST_NAME = 1e300
#: The smallest and the largest variance, so that this is so.
VARIANCES = (1e-100, 1e104)
#: The smallest and the largest cost of a sample, so that no sum of costs overflows.
COSTS = (1e-50, 1e50)
#: The least width of a range of samples: the square of its half is a variance.
NARROWEST = 2.0 * math.sqrt(VARIANCES[0])

#: The largest number of anything that is counted: up to here floating-point numbers count exactly.
COUNT = 2**53

#: What a sample of each arm costs: one number per arm, or by name.
CostsLike: TypeAlias = ArrayLike | Mapping[Any, float]


def check_integer(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int in ``low..high``, or say what is wrong with it."""
    span = f"at least {low}" if high is None else f"from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidInput(f"{name}={value!r} is not a whole number; give one {span}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise InvalidInput(f"{name}={number} is out of range; give a whole number {span}")
    return number


def check_count(name: str, value: Any, low: int = 1) -> int:
    """Return a number of samples, trials or the like as an int, or say what is wrong with it."""
    return check_integer(name, value, low, COUNT)


def check_number(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, closed: bool = False
) -> float:
    """Return ``value`` as a float inside the open (or closed) interval, or say what is wrong with it."""
    span = _span(low, high, closed)
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
        raise InvalidInput(f"{name}={value!r} is not a finite number; give {span}")
    x = float(value)
    if not (low < x < high or (closed and (x in (low, high)))):
        raise InvalidInput(f"{name}={x:g} is out of range; give {span}")
    return x


def _span(low: float, high: float, closed: bool) -> str:
    """Return the numbers of an interval in words; infinity is not one of them."""
    if low == -math.inf and high == math.inf:
        return "a finite one"
    if high == math.inf:
        return f"a number that is {'at least' if closed else 'above'} {low:g}"
    left, right = ("[", "]") if closed else ("(", ")")
    return f"a number in {left}{low:g}, {high:g}{right}"


def check_bounds(low: float, high: float, what: str) -> None:
    """Refuse a range of samples that is too large or too narrow for the arithmetic."""
    if max(abs(low), abs(high)) > LARGEST:
        raise InvalidInput(
            f"{what} is too large a range; give ends from -{LARGEST:g} to {LARGEST:g}, in another unit if need be"
        )
    if high - low < NARROWEST:
        raise InvalidInput(
            f"{what} is too narrow a range; give ends at least {NARROWEST:g} apart, in another unit if need be"
        )


def check_seed(value: Any) -> int:
    """Return a seed as an int: of a generator its next number, for None one that nobody has chosen."""
    if value is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**63))
    return check_integer("seed", value, 0)


def check_delta(value: Any, name: str = "delta") -> float:
    """Check an error probability: strictly between 0 and 1."""
    return check_number(name, value, 0.0, 1.0)


def check_n_clusters(value: Any, n_arms: int) -> int:
    """Check the number of clusters: 1..M."""
    if isinstance(value, numbers.Integral) and int(value) > n_arms:
        if n_arms == 1:
            raise InvalidInput(f"n_clusters={value}, but there is only one arm; give more arms, or choose 1")
        raise InvalidInput(f"n_clusters={value}, but there are only {n_arms} arms; choose 1 to {n_arms}")
    return check_integer("n_clusters", value, 1, n_arms)


def check_names(names: Sequence[Hashable]) -> None:
    """Refuse names of arms that are numbers and yet no arm's own: NaN, infinite ones, and larger ones than a dump takes."""
    for i, name in enumerate(names):
        if isinstance(name, numbers.Real) and not abs(name) <= LARGEST_NAME:
            raise InvalidInput(
                f"the name of arm {i} (counted from 0) is not a finite number from -{LARGEST_NAME:g} to {LARGEST_NAME:g}; "
                "use strings or other numbers"
            )


def check_costs(costs: Any, arms: Sequence[Hashable]) -> NDArray[np.float64] | None:
    """Return what a sample of each arm costs, shape (M,), from one number per arm or a dict by name; None for None."""
    if costs is None:
        return None
    if isinstance(costs, Mapping):
        costs = _in_order(costs, arms)
    try:
        with np.errstate(over="ignore"):  # of longer floats: too large is said below
            array = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"costs are not numbers ({error}); give one above 0 per arm") from error
    if array.shape != (len(arms),):
        raise InvalidInput(f"costs have shape {array.shape}; give one number per arm, {len(arms)} in all")
    low, high = COSTS
    bad = np.flatnonzero(~((low <= array) & (array <= high)))
    if len(bad):
        raise InvalidInput(
            f"costs: arm {arms[bad[0]]!r} costs {array[bad[0]]:g}; give finite numbers above 0, from {low:g} to {high:g}"
        )
    if array.max() / array.min() > 1e12:
        raise InvalidInput(
            f"costs range from {array.min():g} to {array.max():g}; they may differ by a factor of 1e12 at most"
        )
    return array


def _in_order(costs: Mapping[Any, Any], arms: Sequence[Hashable]) -> list[Any]:
    """The costs of a dict in the order of the arms; the command line and JSON have names that are numbers as text."""
    find = place_finder(arms)
    found: dict[int, tuple[Any, Any]] = {}
    for name, cost in costs.items():
        place = find(name)
        if place is None:
            raise InvalidInput(f"costs: {name!r} is not an arm; give one number above 0 per arm, by its name")
        if place in found:
            raise InvalidInput(
                f"costs: {found[place][0]!r} and {name!r} are the same arm {arms[place]!r}; name it once"
            )
        found[place] = name, cost
    for m, arm in enumerate(arms):
        if m not in found:
            raise InvalidInput(
                f"costs: arm {arm!r} has no cost; give one number above 0 per arm, by its name"
            )
    return [found[m][1] for m in range(len(arms))]


def place_finder(names: Sequence[Hashable]) -> Callable[[Any], int | None]:
    """Return a function that finds the place of a name: the name itself, or the only one of the same text but for spaces around it.

    Examples
    --------
    >>> from linkarms._validate import place_finder
    >>> [place_finder([1, " temp", "2", 2])(name) for name in ("1", "temp", 2, "2", 3)]
    [0, 1, 3, 2, None]
    """
    exact = {name: place for place, name in reversed(list(enumerate(names)))}
    texts = [str(name).strip() for name in names]
    by_text, count = {text: place for place, text in enumerate(texts)}, Counter(texts)

    def find(name: Any) -> int | None:
        if isinstance(name, Hashable) and name in exact:
            return exact[name]
        text = str(name).strip()
        return by_text[text] if count[text] == 1 else None

    return find


def check_parameters(parameters: Any) -> NDArray[np.float64]:
    """Return parameters as a fresh finite array of shape (M, d); ``(M,)`` is taken as d = 1."""
    try:
        array = np.array(parameters, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"parameters are not an array of numbers ({error}); give one row per arm, all rows of the same length"
        ) from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] < 1:
        raise InvalidInput(f"parameters have shape {array.shape}; give an array of shape (arms, features)")
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        m, i = bad[0]
        raise InvalidInput(f"parameters[{m}, {i}]={array[m, i]} is not finite; give finite numbers")
    large = np.argwhere(np.abs(array) > LARGEST)
    if large.size:
        m, i = large[0]
        raise InvalidInput(
            f"parameters[{m}, {i}]={array[m, i]} is too large; give numbers from -{LARGEST:g} to {LARGEST:g}"
        )
    return array


def check_weights(weights: Any, n_arms: int) -> NDArray[np.float64]:
    """Return weights as a fresh array of shape (M,): finite, non-negative, not all zero."""
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"weights are not numbers ({error}); give one number per arm") from error
    if array.shape != (n_arms,):
        raise InvalidInput(f"weights have shape {array.shape}; give one number per arm, {n_arms} in all")
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        m = int(np.flatnonzero(~(np.isfinite(array) & (array >= 0.0)))[0])
        raise InvalidInput(f"weights[{m}]={array[m]} is not a finite number >= 0; fix it")
    if not np.any(array > 0.0):
        raise InvalidInput("all weights are zero; give at least one arm a positive weight")
    return array
