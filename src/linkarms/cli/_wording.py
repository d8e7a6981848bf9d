"""Messages of the library in the words of the command line: options where Python has arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["in_options", "speaking_of"]

#: What a user of the command line types for an argument of Python, where that is not the same with dashes.
_SPELLING = {"n_clusters": "-k", "n_features": "--features", "sampling": "--rules"}
#: Between the two numbers of an interval.
_BETWEEN = {"clip": ":", "theta": ","}
#: Advice that only Python can follow, and advice with an option of its own.
_PHRASES = [
    (r", or give an instance of SamplingRule", ""),
    (r", give an object of linkarms\.families, or a list with one per arm", ""),
    (r"give the family '([^']*)'", r"give --family \1"),
]
_QUOTED = re.compile(r"((?<!\w)'[^']*'(?!\w)|\"[^\"]*\")")

_options: ContextVar[dict[str, str] | None] = ContextVar("options", default=None)


@contextmanager
def speaking_of(command: Any, words: Sequence[str]) -> Iterator[None]:
    """Translate for the command that ``words`` call. All commands of a campaign speak of the options that created it."""
    path = [command]
    for word in words:
        inner = getattr(path[-1], "commands", {}).get(word)
        if inner is None:
            break
        path.append(inner)
    commands = path[1].commands.values() if len(path) > 2 else path[-1:]
    options = {option for each in commands for parameter in each.params for option in parameter.opts}
    found = {option[2:].replace("-", "_"): option for option in options if option.startswith("--")}
    found |= {name: option for name, option in _SPELLING.items() if option in options}
    token = _options.set(found)
    try:
        yield
    finally:
        _options.reset(token)


def in_options(text: str) -> str:
    """Return a message of the library with the options of the current command in place of Python's arguments.

    ``name=value`` is translated (``name=True`` to the option alone), and a name with an underscore also on its own. Quoted words are the
    user's, and stay.
    """
    for phrase, said in _PHRASES:
        text = re.sub(phrase, said, text)
    parts = _QUOTED.split(text)
    for name, option in (_options.get() or {}).items():
        parts[::2] = [_translate(part, name, option) for part in parts[::2]]
    return "".join(parts)


def _translate(text: str, name: str, option: str) -> str:
    if name in _BETWEEN:
        text = re.sub(
            rf"(?<![\w.-]){name}=\(([^,()]+), ([^,()]+)\)",
            lambda found: f"{option} {found[1]}{_BETWEEN[name]}{found[2]}",
            text,
        )
    text = re.sub(rf"(?<![\w.-]){name}=(True\b)?", lambda found: option if found[1] else f"{option} ", text)
    return re.sub(rf"(?<![\w.-]){name}(?![\w=(.])", option, text) if "_" in name else text
