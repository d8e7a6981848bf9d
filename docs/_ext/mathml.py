"""Formulas as MathML, which browsers draw themselves: no script, and nothing from another server."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

#: What docutils does not know of LaTeX, and what it takes instead.
_INSTEAD = ((r"\\dots\b", r"\\ldots"), (r"\\([Bb]ig)([(\[])", r"\\\1l\2"), (r"\\([Bb]ig)([)\]])", r"\\\1r\2"))


def as_mathml(latex: str, block: bool) -> str:
    """Translate a formula."""
    for pattern, instead in _INSTEAD:
        latex = re.sub(pattern, instead, latex)
    return tex2mathml(latex, as_block=block)


def write_inline(self, node) -> None:
    """Write a formula inside a line."""
    self.body.append(as_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def write_block(self, node) -> None:
    """Write a formula on a line of its own."""
    self.body.append(f'<div class="math">{as_mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under its name."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
