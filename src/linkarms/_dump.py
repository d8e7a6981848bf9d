"""Reading and writing the dumps of runs: versioned plain JSON, refused with one clear line where it is damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from linkarms.errors import InvalidDump, LinkarmsError
from linkarms.families import Family, FamilyLike, from_dict

__all__ = ["damage_named", "dumped_families", "dumped_rule", "read_dump", "write_dump"]

_FORMAT, _VERSION = "linkarms-clusterer", 1

Rule = TypeVar("Rule")


def write_dump(data: dict[str, Any]) -> str:
    """The data with format and version, as JSON; numbers survive bit for bit."""
    return json.dumps({"format": _FORMAT, "version": _VERSION} | data, allow_nan=False)


def read_dump(blob: str) -> dict[str, Any]:
    """The data of a dump; `InvalidDump` where it is none, or of a newer version."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no number of JSON")

    try:
        data = json.loads(blob, parse_constant=refuse)
    except (TypeError, ValueError) as error:
        raise InvalidDump(f"the dump is no JSON ({error}); give what dump() returned") from error
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise InvalidDump("this is no dump of a BanditClusterer; give what dump() returned")
    if not isinstance(data.get("version"), int) or data["version"] > _VERSION:
        raise InvalidDump(
            f"the dump has format version {data.get('version')!r} and this linkarms reads {_VERSION}; upgrade linkarms"
        )
    return data


@contextmanager
def damage_named() -> Iterator[None]:
    """Turn whatever damaged data raises into an `InvalidDump`."""
    try:
        yield
    except InvalidDump:
        raise
    except (LinkarmsError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidDump(
            f"the dump is damaged ({type(error).__name__}: {error}); use an intact one"
        ) from error


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
