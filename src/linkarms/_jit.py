"""The one door to numba.

Every compiled function of the package is decorated with `kernel` or, where it makes no arrays, `lean`. They are ``numba.njit``
with three additions:

* the cache on disk is stamped with a digest of **all** kernel sources (numba stamps only the file of the function
  itself, so that a function which calls an edited one would go on running the old formula);
* a place with no writable cache is survived: the kernels are then compiled anew in each process;
* the first compilation is announced once on stderr, because it takes a while.
"""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numba
from numba import types
from numba.core import caching, cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

__all__ = [
    "FLAT_OPTIONS",
    "KERNEL_OPTIONS",
    "LEAN_OPTIONS",
    "Array",
    "address_of",
    "call_for_float",
    "call_for_int",
    "flat",
    "inlined",
    "kernel",
    "kernel_digest",
    "lean",
]

#: An array inside kernels; its element type is numba's to infer.
Array: TypeAlias = NDArray[Any]

F = TypeVar("F", bound=Callable[..., Any])

#: Divisions by zero give inf, as in NumPy; kernels run without the interpreter's lock.
KERNEL_OPTIONS: Any = {"nogil": True, "error_model": "numpy", "_nrt": True}
#: The same for kernels that make no arrays; see `lean`.
LEAN_OPTIONS: Any = {**KERNEL_OPTIONS, "_nrt": False}
#: The same for small ones of them; see `flat`.
FLAT_OPTIONS: Any = {**LEAN_OPTIONS, "forceinline": True}

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
        super().__init__(py_func)
        self._cache_file = caching.IndexDataCacheFile(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=kernel_digest(),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            _announce(cached=True)
        return found


class _NoCache(caching.NullCache):
    """No cache at all: a read-only install, or a numba whose cache works differently."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        _announce(cached=False)


def inlined(function: F) -> F:
    """A `kernel` that is copied into its callers instead of being compiled by itself.

    LLVM optimises a kernel together with all that it calls, again at every level of calls. So whatever stands between the one
    entry kernel and the costly formulas, and is called in one or two places, is better copied: the time to compile halves.
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
    return _compiled(function, KERNEL_OPTIONS)


def lean(function: F) -> F:
    """A `kernel` that makes no arrays, and so counts no references.

    Every alias of an array inside a kernel, every argument and every slice, adds one to a count and takes it off again: two
    calls and two locked instructions, a hundred nanoseconds for a call with a dozen arrays, on which threads wait for each
    other besides. A kernel that makes no arrays can do without: the arrays it is given outlive it. numba refuses to compile
    one that does make arrays.
    """
    return _compiled(function, LEAN_OPTIONS)


def flat(function: F) -> F:
    """A `lean` kernel that the compiler puts into its callers: for small ones, and those with one caller.

    A call passes every array as seven numbers and more, a few hundred for the state of a run: a tenth of a microsecond or two.
    """
    return _compiled(function, FLAT_OPTIONS)


def _ignore_literals(dispatcher: Any) -> None:
    """Compile one version for all constants, not one for each: numba takes ``f(0)`` and ``f(1)`` for different types."""
    resolve = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return resolve(tuple(types.unliteral(kind) for kind in args), plain)

    dispatcher.get_call_template = get_call_template


def _compiled(function: F, options: Any) -> F:
    dispatcher = numba.njit(**options)(function)
    _ignore_literals(dispatcher)
    try:
        dispatcher._cache = _StampedCache(function)
    except Exception:
        # RuntimeError where no place is writable; anything else if numba's internals have moved. Uncached is safe.
        dispatcher._cache = _NoCache()
    return dispatcher  # type: ignore[no-any-return]


def address_of(compiled: Callable[..., Any], *arguments: Any) -> int:
    """Where the version of a kernel for arguments of these types lies in this process; compiles it if need be.

    A kernel that is called by its address, with `call_for_int` or `call_for_float`, is no part of its caller: it is not optimised
    again with it, and need not be compiled at all where the caller does not come to it.
    """
    dispatcher: Any = compiled
    kinds = tuple(numba.typeof(x) for x in arguments)
    dispatcher.compile(kinds)
    result = dispatcher.overloads[kinds]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def _calling(result: Any) -> Any:
    def call(typingctx: Any, address: Any, arguments: Any) -> Any:
        kinds = [types.unliteral(kind) for kind in arguments.types]

        def codegen(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            convention = context.call_conv
            pointer = convention.get_function_type(result, kinds).as_pointer()
            values = [
                context.cast(builder, value, have, want)
                for value, have, want in zip(
                    cgutils.unpack_tuple(builder, given[1]), signature.args[1].types, kinds, strict=True
                )
            ]
            function = builder.inttoptr(given[0], pointer)
            status, value = convention.call_function(builder, function, result, kinds, values)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return value

        return result(types.int64, arguments), codegen

    return intrinsic(call)


#: ``call_for_int(address, (x, y, ...))``, in kernels only: the kernel at that address, which returns an int or a float.
call_for_int: Any = _calling(types.int64)
call_for_float: Any = _calling(types.float64)
