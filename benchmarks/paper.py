"""The paper's Table 2, as printed: another machine, other programs, shown for orientation only."""

from __future__ import annotations

from typing import Any

from linkarms.paper.published import run_times

__all__ = ["as_dict", "published"]


def published(rule: str, n_arms: int) -> float | None:
    """Return milliseconds per sample in the paper; None where the table has no such entry."""
    return run_times()[rule].get(n_arms)


def as_dict() -> dict[str, Any]:
    """Return the table for a report."""
    table = run_times()
    return {
        "source": "Table 2 of Efficient Clustering in Stochastic Bandits, on its authors' machine",
        "arms": list(next(iter(table.values()))),
        "milliseconds": {rule: list(row.values()) for rule, row in table.items()},
    }
