"""`audit`: many trials of a rule, and whether it keeps its promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkarms._validate import check_delta
from linkarms._words import number_of_samples
from linkarms.bound import Bound, lower_bound
from linkarms.errors import LinkarmsError
from linkarms.montecarlo._binomial import error_interval, promise_is_broken
from linkarms.montecarlo._simulate import Backend, simulate
from linkarms.problem import Problem
from linkarms.sampling import SamplingRule, resolve_sampling
from linkarms.stopping import StoppingRule, resolve_stopping
from linkarms.stopping import weaken as divide_threshold

__all__ = ["Audit", "AuditRow", "audit"]

BROKEN, KEPT, UNTESTED = "broken", "kept", "untested"


@dataclass(frozen=True)
class AuditRow:
    """What the trials say about one promise.

    Attributes
    ----------
    delta : float
        The error probability that is promised.
    trials, errors, unstopped : int
        Runs; those that stopped with the wrong clusters; those that did not stop within the budget, which are not errors.
    error_rate, error_low, error_high : float
        Errors over runs, with an exact (Clopper-Pearson) 95% interval.
    mean, median, q95 : float or None
        Of the samples until the stop: the mean (None if a run did not stop), the median and the 95% quantile (None where it lies among the
        runs that did not stop).
    least_low, least_high : float
        The information bound ``T* KL(delta, 1 - delta)`` by both ends of the bracket of T*: no rule that keeps its promise on all problems
        needs fewer samples on average. Without a K it is that of the cut with the largest gap, and only for comparison: a run may name the
        cut into another number of clusters.
    ratio : float or None
        The mean over ``least_high``; None where either is missing or 0.
    verdict : {"kept", "broken", "untested"}
        ``"broken"`` if the one-sided lower limit of the error probability exceeds delta; ``"untested"`` if no run stopped.

    Examples
    --------
    >>> import linkarms as la
    >>> row = la.audit(la.problems.synthetic1(), deltas=[0.1], trials=20, seed=0).rows[0]
    >>> row.trials, row.verdict
    (20, 'kept')
    """

    delta: float
    trials: int
    errors: int
    unstopped: int
    error_rate: float
    error_low: float
    error_high: float
    mean: float | None
    median: float | None
    q95: float | None
    least_low: float
    least_high: float
    ratio: float | None
    verdict: str


@dataclass(frozen=True)
class Audit:
    """The verdict on a rule, one row per delta. It prints as a table.

    Attributes
    ----------
    sampling, stopping : str
        The rules, in words.
    confidence : float
        Of each verdict ``"broken"``.
    bound : Bound
        T* as a bracket.
    rows : tuple of AuditRow
        One per delta.

    Examples
    --------
    >>> import linkarms as la
    >>> found = la.audit(la.problems.synthetic1(), stopping="anytime", deltas=[0.1], trials=20)
    >>> found.broken, len(found.rows)
    (False, 1)
    """

    sampling: str
    stopping: str
    confidence: float
    bound: Bound
    rows: tuple[AuditRow, ...]

    @property
    def broken(self) -> bool:
        """Whether some promise is broken."""
        return any(row.verdict == BROKEN for row in self.rows)

    @property
    def passed(self) -> bool:
        """Whether no promise is broken, and each was tested."""
        return all(row.verdict == KEPT for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "sampling": self.sampling,
            "stopping": self.stopping,
            "confidence": self.confidence,
            "broken": self.broken,
            "bound": self.bound.to_dict(),
            "rows": [asdict(row) for row in self.rows],
        }

    def _repr_html_(self) -> str:
        from linkarms.notebook import audit_html

        return audit_html(self)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and cells in words."""
        head = ["delta", "errors", "error rate", "95% interval", "unstopped"]
        head += ["mean", "median", "95% quantile", "information bound", "mean / bound", "promise"]
        return head, [_cells(row) for row in self.rows]

    def head(self) -> str:
        """Return what was audited, in words."""
        return f"{self.sampling} with {self.stopping}"

    def conclusion(self) -> str:
        """Return the verdict in words."""
        broken = [f"{row.delta:g}" for row in self.rows if row.verdict == BROKEN]
        if broken:
            return f"broken: more errors than delta={', '.join(broken)} allows, at {self.confidence:.4g} confidence"
        idle = [f"{row.delta:g}" for row in self.rows if row.verdict == UNTESTED]
        if idle:
            return f"untested: no run stopped with delta={', '.join(idle)}; allow more samples"
        return f"kept: nothing contradicts the promise at {self.confidence:.4g} confidence"

    def __str__(self) -> str:
        head, cells = self.table()
        width = [max(len(row[i]) for row in [head, *cells]) for i in range(len(head))]
        lines = [
            "  ".join(word.rjust(w) for word, w in zip(row, width, strict=True)) for row in [head, *cells]
        ]
        return "\n".join([self.head(), *lines, self.conclusion()])


def _cells(row: AuditRow) -> list[str]:
    def number(x: float | None, form: str = ",.0f") -> str:
        return "-" if x is None else format(x, form)

    low, high = number_of_samples(row.least_low, 1), number_of_samples(row.least_high, 1)
    return [
        f"{row.delta:g}",
        f"{row.errors:,} of {row.trials:,}",
        f"{row.error_rate:.4f}",
        f"{row.error_low:.4f} to {row.error_high:.4f}",
        f"{row.unstopped:,}",
        number(row.mean, ",.1f"),
        number(row.median),
        number(row.q95),
        low if low == high else f"{low} to {high}",
        number(row.ratio, ".1f"),
        row.verdict,
    ]


def audit(
    problem: Problem,
    sampling: str | SamplingRule = "ebc-h",
    *,
    stopping: StoppingRule | str | None = "anytime",
    deltas: Sequence[float] = (0.1,),
    trials: int = 1000,
    weaken: float = 1.0,
    confidence: float = 0.99,
    seed: int = 0,
    max_samples: int = 10**6,
    n_jobs: int = 1,
    backend: Backend = "local",
    progress: bool = False,
) -> Audit:
    """Run a rule many times on a problem whose answer is known, and compare its errors with its promise.

    A run errs if it stops with clusters that are not those of the true parameters (with a tolerance: not right up to it). One that does not
    stop is not an error; such runs are counted separately.

    A verdict is wrong about a rule that keeps its promise with probability at most ``1 - confidence``, for each delta.

    Parameters
    ----------
    problem : Problem
        The true parameters. Near-ties are the hard ones.
    sampling, stopping : rules
        As for `linkarms.simulate`; one of each.
    deltas : sequence of float, default (0.1,)
        The promises.
    trials : int, default 1000
        Runs; all deltas share them if the sampling rule does not depend on delta.
    weaken : float, default 1
        Divide the threshold by this, to see that the audit catches a rule that is broken; see `linkarms.stopping.weaken`.
    confidence : float, default 0.99
        Of a verdict ``"broken"``.
    seed, max_samples, n_jobs, backend, progress
        As for `linkarms.simulate`.

    Returns
    -------
    Audit
        ``print`` it, or ask it whether the promise is ``broken``.

    Examples
    --------
    >>> import linkarms as la
    >>> near_tie = la.Problem([0.0, 1.0, 2.2], n_clusters=2)
    >>> la.audit(near_tie, deltas=[0.1], trials=50, max_samples=20_000, seed=1).passed
    True
    >>> la.audit(near_tie, deltas=[0.1], trials=50, weaken=50, seed=1).broken
    True
    """
    way = resolve_sampling(sampling)
    stop = divide_threshold(resolve_stopping(stopping, way), weaken)
    level = check_delta(confidence, "confidence")
    found = simulate(
        problem,
        {way.name: way},
        stopping=stop,
        deltas=deltas,
        trials=trials,
        seed=seed,
        max_samples=max_samples,
        n_jobs=n_jobs,
        backend=backend,
        progress=progress,
    )
    if not found.completed:
        raise LinkarmsError(
            "the audit was interrupted before the first run was finished; there is no verdict"
        )
    bound = lower_bound(
        problem.parameters,
        problem.n_clusters if problem.goal.largest_gap else problem.goal.n_clusters,
        problem.family,
        progress=progress,
        **problem.goal.settings(),
    )
    result = found[way.name]
    rows = [
        _row(delta, result.stopping_times[:, j], result.errors[:, j], bound, level)
        for j, delta in enumerate(result.deltas)
    ]
    own = type(stop).__repr__ is not object.__repr__
    return Audit(way.name, repr(stop) if own else stop.name, level, bound, tuple(rows))


def _row(
    delta: float, times: NDArray[np.int64], wrong: NDArray[np.bool_], bound: Bound, confidence: float
) -> AuditRow:
    n, errors, unstopped = len(times), int(wrong.sum()), int((times < 0).sum())
    t = np.where(times < 0, np.inf, times.astype(np.float64))
    mean, median, q95 = (
        float(x) if math.isfinite(x) else None
        for x in (t.mean(), *np.quantile(t, [0.5, 0.95], method="inverted_cdf"))
    )
    least = bound.sample_bracket(delta)
    ratio = mean / least[1] if mean is not None and least[1] > 0.0 else None
    verdict = KEPT
    if unstopped == n:
        verdict = UNTESTED
    elif promise_is_broken(errors, n, delta, confidence):
        verdict = BROKEN
    return AuditRow(
        delta,
        n,
        errors,
        unstopped,
        errors / n,
        *error_interval(errors, n),
        mean,
        median,
        q95,
        *least,
        ratio,
        verdict,
    )
