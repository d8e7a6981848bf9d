"""All four pictures of a result on one page."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from linkarms._words import plural
from linkarms.errors import require
from linkarms.plots._arms import plot_arms
from linkarms.plots._dendrogram import plot_dendrogram
from linkarms.plots._evidence import History, plot_evidence
from linkarms.plots._labels import settle_labels
from linkarms.plots._pulls import plot_pulls
from linkarms.plots._style import MUTED, STYLE, new_figure
from linkarms.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["summary"]


def summary(
    result: Result, history: History | None = None, *, true_parameters: ArrayLike | None = None
) -> Figure:
    """Draw estimates, single linkage, evidence and pulls on one page.

    Parameters
    ----------
    result : Result
        The result of a run, finished or not.
    history : History, optional
        As kept by a `HistoryRecorder`; without it the evidence is shown as it was at the end.
    true_parameters : array of shape (M, d) or (M,), optional
        The truth, where it is known.

    Returns
    -------
    matplotlib.figure.Figure
        A figure that needs no display; ``figure.savefig("result.png")`` writes it.

    Examples
    --------
    >>> import linkarms as la
    >>> figure = la.plots.summary(la.cluster(la.problems.synthetic1()))
    >>> len(figure.axes)
    4
    """
    require("matplotlib", "plots")
    import matplotlib

    if history is None:
        history = History((result.samples,), (result.evidence,), (result.threshold,), (result.error_bound,))
    with matplotlib.rc_context(STYLE):
        promise = _promise(result)
        head = 0.65 + 0.2 * len(promise)
        height = 7.15 + head + (0.2 * max(0, len(result.arms) - 24) if len(result.arms) <= 60 else 0.0)
        figure = new_figure(11.0, height)
        engine: Any = figure.get_layout_engine()
        engine.set(
            rect=(0.01, 0.01, 0.98, 0.99 - head / height), w_pad=0.12, h_pad=0.1, wspace=0.04, hspace=0.06
        )
        grid = figure.subplots(2, 2)
        plot_arms(result, true_parameters, ax=grid[0, 0])
        plot_dendrogram(result, ax=grid[0, 1])
        plot_evidence(history, ax=grid[1, 0])
        plot_pulls(result, ax=grid[1, 1])
        figure.text(0.02, 1 - 0.3 / height, _headline(result), fontsize=17, fontweight="bold", va="center")
        figure.text(0.02, 1 - 0.52 / height, "\n".join(promise), fontsize=11, color=MUTED, va="top")
        # Lay the page out once, then put the names where there is room and leave it at that.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        settle_labels(grid[0, 0])
    return figure


def _headline(result: Result) -> str:
    count = len(result.clusters)
    arms = plural(len(result.arms), "arm")
    found = f"{plural(count, 'cluster')} of {arms}" if count else f"{arms}, no clusters yet"
    return f"{found}, {plural(result.samples, 'sample')}"


def _promise(result: Result) -> list[str]:
    """The reason in one or two lines that fit the page."""
    text = result.reason[:1].upper() + result.reason[1:]
    return [line.replace("$", r"\$") for line in textwrap.wrap(text, 120, max_lines=2, placeholder=" …")]
