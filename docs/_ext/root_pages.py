"""Pages of the site that are files at the root of the repository, where GitHub looks for them: their links are made to fit both."""

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
#: The page of the site, and the file that it shows.
PAGES = {
    "contributing": "CONTRIBUTING.md",
    "changes": "CHANGELOG.md",
    "security": "SECURITY.md",
    "conduct": "CODE_OF_CONDUCT.md",
}
#: Where a link to a file at the root leads on the site.
TARGETS = {name: f"{page}.md" for page, name in PAGES.items()} | {"README.md": "index.md"}


def fit_links(text: str) -> str:
    """Rewrite links to files at the root, from the root or from docs/, into links between pages of the site."""
    for name, page in TARGETS.items():
        text = re.sub(rf"\]\((?:\.\./)?{re.escape(name)}(#[^)]*)?\)", rf"]({page}\1)", text)
    return re.sub(r"\]\(docs/", "](", text)


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the file in place of the page, before what the page itself says."""
    if page in PAGES:
        source[0] = (ROOT / PAGES[page]).read_text("utf-8") + "\n" + source[0]
        app.env.note_dependency(ROOT / PAGES[page])
    source[0] = fit_links(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to pages as they are read."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
