"""Limits on repeated log lines: a client that can cause one line can cause a million."""

from __future__ import annotations

import logging
import time

__all__ = ["LimitRepeats", "limit_logs"]

#: Lines of one kind within so many seconds.
_LINES, _SECONDS = 5, 10.0
#: Kinds that are distinguished.
_KINDS = 100


class LimitRepeats(logging.Filter):
    """Lets a few lines of each kind through in ten seconds, and counts the others in the first line after that.

    Lines are of a kind if they come from the same logger, at the same level, and begin with the same forty characters.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        kind, now = (record.name, record.levelno, str(record.msg)[:40]), time.monotonic()
        began, lines = self._seen.get(kind, (now, 0))
        if now - began > _SECONDS:
            if lines > _LINES:
                record.msg = f"{record.getMessage()} ({lines - _LINES} more like this were not logged)"
                record.args = ()
            began, lines = now, 0
        if kind not in self._seen and len(self._seen) >= _KINDS:
            self._seen.clear()
        self._seen[kind] = began, lines + 1
        return lines < _LINES


def limit_logs() -> None:
    """Limit the lines of the server and of the event loop."""
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(part, LimitRepeats) for part in logger.filters):
            logger.addFilter(LimitRepeats())
