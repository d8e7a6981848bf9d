"""Progress on stderr: a bar on a terminal (rich, if it is installed), a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

__all__ = ["Progress"]


class Progress:
    """A context manager with one method, `update`; silent unless ``enabled``.

    Parameters
    ----------
    title : str
        What is going on.
    enabled : bool
        Show anything at all.
    every : float
        Seconds between plain lines.
    """

    def __init__(self, title: str, enabled: bool = True, every: float = 2.0) -> None:
        self.title, self.enabled, self.every = title, enabled, every
        self._bar: Any = None
        self._task: Any = None
        self._last = 0.0

    def __enter__(self) -> Progress:
        self._last = time.monotonic()
        if self.enabled and sys.stderr.isatty():
            try:
                from rich.console import Console
                from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
                from rich.progress import Progress as RichProgress
            except ImportError:
                return self
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[text]}"),
                TimeElapsedColumn(),
            )
            self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self.title, total=1.0, text="")
            self._bar.start()
        return self

    def update(self, fraction: float, text: str) -> None:
        """Show that ``fraction`` of the work is done; cheap to call often."""
        now = time.monotonic()
        if not self.enabled or now - self._last < (0.1 if self._bar is not None else self.every):
            return
        self._last = now
        if self._bar is not None:
            self._bar.update(self._task, completed=min(max(fraction, 0.0), 1.0), text=text)
        else:
            print(f"{self.title}: {text}", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
