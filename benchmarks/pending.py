"""`ask` with many pulls pending: ``python -m benchmarks.pending`` prints seconds of processor time per `ask(1000)` at 1000 arms.

Workers that take their time leave thousands of pulls pending. Every ticket counts those before it, so each is a search of its own at
weights of which one has changed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import linkarms as la
from benchmarks._keep import keep

__all__ = ["asked", "main"]

HERE = Path(__file__).with_suffix(".json")
#: Family (None is the default), dimension, clusters, how far apart the clusters' centres are, and samples per arm.
CASES = [
    (family, d, k, apart, 3)
    for family, d in (("gaussian:4", 4), (None, 1))
    for k in (2, 10, 300)
    for apart in (8.0, 1.0)
] + [("gaussian:4", 4, 2, 1.0, 30), (None, 1, 2, 1.0, 30)]


def asked(
    family: str | None,
    d: int,
    k: int,
    apart: float,
    n_arms: int = 1000,
    told: int = 3,
    tickets: int = 1000,
    rounds: int = 11,
) -> list[float]:
    """Seconds of processor time of each ``ask(tickets)``; the last of eleven has 10,000 pending before it."""
    rng = np.random.default_rng(1)
    c = la.BanditClusterer(k, n_arms, d, family=family)
    centres = apart * rng.normal(size=(k, d))[np.arange(n_arms) % k]
    for _ in range(told):
        c.tell_many(range(n_arms), centres + rng.normal(size=(n_arms, d)))
    seconds = []
    for _ in range(rounds):
        began = time.process_time()
        c.ask(tickets)
        seconds.append(time.process_time() - began)
    return seconds


def main(arguments: list[str] | None = None) -> None:
    """Print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", type=int, default=1000)
    parser.add_argument("--tickets", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=11)
    given = parser.parse_args(arguments)
    print("family            d    K  apart  told  first ask  last ask (s)")
    rows = []
    for family, d, k, apart, told in CASES:
        if k <= given.arms:
            found = asked(family, d, k, apart, given.arms, told, given.tickets, given.rounds)
            case = {"family": family or "default", "features": d, "clusters": k, "apart": apart, "told": told}
            rows.append(case | {"ask_s": [round(x, 3) for x in found]})
            print(
                f"{family or 'default':16} {d:2} {k:4} {apart:6} {told:5} {found[0]:10.3f} {found[-1]:9.3f}",
                flush=True,
            )
    if (given.arms, given.tickets, given.rounds) == (1000, 1000, 11):
        keep(HERE, "python -m benchmarks.pending", rows)


if __name__ == "__main__":
    main()
