"""Carry an exception from a worker to the caller, as if the trial had run in the caller's process."""

from __future__ import annotations

import importlib
import pickle
import traceback
from itertools import pairwise
from typing import Any

from linkarms.errors import LinkarmsError

__all__ = ["Failure", "in_words"]


def in_words(error: BaseException) -> str:
    """An exception in one line, for use inside a message."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(":. ")


class Failure:
    """What a trial raised.

    In one process it is the exception itself. When pickled it takes along the exceptions it was raised from, which pickle
    alone would drop, and the worker's traceback as a note.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __reduce__(self) -> tuple[Any, ...]:
        chain: list[bytes] = []
        error: BaseException | None = self.error
        while error is not None:
            chain.append(_dumps(error))
            error = error.__cause__
        return _arrived, (chain, "".join(traceback.format_exception(self.error)))


def _dumps(error: BaseException) -> bytes:
    """Pickle an exception: by value if its class cannot be imported, in words if nothing else works.

    The pickle is read again here, because only then does pickle notice that an exception's ``__init__`` needs other arguments.
    """
    for what in (error, _Plain(error)):
        for module in ("pickle", "cloudpickle"):
            try:
                data = importlib.import_module(module).dumps(what)
                if type(pickle.loads(data)) is type(error):
                    return bytes(data)
            except Exception:
                continue
    return pickle.dumps(LinkarmsError(f"a trial raised {in_words(error)}"))


class _Plain:
    """Return an exception that is rebuilt without its ``__init__``."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (type(self.error), self.error.args, self.error.__dict__)


def _make(cls: type[BaseException], args: tuple[Any, ...], attributes: dict[str, Any]) -> BaseException:
    error = cls.__new__(cls, *args)
    error.__dict__.update(attributes)
    return error


def _arrived(chain: list[bytes], trace: str) -> Failure:
    errors: list[BaseException] = [pickle.loads(data) for data in chain]
    for error, cause in pairwise(errors):
        error.__cause__ = cause
    errors[0].add_note(f"in the worker:\n{trace}")
    return Failure(errors[0])
