"""A user's own functions as data: addresses that compiled code can call.

A kernel that took functions as arguments would be compiled again in every process. An address is a number, so the kernels
of the package stay cached whatever families a user writes.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from linkarms._jit import KERNEL_OPTIONS
from linkarms.errors import CallbackError, InvalidInput

__all__ = ["Callback", "CallbackTable", "call_address"]

_SIGNATURE = types.float64(types.float64, types.float64)
_C_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


def _call_address(typingctx: Any, table: Any, k: Any, x: Any, y: Any) -> Any:
    """Call ``double f(double, double)``, the ``k``-th function of the table at address ``table`` (only inside kernels)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        double = ir.DoubleType()
        pointer = ir.FunctionType(double, [double, double]).as_pointer()
        entry = builder.add(args[0], builder.mul(args[1], ir.Constant(ir.IntType(64), 8)))
        function = builder.load(builder.inttoptr(entry, pointer.as_pointer()))
        return builder.call(function, args[2:])

    return types.float64(types.int64, types.int64, types.float64, types.float64), codegen


call_address: Any = intrinsic(_call_address)


class Callback:
    """One user function of two numbers, compiled where asked for, else called in the interpreter.

    An exception in an interpreted function cannot cross compiled code: it is kept, the function answers NaN, and
    `raise_pending` raises it once the kernel has returned.
    """

    def __init__(self, function: Callable[[float, float], float], compiled: bool) -> None:
        self.function = function
        self.pending: Exception | None = None
        self._native: Any
        if compiled:
            try:
                options = {k: v for k, v in KERNEL_OPTIONS.items() if k != "nogil"}
                self._native = numba.cfunc(_SIGNATURE, **options)(function)
            except Exception as error:
                name = getattr(function, "__name__", "the function")
                raise InvalidInput(
                    f"{name} of a family with compiled=True does not compile: {str(error).splitlines()[0]}; use only "
                    "numbers and the math module in it, or set compiled=False"
                ) from error
            self.address = int(self._native.address)
        else:
            self._native = _C_SIGNATURE(self._guarded)
            self.address = ctypes.cast(self._native, ctypes.c_void_p).value or 0

    def _guarded(self, x: float, y: float) -> float:
        try:
            return float(self.function(x, y))
        except Exception as error:
            self.pending = self.pending or error
            return math.nan

    def raise_pending(self) -> None:
        """Raise what the function raised since the last call, as the cause of a `CallbackError`."""
        error, self.pending = self.pending, None
        if error is not None:
            name = getattr(self.function, "__qualname__", "a callback")
            raise CallbackError(
                f"{name} raised {type(error).__name__}: {error}; mend the family's function"
            ) from error


class CallbackTable:
    """The functions of one family, and the address of the table of their addresses."""

    def __init__(self, callbacks: list[Callback]) -> None:
        self.callbacks = callbacks
        self._table = np.array([c.address for c in callbacks], dtype=np.int64)

    @property
    def address(self) -> int:
        """Where the table lies; valid as long as this object lives."""
        return int(self._table.ctypes.data)
