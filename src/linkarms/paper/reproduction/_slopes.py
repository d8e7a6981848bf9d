"""Samples per ``log(1/delta)``: slopes of the curves, beside Theorem 3 and the certified T* (Table 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkarms.bound import lower_bound
from linkarms.paper.published import Slope, slopes
from linkarms.paper.reproduction._deviation import Deviation, Limit, compare
from linkarms.paper.reproduction._runs import CurveRun, CurveSettings

__all__ = ["LAST", "SlopeRow", "bracket", "last_slope", "slope_rows", "theorem3"]

#: The paper does not say how it took its slopes. Least squares through the last four of ten points gives its printed ones, cut
#: after the second decimal, from its own coordinates.
LAST = 4


@dataclass(frozen=True)
class SlopeRow:
    """The slope of one curve.

    Attributes
    ----------
    curve, rule : str
        Which.
    deviation : Deviation
        Our slope beside the same slope of the paper's coordinates.
    printed : float or None
        What the paper prints, where it prints this curve's.
    theory : tuple of float or None
        Ends of the bracket of the theoretical slope: Theorem 3 for EBC, twice T* for ATBOC; None where there is none.
    theory_printed : float or None
        The paper's, which is rounded.
    t_star : tuple of float
        The certified bracket of T*.
    """

    curve: str
    rule: str
    deviation: Deviation
    printed: float | None
    theory: tuple[float, float] | None
    theory_printed: float | None
    t_star: tuple[float, float]


def last_slope(x: Sequence[float], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least-squares slope through the last points.

    Parameters
    ----------
    x : sequence of float, length J
    y : ndarray, shape (..., J)

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.paper.reproduction import last_slope
    >>> float(last_slope([0, 1, 2, 3, 4], np.array([9.0, 1.0, 3.0, 5.0, 7.0])))
    2.0
    """
    centred = np.array(x[-LAST:], dtype=np.float64)
    centred = centred - centred.mean()
    return np.asarray(y[..., -LAST:] @ centred / (centred @ centred))


def bracket(settings: CurveSettings) -> tuple[float, float]:
    """Return ``lower <= T* <= upper`` on the curve's problem."""
    problem = settings.problem
    found = lower_bound(problem.parameters, problem.n_clusters, problem.family)
    return found.lower, found.upper


def theorem3(settings: CurveSettings, t_star: tuple[float, float]) -> tuple[float, float]:
    """Return Theorem 3's slope, ``1 / (1/T* - eta(epsilon))``, as a bracket; infinite where ``1/T* <= eta(epsilon)``.

    ``eta`` is the largest, over Theta, of what the threshold grows by with each sample. It does not depend on the mean of a
    Gaussian and falls with the parameter of an exponential, so the lower end of Theta has it.
    """
    problem, stop = settings.problem, settings.stopping
    if stop is None:
        raise ValueError("only the paper's stop has an epsilon")
    ends = stop.box(problem.n_features)[:, 0]
    model = problem.arm_families.model
    eta = max(model.shift_kl(m, np.ascontiguousarray(ends), stop.epsilon) for m in range(problem.n_arms))
    low, high = (1.0 / t - eta for t in t_star)
    return (1.0 / low if low > 0 else np.inf), (1.0 / high if high > 0 else np.inf)


def slope_rows(piece: str, runs: Sequence[CurveRun], limits: Mapping[str, Limit]) -> list[SlopeRow]:
    """Return one row per curve."""
    rows = []
    stars: dict[str | None, tuple[float, float]] = {}
    for run in runs:
        s = run.settings
        if s.parameter not in stars:
            stars[s.parameter] = bracket(s)
        star = stars[s.parameter]
        theirs = float(last_slope(s.paper.x, np.array(s.paper.samples)))
        limit = None if s.parameter == "mean" else limits[s.paper.rule]
        printed = _printed(s, theirs)
        theory = None
        if s.paper.rule == "atboc":
            theory = (2.0 * star[0], 2.0 * star[1])
        elif s.paper.rule == "ebc":
            theory = theorem3(s, star)
        deviation = compare(
            (piece, s.label, "slope"), last_slope(s.paper.x, run.spent), theirs, s.paper.trials, limit
        )
        rows.append(
            SlopeRow(
                s.label,
                s.paper.rule,
                deviation,
                None if printed is None else printed.numerical,
                theory,
                None if printed is None else printed.theoretical,
                star,
            )
        )
    return rows


def _printed(settings: CurveSettings, theirs: float) -> Slope | None:
    """Return the row that the paper prints for this curve. The paper does not name Theta; the slope of the coordinates identifies it."""
    for row in slopes("figure2" if settings.parameter is None else "figure3"):
        same = row.rule == settings.paper.rule and row.epsilon == settings.paper.epsilon
        if same and row.numerical is not None and abs(row.numerical - theirs) < _digit(row.numerical):
            return row
    return None


def _digit(x: float) -> float:
    """Return one unit of the last printed decimal, plus a small margin for the rounding of the coordinates."""
    return 1.1 * 10.0 ** -len(repr(x).partition(".")[2])
