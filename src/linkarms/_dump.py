"""Reading and writing the dumps of runs: versioned plain JSON, refused with one clear line where it is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from linkarms._dump_schema import check_dump
from linkarms._schema import whole
from linkarms.errors import InvalidDump, LinkarmsError
from linkarms.families import Family, FamilyLike, from_dict

__all__ = ["damage_named", "dumped_families", "dumped_rule", "read_dump", "write_dump"]

_FORMAT, _VERSION = "linkarms-clusterer", 1
#: What data that is not what it should be may raise in the caller that reads it.
_DAMAGE = (
    LinkarmsError,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
#: The longest dump that is read.
_LONGEST = 2**28

Rule = TypeVar("Rule")


def write_dump(data: dict[str, Any]) -> str:
    """The data with format and version, as JSON; numbers survive bit for bit."""
    return json.dumps({"format": _FORMAT, "version": _VERSION} | data, allow_nan=False)


def read_dump(blob: str) -> dict[str, Any]:
    """Return the data of a dump, checked against its schema; `InvalidDump` where it is none, or of a newer version."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not a number of JSON")

    if isinstance(blob, (str, bytes)) and len(blob) > _LONGEST:
        raise InvalidDump(
            f"the dump has {len(blob)} characters, and at most {_LONGEST} are read; use an intact one"
        )
    try:
        data = json.loads(blob, parse_constant=refuse)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidDump(f"the dump is not JSON ({error}); give what dump() returned") from error
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise InvalidDump("this is not a dump of a BanditClusterer; give what dump() returned")
    version = data.get("version")
    if type(version) is int and version > _VERSION:
        raise InvalidDump(
            f"the dump has format version {version} and this linkarms reads {_VERSION}; upgrade linkarms"
        )
    with damage_named():
        whole(1, _VERSION)(version, "dump.version")
        check_dump(data)
    return data


@contextmanager
def damage_named() -> Iterator[None]:
    """Turn whatever damaged data raises into an `InvalidDump`."""
    try:
        yield
    except InvalidDump as error:
        raise InvalidDump(_in_one_line(error)) from error
    except _DAMAGE as error:
        raise InvalidDump(f"the dump is damaged ({_in_one_line(error)}); use an intact one") from error


def _in_one_line(error: Exception) -> str:
    """What an error says, without the middle if that is long: it may hold the damaged text."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= 400 else f"{words[:200]} ... {words[-200:]}"


def dumped_families(specs: list[dict[str, Any]], own: FamilyLike | None) -> list[Family]:
    """The families of the arms; ``own`` holds a user's. Arms that shared a family share the object again."""
    given = [own] if isinstance(own, Family) else [f for f in own or [] if isinstance(f, Family)]
    custom = {f.name: f for f in given}
    made: dict[str, Family] = {}
    return [made.setdefault(json.dumps(s, sort_keys=True), from_dict(s, custom)) for s in specs]


def dumped_rule(
    spec: dict[str, Any], what: str, own: Rule | None, make: Callable[[dict[str, Any]], Rule | None]
) -> Rule:
    """A rule of the package, or the user's ``own`` if it has the name that the dump gives."""
    name = spec.get("name")
    rule = make(spec) if own is None else own
    if rule is None or getattr(rule, "name", None) != name:
        raise InvalidDump(
            f"the dump uses the {what} rule {name!r}, which is not part of linkarms; call load(blob, {what}=...)"
        )
    return rule
