"""Time per sample against the number of arms, ours and the paper's (Table 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkarms.plots._style import MUTED, cluster_color, cluster_marker, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linkarms.paper.reproduction import RunTimes

__all__ = ["RunTimesInfo", "plot_run_times", "run_times_info"]


@dataclass(frozen=True)
class RunTimesInfo:
    """What `plot_run_times` draws.

    Attributes
    ----------
    curves : tuple of (str, tuple, tuple, tuple)
        By rule the numbers of arms, our milliseconds (medians) and the paper's.
    ranges : tuple of (tuple, tuple)
        By rule the fastest and the slowest repetition for each number of arms.

    Examples
    --------
    >>> import linkarms as la
    >>> info = la.plots.RunTimesInfo((("ebc-h", (4, 8), (0.01, 0.02), (0.44, 0.64)),))
    >>> [rule for rule, arms, ours, paper in info.curves]
    ['ebc-h']
    """

    curves: tuple[tuple[str, tuple[int, ...], tuple[float, ...], tuple[float, ...]], ...]
    ranges: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()


def run_times_info(content: RunTimes) -> RunTimesInfo:
    """Build the data of `plot_run_times`.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper.reproduction import RunTime, RunTimes
    >>> la.plots.run_times_info(RunTimes((RunTime("ebc-h", 4, (0.01, 0.03), 900, 0.44),))).curves
    (('ebc-h', (4,), (0.02,), (0.44,)),)
    """
    curves, ranges = [], []
    for rule in dict.fromkeys(c.rule for c in content.cells):
        mine = [c for c in content.cells if c.rule == rule]
        curves.append(
            (rule, tuple(c.arms for c in mine), tuple(c.median for c in mine), tuple(c.paper for c in mine))
        )
        times = [c.milliseconds for c in mine]
        ranges.append((tuple(min(x) for x in times), tuple(max(x) for x in times)))
    return RunTimesInfo(tuple(curves), tuple(ranges))


def plot_run_times(content: RunTimes, *, ax: Axes | None = None) -> Axes:
    """Draw milliseconds per sample on a logarithmic scale, with the range of the repetitions.

    The paper's times are dashed; they are from another machine.

    Parameters
    ----------
    content : RunTimes
        ``reproduce("table2")["table2"].content``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper.reproduction import RunTime, RunTimes
    >>> table = RunTimes((RunTime("ebc-h", 4, (0.01, 0.02), 900, 0.44), RunTime("ebc-h", 8, (0.02, 0.03), 900, 0.64)))
    >>> la.plots.plot_run_times(table).get_xlabel()
    'arms'
    """
    info = run_times_info(content)
    ax = new_axes(ax)
    tidy(ax, "Table 2: time per sample", grid="both")
    for i, (rule, arms, ours, paper) in enumerate(info.curves):
        ax.plot(arms, ours, marker=cluster_marker(i), markersize=5, color=cluster_color(i), label=rule)
        if info.ranges:
            ax.fill_between(arms, *info.ranges[i], color=cluster_color(i), alpha=0.18, linewidth=0)
        ax.plot(arms, paper, "--", color=cluster_color(i), linewidth=1.0)
    ax.plot([], [], "--", color=MUTED, linewidth=1.0, label="the paper's, another machine")
    ax.set_yscale("log")
    ax.set_xticks(sorted({m for _, arms, _, _ in info.curves for m in arms}))
    ax.set_xlabel("arms")
    ax.set_ylabel("milliseconds per sample")
    ax.legend(fontsize=8)
    return ax
