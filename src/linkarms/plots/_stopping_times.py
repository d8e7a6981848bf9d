"""Mean stopping times against ``log(1/delta)``, and their slopes: ours and the paper's (Figures 2 and 3, Table 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkarms.plots._style import FAINT, INK, MUTED, cluster_color, cluster_marker, new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linkarms.paper.reproduction import Slopes, StoppingTimes

__all__ = [
    "SlopesInfo",
    "StoppingCurve",
    "StoppingTimesInfo",
    "plot_slopes",
    "plot_stopping_times",
    "slopes_info",
    "stopping_times_info",
]

#: Standard errors to each side of a mean that are drawn: 95% of a normal distribution.
_WIDTH = 1.96


@dataclass(frozen=True)
class StoppingCurve:
    """One curve: ``log(1/delta)``, our means and their 95% interval, the paper's means.

    Examples
    --------
    >>> import linkarms as la
    >>> curve = la.plots.StoppingCurve("ebc-h", x=(1.0,), mean=(120.0,), low=(110.0,), high=(130.0,), paper=(118.0,))
    >>> curve.low <= curve.paper <= curve.high
    True
    """

    label: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    paper: tuple[float, ...]


@dataclass(frozen=True)
class StoppingTimesInfo:
    """What `plot_stopping_times` draws.

    Attributes
    ----------
    title : str
        The figure.
    curves : tuple of StoppingCurve
        Ours and the paper's.
    t_star : float
        The slope of the lower bound; the smallest certified, where the parameters are read in two ways.

    Examples
    --------
    >>> import linkarms as la
    >>> la.plots.StoppingTimesInfo("Figure 2", curves=(), t_star=25.9).title
    'Figure 2'
    """

    title: str
    curves: tuple[StoppingCurve, ...]
    t_star: float


def stopping_times_info(content: StoppingTimes) -> StoppingTimesInfo:
    """Build the data of `plot_stopping_times`.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import reproduce
    >>> la.plots.stopping_times_info(reproduce("figure2", trials=2)["figure2"].content).title
    'Figure 2'
    """
    curves = []
    for run in content.runs:
        spent = run.spent
        n = len(spent)
        mean = spent.mean(axis=0)
        half = _WIDTH * spent.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros_like(mean)
        s = run.settings
        curves.append(
            StoppingCurve(
                s.label,
                s.paper.x,
                tuple(mean.tolist()),
                tuple((mean - half).tolist()),
                tuple((mean + half).tolist()),
                s.paper.samples,
            )
        )
    least = min((low for low, _ in content.t_star.values()), default=0.0)
    return StoppingTimesInfo(content.figure.replace("figure", "Figure "), tuple(curves), least)


def plot_stopping_times(content: StoppingTimes, *, ax: Axes | None = None) -> Axes:
    """Draw our curves with 95% bands, the paper's as dashed lines in the same colours, and the lower bound.

    Parameters
    ----------
    content : StoppingTimes
        ``reproduce("figure2")["figure2"].content``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import reproduce
    >>> content = reproduce("figure2", trials=2)["figure2"].content
    >>> la.plots.plot_stopping_times(content).get_xlabel()
    'log(1 / delta)'
    """
    info = stopping_times_info(content)
    ax = new_axes(ax, rows=34)
    tidy(ax, f"{info.title}: samples at the stop", grid="both")
    for i, curve in enumerate(info.curves):
        colour = cluster_color(i)
        ax.plot(
            curve.x,
            curve.mean,
            marker=cluster_marker(i),
            markersize=4,
            color=colour,
            linewidth=1.2,
            label=curve.label,
        )
        ax.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
        ax.plot(curve.x, curve.paper, "--", color=colour, linewidth=1.0)
    ax.plot([], [], "--", color=MUTED, linewidth=1.0, label="the paper's")
    if info.t_star > 0.0 and info.curves:
        last = info.curves[0].x[-1]
        ax.plot(
            [0, last], [0, info.t_star * last], ":", color=INK, label=f"lower bound, slope {info.t_star:.2f}"
        )
    ax.set_xlabel("log(1 / delta)")
    ax.set_ylabel("mean samples at the stop")
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=7.5)
    return ax


@dataclass(frozen=True)
class SlopesInfo:
    """What `plot_slopes` draws, one entry per curve: name, slope and 95% interval, the paper's slope, theory (None: none); and T*.

    Examples
    --------
    >>> import linkarms as la
    >>> info = la.plots.SlopesInfo(("ebc-h",), slopes=(25.9,), halves=(0.4,), paper=(26.2,), theory=(None,), t_star=25.1)
    >>> info.names, info.slopes
    (('ebc-h',), (25.9,))
    """

    names: tuple[str, ...]
    slopes: tuple[float, ...]
    halves: tuple[float, ...]
    paper: tuple[float, ...]
    theory: tuple[float | None, ...]
    t_star: float


def slopes_info(content: Slopes) -> SlopesInfo:
    """Build the data of `plot_slopes`.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import reproduce
    >>> info = la.plots.slopes_info(reproduce("table1", trials=2)["table1"].content)
    >>> len(info.names) == len(info.slopes) == len(info.paper)
    True
    """
    rows = content.rows
    errors = [r.deviation.standard_error for r in rows]
    return SlopesInfo(
        tuple(r.curve for r in rows),
        tuple(r.deviation.ours for r in rows),
        tuple(0.0 if np.isnan(e) else _WIDTH * e for e in errors),
        tuple(r.deviation.paper for r in rows),
        tuple(None if r.theory is None else r.theory[1] for r in rows),
        rows[0].t_star[0] if rows else 0.0,
    )


def plot_slopes(content: Slopes, *, ax: Axes | None = None) -> Axes:
    """Draw the slopes of the curves with 95% intervals, the paper's, those of theory, and T*.

    Parameters
    ----------
    content : Slopes
        ``reproduce("table1")["table1"].content``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import reproduce
    >>> content = reproduce("table1", trials=2)["table1"].content
    >>> la.plots.plot_slopes(content).get_xlabel()
    'slope'
    """
    info = slopes_info(content)
    ax = new_axes(ax)
    tidy(ax, "Table 1: samples per log(1/delta)", grid="x")
    rows = range(len(info.names))
    ax.axvline(info.t_star, color=INK, linestyle=":", linewidth=1.2, label="T*")
    ax.errorbar(info.slopes, rows, xerr=info.halves, fmt="o", color=cluster_color(0), capsize=3, label="ours")
    ax.plot(info.paper, rows, "x", color=cluster_color(1), label="the paper's coordinates")
    known = [(x, i) for i, x in enumerate(info.theory) if x is not None and np.isfinite(x)]
    if known:
        ax.plot(*zip(*known, strict=True), "|", color=MUTED, markersize=14, label="theory")
    ax.set_yticks(rows, info.names, fontsize=8)
    ax.set_ylim(len(info.names) - 0.5, -0.5)
    ax.spines["left"].set_color(FAINT)
    ax.set_xlabel("slope")
    ax.legend(fontsize=8)
    return ax
