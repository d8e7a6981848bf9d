"""The colours of clusters on a terminal."""

from __future__ import annotations

from rich.console import Console

__all__ = ["terminal_color"]

#: For terminals that have only the basic colours, in which those of the pictures could not be told apart.
_BASIC = ("blue", "yellow", "green", "magenta", "cyan", "red")


def terminal_color(label: int, console: Console) -> str:
    """The colour of a cluster as a style of rich: that of the pictures, or a basic one."""
    if console.color_system in ("256", "truecolor"):
        from linkarms.plots import cluster_color

        return cluster_color(label)
    return _BASIC[label % len(_BASIC)] if label >= 0 else "bright_black"
