"""How often tests repeat: a few times in ``make test``, many times in ``make test-long``."""

import os

__all__ = ["LONG", "few", "repeats"]

LONG = os.environ.get("LINKARMS_LONG") == "1"


def repeats(usual: int, long: int) -> int:
    """Return how often to repeat: ``usual`` in the suite, ``long`` with ``LINKARMS_LONG=1``."""
    return long if LONG else usual


def few(cases, *, every: int) -> list:
    """Return every ``every``-th case, the first and the last among them; all with ``LINKARMS_LONG=1``."""
    cases = list(cases)
    return cases if LONG else [*cases[:-1:every], *cases[-1:]]
