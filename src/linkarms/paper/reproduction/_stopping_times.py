"""Figures 2 and 3: mean stopping time against ``log(1/delta)``; and Table 1, their slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from linkarms.paper.published import Curve, curves, slopes
from linkarms.paper.reproduction._deviation import Deviation, Limit, compare
from linkarms.paper.reproduction._piece import Piece
from linkarms.paper.reproduction._runs import (
    MAX_SAMPLES,
    CurveRun,
    CurveSettings,
    Execution,
    available,
    run_curve,
)
from linkarms.paper.reproduction._slopes import SlopeRow, bracket, slope_rows

__all__ = [
    "LIMITS",
    "Slopes",
    "StoppingTimes",
    "Trials",
    "curve_settings",
    "run_stopping_times",
    "run_table1",
]

Figure = Literal["figure2", "figure3"]
Trials = int | Mapping[str, int] | None
TITLES = {
    "figure2": "Synthetic Dataset 1: samples at the stop",
    "figure3": "Synthetic Dataset 2: samples at the stop",
}
#: By figure and rule. EBC's times on Synthetic Dataset 2 have a heavy tail; the stops of ATBOC and LUCBBOC were inferred from the figure.
LIMITS = {
    "figure2": {
        "ebc": Limit(4.0),
        "ebc-h": Limit(4.0),
        "atboc": Limit(10.0, None),
        "lucbboc": Limit(10.0, None),
    },
    "figure3": {"ebc": Limit(8.0), "ebc-h": Limit(4.0)},
}
#: Standard errors beyond which a difference is not due to chance.
_CHANCE = 3.0
#: The Theta for which Synthetic Dataset 2 is run by the mean, too.
_SMALL = (0.1, 50.0)
#: Trials of each curve with ``quick``; and the most of those that are only for information.
QUICK, _OTHER_READING = 30, 20


@dataclass(frozen=True)
class StoppingTimes:
    """The curves of Figure 2 or 3.

    Attributes
    ----------
    figure : str
        Which.
    runs : tuple of CurveRun
        Ours; the paper's are in their settings.
    t_star : dict of str to (float, float)
        The certified bracket of T*, by what is clustered: ``"mean"`` or ``"rate"``.
    """

    figure: str
    runs: tuple[CurveRun, ...]
    t_star: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Slopes:
    """Table 1: one row per curve of Figure 2."""

    rows: tuple[SlopeRow, ...]


def curve_settings(figure: Figure, trials: Trials, quick: bool, seed: int) -> list[CurveSettings]:
    """The curves of a figure, those that this version has no rule for among them.

    ``trials=None`` takes the paper's, curve by curve; a dict does so for rules that it does not name. The parameters of Synthetic
    Dataset 2 are taken as rates and, for the smaller Theta and at most 20 trials, also as means.
    """
    parameters: Sequence[Any] = (None,) if figure == "figure2" else ("rate", "mean")
    return [
        CurveSettings(c, _trials(c, trials, quick, parameter), seed, parameter)
        for parameter in parameters
        for c in curves(figure)
        if parameter != "mean" or c.theta == _SMALL
    ]


def _trials(curve: Curve, trials: Trials, quick: bool, parameter: str | None) -> int:
    given = trials.get(curve.rule) if isinstance(trials, Mapping) else trials
    n = given or (QUICK if quick else curve.trials or 100)
    return min(n, _OTHER_READING) if parameter == "mean" else n


def _run_all(wanted: Sequence[CurveSettings], execution: Execution) -> tuple[list[CurveRun], tuple[str, ...]]:
    able = [s for s in wanted if available(s.paper.rule)]
    missing = dict.fromkeys(s.paper.rule for s in wanted if not available(s.paper.rule))
    runs = [run_curve(s, execution, i / len(able), 1.0 / len(able)) for i, s in enumerate(able)]
    return runs, tuple(missing)


def run_stopping_times(figure: Figure, trials: Trials, quick: bool, seed: int, execution: Execution) -> Piece:
    """Figure 2 or 3."""
    runs, missing = _run_all(curve_settings(figure, trials, quick, seed), execution)
    star = {
        "rate" if r.settings.parameter == "rate" else "mean": bracket(r.settings) for r in _one_each(runs)
    }
    limits = _limits(figure, quick)
    deviations = [d for run in runs for d in _curve_deviations(figure, run, limits)]
    tables: dict[str, Any] = {figure: [_row(run, j) for run in runs for j in range(run.times.shape[1])]}
    if figure == "figure3":
        rows = slope_rows("figure3", runs, limits)
        tables["figure3-slopes"] = [slope_dict(r) for r in rows]
        deviations += [r.deviation for r in rows]
    return Piece(
        figure,
        TITLES[figure],
        StoppingTimes(figure, tuple(runs), star),
        tuple(deviations),
        tables,
        _settings(runs, seed),
        (*_remarks(figure, runs, star), *_no_chance(deviations)),
        _mistakes(runs),
        missing,
    )


def run_table1(trials: Trials, quick: bool, seed: int, execution: Execution) -> Piece:
    """Table 1, from the same trials as Figure 2."""
    runs, missing = _run_all(curve_settings("figure2", trials, quick, seed), execution)
    rows = slope_rows("table1", runs, _limits("figure2", quick))
    (bound,) = (s for s in slopes("figure2") if s.rule == "lower-bound")
    low, high = rows[0].t_star if rows else bracket(curve_settings("figure2", 1, True, seed)[0])
    remarks = (
        f"The certified T* is between {low:.4f} and {high:.4f}; the paper prints {bound.theoretical:g}, rounded, and its other "
        "theoretical slopes follow from that.",
        "The paper does not say how it took its slopes. A least-squares line through the last four of its ten coordinates gives its "
        "printed numbers, so that is what is taken here, of its coordinates and of our trials.",
    )
    return Piece(
        "table1",
        "Slopes of Figure 2: samples per log(1/delta)",
        Slopes(tuple(rows)),
        tuple(r.deviation for r in rows),
        {"table1": [slope_dict(r) for r in rows]},
        _settings(runs, seed),
        remarks,
        (),
        missing,
    )


def slope_dict(row: SlopeRow) -> dict[str, Any]:
    """A slope as a row of a table."""
    d, theory = row.deviation, row.theory or (None, None)
    return {
        "curve": row.curve,
        "slope": d.ours,
        "standard_error": d.standard_error,
        "paper_coordinates": d.paper,
        "paper_printed": row.printed,
        "theory_low": theory[0],
        "theory_high": theory[1],
        "paper_theory": row.theory_printed,
        "t_star_low": row.t_star[0],
        "t_star_high": row.t_star[1],
        "trials": d.trials,
    }


def _one_each(runs: Sequence[CurveRun]) -> list[CurveRun]:
    return list({r.settings.parameter: r for r in runs}.values())


def _limits(figure: Figure, quick: bool) -> dict[str, Limit]:
    """Allow three standard errors to every rule: with few trials, a percentage alone would be missed by chance."""
    return {rule: Limit(x.percent, _CHANCE) if quick else x for rule, x in LIMITS[figure].items()}


def _curve_deviations(figure: Figure, run: CurveRun, limits: Mapping[str, Limit]) -> list[Deviation]:
    s = run.settings
    limit = None if s.parameter == "mean" else limits[s.paper.rule]
    return [
        compare((figure, s.label, f"{x:g}"), run.spent[:, j], theirs, s.paper.trials, limit)
        for j, (x, theirs) in enumerate(zip(s.paper.x, s.paper.samples, strict=True))
    ]


def _row(run: CurveRun, j: int) -> dict[str, Any]:
    s, values = run.settings, run.spent[:, j]
    theta: tuple[float | None, float | None] = s.paper.theta or (None, None)
    return {
        "rule": s.paper.rule,
        "theta_low": theta[0],
        "theta_high": theta[1],
        "epsilon": s.paper.epsilon,
        "parameter": s.parameter,
        "log_inverse_delta": s.paper.x[j],
        "trials": len(values),
        "mean": float(values.mean()),
        "standard_error": float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else None,
        "median": float(np.median(values)),
        "errors": int(run.wrong[:, j].sum()),
        "unstopped": int((run.times[:, j] < 0).sum()),
        "paper": s.paper.samples[j],
        "paper_trials": s.paper.trials,
    }


def _settings(runs: Sequence[CurveRun], seed: int) -> dict[str, Any]:
    return {
        "seed": seed,
        "max_samples": MAX_SAMPLES,
        "trials": {r.settings.label: r.settings.trials for r in runs},
    }


def _remarks(
    figure: Figure, runs: Sequence[CurveRun], star: dict[str, tuple[float, float]]
) -> tuple[str, ...]:
    words = [
        f"Samples per log(1/delta) that no rule can avoid (T*): between {low:.4f} and {high:.4f}"
        + (f", parameters as {kind}s." if figure == "figure3" else ".")
        for kind, (low, high) in star.items()
    ]
    words.append(
        "The points of one curve come from the same trials, so their deviations go together."
        + (
            " LUCBBOC looks at delta and is run again for each."
            if any(r.settings.paper.rule == "lucbboc" for r in runs)
            else ""
        )
    )
    if figure == "figure3":
        words.append(
            "The paper does not say whether its parameters are rates or means. Rates are judged; means are shown for information. "
            + "; ".join(f"{r.settings.label}: {_average(r):+.1f}%" for r in runs)
            + ", averaged over the points."
        )
        first = [r for r in runs if r.settings.paper.rule == "ebc" and r.settings.parameter == "rate"]
        words += [
            f"{r.settings.label}: at log(1/delta) = {r.settings.paper.x[0]:g} the mean is {r.spent[:, 0].mean():.0f}, the median "
            f"{np.median(r.spent[:, 0]):.0f} and the largest {r.spent[:, 0].max():.0f}: in a few runs an early, poor estimate throws "
            "nearly all weight on one arm, and EBC's steps of 1/sqrt(t) take thousands of samples to bring it back. A mean over "
            f"{r.settings.paper.trials} runs, the paper's, is uncertain."
            for r in first
        ]
    return tuple(words)


def _no_chance(deviations: Sequence[Deviation]) -> list[str]:
    """Return remarks about numbers that are within their limit in percent, but farther off than chance explains."""
    far = [d for d in deviations if d.verdict == "within" and abs(d.standard_errors) > _CHANCE]
    return [
        f"{d.curve}, at {d.point}: {d.percent:+.1f}% is within its limit, and still {abs(d.standard_errors):.1f} standard errors off: "
        "hardly chance."
        for d in far
    ]


def _average(run: CurveRun) -> float:
    """Mean deviation of a curve's points, in percent."""
    return float(100.0 * (run.spent.mean(axis=0) / np.array(run.settings.paper.samples) - 1.0).mean())


def _mistakes(runs: Sequence[CurveRun]) -> tuple[str, ...]:
    """Return remarks about trials that did not stop; they enter the mean with the whole budget."""
    return tuple(
        f"{r.settings.label}: {r.unstopped} of {len(r.times)} runs did not stop within {MAX_SAMPLES} samples"
        for r in runs
        if r.unstopped
    )
