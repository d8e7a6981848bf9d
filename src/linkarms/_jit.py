"""The one door to numba.

Every compiled function of the package is decorated with `kernel`. It is ``numba.njit`` with three additions:

* the cache on disk is stamped with a digest of **all** kernel sources (numba stamps only the file of the function
  itself, so that a function which calls an edited one would go on running the old formula);
* a place with no writable cache is survived: the kernels are then compiled anew in each process;
* the first compilation is announced once on stderr, because it takes a while.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numba
from numba.core import caching
from numpy.typing import NDArray

__all__ = ["KERNEL_OPTIONS", "Array", "inlined", "kernel", "kernel_digest"]

#: An array inside kernels; its element type is numba's to infer.
Array: TypeAlias = NDArray[Any]

F = TypeVar("F", bound=Callable[..., Any])

#: Divisions by zero give inf, as in NumPy; kernels run without the interpreter's lock.
KERNEL_OPTIONS: Any = {"nogil": True, "error_model": "numpy"}

#: Rooms that stand on top of the kernels, so that an edit of theirs compiles nothing again.
_WITHOUT_KERNELS = (
    "arms",
    "bound",
    "campaign",
    "cli",
    "client.py",
    "montecarlo",
    "paper",
    "planning",
    "plots",
    "server",
)

_announced = False


@functools.cache
def kernel_digest() -> str:
    """Digest of the sources of all kernels, and of all constants that are compiled into them: every module they can import."""
    root = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] not in _WITHOUT_KERNELS:
            digest.update(place.as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _announce(cached: bool) -> None:
    global _announced
    if _announced or os.environ.get("LINKARMS_QUIET"):
        return
    _announced = True
    again = "this happens once" if cached else "no writable cache was found, so every process has to do it"
    print(f"linkarms: compiling, half a minute to two minutes ({again})", file=sys.stderr, flush=True)


class _StampedCache(caching.FunctionCache):
    """numba's own cache, stamped with the digest of all kernels instead of one file's."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)  # type: ignore[no-untyped-call]
        self._cache_file = caching.IndexDataCacheFile(  # type: ignore[no-untyped-call]
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=kernel_digest(),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
            _announce(cached=True)
        return found


class _NoCache(caching.NullCache):
    """No cache at all: a read-only install, or a numba whose cache works differently."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        _announce(cached=False)


def inlined(function: F) -> F:
    """A `kernel` that is copied into its callers instead of being compiled by itself.

    LLVM optimises a kernel together with all that it calls, again at every level of calls. So whatever stands between the one entry
    kernel and the costly formulas, and is called in one or two places, is better copied: the time to compile halves.
    """
    return numba.njit(inline="always", **KERNEL_OPTIONS)(function)  # type: ignore[no-any-return]


def kernel(function: F) -> F:
    """Compile ``function`` with numba when it is first called; see the module's docstring.

    Parameters
    ----------
    function : callable
        Takes and returns what numba's nopython mode knows. Families and rules reach it as integer codes and arrays,
        never as functions: those would be compiled again in every process.

    Returns
    -------
    callable
        A numba dispatcher with the type of ``function``.
    """
    dispatcher = numba.njit(**KERNEL_OPTIONS)(function)
    try:
        dispatcher._cache = _StampedCache(function)
    except Exception:
        # RuntimeError where no place is writable; anything else if numba's internals have moved. Uncached is safe.
        dispatcher._cache = _NoCache()
    return dispatcher  # type: ignore[no-any-return]
