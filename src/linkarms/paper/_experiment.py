"""What an experiment on real data returns."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from linkarms.datasets import LoadReport
from linkarms.paper._choice import Choice
from linkarms.paper._curve import AtError, Point, compare_at_error, curve_points, paper_at_error
from linkarms.paper._fit import Fit
from linkarms.paper._sweep import Sweep
from linkarms.paper.published import Curve, Figure, curves
from linkarms.problem import Problem

__all__ = ["Experiment"]


@dataclass(frozen=True)
class Experiment:
    """Samples against measured error on recorded arms.

    Attributes
    ----------
    name, figure : str
        ``"taxi"`` or ``"movielens"``, and the paper's figure.
    problem : Problem
        The arms; ``problem.labels`` is the partition of the full records.
    choice : Choice
        Which arms, and why.
    report : LoadReport
        What became of the rows of the files.
    sweeps : dict of str to Sweep
        The trials of each rule.
    fit : list of Fit
        How well the model fits.
    targets : tuple of float
        The errors at which rules are compared.
    settings : dict
        Everything that was set, for a report.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.datasets import Bookings, LoadReport
    >>> from linkarms.paper import run_taxi
    >>> rng = np.random.default_rng(0)
    >>> gaps = {str(zone): rng.exponential(mean, 200) for zone, mean in enumerate([200, 300, 900, 1200, 1300, 3000])}
    >>> found = run_taxi(Bookings(gaps, LoadReport("simulated", 1200, 1200, {}), (0, 24)), trials=5, rules=["fixed"])
    >>> found.name, found.figure, len(found.points())
    ('taxi', 'figure4', 14)
    """

    name: str
    figure: Figure
    problem: Problem = field(repr=False)
    choice: Choice
    report: LoadReport
    sweeps: Mapping[str, Sweep] = field(repr=False)
    fit: list[Fit] = field(repr=False)
    targets: tuple[float, ...]
    settings: Mapping[str, Any]

    def points(self) -> list[Point]:
        """Return mean samples and error by rule and level, with intervals."""
        return [p for rule, sweep in self.sweeps.items() for p in curve_points(rule, sweep)]

    def published(self) -> tuple[Curve, ...]:
        """Return the paper's curves."""
        return curves(self.figure)

    def at_error(self, errors: Sequence[float] | None = None, **options: Any) -> list[AtError]:
        """Return the samples of each rule at equal measured error; see `compare_at_error` for the options."""
        return compare_at_error(self.sweeps, self.targets if errors is None else errors, **options)

    def paper_at_error(self, errors: Sequence[float] | None = None) -> dict[str, tuple[float, ...]]:
        """Return the paper's samples at these errors, by rule, read from its curves like ours; NaN where a curve does not reach."""
        goals = self.targets if errors is None else errors
        return paper_at_error(self.figure, goals)

    def to_csv(self, folder: str | Path) -> list[Path]:
        """Write ``NAME-points.csv``, ``NAME-at-error.csv`` and ``NAME-fit.csv``; returns the paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        fit = [
            {k: v for k, v in asdict(f).items() if k not in ("quantiles", "model_quantiles")}
            for f in self.fit
        ]
        tables: dict[str, list[dict[str, Any]]] = {
            "points": [asdict(p) for p in self.points()],
            "at-error": [asdict(r) for r in self.at_error()],
            "fit": fit,
        }
        paths = []
        for key, rows in tables.items():
            paths.append(folder / f"{self.name}-{key}.csv")
            with paths[-1].open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(
                    {k: "" if isinstance(v, float) and math.isnan(v) else v for k, v in r.items()}
                    for r in rows
                )
        return paths

    def __str__(self) -> str:
        lines = [
            str(self.report),
            f"arms: {self.choice.rule}; shortest edge cut / longest kept: {self.choice.ratio:.2f}",
        ]
        lines += [
            f"  {label}: {name}" for name, label in zip(self.problem.arms, self.problem.labels, strict=True)
        ]
        lines.append(
            f"{'rule':<13}{'error':>7}{'samples':>10}{'95% interval':>20}{'/ round-robin':>15}{'95% interval':>16}"
        )
        for r in self.at_error():
            interval, ratio = f"{r.low:.1f} .. {r.high:.1f}", f"{r.ratio_low:.2f} .. {r.ratio_high:.2f}"
            lines.append(
                f"{r.rule:<13}{r.error:>7g}{r.samples:>10.1f}{interval:>20}{r.ratio:>15.2f}{ratio:>16}"
            )
        return "\n".join(lines)
