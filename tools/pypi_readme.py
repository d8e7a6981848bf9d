"""The README as PyPI shows it: a provider of dynamic metadata for the build.

Links in README.md are relative, so they work in a clone and in the repository. PyPI shows the text on a page of its own. So
each link gets the address of the repository in ``[project.urls]`` and the tag of the version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: A Markdown link or picture whose target is neither an address nor a heading of the same page.
RELATIVE = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!\w+:|#)(?P<target>[^)]+)\)")


def absolute_links(text: str, source: str, version: str) -> str:
    """Return Markdown text whose relative links point to the files of a version in the repository."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found["picture"] else "blob"
        return f"{found['picture']}[{found['text']}]({source}/{kind}/v{version}/{found['target']})"

    return RELATIVE.sub(link, text)


def dynamic_metadata(settings: Mapping[str, Any], project: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field ``readme``; called by the build backend after the version is known."""
    text = Path("README.md").read_text("utf-8")
    text = absolute_links(text, project["urls"]["Source"], project["version"])
    return {"readme": {"content-type": "text/markdown", "text": text}}
