"""Single linkage, merge by merge (Figure 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkarms._words import plural
from linkarms.errors import require
from linkarms.plots._style import INK, STYLE, cluster_color, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkarms.paper.reproduction import LinkageSteps

__all__ = ["LinkageStepsInfo", "linkage_steps_info", "plot_linkage_steps"]


@dataclass(frozen=True)
class LinkageStepsInfo:
    """What `plot_linkage_steps` draws.

    Attributes
    ----------
    points : tuple of (float, float)
        The arms.
    clusters : tuple of tuples
        For each step the clusters, as indices of points.
    titles : tuple of str
        One per step.

    Examples
    --------
    >>> import linkarms as la
    >>> info = la.plots.LinkageStepsInfo(points=((0.0, 0.0), (1.0, 0.0)), clusters=(((0,), (1,)),), titles=("2 clusters",))
    >>> len(info.points), info.titles
    (2, ('2 clusters',))
    """

    points: tuple[tuple[float, float], ...]
    clusters: tuple[tuple[tuple[int, ...], ...], ...]
    titles: tuple[str, ...]


def linkage_steps_info(content: LinkageSteps) -> LinkageStepsInfo:
    """Build the data of `plot_linkage_steps`.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import reproduce
    >>> la.plots.linkage_steps_info(reproduce("figure1")["figure1"].content).titles[0]
    '6 clusters'
    """
    titles = [
        plural(len(step), "cluster") + ("" if at is None else f", merged at {at:.3g}")
        for step, at in zip(content.steps, content.distances, strict=True)
    ]
    return LinkageStepsInfo(
        tuple((float(x), float(y)) for x, y in content.parameters),
        tuple(tuple(tuple(m - 1 for m in c) for c in step) for step in content.steps),
        tuple(titles),
    )


def plot_linkage_steps(content: LinkageSteps) -> Figure:
    """Draw a panel for each step; arms of one cluster are joined and have one colour.

    Parameters
    ----------
    content : LinkageSteps
        ``reproduce("figure1")["figure1"].content``.

    Returns
    -------
    matplotlib.figure.Figure
        A figure that needs no display.

    Examples
    --------
    >>> import linkarms as la
    >>> from linkarms.paper import reproduce
    >>> figure = la.plots.plot_linkage_steps(reproduce("figure1")["figure1"].content)
    >>> len(figure.axes)
    4
    """
    require("matplotlib", "plots")
    import matplotlib

    info = linkage_steps_info(content)
    with matplotlib.rc_context(STYLE):
        n = len(info.clusters)
        figure = new_figure(2.9 * n, 3.2)
        for i, (ax, clusters) in enumerate(
            zip(figure.subplots(1, n, squeeze=False)[0], info.clusters, strict=True)
        ):
            tidy(ax, info.titles[i], grid="both")
            ax.title.set_fontsize(9)
            for cluster in clusters:
                x, y = zip(*(info.points[m] for m in cluster), strict=True)
                colour = cluster_color(min(cluster))
                if len(cluster) > 1:
                    ax.plot(x, y, color=colour, alpha=0.3, linewidth=14, solid_capstyle="round")
                ax.plot(x, y, "o", color=colour, markersize=6)
                for m in cluster:
                    ax.annotate(
                        str(m + 1), info.points[m], (5, 5), textcoords="offset points", color=INK, fontsize=8
                    )
            ax.margins(0.15)
            ax.set_xlabel("parameter 0")
            ax.set_ylabel("parameter 1" if i == 0 else "")
            ax.set_aspect("equal", adjustable="datalim")
    return figure
