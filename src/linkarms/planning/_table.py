"""The budget, as a table."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._words import least_samples
from linkarms.bound import Bound

__all__ = ["Plan", "PlanRow"]


@dataclass(frozen=True)
class PlanRow:
    """Samples that one pair of rules needs.

    Attributes
    ----------
    sampling, stopping : str
        The rules; the stopping rule with its settings.
    trials, unstopped, errors : int
        Simulated runs, those that did not stop in time, and those that named wrong clusters.
    mean, median, q95 : float or None
        Of the samples until the stop: the mean (None if a run did not stop), the median and the 95% quantile (None if it lies among
        the runs that did not stop).
    mean_low, mean_high, median_low, median_high, q95_low, q95_high : float or None
        95% intervals: of the mean by Student's t, of the quantiles by order statistics; None for an end that the runs cannot tell.
    note : str
        What a reader should know: that the rule never stops, or could not be run, and why.

    Examples
    --------
    >>> import linkarms as la
    >>> plan = la.plan([0.0, 0.4, 5.0, 5.3], n_clusters=2, sampling="ebc-h", stopping="anytime", trials=20, n_jobs=1)
    >>> plan.rows[0].sampling, plan.rows[0].unstopped
    ('ebc-h', 0)
    """

    sampling: str
    stopping: str
    trials: int = 0
    unstopped: int = 0
    errors: int = 0
    mean: float | None = None
    mean_low: float | None = None
    mean_high: float | None = None
    median: float | None = None
    median_low: float | None = None
    median_high: float | None = None
    q95: float | None = None
    q95_low: float | None = None
    q95_high: float | None = None
    note: str = ""


def summarise(
    sampling: str,
    stopping: str,
    times: NDArray[np.int64] | NDArray[np.float64],
    wrong: NDArray[np.bool_],
    max_samples: int,
) -> PlanRow:
    """Return one row from the stopping times, or costs, of simulated runs, shape (trials,); -1 where a run did not stop."""
    from scipy import stats

    n = len(times)
    if n == 0:
        return PlanRow(sampling, stopping, note="interrupted before the first run was finished")
    t = np.where(times < 0, np.inf, times.astype(np.float64))
    unstopped = int(np.isinf(t).sum())
    mean = half = None
    if unstopped == 0:
        mean = float(t.mean())
        half = float(stats.t.ppf(0.975, n - 1) * t.std(ddof=1) / math.sqrt(n)) if n > 1 else None

    def quantile(p: float) -> tuple[float | None, float | None, float | None]:
        test: Any = stats.quantile_test(t, q=0.0, p=p)
        interval = test.confidence_interval(0.95)
        value = np.quantile(t, p, method="inverted_cdf")
        known = [float(x) if np.isfinite(x) else None for x in (value, interval.low, interval.high)]
        return known[0], known[1], known[2]

    median, q95 = quantile(0.5), quantile(0.95)
    note = f"{unstopped} of {n} runs did not stop within {max_samples:,} samples" if unstopped else ""
    low, high = (None, None) if mean is None or half is None else (mean - half, mean + half)
    return PlanRow(
        sampling, stopping, n, unstopped, int(wrong.sum()), mean, low, high, *median, *q95, note=note
    )


@dataclass(frozen=True)
class Plan:
    """What to expect before the first sample.

    Attributes
    ----------
    delta : float
        The promised error probability.
    bound : Bound
        T*, and the proportions of samples that attain it.
    samples : float
        ``T* KL(delta, 1 - delta)``: no rule can promise delta with fewer samples, or at a lower cost, on average.
    arms : tuple
        The names of the arms.
    rows : tuple of PlanRow
        One per pair of rules.

    Examples
    --------
    >>> import linkarms as la
    >>> plan = la.plan([0.0, 0.4, 5.0], n_clusters=2, stopping="anytime", trials=5)
    >>> [row.sampling for row in plan.rows], plan.samples > 1
    (['ebc', 'ebc-h', 'round-robin'], True)
    """

    delta: float
    bound: Bound
    samples: float
    arms: tuple[Hashable, ...]
    rows: tuple[PlanRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; ``None`` for what is infinite or unknown."""
        names = [a if isinstance(a, (int, float, bool)) or a is None else str(a) for a in self.arms]
        return {
            "delta": self.delta,
            "samples": self.samples if math.isfinite(self.samples) else None,
            "arms": names,
            "bound": self.bound.to_dict(),
            "rules": [asdict(row) for row in self.rows],
        }

    def to_frame(self) -> Any:
        """Return one row per pair of rules, as a pandas, polars or pyarrow frame: the first of them that is installed."""
        from linkarms.arms import make_frame

        rows = [asdict(row) for row in self.rows]
        return make_frame({name: [row[name] for row in rows] for name in PlanRow.__dataclass_fields__})

    def _repr_html_(self) -> str:
        from linkarms.notebook import plan_html

        return plan_html(self)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and cells in words."""

        def interval(low: float | None, high: float | None) -> str:
            if low is None and high is None:
                return ""
            return f" ({'?' if low is None else f'{low:,.0f}'} to {'?' if high is None else f'{high:,.0f}'})"

        def cell(value: float | None, low: float | None, high: float | None) -> str:
            return "-" if value is None else f"{value:,.0f}{interval(low, high)}"

        mean = "mean" if self.bound.costs is None else "mean cost"
        head = ["sampling", "stopping", mean, "median", "95% quantile"]
        cells = [
            [
                row.sampling,
                row.stopping,
                cell(row.mean, row.mean_low, row.mean_high),
                cell(row.median, row.median_low, row.median_high),
                cell(row.q95, row.q95_low, row.q95_high),
            ]
            for row in self.rows
        ]
        return head, cells

    def head(self) -> list[str]:
        """Return the lower bound and the best shares, in words."""
        shares = zip(self.arms, self.bound.weights, strict=True)
        return [
            str(self.bound),
            least_samples(self.delta, self.samples, self.bound.costs),
            "best shares: " + ", ".join(f"{arm}: {weight:.1%}" for arm, weight in shares),
        ]

    def notes(self) -> list[str]:
        """Return notes for the reader, each with the pairs of rules that it concerns."""
        rules: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if row.note:
                rules.setdefault((row.stopping, row.note), []).append(row.sampling)
        return [f"{', '.join(names)} with {stop}: {note}" for (stop, note), names in rules.items()]

    def __str__(self) -> str:
        head, cells = self.table()
        width = [max(len(row[i]) for row in [head, *cells]) for i in range(len(head))]
        lines = [*self.head(), ""]
        for row in [head, *cells]:
            left = [word.ljust(w) for word, w in zip(row, width, strict=True)]
            lines.append("  ".join(left).rstrip())
        return "\n".join([*lines, *([""] if self.notes() else []), *self.notes()])
