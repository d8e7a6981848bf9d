"""Results and runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from linkarms._words import plural
from linkarms.notebook._dendrogram import dendrogram_svg
from linkarms.notebook._markup import badge, card, meter, paragraph, table, warning
from linkarms.result import Result, would_stop_at

if TYPE_CHECKING:
    from linkarms.clusterer import BanditClusterer

__all__ = ["clusterer_html", "result_html"]

#: More arms than these are named in the table of clusters only as a number.
_MOST_NAMES = 12


def result_html(result: Result) -> str:
    """Return a result as HTML: the clusters, whether there is a promise, the dendrogram, and what to do next.

    Parameters
    ----------
    result : Result
        The result of a run, finished or not.

    Returns
    -------
    str
        One ``<div>``.

    Examples
    --------
    >>> import linkarms as la
    >>> html = result_html(la.cluster(la.problems.synthetic1()))
    >>> html.startswith("<div"), "wrong with probability at most 0.05" in html
    (True, True)
    """
    clusters, arms = plural(len(result.clusters), "cluster"), plural(len(result.arms), "arm")
    title = f"{clusters} of {arms}, {plural(result.samples, 'sample')}"
    return card(
        title, [badge(result.stopped, _sentence(result.reason)), *_body(result), paragraph(_next(result))]
    )


def _next(result: Result) -> str:
    """Say what to do with a result, or about one without a promise."""
    if result.stopped:
        return "Next: to_frame() gives the numbers of each arm, linkarms.plots.summary(result) the plots."
    if result.tie is None:
        return "Next: take more samples, unless the reason says what else to do."
    return "Next: take more samples, or give a tolerance if so small a difference does not matter to you."


def clusterer_html(run: BanditClusterer) -> str:
    """Return a run as HTML: its settings, how far it is, and its result so far.

    Parameters
    ----------
    run : BanditClusterer
        The run.

    Returns
    -------
    str
        One ``<div>``.
    """
    result = run.result()
    pending = sum(run.pending.values())
    state = "done" if run.done else "running"
    title = f"BanditClusterer: {plural(len(run.arms), 'arm')}, {run.goal}, delta={run.delta:g}, {plural(run.n_samples, 'sample')}, {state}"
    parts = [badge(result.stopped, _sentence(result.reason))]
    if not run.done:
        if math.isfinite(result.threshold):
            share = result.evidence / result.threshold if result.threshold > 0 else 0.0
            parts.append(meter(share, f"evidence {result.evidence:.1f} of {result.threshold:.1f}"))
        waiting = f" {pending} pending." if pending else ""
        parts.append(
            paragraph(f"Next: run.ask() names the next arm, run.tell(arm, value) takes the sample.{waiting}")
        )
    return card(title, [*parts, *_body(result)])


def _body(result: Result) -> list[str]:
    """Return warnings, clusters, dendrogram, the least certain pair and the error bound."""
    parts = [warning(_sentence(text)) for text in result.warnings]
    if result.clusters:
        parts.append(table(("cluster", "arms", "samples", "estimates"), _cluster_rows(result)))
        parts.append(dendrogram_svg(result))
    if result.witness is not None and not result.stopped:
        parts.append(paragraph(f"Least certain: {result.witness}."))
    if not result.stopped and result.error_bound is not None and result.error_bound < 1.0:
        words = would_stop_at(result.error_bound)
        if "would have stopped" not in result.reason:  # a run that has ended says so itself
            parts.append(paragraph(_sentence(words)))
    return parts


def _cluster_rows(result: Result) -> list[tuple[str, str, str, str]]:
    rows = []
    for k, names in enumerate(result.clusters):
        mine = result.labels == k
        shown = ", ".join(map(str, names[:_MOST_NAMES])) + (", …" if len(names) > _MOST_NAMES else "")
        rows.append((str(k), shown, f"{int(result.pulls[mine].sum()):,}", _range(result.parameters[mine])))
    return rows


def _range(estimates: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> str:
    """The smallest and the largest estimate; the mean for vectors."""
    known = np.ma.compressed(estimates)
    if len(known) == 0:
        return ""
    if estimates.shape[1] > 1:
        return "mean (" + ", ".join(f"{x:.4g}" for x in np.ma.mean(estimates, axis=0)) + ")"
    low, high = known.min(), known.max()
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
