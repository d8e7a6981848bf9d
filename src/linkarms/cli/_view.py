"""A run while it goes on: a live table on a terminal, plain lines elsewhere; all on stderr."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from linkarms.cli._colors import terminal_color

if TYPE_CHECKING:
    from linkarms.plots import History
    from linkarms.result import Result

__all__ = ["Watch", "render"]

#: Arms beyond these are counted, not shown.
_MAX_ROWS = 24
#: Seconds between two pictures of the table.
_FRAME = 0.07
#: Seconds to wait at each look, where the run is to be watched: six seconds or so for the demo.
_PAUSE = 0.015


class Watch:
    """A callback for `linkarms.cluster` that shows the run and keeps its history.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    pace : bool, default False
        On a terminal, slow the run down so that it can be watched.
    """

    def __init__(self, *, quiet: bool, pace: bool = False) -> None:
        from linkarms.plots import HistoryRecorder

        self._console = Console(stderr=True)
        self._shown = not quiet
        self._terminal = self._console.is_terminal
        self._pause = _PAUSE if pace and self._terminal and self._shown else 0.0
        self._recorder = HistoryRecorder()
        self._live: Live | None = None
        self._last = -math.inf
        self._next_line = 0

    @property
    def history(self) -> History:
        """Evidence and threshold as far as they were seen."""
        return self._recorder.history

    @property
    def next_look(self) -> int:
        """The number of samples before which calls have no effect, unless the run is done."""
        return self._recorder.next_look

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, clusterer: Any) -> None:
        """Look at the run, now and then."""
        result = self._recorder.look(clusterer)
        if result is None or not self._shown:
            return
        if self._terminal:
            self._draw(result, last=bool(clusterer.done))
        elif (result.samples >= self._next_line and math.isfinite(result.threshold)) or clusterer.done:
            self._next_line = 2 * result.samples
            print(_line(result), file=self._console.file, flush=True)

    def _draw(self, result: Result, last: bool) -> None:
        if self._live is None:
            # Not before the first sample: there is nothing to draw.
            self._live = Live(console=self._console, auto_refresh=False, transient=False)
            self._live.start()
        now = time.monotonic()
        if last or now - self._last >= _FRAME:
            self._last = now
            self._live.update(render(result, self._console), refresh=True)
        time.sleep(self._pause)


def _line(result: Result) -> str:
    from linkarms.result import would_stop_at

    gauge = f"evidence {result.evidence:.2f} of {result.threshold:.2f}"
    if result.error_bound is not None:
        gauge = f"{would_stop_at(result.error_bound)} ({gauge})"
    return f"{result.samples:,} samples: {gauge}"


def render(result: Result, console: Console) -> RenderableType:
    """The arms with their pulls, estimates and clusters, and the evidence against the threshold."""
    bar = max(4, min(20, console.width - 66))
    rows = max(3, min(_MAX_ROWS, console.height - 8))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    table.add_column("arm", max_width=20, no_wrap=True)
    table.add_column("cluster", min_width=7)
    table.add_column("samples", justify="right", min_width=7, no_wrap=True)
    table.add_column("", width=bar, no_wrap=True)
    table.add_column("estimate", no_wrap=True)
    most = max(int(result.pulls.max(initial=0)), 1)
    import numpy as np

    masked = np.atleast_1d(np.ma.getmaskarray(result.parameters).any(axis=1))
    for m, arm in enumerate(result.arms[:rows]):
        label, pulls = int(result.labels[m]), int(result.pulls[m])
        color = terminal_color(label, console)
        table.add_row(
            Text(str(arm)),
            Text(f"● {label}" if label >= 0 else "·", style=color),
            f"{pulls:,}",
            Text("█" * round(bar * pulls / most), style=color),
            "" if masked[m] else _estimate(result.parameters[m]),
        )
    parts: list[RenderableType] = [table]
    hidden = len(result.arms) - rows
    if hidden > 0:
        parts.append(Text(f"and {hidden:,} more arms", style="dim"))
    return Group(*parts, _gauge(result, console))


def _estimate(values: Any) -> str:
    shown = values if len(values) <= 3 else values[:2]
    return " ".join(f"{float(value):8.3f}" for value in shown) + ("  …" if len(values) > 3 else "")


def _gauge(result: Result, console: Console) -> RenderableType:
    """A bar that is full when the run may stop."""
    from linkarms.result import would_stop_at

    reached = 0.0
    if math.isfinite(result.evidence) and math.isfinite(result.threshold) and result.threshold > 0.0:
        reached = min(max(result.evidence / result.threshold, 0.0), 1.0)
    style = terminal_color(2 if result.stopped else 0, console)
    width = max(8, min(34, console.width - 52))
    row = Table.grid(padding=(0, 1))
    row.add_row(
        Text(f"evidence {result.evidence:7.2f}"),
        ProgressBar(total=1.0, completed=reached, width=width, complete_style=style, finished_style=style),
        Text(f"threshold {result.threshold:7.2f}"),
        Text(f"{result.samples:,} samples", style="bold"),
    )
    if result.error_bound is None or not math.isfinite(result.threshold):
        return row
    return Group(row, Text(would_stop_at(result.error_bound), style="dim"))
