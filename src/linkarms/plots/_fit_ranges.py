"""Samples in the range that was declared for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkarms.plots._style import (
    FAINT,
    INK,
    MAX_NUMBERS,
    MUTED,
    cluster_color,
    key,
    label_rows,
    row_font,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RangeFitInfo", "RangeRow", "draw_ranges", "ranges_info"]


@dataclass(frozen=True)
class RangeRow:
    """The samples of an arm, or of one coordinate of it.

    Attributes
    ----------
    name : str
        The arm, and the coordinate where there are several.
    label : int
        The cluster of the arm.
    low, high : float
        The declared range.
    samples : tuple of float
        The samples.

    Examples
    --------
    >>> import linkarms as la
    >>> row = la.plots.RangeRow("a", 0, low=0.0, high=5.0, samples=(0.0, 2.5, 5.0, 5.0))
    >>> row.at_low, row.at_high
    (1, 2)
    """

    name: str
    label: int
    low: float
    high: float
    samples: tuple[float, ...]

    @property
    def at_low(self) -> int:
        """How many samples are at the lower end."""
        return sum(x <= self.low for x in self.samples)

    @property
    def at_high(self) -> int:
        """How many samples are at the upper end."""
        return sum(x >= self.high for x in self.samples)


@dataclass(frozen=True)
class RangeFitInfo:
    """What `plot_fit` draws for samples of which only a range is assumed.

    Attributes
    ----------
    rows : tuple of RangeRow
        One per arm and coordinate.
    title : str
        What is shown.

    Examples
    --------
    >>> import linkarms as la
    >>> rated = {"a": [1.0, 4.0, 5.0] * 9, "b": [2.0, 3.0] * 9, "c": [0.5] * 9}
    >>> info = la.plots.fit_info(la.cluster(rated, 2, family="bounded:0.5:5", max_samples=60))
    >>> [(row.name, row.at_low, row.at_high) for row in info.rows]
    [('a', 0, 9), ('b', 0, 0), ('c', 9, 0)]
    """

    rows: tuple[RangeRow, ...]
    title: str


def ranges_info(rows: Sequence[RangeRow]) -> RangeFitInfo:
    """Build the data of `draw_ranges`."""
    return RangeFitInfo(tuple(rows), "Samples in their declared range")


def draw_ranges(info: RangeFitInfo, ax: Axes) -> None:
    """Draw one row of points per arm and coordinate, with its mean, and how many points are at the ends."""
    from matplotlib.lines import Line2D

    rows = info.rows
    shared = len({(row.low, row.high) for row in rows}) == 1
    tidy(ax, info.title, grid="x")
    label_rows(ax, tuple(row.name for row in rows), tuple(row.label for row in rows))
    size, numbers = min(9.0, row_font(ax, len(rows))), len(rows) <= MAX_NUMBERS
    for y, row in enumerate(rows):
        low, high = (row.low, row.high) if shared else (0.0, 1.0)
        x = low + (high - low) * (np.array(row.samples) - row.low) / (row.high - row.low)
        ax.plot([low, high], [y, y], color=FAINT, linewidth=1.0, zorder=1)
        ax.plot(x, y + _spread(len(x)), ".", color=cluster_color(row.label), markersize=3, alpha=0.4)
        ax.plot(x.mean(), y, "|", color=INK, markersize=1.6 * size, zorder=4)
        for at, count, side in ((low, row.at_low, -1), (high, row.at_high, 1)) if numbers else ():
            ax.annotate(
                f"{count:,}",
                (at, y),
                (6 * side, 0),
                textcoords="offset points",
                ha="left" if side > 0 else "right",
                va="center",
                fontsize=size,
                color=MUTED,
            )
    ax.margins(x=0.1)
    key(ax, [Line2D([], [], linestyle="none", marker="|", markersize=12, color=INK, label="mean")])
    what = "sample" if shared else "sample, as a share of the declared range"
    ax.set_xlabel(f"{what}; numbers: samples at the ends" if numbers else what)


def _spread(n: int) -> NDArray[np.float64]:
    """Return small heights that keep equal samples apart, the same ones at each call."""
    golden = 0.6180339887498949
    return np.asarray(0.5 * (np.arange(n) * golden % 1.0 - 0.5), dtype=np.float64)
