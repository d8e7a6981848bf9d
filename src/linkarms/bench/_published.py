"""The paper's Table 2, as printed: another machine, other programs, shown for orientation only."""

from __future__ import annotations

from typing import Any

__all__ = ["PAPER_ARMS", "PAPER_MS", "published"]

#: Number of arms in the columns of the table.
PAPER_ARMS = (4, 8, 14, 20)
#: Average run time of one sample in milliseconds.
PAPER_MS = {
    "ebc-h": (0.44, 0.64, 1.02, 1.90),
    "ebc": (0.62, 1.11, 1.81, 3.52),
    "lucbboc": (0.69, 1.18, 2.05, 3.65),
    "atboc": (21.1, 91.2, 348.0, 1133.0),
}


def published(rule: str, n_arms: int) -> float | None:
    """Milliseconds a sample in the paper; None where the table has no such entry."""
    return dict(zip(PAPER_ARMS, PAPER_MS[rule], strict=True)).get(n_arms)


def as_dict() -> dict[str, Any]:
    """The table for a report."""
    return {
        "source": "Table 2 of Efficient Clustering in Stochastic Bandits, on its authors' machine",
        "arms": list(PAPER_ARMS),
        "milliseconds": {rule: list(row) for rule, row in PAPER_MS.items()},
    }
