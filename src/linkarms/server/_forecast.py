"""Forecast when a run will stop, from its evidence so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkarms.campaign import Look

__all__ = ["Forecast", "forecast"]

#: No forecast with fewer looks.
_ENOUGH = 6
#: No forecast beyond so many times the samples so far.
_FAR = 20.0


@dataclass(frozen=True)
class Forecast:
    """Samples at the stop, and when that will be.

    Attributes
    ----------
    low, middle, high : int
        Samples of the whole run at its stop: the guess, and where the guesses of different stretches of the run lie.
    seconds : float or None
        Seconds until then, at the recent pace; None if no pace is known.
    """

    low: int
    middle: int
    high: int
    seconds: float | None


def forecast(looks: Sequence[Look]) -> Forecast | None:
    """Follow evidence and threshold along straight lines to where they meet.

    The evidence grows like ``psi`` times the samples and the threshold like their logarithm, so over a stretch the difference of
    both is nearly linear in the samples. Lines through the last third, half and two thirds of the run give three guesses. None where it
    is too early to say, or where the evidence does not catch up.

    Parameters
    ----------
    looks : sequence of Look
        As `linkarms.campaign.Trace` has them.
    """
    if len(looks) < _ENOUGH:
        return None
    samples = np.array([look.samples for look in looks], dtype=np.float64)
    gap = np.array([look.threshold - look.evidence for look in looks])
    now = samples[-1]
    if gap[-1] <= 0.0:
        return None
    guesses = [
        guess for start in (1 / 3, 1 / 2, 2 / 3) if (guess := _meeting(samples, gap, now * start)) is not None
    ]
    if len(guesses) < 2:
        return None
    low, middle, high = np.quantile(guesses, [0.0, 0.5, 1.0])
    half = int(np.searchsorted(samples, now / 2))
    seconds = looks[-1].at - looks[half].at
    pace = (now - samples[half]) / seconds if seconds > 0.0 else 0.0
    return Forecast(
        round(low), round(middle), round(high), float((middle - now) / pace) if pace > 0.0 else None
    )


def _meeting(samples: NDArray[np.float64], gap: NDArray[np.float64], start: float) -> float | None:
    """Where a line through the gap from ``start`` on comes to zero."""
    late = samples >= start
    if late.sum() < 3:
        return None
    # looks are denser early on: weigh each by the samples that it stands for
    weight = np.sqrt(np.gradient(samples[late]))
    slope, level = np.polyfit(samples[late] - samples[-1], gap[late], 1, w=weight)
    if slope >= 0.0:
        return None
    remaining = max(-level / slope, 1.0)
    return float(samples[-1] + remaining) if remaining < _FAR * samples[-1] else None
