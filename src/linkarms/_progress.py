"""Progress: a bar in a notebook, a bar on a terminal (rich, if it is installed), occasional lines on stderr elsewhere."""

from __future__ import annotations

import sys
import time
from html import escape
from types import TracebackType
from typing import Any

__all__ = ["Pace", "Progress"]


class Progress:
    """A context manager with two methods, `update` and `say`; silent unless ``enabled``.

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
        #: The output of a notebook's cell that shows the bar.
        self._cell: Any = None
        self._last = 0.0

    def __enter__(self) -> Progress:
        self._last = time.monotonic()
        if self.enabled and "ipykernel" in sys.modules:
            from IPython import display

            show: Any = display.display
            self._cell = show({"text/plain": self.title}, raw=True, display_id=True)
        elif self.enabled and sys.stderr.isatty():
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
        """Show that ``fraction`` of the work is done; it may be called often."""
        now = time.monotonic()
        live = self._bar is not None or self._cell is not None
        if not self.enabled or now - self._last < (0.1 if live else self.every):
            return
        self._last = now
        if self._cell is not None:
            self._show(min(max(fraction, 0.0), 1.0), text)
        elif self._bar is not None:
            self._bar.update(self._task, completed=min(max(fraction, 0.0), 1.0), text=text)
        else:
            self.say(text)

    def say(self, text: str) -> None:
        """Print a line at once; on a terminal it stays when the bar disappears."""
        if not self.enabled:
            return
        if self._cell is not None:
            self._show(1.0, text)
        elif self._bar is not None:
            self._bar.console.print(f"{self.title}: {text}", highlight=False, markup=False)
        else:
            print(f"{self.title}: {text}", file=sys.stderr, flush=True)

    def _show(self, fraction: float, text: str) -> None:
        """Draw the bar of a notebook again."""
        words = escape(f"{self.title}: {text}")
        html = f'<progress max="1" value="{fraction:.3f}" aria-label="{words}"></progress> {words}'
        self._cell.update({"text/plain": f"{self.title}: {text}", "text/html": html}, raw=True)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class Pace:
    """How many are done, how fast, and how long the rest will take, in words.

    Parameters
    ----------
    total : int
        How many there are.
    unit : str
        What they are, in the plural.
    """

    def __init__(self, total: int, unit: str) -> None:
        self.total, self.unit = total, unit
        self._first: tuple[float, int] | None = None

    def text(self, done: int) -> str:
        """For example ``120 of 1000 trials, 35/s, 25 s left``."""
        text = f"{done} of {self.total} {self.unit}"
        now = time.monotonic()
        if self._first is None:
            # the clock starts with the first result: workers that start or compile would make the rate too small
            self._first = (now, done) if done else None
            return text
        seconds, count = now - self._first[0], done - self._first[1]
        if seconds <= 0.0 or count == 0:
            return text
        rate = count / seconds
        speed = f"{rate:.3g}/s" if rate >= 1.0 else f"{60.0 * rate:.2g}/min"
        return f"{text}, {speed}, {_duration((self.total - done) / rate)} left"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole // 60 % 60} min"
