"""From trials to curves: samples against measured error, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_delta, check_integer
from linkarms.paper._sweep import Sweep
from linkarms.paper.published import Figure, curves

__all__ = ["AtError", "Point", "compare_at_error", "curve_points", "paper_at_error", "samples_at_error"]


@dataclass(frozen=True)
class Point:
    """One rule at one level.

    Attributes
    ----------
    rule, level
        Which; the level is that of the evidence, or samples of each arm for ``"fixed"``.
    trials, unstopped : int
        Trials, and those in which the level was not reached within the budget. These count as errors, with the samples of
        the budget: what is measured is the rule that gives up there.
    samples, samples_low, samples_high : float
        Mean, and its 95% t interval; NaN for a single trial.
    errors, error, error_low, error_high
        Wrong partitions and trials without an answer, their share, and its exact 95% (Clopper-Pearson) interval.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import curve_points, run_sweep
    >>> sweep = run_sweep(la.problems.synthetic1(), ["fixed"], levels=[1.0], sizes=[2, 50], theta=(-5, 5), trials=10)["fixed"]
    >>> point = curve_points("fixed", sweep)[1]
    >>> point.level, point.samples, point.trials
    (50.0, 300.0, 10)
    """

    rule: str
    level: float
    trials: int
    unstopped: int
    samples: float
    samples_low: float
    samples_high: float
    errors: int
    error: float
    error_low: float
    error_high: float


def curve_points(rule: str, sweep: Sweep) -> list[Point]:
    """Return the points of one rule, one per level.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import curve_points, run_sweep
    >>> sweep = run_sweep(la.problems.synthetic1(), ["fixed"], levels=[1.0], sizes=[2, 50], theta=(-5, 5), trials=10)["fixed"]
    >>> [(point.level, point.samples) for point in curve_points("fixed", sweep)]
    [(2.0, 12.0), (50.0, 300.0)]
    """
    from scipy import stats

    n, spent, failed = len(sweep.samples), sweep.spent, sweep.failed
    points = []
    for j, level in enumerate(sweep.levels):
        mean, k = float(spent[:, j].mean()), int(failed[:, j].sum())
        half = math.nan
        if n > 1:
            half = float(stats.t.ppf(0.975, n - 1) * spent[:, j].std(ddof=1) / math.sqrt(n))
        exact = stats.binomtest(k, n).proportion_ci(0.95, "exact")
        points.append(
            Point(
                rule,
                float(level),
                n,
                int(sweep.unstopped[:, j].sum()),
                mean,
                mean - half,
                mean + half,
                k,
                k / n,
                float(exact.low),
                float(exact.high),
            )
        )
    return points


def samples_at_error(
    error: NDArray[np.float64], samples: NDArray[np.float64], target: float, least: float
) -> float:
    """Return the samples at which a curve first reaches ``target``, linear in ``log(1/error)`` between levels.

    Parameters
    ----------
    error, samples : ndarray, shape (J,)
        Measured error and mean samples by level. Where the error rises again by chance, the smallest so far is used.
    target : float
        The error.
    least : float
        Used for an error of zero, which has no logarithm: half an error in all trials.

    Returns
    -------
    float
        NaN where the curve begins below the target or does not get there.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.paper import samples_at_error
    >>> samples_at_error(np.array([0.4, 0.1]), np.array([10.0, 30.0]), 0.2, 0.001)
    20.0
    """
    x = np.maximum.accumulate(-np.log(np.maximum(error, least)))
    goal = -math.log(target)
    there = np.flatnonzero(x >= goal)
    if len(there) == 0 or (there[0] == 0 and x[0] > goal):
        return math.nan
    j = int(there[0])
    if x[j] == goal:
        return float(samples[j])
    share = (goal - x[j - 1]) / (x[j] - x[j - 1])
    return float(samples[j - 1] + share * (samples[j] - samples[j - 1]))


def paper_at_error(figure: Figure, errors: Sequence[float]) -> dict[str, tuple[float, ...]]:
    """Return the samples of the paper's curves in Figure 4 or 5 at these errors, by rule; NaN where a curve does not reach.

    Examples
    --------
    >>> from linkarms.paper import paper_at_error
    >>> round(paper_at_error("figure4", [0.3])["round-robin"][0])
    852
    """
    return {
        c.rule: tuple(samples_at_error(np.exp(-np.array(c.x)), np.array(c.samples), e, 0.0) for e in errors)
        for c in curves(figure)
    }


@dataclass(frozen=True)
class AtError:
    """What one rule needs for a given error, and how that compares with another rule.

    Attributes
    ----------
    rule, error
        Which.
    samples, low, high : float
        Mean samples at the measured error, and its bootstrap interval; NaN where the curve does not get there.
    ratio, ratio_low, ratio_high : float
        Samples over those of the reference rule, with the interval of the same resampled trials.
    missed : float
        Share of the bootstrap's curves that do not get to the error; the intervals are over the others.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import compare_at_error, run_sweep
    >>> sweeps = run_sweep(la.problems.synthetic1(), ["fixed"], levels=[1.0], sizes=[1, 2, 50], theta=(-5, 5), trials=50)
    >>> (found,) = compare_at_error(sweeps, [0.2], reference="fixed", resamples=50)
    >>> found.rule, found.error, found.ratio
    ('fixed', 0.2, 1.0)
    """

    rule: str
    error: float
    samples: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    missed: float


def compare_at_error(
    sweeps: Mapping[str, Sweep],
    errors: Sequence[float],
    *,
    reference: str = "round-robin",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[AtError]:
    """Return the samples of each rule at equal measured error.

    Trials are resampled as a whole, with all rules and levels, since rules see the same samples; the interval is that of the bootstrap's
    quantiles. A trial that does not get to a level counts as an error, with the samples of the budget.

    Parameters
    ----------
    sweeps : dict of str to Sweep
        The trials, from `run_sweep`.
    errors : sequence of float
        The errors to compare at.
    reference : str, default "round-robin"
        The rule in the denominator of the ratio.
    resamples, confidence, seed
        Of the bootstrap.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import compare_at_error, run_sweep
    >>> sweeps = run_sweep(la.problems.synthetic1(), ["fixed"], levels=[1.0], sizes=[1, 2, 50], theta=(-5, 5), trials=50)
    >>> (found,) = compare_at_error(sweeps, [0.2], reference="fixed", resamples=50)
    >>> found.low <= found.samples <= found.high
    True
    """
    check_integer("resamples", resamples, 1)
    tail = (1.0 - check_delta(confidence, "confidence")) / 2.0
    n = min(len(s.samples) for s in sweeps.values())
    rng = np.random.default_rng(np.random.SeedSequence(check_integer("seed", seed, 0)))
    weights = np.vstack([np.full(n, 1.0 / n), rng.multinomial(n, np.full(n, 1.0 / n), size=resamples) / n])
    found = {}
    for rule, sweep in sweeps.items():
        times = weights @ sweep.spent[:n]
        wrong = weights @ sweep.failed[:n].astype(np.float64)
        found[rule] = np.array(
            [
                [samples_at_error(e, t, check_delta(goal, "errors"), 0.5 / n) for goal in errors]
                for e, t in zip(wrong, times, strict=True)
            ]
        )
    rows = []
    for rule, at in found.items():
        ratio = at / found[reference] if reference in found else np.full_like(at, math.nan)
        for i, goal in enumerate(errors):
            low, high = _quantiles(at[1:, i], tail)
            ratio_low, ratio_high = _quantiles(ratio[1:, i], tail)
            missed = float(np.isnan(at[1:, i]).mean())
            rows.append(
                AtError(
                    rule, goal, float(at[0, i]), low, high, float(ratio[0, i]), ratio_low, ratio_high, missed
                )
            )
    return rows


def _quantiles(values: NDArray[np.float64], tail: float) -> tuple[float, float]:
    there = values[~np.isnan(values)]
    if len(there) == 0:
        return math.nan, math.nan
    low, high = np.quantile(there, [tail, 1.0 - tail])
    return float(low), float(high)
