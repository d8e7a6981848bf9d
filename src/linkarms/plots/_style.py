"""Colours and sizes of all pictures, in one place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from linkarms.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "ACCENT",
    "FAINT",
    "INK",
    "MAX_NUMBERS",
    "MUTED",
    "STYLE",
    "close",
    "cluster_color",
    "cluster_marker",
    "key",
    "label_rows",
    "new_axes",
    "new_figure",
    "row_font",
    "shorten",
    "tidy",
    "uses_pyplot",
]

# : Told apart by people with any of the common colour deficiencies; after Okabe and Ito, without the yellow
# (too pale).
_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5D3A9B", "#4D4D4D")
#: Where the colours begin again the shape changes, and it helps those who see no colours at all.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h", "*", "<", ">")

INK = "#22272E"
MUTED = "#6B7480"
FAINT = "#D5DAE0"
ACCENT = "#0072B2"

# Any: the names that matplotlib's own annotations allow change from version to version.
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10.0,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 9.5,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "axes.edgecolor": FAINT,
    "axes.titlecolor": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
    "savefig.facecolor": "white",
}

#: With more rows than this there are no numbers beside them.
MAX_NUMBERS = 30
#: Names of arms smaller than this, in points, are left out: nobody could read them.
_SMALLEST = 4.5


def cluster_color(label: int) -> str:
    """Return the colour of a cluster, as ``#rrggbb``; grey for ``-1``, an arm that has no cluster yet.

    Examples
    --------
    >>> import linkarms as la
    >>> la.plots.cluster_color(0), la.plots.cluster_color(-1)
    ('#0072B2', '#9AA3AD')
    """
    return _PALETTE[label % len(_PALETTE)] if label >= 0 else "#9AA3AD"


def cluster_marker(label: int) -> str:
    """Return the shape of a cluster's points; the first twelve clusters have different ones."""
    return _MARKERS[label % len(_MARKERS)] if label >= 0 else "."


def new_axes(ax: Axes | None, rows: int = 0) -> Axes:
    """Return the axes to draw on: the given ones, or those of a new figure with space for so many rows."""
    require("matplotlib", "plots")
    if ax is not None:
        return ax
    return new_figure(6.4, min(max(4.2, 0.16 * rows + 1.0), 40.0)).add_subplot()


def new_figure(width: float, height: float) -> Figure:
    """Return a figure of this size in inches.

    In a notebook, and wherever pyplot is in use, it is one of pyplot's: a notebook shows it below the cell, and ``plt.show()`` in a window.
    Elsewhere it is a figure of its own, which needs no display and is freed when nobody holds it.
    """
    settings: Any = {"figsize": (width, height), "dpi": 144, "layout": "constrained", "facecolor": "white"}
    if uses_pyplot():
        import matplotlib.pyplot as plt

        return plt.figure(**settings)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(**settings)
    FigureCanvasAgg(figure)  # it keeps its renderer: otherwise each text that is measured makes a new one
    return figure


def uses_pyplot() -> bool:
    """Whether pyplot is loaded, or this is a notebook, which shows only the figures of pyplot."""
    return "matplotlib.pyplot" in sys.modules or "ipykernel" in sys.modules


def close(figure: Any) -> None:
    """Close a figure that has been written to a file."""
    if "matplotlib.pyplot" in sys.modules:
        import matplotlib.pyplot as plt

        plt.close(figure)


def tidy(ax: Axes, title: str, grid: Literal["x", "y", "both"] | None = None) -> None:
    """Set the title on the left, no box, and a faint grid along one axis or both."""
    ax.set_title(title, loc="left", fontsize=11, fontweight="bold")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(axis=grid, color=FAINT, linewidth=0.6, alpha=0.7)


def key(ax: Axes, handles: list[Any]) -> None:
    """Explain some marks to the right of the title, where the legend covers nothing."""
    ax.legend(
        handles=handles,
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=len(handles),
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        borderpad=0.35,
        columnspacing=1.2,
        handletextpad=0.5,
        labelcolor=MUTED,
    )


def label_rows(ax: Axes, names: tuple[str, ...], labels: tuple[int, ...]) -> None:
    """Write the names of arms down the left side, one per row from the top, each in the colour of its cluster."""
    n = max(len(names), 1)
    ax.set_ylim(n - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    size = row_font(ax, n)
    if size < _SMALLEST:
        ax.set_yticks([])
        ax.set_ylabel(f"{n:,} arms")
        return
    ax.set_yticks(range(len(names)), [shorten(name) for name in names], fontsize=size)
    for tick, label in zip(ax.get_yticklabels(), labels, strict=True):
        tick.set_color(cluster_color(label))


def row_font(ax: Axes, rows: int) -> float:
    """Return the size of text that leaves space between so many rows."""
    figure: Any = ax.get_figure()
    points = ax.get_window_extent().height / figure.dpi * 72.0
    return float(min(10.0, 0.8 * points / max(rows, 1)))


def shorten(name: str, length: int = 20) -> str:
    """Return the name in at most ``length`` characters of one line, with no markup in it."""
    text = " ".join(name.split())
    if len(text) > length:
        # Names often differ at their ends: keep both.
        text = text[: length // 2] + "…" + text[length // 2 + 1 - length :]
    return text.replace("$", r"\$")
