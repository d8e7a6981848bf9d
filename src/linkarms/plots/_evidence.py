"""The evidence for the partition against the threshold of the stopping rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms.errors import InvalidInput
from linkarms.plots._style import ACCENT, INK, MUTED, key, new_axes, tidy
from linkarms.result import Result, would_stop_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["History", "HistoryRecorder", "plot_evidence"]


@dataclass(frozen=True)
class History:
    """What `plot_evidence` draws: the statistic of the stopping rule over the samples of a run.

    Attributes
    ----------
    samples : sequence of int
        Numbers of samples at which the run was looked at, increasing.
    evidence, threshold : sequence of float
        The statistic there and the level it has to reach. What is not finite is not drawn.
    error_bound : sequence of float or None
        The smallest delta at which the run would have stopped there; empty where it is not known.

    Examples
    --------
    >>> import linkarms as la
    >>> history = la.plots.History(samples=(10, 20), evidence=(1.0, 4.2), threshold=(6.0, 6.1))
    >>> la.plots.plot_evidence(history).get_xlabel()
    'samples'
    """

    samples: Sequence[int] = field(default_factory=tuple)
    evidence: Sequence[float] = field(default_factory=tuple)
    threshold: Sequence[float] = field(default_factory=tuple)
    error_bound: Sequence[float | None] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        if not len(self.samples) == len(self.evidence) == len(self.threshold):
            raise InvalidInput(
                f"a history has {len(self.samples)} samples, {len(self.evidence)} values of the evidence and "
                f"{len(self.threshold)} of the threshold; give as many of each"
            )
        if len(self.error_bound) not in (0, len(self.samples)):
            raise InvalidInput(
                f"a history has {len(self.samples)} samples and {len(self.error_bound)} error bounds; give as many, or none"
            )


class HistoryRecorder:
    """A callback for `linkarms.cluster` that keeps the `History` of the run.

    It looks each time the number of samples has grown by some percent, not at every sample: a picture shows no
    more, and the run is not slowed down.

    Parameters
    ----------
    growth : float, default 0.01
        How much the number of samples grows between two looks.

    Examples
    --------
    >>> import linkarms as la
    >>> recorder = la.plots.HistoryRecorder()
    >>> result = la.cluster(la.Problem([0.0, 0.3, 9.0], n_clusters=2), callback=recorder)
    >>> recorder.history.samples[-1] == result.samples
    True
    """

    def __init__(self, growth: float = 0.01) -> None:
        self._growth = growth
        self._next = 0
        self._rows: list[tuple[int, float, float, float | None]] = []

    @property
    def next_look(self) -> int:
        """The number of samples before which calls have no effect, unless the run is done."""
        return self._next

    def __call__(self, clusterer: Any) -> None:
        """Look at the run if it is time."""
        self.look(clusterer)

    def look(self, clusterer: Any) -> Result | None:
        """Look at the run if it is time, and return what was seen."""
        if clusterer.n_samples < self._next and not clusterer.done:
            return None
        result: Result = clusterer.result()
        self.record(result)
        return result

    def record(self, result: Result) -> None:
        """Write down what a result says; once for each number of samples."""
        self._next = math.ceil(result.samples * (1.0 + self._growth))
        if not self._rows or self._rows[-1][0] < result.samples:
            self._rows.append(
                (result.samples, float(result.evidence), float(result.threshold), result.error_bound)
            )

    @property
    def history(self) -> History:
        """What was seen so far."""
        columns = list(zip(*self._rows, strict=True)) if self._rows else [(), (), (), ()]
        return History(*columns)


def plot_evidence(history: History, *, ax: Axes | None = None) -> Axes:
    """Draw the evidence against the threshold over the samples; a run stops where they meet.

    Parameters
    ----------
    history : History
        As kept by a `HistoryRecorder`. A history of one look is drawn as two bars.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import linkarms as la
    >>> recorder = la.plots.HistoryRecorder()
    >>> result = la.cluster(la.Problem([0.0, 0.3, 9.0], n_clusters=2), callback=recorder)
    >>> ax = la.plots.plot_evidence(recorder.history)
    """
    ax = new_axes(ax)
    samples = np.asarray(history.samples, dtype=np.float64)
    evidence, threshold = _finite(history.evidence), _finite(history.threshold)
    if len(samples) < 2:
        _draw_bars(ax, evidence, threshold)
        return ax
    tidy(ax, "Evidence", grid="y")
    (level,) = ax.plot(
        samples, threshold, color=INK, linewidth=1.3, linestyle=(0, (4, 2.5)), label="threshold"
    )
    (curve,) = ax.plot(samples, evidence, color=ACCENT, linewidth=2.0, label="evidence")
    ax.fill_between(
        samples, evidence, threshold, where=evidence < threshold, color=ACCENT, alpha=0.08, linewidth=0
    )
    stopped = evidence[-1] >= threshold[-1]
    if stopped:
        ax.plot(samples[-1], evidence[-1], "o", color=ACCENT, markersize=8, markeredgecolor="white", zorder=4)
    top = _top(evidence, threshold)
    lowest = min(0.0, float(np.nanmin(evidence, initial=0.0)))
    ax.set_ylim(lowest - (0.04 * (top - lowest) if lowest < 0.0 else 0.0), top)
    ax.set_xlim(0.0, samples[-1] * 1.04)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("samples")
    key(ax, [curve, level])
    bound = history.error_bound[-1] if len(history.error_bound) else None
    if not stopped and bound is not None and np.isfinite(threshold[-1]):
        ax.annotate(  # below the threshold on the left, where the evidence has not been yet
            would_stop_at(bound, ended=True),
            (0.02, threshold[-1]),
            (0, -5),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            va="top",
            fontsize="small",
            color=MUTED,
        )
    return ax


def _top(evidence: NDArray[np.float64], threshold: NDArray[np.float64]) -> float:
    """Room for most of the run: a threshold that starts far above its later values leaves the picture."""
    values = np.concatenate([evidence, threshold[len(threshold) // 5 :]])
    highest = float(np.nanmax(values, initial=0.0))
    return highest * 1.08 if highest > 0.0 else 1.0


def _draw_bars(ax: Axes, evidence: NDArray[np.float64], threshold: NDArray[np.float64]) -> None:
    tidy(ax, "Evidence", grid="x")
    values = [float(v[0]) if len(v) and np.isfinite(v[0]) else 0.0 for v in (evidence, threshold)]
    ax.barh([0, 1], values, height=0.4, color=[ACCENT, MUTED])
    for row, value in enumerate(values):
        ax.annotate(
            f"{value:.1f}", (value, row), (4, 0), textcoords="offset points", va="center", color=MUTED
        )
    ax.set_yticks([0, 1], ["evidence", "threshold"])
    ax.set_ylim(1.6, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0.0, max(values) * 1.12 if max(values) > 0.0 else 1.0)


def _finite(values: Sequence[float]) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array[~np.isfinite(array)] = np.nan
    return array
