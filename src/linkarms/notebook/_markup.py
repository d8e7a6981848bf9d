"""The pieces that the views are made of. Everything that a user named is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["badge", "card", "meter", "paragraph", "table", "warning"]

_CARD = (
    "border:1px solid rgba(128,128,128,.4);border-radius:8px;padding:.6em 1em;max-width:56em;overflow-x:auto"
)
_CELL = "text-align:left;padding:.15em .8em .15em 0;vertical-align:top"


def card(title: str, parts: Iterable[str]) -> str:
    """Return the frame of a view with its title."""
    return f'<div style="{_CARD}"><div style="font-weight:600">{escape(title)}</div>{"".join(parts)}</div>'


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f'<p style="margin:.4em 0">{escape(text)}</p>'


def badge(good: bool, text: str) -> str:
    """Return a line with a mark: a tick where the promise holds, a dash where it does not."""
    return f'<p style="margin:.4em 0"><b>{"✓" if good else "–"}</b> {escape(text)}</p>'


def warning(text: str) -> str:
    """Return a line that stands out: the samples contradict what is assumed."""
    return f'<p style="margin:.4em 0;padding-left:.6em;border-left:3px solid #D55E00"><b>Warning.</b> {escape(text)}</p>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of plain text."""
    head = "".join(f'<th scope="col" style="{_CELL}">{escape(h)}</th>' for h in heads)
    body = "".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f'<table style="border-collapse:collapse;margin:.4em 0"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(text: str) -> str:
    """Return a cell; only long texts, such as lists of names, may break into lines."""
    keep = ";white-space:nowrap" if len(text) <= 24 else ""
    return f'<td style="{_CELL}{keep}">{escape(text)}</td>'


def meter(share: float, text: str) -> str:
    """Return a bar that is filled up to ``share``, with its text beside it."""
    percent = 100.0 * min(max(share, 0.0), 1.0)
    return (
        '<div style="display:flex;align-items:center;gap:.8em;margin:.4em 0">'
        '<div style="flex:0 0 14em;height:.7em;border-radius:.35em;background:rgba(128,128,128,.3)">'
        f'<div style="width:{percent:.1f}%;height:100%;border-radius:.35em;background:#0072B2"></div></div>'
        f"<span>{escape(text)}</span></div>"
    )
