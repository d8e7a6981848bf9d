"""The report as a Markdown page, for documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from linkarms.plots._page import DEVIATIONS, deviation_rows, overview, settings_rows, side_tables

if TYPE_CHECKING:
    from linkarms.paper.reproduction import Reproduction

__all__ = ["markdown_page"]


def markdown_page(
    reproduction: Reproduction, pictures: Mapping[str, Sequence[str]], folder: str, command: str | None
) -> str:
    """Return the whole page.

    Parameters
    ----------
    reproduction : Reproduction
        From `linkarms.paper.reproduce`.
    pictures : dict of str to list of str
        Names of PNG files by piece.
    folder : str
        Where they are, as seen from the page.
    command : str or None
        What made it.
    """
    parts = [
        "# The paper, reproduced",
        "The figures and tables of *Efficient Clustering in Stochastic Bandits* from the code of linkarms, with the paper's own numbers "
        "beside ours.",
    ]
    if command:
        parts += ["This page was made by", f"```bash\n{command}\n```"]
    parts.append(_table(("", "what", "answer"), overview(reproduction)))
    for name, piece in reproduction.pieces.items():
        parts.append(f"## {name[:-1].capitalize()} {name[-1]}. {piece.title}")
        parts += [f"![{piece.title}]({folder}/{picture})" for picture in pictures.get(name, ())]
        if piece.remarks:
            parts.append("\n".join(f"- {r}" for r in piece.remarks))
        parts += [_table(heads, rows) for heads, rows in side_tables(piece).values()]
        if piece.deviations:
            parts.append(_table(DEVIATIONS, deviation_rows(piece)))
    parts += ["## Settings", _table(("setting", "value"), settings_rows(reproduction))]
    return "\n\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
