"""The report as one HTML page: pictures inside, no scripts, nothing fetched."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from linkarms.plots._page import DEVIATIONS, deviation_rows, overview, settings_rows, side_tables

if TYPE_CHECKING:
    from linkarms.paper.reproduction import Piece, Reproduction

__all__ = ["html_page"]

_CSS = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22272E; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid #D5DAE0; padding-top: 1.2rem; }
table { border-collapse: collapse; font-size: 13px; margin: 0.8rem 0; display: block; overflow-x: auto; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid #D5DAE0; text-align: right; }
th:first-child, td:first-child { text-align: left; } th { color: #6B7480; font-weight: 600; }
img { max-width: 100%; } code, pre { background: #F3F5F7; padding: 0.1rem 0.3rem; } pre { padding: 0.6rem; overflow-x: auto; }
tr.beyond td { color: #B03A00; font-weight: 600; } summary { cursor: pointer; color: #0072B2; }
table.words td { text-align: left; }
"""


def html_page(
    reproduction: Reproduction, pictures: Mapping[str, Mapping[str, bytes]], command: str | None
) -> str:
    """Return the whole page.

    Parameters
    ----------
    reproduction : Reproduction
        From `linkarms.paper.reproduce`.
    pictures : dict of str to (dict of str to bytes)
        PNG files by piece and name.
    command : str or None
        What made it.
    """
    made = f"<p>Made by</p><pre>{escape(command)}</pre>" if command else ""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>The paper, reproduced</title><style>{_CSS}</style></head><body>",
        "<h1>The paper, reproduced</h1>",
        "<p>The figures and tables of <em>Efficient Clustering in Stochastic Bandits</em> (G Dhinesh Chandran, Kota Srinivas Reddy, "
        "Srikrishna Bhashyam) from the code of linkarms, with the paper's own numbers beside ours.</p>",
        made,
        _table(("", "what", "answer"), overview(reproduction), words=True),
        *(_piece(piece, pictures.get(name, {})) for name, piece in reproduction.pieces.items()),
        "<h2>Settings</h2>",
        _table(("setting", "value"), settings_rows(reproduction), words=True),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _piece(piece: Piece, pictures: Mapping[str, bytes]) -> str:
    parts = [f'<h2 id="{piece.name}">{escape(_heading(piece))}</h2>', f"<p>{escape(piece.answer)}</p>"]
    for name, content in pictures.items():
        data = base64.b64encode(content).decode("ascii")
        parts.append(f'<p><img alt="{escape(name)}" src="data:image/png;base64,{data}"></p>')
    if piece.remarks:
        parts.append("<ul>" + "".join(f"<li>{escape(r)}</li>" for r in piece.remarks) + "</ul>")
    for name, (heads, rows) in side_tables(piece).items():
        parts.append(_folded(name, _table(heads, rows)))
    if piece.deviations:
        parts.append(_folded("deviations", _table(DEVIATIONS, deviation_rows(piece)), is_open=True))
    if piece.settings:
        rows = [(k, str(v)) for k, v in piece.settings.items()]
        parts.append(_folded("settings", _table(("setting", "value"), rows, words=True)))
    return "\n".join(parts)


def _heading(piece: Piece) -> str:
    return f"{piece.name[:-1].capitalize()} {piece.name[-1]}. {piece.title}"


def _folded(title: str, content: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{content}</details>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], words: bool = False) -> str:
    lines = ["<tr>" + "".join(f"<th>{escape(h)}</th>" for h in heads) + "</tr>"]
    for row in rows:
        kind = ' class="beyond"' if row[-1] == "beyond" or row[-1].startswith("DIFFERS") else ""
        lines.append(f"<tr{kind}>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    return f"<table{' class=words' if words else ''}>" + "\n".join(lines) + "</table>"
