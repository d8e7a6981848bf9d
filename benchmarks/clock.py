"""Rounds of several contenders in turn, and what is reported about their times."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spread", "interleave", "nanoseconds", "ratio", "spread"]

#: Median and quartiles: ``{"median": ..., "low": ..., "high": ...}``.
Spread: TypeAlias = dict[str, float]

#: Processor time of this thread. Everything that is timed runs in one thread, and other processes then disturb it little.
nanoseconds = time.thread_time_ns


def interleave(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, NDArray[np.float64]]:
    """Run each contender once per round, in an order that is reversed each time, so that a slow minute affects all of them.

    Parameters
    ----------
    contenders : mapping
        Name -> function that runs one round and returns nanoseconds per step.
    rounds : int
        How many rounds.

    Returns
    -------
    dict
        Name -> nanoseconds per step, shape (rounds,).
    """
    times = {name: np.empty(rounds) for name in contenders}
    order = list(contenders)
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for r in range(rounds):
            for name in order:
                times[name][r] = contenders[name]()
            order.reverse()
    finally:
        if collecting:
            gc.enable()
    return times


def spread(values: NDArray[np.float64]) -> Spread:
    """Return the median and the quartiles."""
    low, median, high = (float(x) for x in np.quantile(values, (0.25, 0.5, 0.75)))
    return {"median": median, "low": low, "high": high}


def ratio(over: NDArray[np.float64], under: NDArray[np.float64]) -> Spread:
    """Return the median and the quartiles of the ratios within each round."""
    return spread(over / under)
