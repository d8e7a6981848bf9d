"""The dendrogram of a result as inline SVG."""

from __future__ import annotations

from html import escape

from linkarms._words import plural
from linkarms.plots import cluster_color, dendrogram_info
from linkarms.result import Result

__all__ = ["dendrogram_svg"]

_ROW, _LEFT, _WIDTH = 22, 130, 300
_MOST_ROWS = 40


def dendrogram_svg(result: Result) -> str:
    """Return the single-linkage tree of the estimates with its cut; nothing for fewer than two arms, or for more than can be read.

    Over an arm the pointer shows its cluster, samples and estimate, and over a merge the distance: titles of SVG, which need no script.

    Parameters
    ----------
    result : Result
        The result of a run, finished or not.

    Returns
    -------
    str
        An ``<svg>`` element, or an empty string.
    """
    info = dendrogram_info(result)
    if not 2 <= len(info.arms) <= _MOST_ROWS:
        return ""
    top = max(merge[4] for merge in info.merges) or 1.0

    def x(height: float) -> float:
        return _LEFT + (_WIDTH - 10) * height / top

    def y(row: float) -> float:
        return _ROW * (row + 0.5) + 4

    height = _ROW * len(info.arms) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH} {height}" width="{_LEFT + _WIDTH}" role="img" '
        'aria-label="Dendrogram of the estimates" style="max-width:100%">'
    ]
    for a, b, from_a, from_b, merged, label in info.merges:
        colour = cluster_color(label) if label >= 0 else "#808080"
        parts.append(
            f'<path d="M{x(from_a):.1f} {y(a):.1f}H{x(merged):.1f}V{y(b):.1f}H{x(from_b):.1f}" fill="none" '
            f'stroke="{colour}" stroke-width="2"><title>joined at distance {merged:.4g}</title></path>'
        )
    if info.cut is not None:
        parts.append(
            f'<path d="M{x(info.cut):.1f} 2V{height - 2}" stroke="currentColor" stroke-dasharray="5 4" fill="none"/>'
        )
    facts = {str(arm): _facts(result, m) for m, arm in enumerate(result.arms)}
    for row, (name, label) in enumerate(zip(info.arms, info.labels, strict=True)):
        shown = name if len(name) <= 18 else name[:17] + "…"
        parts.append(
            f"<g><title>{escape(name)}: {facts[name]}</title>"
            f'<circle cx="{_LEFT}" cy="{y(row)}" r="4" fill="{cluster_color(label)}"/>'
            f'<text x="{_LEFT - 8}" y="{y(row) + 4}" text-anchor="end" font-size="13" fill="currentColor">{escape(shown)}</text></g>'
        )
    return "".join([*parts, "</svg>"])


def _facts(result: Result, m: int) -> str:
    """Return cluster, samples and estimate of arm ``m``."""
    estimate = ", ".join(f"{x:.4g}" for x in result.parameters[m].tolist() if x is not None)
    pulls = int(result.pulls[m])
    return f"cluster {int(result.labels[m])}, {plural(pulls, 'sample')}, estimate {estimate}"
