"""A reproduction on paper: pictures, tables, one HTML page that needs nothing else, and a Markdown page."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkarms.errors import InvalidInput, require
from linkarms.plots._error_curve import plot_error_curve
from linkarms.plots._fit import plot_fit
from linkarms.plots._html import html_page
from linkarms.plots._linkage_steps import plot_linkage_steps
from linkarms.plots._markdown import markdown_page
from linkarms.plots._run_times import plot_run_times
from linkarms.plots._stopping_times import plot_slopes, plot_stopping_times
from linkarms.plots._style import STYLE, close

if TYPE_CHECKING:
    from linkarms.paper.reproduction import Piece, Reproduction

__all__ = ["write_report"]

#: The pictures of a piece: what follows its name in the name of the file, and how it is drawn.
_DRAWINGS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "figure1": {"": plot_linkage_steps},
    "figure2": {"": plot_stopping_times},
    "figure3": {"": plot_stopping_times},
    "figure4": {"": plot_error_curve, "-fit": plot_fit},
    "figure5": {"": plot_error_curve, "-fit": plot_fit},
    "table1": {"": plot_slopes},
    "table2": {"": plot_run_times},
}
#: Nothing about when or where: the same numbers give the same file.
_BARE: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None},
}
_DPI = 110


def write_report(
    reproduction: Reproduction,
    folder: str | Path,
    *,
    command: str | None = None,
    markdown: str | Path | None = None,
) -> list[Path]:
    """Write pictures (PNG and PDF), tables (CSV), ``report.json`` and ``report.html``.

    Parameters
    ----------
    reproduction : Reproduction
        From `linkarms.paper.reproduce`.
    folder : str or Path
        Where to write; created if it does not exist.
    command : str, optional
        What made it, for the page.
    markdown : str or Path, optional
        Also write a Markdown page of this name, with links to the pictures.

    Returns
    -------
    list of Path
        What was written. ``report.html`` holds its pictures and can be moved or sent alone.

    Examples
    --------
    >>> import tempfile
    >>> from linkarms.paper import reproduce
    >>> from linkarms.plots import write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in write_report(reproduce("figure1"), folder))
    ['figure1.csv', 'figure1.pdf', 'figure1.png', 'report.html', 'report.json']
    """
    require("matplotlib", "plots")
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = reproduction.to_csv(folder)
        pictures: dict[str, dict[str, bytes]] = {}
        for name, piece in reproduction.pieces.items():
            pictures[name] = {}
            for suffix, content in _draw(piece).items():
                paths.append(folder / f"{name}{suffix}")
                paths[-1].write_bytes(content)
                if suffix.endswith("png"):
                    pictures[name][paths[-1].name] = content
        data = folder / "report.json"
        data.write_text(json.dumps(reproduction.to_dict(), indent=1, allow_nan=False) + "\n", "utf-8")
        page = folder / "report.html"
        page.write_text(html_page(reproduction, pictures, command), "utf-8")
        paths += [data, page]
        if markdown is not None:
            target = Path(markdown)
            relative = Path(os.path.relpath(folder, target.parent)).as_posix()
            names = {name: list(images) for name, images in pictures.items()}
            target.write_text(markdown_page(reproduction, names, relative, command), "utf-8")
            paths.append(target)
    except OSError as error:
        raise InvalidInput(
            f"{error.filename or folder}: cannot be written: {error.strerror or error}"
        ) from error
    return paths


def _draw(piece: Piece) -> dict[str, bytes]:
    """The files of a piece's pictures by what follows its name."""
    import matplotlib

    files = {}
    for suffix, draw in _DRAWINGS[piece.name].items():
        with matplotlib.rc_context(STYLE):
            drawn = draw(piece.content)
            figure = getattr(drawn, "figure", None) or drawn
            for kind, bare in _BARE.items():
                buffer = io.BytesIO()
                figure.savefig(buffer, format=kind, metadata=bare, dpi=_DPI)
                files[f"{suffix}.{kind}"] = buffer.getvalue()
                figure.set_layout_engine("none")  # the first file has laid it out
            close(figure)
    return files
