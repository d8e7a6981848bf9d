"""A user's own functions for the native core: Python callables that report their errors, or addresses of compiled functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeAlias

from linkarms.errors import CallbackError, InvalidInput

__all__ = ["Native", "native_function"]

#: The class of all ctypes functions.
_C_FUNCTION: Any = ctypes.CFUNCTYPE(ctypes.c_double).__mro__[1]

#: What the core calls: a Python callable, or the address of ``double f(double)`` or ``double f(double, double)``.
Native: TypeAlias = Callable[..., float] | int


def native_function(function: Any, what: str, n_arguments: int, compiled: bool) -> Native:
    """Return ``function`` as the core can call it.

    Parameters
    ----------
    function : callable, ctypes function, numba cfunc or scipy.LowLevelCallable
        A function of ``n_arguments`` numbers that returns one.
    what : str
        Its name, for messages.
    n_arguments : int
        1 or 2.
    compiled : bool
        The user promised a compiled function: a Python one is refused.
    """
    address = _address(function, what, n_arguments)
    if address is not None:
        return address
    if compiled:
        raise InvalidInput(
            f"{what} of a family with compiled=True is a Python function; give a scipy.LowLevelCallable, a ctypes function or a "
            "numba cfunc, or set compiled=False"
        )
    return _guarded(function, what)


def _guarded(function: Callable[..., Any], what: str) -> Callable[..., float]:
    """Return the function with its exceptions as the cause of a `CallbackError`."""

    def call(*numbers: float) -> float:
        try:
            return float(function(*numbers))
        except Exception as error:
            raise CallbackError(
                f"{what} raised {type(error).__name__}: {error}; correct the family's function"
            ) from error

    return call


def _address(function: Any, what: str, n_arguments: int) -> int | None:
    """Return the address of a compiled function after a check of its signature; None for a Python function."""
    if type(function).__name__ == "LowLevelCallable":
        function = function.function
    function = getattr(function, "ctypes", function)  # numba's cfunc
    if type(function).__name__ == "PyCapsule":
        return _capsule_address(function, what, n_arguments)
    if not isinstance(function, _C_FUNCTION):
        return None
    if (
        function.restype is not ctypes.c_double
        or list(function.argtypes or ()) != [ctypes.c_double] * n_arguments
    ):
        raise _wrong_signature(what, n_arguments)
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def _capsule_address(capsule: Any, what: str, n_arguments: int) -> int:
    """Return the pointer in a capsule, whose name is the signature (as SciPy and Cython make them)."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = api.PyCapsule_GetName(capsule)
    if (name or b"").replace(b" ", b"") != b"double(" + b",".join([b"double"] * n_arguments) + b")":
        raise _wrong_signature(what, n_arguments)
    return int(api.PyCapsule_GetPointer(capsule, name))


def _wrong_signature(what: str, n_arguments: int) -> InvalidInput:
    wanted = ", ".join(["double"] * n_arguments)
    return InvalidInput(f"{what} is compiled with another signature; it must be double({wanted})")
