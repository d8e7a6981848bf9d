"""How often each category was told, beside its estimated probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkarms.plots._style import INK, MAX_NUMBERS, MUTED, cluster_color, key, label_rows, row_font, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linkarms.result import Result

__all__ = ["CategoryFitInfo", "categories_info", "draw_categories"]


@dataclass(frozen=True)
class CategoryFitInfo:
    """What `plot_fit` draws for categories: one bar per arm and category.

    Attributes
    ----------
    names : tuple of str
        The arm and the category.
    labels : tuple of int
        The cluster of the arm.
    counts, totals : tuple of int
        How many samples of the arm are in the category, and how many there are.
    probabilities : tuple of float
        The estimate of the run.
    title : str
        What is shown.

    Examples
    --------
    >>> import linkarms as la
    >>> family = la.families.Categorical(2)
    >>> run = la.BanditClusterer(2, ["a", "b", "c"], n_features=2, family=family)
    >>> for name, last in (("a", 0), ("b", 1), ("c", 0)):
    ...     run.tell_many([name] * 8, family.encode([0, 1, 0, 1, 0, 1, 1, last]))
    >>> info = la.plots.fit_info(run.result())
    >>> info.names[:2], info.counts[:2], info.probabilities[:2]
    (('a, 0', 'a, 1'), (4, 4), (0.5, 0.5))
    """

    names: tuple[str, ...]
    labels: tuple[int, ...]
    counts: tuple[int, ...]
    totals: tuple[int, ...]
    probabilities: tuple[float, ...]
    title: str


def categories_info(result: Result) -> CategoryFitInfo:
    """Build the data of `draw_categories`; arms without samples are left out."""
    assert result.fit is not None
    rows = [
        (f"{arm}, {category}", int(label), int(count), len(samples), float(probability))
        for arm, label, samples, estimate in zip(
            result.arms, result.labels, result.fit.samples, result.parameters, strict=True
        )
        if len(samples)
        for category, count, probability in zip(
            result.features or range(samples.shape[1]),
            samples.sum(axis=0),
            np.ma.getdata(estimate),
            strict=True,
        )
    ]
    names, labels, counts, totals, probabilities = zip(*rows, strict=True)
    return CategoryFitInfo(names, labels, counts, totals, probabilities, "Categories told and estimated")


def draw_categories(info: CategoryFitInfo, ax: Axes) -> None:
    """Draw a bar for the share of each category, its number of samples, and a mark at the estimated probability."""
    tidy(ax, info.title, grid="x")
    label_rows(ax, info.names, info.labels)
    rows, size = range(len(info.names)), min(9.0, row_font(ax, len(info.names)))
    numbers = len(rows) <= MAX_NUMBERS
    shares = [count / total for count, total in zip(info.counts, info.totals, strict=True)]
    ax.barh(rows, shares, height=0.62, color=[cluster_color(label) for label in info.labels], alpha=0.6)
    (marks,) = ax.plot(
        info.probabilities,
        rows,
        linestyle="none",
        marker="|",
        markersize=1.6 * size,
        color=INK,
        label="estimated probability",
    )
    for row, count in enumerate(info.counts if numbers else ()):
        ax.annotate(
            f"{count:,}",
            (max(shares[row], info.probabilities[row]), row),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=size,
            color=MUTED,
        )
    ax.set_xlim(0, 1.14 * max(*shares, *info.probabilities))
    key(ax, [marks])
    ax.set_xlabel(f"share of the samples told{'; numbers: samples' if numbers else ''}")
