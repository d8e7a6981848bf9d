"""Our numbers beside the paper's: how far apart, and whether that is too far."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Deviation", "Limit", "compare"]


@dataclass(frozen=True)
class Limit:
    """How far a number may be from the paper's.

    Attributes
    ----------
    percent : float
        Of the paper's number.
    standard_errors : float or None
        Or so many standard errors of the difference, whichever is more; None: the percentage alone counts.
    """

    percent: float
    standard_errors: float | None = 3.0


@dataclass(frozen=True)
class Deviation:
    """One number of the paper, and ours.

    Attributes
    ----------
    piece, curve, point : str
        Where: ``"figure2"``, the curve or row, and the place on it.
    ours, standard_error, trials
        Our mean, its standard error (NaN for a single trial), and the trials behind it.
    paper, paper_trials
        The paper's number, and its trials where they are known.
    percent : float
        ``100 (ours / paper - 1)``.
    standard_errors : float
        ``(ours - paper)`` in standard errors of the difference. The paper gives no spread, so ours stands for both:
        ``s sqrt(1/n + 1/n_paper)``. NaN where the paper's trials are not known.
    limit : Limit or None
        What is asked for; None where the numbers cannot be expected to agree and are shown for information.

    Examples
    --------
    >>> from linkarms.paper import Deviation
    >>> found = Deviation("figure2", "ebc-h", "1", 100.0, 2.0, 50, 104.0, 300, -3.85, -1.7)
    >>> found.verdict
    'for information'
    """

    piece: str
    curve: str
    point: str
    ours: float
    standard_error: float
    trials: int
    paper: float
    paper_trials: int | None
    percent: float
    standard_errors: float
    limit: Limit | None = None

    @property
    def verdict(self) -> str:
        """``"within"`` or ``"beyond"`` the limit; ``"for information"`` where there is none."""
        if self.limit is None:
            return "for information"
        if abs(self.percent) <= self.limit.percent:
            return "within"
        most = self.limit.standard_errors
        # NaN compares false: what has no standard error is judged by its percentage
        return "within" if most is not None and abs(self.standard_errors) <= most else "beyond"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: one row of a table; None for what is not known."""
        row = {k: v for k, v in asdict(self).items() if k != "limit"}
        row["limit_percent"] = None if self.limit is None else self.limit.percent
        row["limit_standard_errors"] = None if self.limit is None else self.limit.standard_errors
        row["verdict"] = self.verdict
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()}


def compare(
    place: tuple[str, str, str],
    values: NDArray[np.float64],
    paper: float,
    paper_trials: int | None = None,
    limit: Limit | None = None,
) -> Deviation:
    """Compare the mean of our trials with a number of the paper.

    Parameters
    ----------
    place : tuple of str
        Piece, curve and point.
    values : ndarray, shape (trials,)
        One number per trial.
    paper, paper_trials, limit
        As in `Deviation`.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.paper.reproduction import Limit, compare
    >>> d = compare(("figure2", "ebc-h", "1"), np.array([90.0, 110.0]), 104.0, 2, Limit(4.0))
    >>> round(d.percent, 2), round(d.standard_errors, 2), d.verdict
    (-3.85, -0.28, 'within')
    """
    n, mean = len(values), float(values.mean())
    spread = float(values.std(ddof=1)) if n > 1 else math.nan
    combined = math.nan if paper_trials is None else spread * math.sqrt(1.0 / n + 1.0 / paper_trials)
    return Deviation(
        *place,
        mean,
        spread / math.sqrt(n),
        n,
        paper,
        paper_trials,
        100.0 * (mean / paper - 1.0),
        (mean - paper) / combined if combined > 0.0 else math.nan,
        limit,
    )
