"""Arms in the space of their parameters, coloured by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkarms._words import plural
from linkarms.errors import InvalidInput
from linkarms.linkage import minimum_spanning_tree
from linkarms.plots._labels import place_labels
from linkarms.plots._style import (
    FAINT,
    INK,
    cluster_color,
    cluster_marker,
    key,
    label_rows,
    new_axes,
    shorten,
    tidy,
)
from linkarms.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ArmsInfo", "arms_info", "plot_arms"]

#: Above this many arms a scatter has no names beside its points.
_MAX_NAMES = 60


@dataclass(frozen=True)
class ArmsInfo:
    """What `plot_arms` draws. Arms without a sample are left out.

    Attributes
    ----------
    arms : tuple of str
        The names.
    labels : tuple of int
        The cluster of each arm.
    points : ndarray, shape (n, 1) or (n, 2)
        Where each arm is drawn: its estimate if ``d <= 2``, else its coordinates on the two principal axes.
    links : tuple of (int, int)
        Pairs of places in `arms`: for each cluster its minimum spanning tree, the chain that holds it
        together.
    axes : tuple of str
        Names of the one or two axes.
    truth : ndarray or None
        The true parameters on the same axes.
    missing : tuple of str
        The arms that have no sample.
    directions : ndarray, shape (1, d) or (2, d)
        The directions of the axes in parameter space.
    intervals : ndarray, shape (n, 1, 2) or (n, 2, 2), or None
        The ends of each arm's confidence interval on the axes, for ``d <= 2`` where the result has them.

    Examples
    --------
    >>> import linkarms as la
    >>> info = la.plots.arms_info(la.cluster(la.problems.synthetic1()))
    >>> info.labels, info.points.shape, info.axes
    ((0, 0, 1, 1, 2, 2), (6, 2), ('parameter 0', 'parameter 1'))
    """

    arms: tuple[str, ...]
    labels: tuple[int, ...]
    points: NDArray[np.float64]
    links: tuple[tuple[int, int], ...]
    axes: tuple[str, ...]
    truth: NDArray[np.float64] | None
    missing: tuple[str, ...]
    directions: NDArray[np.float64]
    intervals: NDArray[np.float64] | None = None


def arms_info(result: Result, true_parameters: ArrayLike | None = None) -> ArmsInfo:
    """Build the data of `plot_arms`.

    Parameters
    ----------
    result : Result
        The result of a run, finished or not.
    true_parameters : array of shape (M, d) or (M,), optional
        The truth, where it is known.

    Returns
    -------
    ArmsInfo
        Plain data.

    Examples
    --------
    >>> import linkarms as la
    >>> la.plots.arms_info(la.cluster(la.problems.synthetic1())).links
    ((0, 1), (2, 3), (4, 5))
    """
    known: NDArray[np.bool_] = np.logical_not(np.ma.getmaskarray(result.parameters).any(axis=1))
    estimates = np.asarray(np.ma.getdata(result.parameters)[known], dtype=np.float64)
    truth = _check_truth(true_parameters, result.parameters.shape)
    truth = None if truth is None else truth[known]
    labels = tuple(int(label) for label in result.labels[known])
    names = tuple(str(arm) for arm in result.arms)
    d = estimates.shape[1]
    axes: tuple[str, ...] = ("parameter",) if d == 1 else ("parameter 0", "parameter 1")
    if result.features is not None and d <= 2:
        axes = result.features
    points, directions = estimates, np.eye(d)
    if d > 2:
        points, truth, axes, directions = _principal_axes(estimates, truth)
    return ArmsInfo(
        arms=tuple(name for name, k in zip(names, known, strict=True) if k),
        labels=labels,
        points=points,
        links=_links(estimates, labels),
        axes=axes,
        truth=truth,
        missing=tuple(name for name, k in zip(names, known, strict=True) if not k),
        directions=directions,
        intervals=None if d > 2 or result.intervals is None else result.intervals[known],
    )


def plot_arms(result: Result, true_parameters: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the arms in parameter space, coloured by cluster.

    One row per arm for ``d = 1``, a scatter for ``d = 2``, the two principal axes of the estimates for ``d >
    2``. In a scatter a line joins the arms of a cluster along its minimum spanning tree. For ``d <= 2`` thin lines are the confidence
    intervals of `Result.intervals`; for ``d = 2`` only up to 60 arms.

    Parameters
    ----------
    result : Result
        The result of a run, finished or not.
    true_parameters : array of shape (M, d) or (M,), optional
        Drawn as crosses.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import linkarms as la
    >>> ax = la.plots.plot_arms(la.cluster(la.problems.synthetic1()))
    >>> ax.figure.savefig("plot_arms.png")  # doctest: +SKIP
    """
    info = arms_info(result, true_parameters)
    ax = new_axes(ax, rows=len(info.arms) if len(info.axes) == 1 else 0)
    tidy(ax, "Estimates", grid="x" if len(info.axes) == 1 else "both")
    if len(info.axes) == 1:
        _draw_strip(ax, info)
    else:
        _draw_scatter(ax, info)
    from matplotlib.lines import Line2D

    handles = [] if info.truth is None else [Line2D([], [], **_TRUTH)]
    if info.missing:
        text = f"{plural(len(info.missing), 'arm')} without a sample"
        handles.append(Line2D([], [], linestyle="none", label=text))
    if handles:
        key(ax, handles)
    return ax


def _draw_strip(ax: Axes, info: ArmsInfo) -> None:
    order = np.argsort(info.points[:, 0], kind="stable")
    names = tuple(info.arms[i] for i in order)
    labels = tuple(info.labels[i] for i in order)
    for row, i in enumerate(order):
        ax.axhline(row, color=FAINT, linewidth=0.6, alpha=0.7)
        if info.intervals is not None and np.isfinite(info.intervals[i, 0]).all():
            ax.plot(
                info.intervals[i, 0],
                [row, row],
                color=cluster_color(info.labels[i]),
                linewidth=2.0,
                alpha=0.35,
            )
        ax.plot(info.points[i, 0], row, **_marker(info.labels[i]))
    if info.truth is not None:
        ax.plot(info.truth[order, 0], np.arange(len(order)), **_TRUTH)
    label_rows(ax, names, labels)
    ax.margins(x=0.08)
    ax.set_xlabel(info.axes[0])


def _draw_scatter(ax: Axes, info: ArmsInfo) -> None:
    for i, j in info.links:
        ends = info.points[[i, j]]
        ax.plot(ends[:, 0], ends[:, 1], color=cluster_color(info.labels[i]), linewidth=2.0, alpha=0.35)
    if info.intervals is not None and len(info.arms) <= _MAX_NAMES:
        for point, ends, label in zip(info.points, info.intervals, info.labels, strict=True):
            if np.isfinite(ends).all():
                style: dict[str, Any] = {"color": cluster_color(label), "linewidth": 1.0, "alpha": 0.35}
                ax.plot(ends[0], [point[1], point[1]], **style)
                ax.plot([point[0], point[0]], ends[1], **style)
    for point, label in zip(info.points, info.labels, strict=True):
        ax.plot(point[0], point[1], **_marker(label))
    if info.truth is not None:
        ax.plot(info.truth[:, 0], info.truth[:, 1], **_TRUTH)
    ax.margins(0.14)
    ax.set_aspect("equal", adjustable="datalim")  # clusters are made by distance: show it as it is
    ax.set_xlabel(info.axes[0])
    ax.set_ylabel(info.axes[1])
    if 0 < len(info.arms) <= _MAX_NAMES:
        colors = [cluster_color(label) for label in info.labels]
        place_labels(ax, info.points, [shorten(name) for name in info.arms], colors)


_TRUTH: dict[str, Any] = {
    "linestyle": "none",
    "marker": "+",
    "markersize": 7,
    "markeredgecolor": INK,
    "markeredgewidth": 1.2,
    "zorder": 4,
    "label": "truth",
}


def _marker(label: int) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": cluster_marker(label),
        "markersize": 9,
        "markerfacecolor": cluster_color(label),
        "markeredgecolor": "white",
        "markeredgewidth": 1.0,
        "zorder": 3,
    }


def _check_truth(parameters: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    if parameters is None:
        return None
    array = np.asarray(parameters, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.shape != shape:
        raise InvalidInput(
            f"true_parameters have shape {array.shape} and the estimates {shape}; give one row per arm"
        )
    return array


def _principal_axes(
    estimates: NDArray[np.float64], truth: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, tuple[str, str], NDArray[np.float64]]:
    """Coordinates on the two directions in which the estimates differ most; their signs are fixed. And the directions, shape (2, d)."""
    if len(estimates) == 0:
        return (
            np.empty((0, 2)),
            None if truth is None else np.empty((0, 2)),
            ("principal axis 1", "principal axis 2"),
            np.eye(2, estimates.shape[1]),
        )
    center = estimates.mean(axis=0)
    _, spread, directions = np.linalg.svd(estimates - center, full_matrices=True)
    directions = directions[:2]
    largest = np.abs(directions).argmax(axis=1)
    directions = directions * np.where(directions[[0, 1], largest] < 0, -1.0, 1.0)[:, None]
    total = float((spread**2).sum())
    share = np.zeros(2) if total == 0.0 else np.append(spread, 0.0)[:2] ** 2 / total
    names = (f"principal axis 1 ({share[0]:.0%} of the variance)", f"principal axis 2 ({share[1]:.0%})")
    projected = None if truth is None else (truth - center) @ directions.T
    return (estimates - center) @ directions.T, projected, names, directions


def _links(estimates: NDArray[np.float64], labels: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """The edges of the minimum spanning tree of each cluster."""
    links: list[tuple[int, int]] = []
    for label in sorted(set(labels) - {-1}):
        members = np.flatnonzero(np.array(labels) == label)
        parent, _ = minimum_spanning_tree(estimates[members])
        joined = np.flatnonzero(parent >= 0)
        ends = np.sort(np.column_stack([members[joined], members[parent[joined]]]), axis=1)
        links += [(i, j) for i, j in ends.tolist()]
    return tuple(sorted(links))
