"""Single linkage as a tree, with the cut that makes K clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms._words import plural
from linkarms.linkage import linkage_matrix
from linkarms.plots._style import ACCENT, INK, MUTED, cluster_color, key, label_rows, new_axes, row_font, tidy
from linkarms.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DendrogramInfo", "dendrogram_info", "plot_dendrogram"]


@dataclass(frozen=True)
class DendrogramInfo:
    """What `plot_dendrogram` draws. Arms without a sample are left out.

    Attributes
    ----------
    arms : tuple of str
        The names, in the order of the rows.
    labels : tuple of int
        The cluster of each, in the order of the rows.
    merges : tuple of (row, row, height, height, height, label)
        One per merge: the rows and heights of the two parts, the height at which they merge, and the cluster
        that both belong to (``-1`` where they are of two).
    cut : float or None
        A height between the last merge inside a cluster and the first between two, or the distance threshold;
        None where no cut is known.
    by_threshold : bool
        The cut is the distance threshold of the run.
    certified : tuple of (int, float, float)
        The numbers of clusters whose cuts are certified (`Result.cuts`), and the heights between which each cut goes.

    Examples
    --------
    >>> import linkarms as la
    >>> info = la.plots.dendrogram_info(la.cluster(la.problems.synthetic1()))
    >>> info.arms, len(info.merges)
    (('0', '1', '2', '3', '4', '5'), 5)
    """

    arms: tuple[str, ...]
    labels: tuple[int, ...]
    merges: tuple[tuple[float, float, float, float, float, int], ...]
    cut: float | None
    by_threshold: bool = False
    certified: tuple[tuple[int, float, float], ...] = ()


def dendrogram_info(result: Result, *, cuts: bool = True) -> DendrogramInfo:
    """Build the data of `plot_dendrogram`.

    Parameters
    ----------
    result : Result
        The result of a run, finished or not.
    cuts : bool, default True
        Also find out which cuts are certified.

    Returns
    -------
    DendrogramInfo
        Plain data.

    Examples
    --------
    >>> import linkarms as la
    >>> la.plots.dendrogram_info(la.cluster(la.problems.synthetic1())).labels
    (0, 0, 1, 1, 2, 2)
    """
    known = np.flatnonzero(~np.ma.getmaskarray(result.parameters).any(axis=1))
    estimates = np.asarray(np.ma.getdata(result.parameters)[known], dtype=np.float64)
    labels = [int(label) for label in result.labels[known]]
    n = len(known)
    tree = linkage_matrix(estimates)[:, :3] if n else np.empty((0, 3))
    order = _leaf_order(tree, n)
    rows = np.empty(2 * n - 1 if n else 0)
    rows[order] = np.arange(n)
    heights = np.zeros_like(rows)
    of = labels + [-1] * max(0, n - 1)
    merges = []
    for step, (left, right, height) in enumerate(tree):
        node, a, b = n + step, int(left), int(right)
        rows[node], heights[node] = (rows[a] + rows[b]) / 2.0, height
        of[node] = of[a] if of[a] == of[b] else -1
        ends = (float(rows[a]), float(rows[b]), float(heights[a]), float(heights[b]))
        merges.append((*ends, float(height), of[node]))
    return DendrogramInfo(
        arms=tuple(str(result.arms[known[i]]) for i in order),
        labels=tuple(labels[i] for i in order),
        merges=tuple(merges),
        cut=_cut(tree[:, 2], max(labels, default=-1) + 1, n)
        if result.distance_threshold is None
        else result.distance_threshold,
        by_threshold=result.distance_threshold is not None,
        certified=tuple(
            (cut.n_clusters, float(tree[n - cut.n_clusters - 1, 2]), float(tree[n - cut.n_clusters, 2]))
            for cut in (result.cuts if cuts and result.has_cuts else ())
        ),
    )


def plot_dendrogram(result: Result, *, ax: Axes | None = None) -> Axes:
    """Draw the single-linkage tree of the estimates and the cut that makes the clusters; certified cuts are shaded.

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
    >>> ax = la.plots.plot_dendrogram(la.cluster(la.problems.synthetic1()))
    >>> ax.figure.savefig("plot_dendrogram.png")  # doctest: +SKIP
    """
    info = dendrogram_info(result)
    ax = new_axes(ax, rows=len(info.arms))
    tidy(ax, "Single linkage")
    for row_a, row_b, from_a, from_b, height, label in info.merges:
        color = cluster_color(label) if label >= 0 else MUTED
        path = ([from_a, height, height, from_b], [row_a, row_a, row_b, row_b])
        ax.plot(*path, color=color, linewidth=2.0 if label >= 0 else 1.4, solid_joinstyle="round")
    size = min(5.0, row_font(ax, len(info.labels)))
    for row, label in enumerate(info.labels):
        ax.plot(0.0, row, "o", color=cluster_color(label), markersize=size, clip_on=False, zorder=3)
    handles: list[Any] = []
    if info.cut is not None:
        text = (
            f"distance threshold {info.cut:g}"
            if info.by_threshold
            else f"cut into {plural(len(set(info.labels)), 'cluster')}"
        )
        handles.append(ax.axvline(info.cut, color=INK, linewidth=1.2, linestyle=(0, (4, 2.5)), label=text))
    for i, (count, low, high) in enumerate(info.certified):
        band = ax.axvspan(low, high, color=ACCENT, alpha=0.1, linewidth=0, label="certified")
        handles += [band] if i == 0 else []
        ax.annotate(
            f"K = {count}",
            (low, 1.0),
            (4, -3),
            xycoords=ax.get_xaxis_transform(),
            textcoords="offset points",
            va="top",
            fontsize="x-small",
            color=MUTED,
        )
    if handles:
        key(ax, handles)
    top = max((merge[4] for merge in info.merges), default=1.0) or 1.0
    ax.set_xlim(0.0, max(top, info.cut or 0.0) * 1.06)
    label_rows(ax, info.arms, info.labels)
    ax.tick_params(axis="y", pad=7)  # clear of the dots
    ax.set_xlabel("distance at which they merge")
    return ax


def _leaf_order(tree: NDArray[np.float64], n: int) -> list[int]:
    """The leaves by row: the parts of a merge stay together, the one with the first arm first."""
    first = list(range(n))
    for left, right, _ in tree:
        first.append(min(first[int(left)], first[int(right)]))
    order: list[int] = []
    stack = [len(first) - 1] if n else []
    while stack:
        node = stack.pop()
        if node < n:
            order.append(node)
            continue
        parts = sorted((int(tree[node - n, 0]), int(tree[node - n, 1])), key=lambda part: first[part])
        stack += parts[::-1]
    return order


def _cut(heights: NDArray[np.float64], n_clusters: int, n: int) -> float | None:
    """Half-way between the last merge that is made and the first that is not."""
    if n_clusters < 1 or n < 2:
        return None
    if n_clusters == 1:
        return float(heights[-1]) * 1.05 or None
    below = float(heights[n - n_clusters - 1]) if n_clusters < n else 0.0
    return (below + float(heights[n - n_clusters])) / 2.0
