"""How often each arm was pulled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkarms.plots._style import MAX_NUMBERS, MUTED, cluster_color, label_rows, new_axes, row_font, tidy
from linkarms.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PullsInfo", "plot_pulls", "pulls_info"]


@dataclass(frozen=True)
class PullsInfo:
    """What `plot_pulls` draws: one bar per arm, the clusters one after the other.

    Attributes
    ----------
    arms : tuple of str
        The names.
    labels : tuple of int
        The cluster of each.
    pulls : tuple of int
        The samples of each.

    Examples
    --------
    >>> import linkarms as la
    >>> la.plots.PullsInfo(arms=("a", "b", "c"), labels=(0, 0, 1), pulls=(12, 10, 3)).pulls
    (12, 10, 3)
    """

    arms: tuple[str, ...]
    labels: tuple[int, ...]
    pulls: tuple[int, ...]


def pulls_info(result: Result) -> PullsInfo:
    """Build the data of `plot_pulls`.

    Parameters
    ----------
    result : Result
        The result of a run, finished or not.

    Returns
    -------
    PullsInfo
        Plain data.

    Examples
    --------
    >>> import linkarms as la
    >>> result = la.cluster(la.problems.synthetic1())
    >>> sum(la.plots.pulls_info(result).pulls) == result.samples
    True
    """
    order = sorted(range(len(result.arms)), key=lambda m: (int(result.labels[m]), m))
    return PullsInfo(
        arms=tuple(str(result.arms[m]) for m in order),
        labels=tuple(int(result.labels[m]) for m in order),
        pulls=tuple(int(result.pulls[m]) for m in order),
    )


def plot_pulls(result: Result, *, ax: Axes | None = None) -> Axes:
    """Draw the number of samples of each arm, coloured by cluster.

    Parameters
    ----------
    result : Result
        The result of a run, finished or not.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import linkarms as la
    >>> ax = la.plots.plot_pulls(la.cluster(la.problems.synthetic1()))
    >>> ax.figure.savefig("plot_pulls.png")  # doctest: +SKIP
    """
    info = pulls_info(result)
    ax = new_axes(ax, rows=len(info.arms))
    tidy(ax, "Samples of each arm", grid="x")
    rows = range(len(info.arms))
    ax.barh(rows, info.pulls, height=0.62, color=[cluster_color(label) for label in info.labels])
    if len(info.arms) <= MAX_NUMBERS:
        for row, pulls in zip(rows, info.pulls, strict=True):
            ax.annotate(
                f"{pulls:,}",
                (pulls, row),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=min(9.0, row_font(ax, len(info.arms))),
                color=MUTED,
            )
    ax.set_xlim(0, max(max(info.pulls, default=0), 1) * 1.14)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    label_rows(ax, info.arms, info.labels)
    ax.set_xlabel("samples")
    return ax
