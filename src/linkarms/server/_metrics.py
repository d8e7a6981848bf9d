"""Counters in Prometheus' text format."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any

__all__ = ["Metrics"]

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """Requests by route and status, and how long they took."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    def count(self, scope: Any, status: int, seconds: float) -> None:
        """Count a request. Routes are named by their pattern, so invented addresses do not grow the list."""
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "DELETE") else "other"
        with self._lock:
            self._requests[route, method, status] += 1
            if route.endswith("/events"):
                return  # a stream lasts as long as somebody watches
            self._counts[route] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]
            for edge in _BUCKETS:
                if seconds <= edge:
                    self._buckets[route, edge] += 1

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return all counters, with the given gauges: name to (help, value)."""
        lines = []
        for name, (about, value) in gauges.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {value:g}"]
        with self._lock:
            lines += ["# HELP linkarms_requests_total Requests.", "# TYPE linkarms_requests_total counter"]
            lines += [
                f'linkarms_requests_total{{route="{route}",method="{method}",status="{status}"}} {n}'
                for (route, method, status), n in sorted(self._requests.items())
            ]
            name = "linkarms_request_seconds"
            lines += [f"# HELP {name} Time of a request.", f"# TYPE {name} histogram"]
            for route, n in sorted(self._counts.items()):
                lines += [
                    f'{name}_bucket{{route="{route}",le="{edge:g}"}} {self._buckets[route, edge]}'
                    for edge in _BUCKETS
                ]
                lines += [
                    f'{name}_bucket{{route="{route}",le="+Inf"}} {n}',
                    f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}',
                    f'{name}_count{{route="{route}"}} {n}',
                ]
        return "\n".join(lines) + "\n"
