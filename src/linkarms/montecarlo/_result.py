"""What a simulation returns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms.errors import LinkarmsError

__all__ = ["BackendError", "RuleResult", "Simulation", "Summary"]


@dataclass(frozen=True)
class RuleResult:
    """The trials of one sampling rule.

    Attributes
    ----------
    deltas : tuple of float
        The J promised error probabilities.
    stopping_times : ndarray of int, shape (trials, J)
        Samples used; -1 where ``max_samples`` came first.
    errors : ndarray of bool, shape (trials, J)
        The partition named is wrong. False where the rule did not stop.
    microseconds_per_sample : float
        Time of the processor inside the trials over samples drawn.
    costs : ndarray, shape (trials, J), or None
        Where the arms of the problem have costs: what the samples cost, -1 where ``max_samples`` came first.

    Examples
    --------
    >>> import linkarms as la
    >>> found = la.simulate(la.problems.synthetic1(), ["ebc-h"], stopping="anytime", deltas=[0.1], trials=5, seed=0)["ebc-h"]
    >>> found.deltas, found.errors.sum()
    ((0.1,), np.int64(0))
    """

    deltas: tuple[float, ...]
    stopping_times: NDArray[np.int64]
    errors: NDArray[np.bool_]
    microseconds_per_sample: float
    costs: NDArray[np.float64] | None = None


class Summary(list[dict[str, Any]]):
    """Rows of a table, one per rule and delta; prints as one."""

    def __str__(self) -> str:
        head = f"{'rule':<14}{'delta':>10}{'trials':>8}{'mean':>11}{'95% interval':>24}{'errors':>8}{'unstopped':>11}"
        lines = [head]
        for r in self:
            mean = "-" if r["mean"] is None else f"{r['mean']:.1f}"
            interval = "-" if r["low"] is None else f"{r['low']:.1f} .. {r['high']:.1f}"
            lines.append(
                f"{r['rule']:<14}{r['delta']:>10.3g}{r['trials']:>8}{mean:>11}{interval:>24}{r['errors']:>8}{r['unstopped']:>11}"
            )
        return "\n".join(lines)


class Simulation(Mapping[str, RuleResult]):
    """The trials of several rules by name; `summary` for the table.

    Attributes
    ----------
    completed : int
        Trials that were finished; fewer than asked for after Ctrl-C.
    trial_numbers : ndarray of int, shape (completed,)
        Which trials they are: row ``i`` of every array is trial ``trial_numbers[i]``.

    Examples
    --------
    >>> import linkarms as la
    >>> found = la.simulate(la.problems.synthetic1(), ["ebc-h"], stopping="anytime", deltas=[0.1], trials=5, seed=0)
    >>> list(found), found["ebc-h"].stopping_times.shape
    (['ebc-h'], (5, 1))
    """

    def __init__(self, rules: dict[str, RuleResult], trial_numbers: NDArray[np.int64]) -> None:
        self._rules = rules
        self.trial_numbers = trial_numbers
        self.completed = len(trial_numbers)

    def __getitem__(self, name: str) -> RuleResult:
        return self._rules[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def _repr_html_(self) -> str:
        from linkarms.notebook import simulation_html

        return simulation_html(self)

    def summary(self) -> Summary:
        """Return one row per rule and delta: mean stopping time, errors, trials that did not stop.

        The mean and its 95% t interval are over the trials that stopped. The interval of the errors is exact.
        """
        from scipy import stats

        rows = Summary()
        for name, result in self._rules.items():
            for j, delta in enumerate(result.deltas):
                times = result.stopping_times[:, j]
                stopped = times[times >= 0].astype(np.float64)
                n, wrong = len(stopped), int(result.errors[:, j].sum())
                mean = float(stopped.mean()) if n else None
                half = (
                    float(stats.t.ppf(0.975, n - 1) * stopped.std(ddof=1) / math.sqrt(n)) if n > 1 else None
                )
                exact = stats.binomtest(wrong, n).proportion_ci(0.95) if n else None
                rows.append(
                    {
                        "rule": name,
                        "delta": delta,
                        "trials": len(times),
                        "mean": mean,
                        "low": None if mean is None or half is None else mean - half,
                        "high": None if mean is None or half is None else mean + half,
                        "errors": wrong,
                        "error_rate": wrong / n if n else None,
                        "error_low": None if exact is None else float(exact.low),
                        "error_high": None if exact is None else float(exact.high),
                        "unstopped": len(times) - n,
                        "microseconds_per_sample": result.microseconds_per_sample,
                    }
                )
        return rows


class BackendError(LinkarmsError):
    """The workers of a simulation cannot be used, or a chunk of trials was lost too often.

    Attributes
    ----------
    simulation : Simulation or None
        The trials that were finished.

    Examples
    --------
    >>> from linkarms.montecarlo import BackendError
    >>> BackendError("a worker was lost").simulation is None
    True
    """

    simulation: Simulation | None = None
