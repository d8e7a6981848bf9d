"""Names beside points, where they cover neither each other nor a point."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["place_labels", "settle_labels"]

#: Where a name may stand relative to its point, best first: the direction and how the text is anchored there.
_SPOTS = (
    (1.0, 0.0, "left", "center"),
    (-1.0, 0.0, "right", "center"),
    (0.0, 1.0, "center", "bottom"),
    (0.0, -1.0, "center", "top"),
    (0.7, 0.7, "left", "bottom"),
    (0.7, -0.7, "left", "top"),
    (-0.7, 0.7, "right", "bottom"),
    (-0.7, -0.7, "right", "top"),
)
_GAP = 8.0  # points between a point and its name
_GID = "linkarms-arm-name"


def place_labels(ax: Axes, points: NDArray[np.float64], names: list[str], colors: list[str]) -> None:
    """Write each name beside its point; a name that fits nowhere is left out.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes with everything else on them: no name covers a marker, and lines are avoided where possible.
    points : ndarray, shape (n, 2)
        The points, in data coordinates.
    names, colors : list of str
        The names and their colours.
    """
    for (x, y), name, color in zip(points, names, colors, strict=True):
        at = (float(x), float(y))
        ax.annotate(
            name, at, (_GAP, 0), textcoords="offset points", fontsize=9.5, color=color, gid=_GID, zorder=5
        )
    settle_labels(ax)


def settle_labels(ax: Axes) -> None:
    """Find the best place of each name; to be called again when the axes have changed their size."""
    names: list[Any] = [text for text in ax.texts if text.get_gid() == _GID]
    if not names:
        return
    ax.apply_aspect()
    figure = ax.get_figure()
    marks, lines = _obstacles(ax, 5.0 * (figure.dpi if figure is not None else 100.0) / 72.0)
    frame = ax.get_window_extent().extents
    for name in names:
        best, fewest = None, np.inf
        for spot in _SPOTS:
            box = _move(name, spot)
            inside = (box[:2] >= frame[:2]).all() and (box[2:] <= frame[2:]).all()
            if inside and not _overlaps(box, marks).any():
                crossed = int(_overlaps(box, lines).sum())
                if crossed < fewest:
                    best, fewest = spot, crossed
        name.set_visible(best is not None)
        if best is not None:
            marks = np.vstack([marks, _move(name, best)])


def _move(name: Any, spot: tuple[float, float, str, str]) -> NDArray[np.float64]:
    """Put a name to one side of its point; the box it then fills, in pixels."""
    dx, dy, ha, va = spot
    name.set_position((dx * _GAP, dy * _GAP))
    name.set_horizontalalignment(ha)
    name.set_verticalalignment(va)
    return np.asarray(name.get_window_extent().extents, dtype=np.float64)


def _obstacles(ax: Axes, radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Boxes around all markers, and small boxes along all lines, in pixels."""
    marks, lines = [np.empty((0, 2))], [np.empty((0, 2))]
    for line in ax.lines:
        pixels = line.get_transform().transform(line.get_xydata())
        if line.get_marker() not in (None, "None", "none", ""):
            marks.append(pixels)
        else:
            along = np.linspace(0.0, 1.0, 12)[:, None]
            lines += [a + along * (b - a) for a, b in pairwise(pixels)]
    return _boxes(np.vstack(marks), radius), _boxes(np.vstack(lines), 1.0)


def _boxes(centers: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    return np.hstack([centers - radius, centers + radius])


def _overlaps(box: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    apart = (box[:2] >= others[:, 2:]).any(axis=1) | (others[:, :2] >= box[2:]).any(axis=1)
    return np.logical_not(apart)
