"""A million trials of Synthetic 1 under the anytime rule at delta = 0.1, on two cores: ``python -m benchmarks.million``.

They run in parts of 10,000. million.json is written after each part, and the command goes on from there: interrupt it as you like.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import linkarms as la
from linkarms import _core
from linkarms._machine import machine

__all__ = ["main"]

HERE = Path(__file__).with_suffix(".json")
DELTA, SEED, PART, PROCESSES = 0.1, 2026, 10_000, 2


def part(first: int, trials: int, pool: ProcessPoolExecutor) -> dict[str, float]:
    """Return what a part took and found: seconds by the clock, and of the processor inside the trials."""
    start = time.perf_counter()
    found = la.simulate(
        la.problems.synthetic1(), deltas=[DELTA], trials=trials, seed=SEED, first_trial=first, backend=pool
    )["ebc-h"]
    if len(found.stopping_times) < trials:
        raise KeyboardInterrupt
    samples = int(found.stopping_times.sum())
    return {
        "trials": trials,
        "seconds": time.perf_counter() - start,
        "processor_seconds": 1e-6 * found.microseconds_per_sample * samples,
        "samples": samples,
        "wrong": int(found.errors.sum()),
    }


def table(kept: dict) -> str:
    """Return the total as Markdown."""
    total, trials = kept["total"], kept["total"]["trials"]
    return "\n".join(
        [
            "| trials | wrong | samples per trial | wall time, s | processor, s | processor per trial, ms |",
            "|---|---|---|---|---|---|",
            f"| {trials:,} | {total['wrong']:,} | {total['samples'] / trials:.1f} | {total['seconds']:.0f} "
            f"| {total['processor_seconds']:.0f} | {1e3 * total['processor_seconds'] / trials:.2f} |",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the parts that are missing; print the total after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10**6, help="in all, earlier parts included")
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args(arguments)
    kept = json.loads(given.out.read_text()) if given.out.exists() else {"core": _core.build, "total": {}}
    if kept["core"] != _core.build:
        parser.error(f"{given.out} was measured with another core; move it away to begin again")
    total = kept["total"]
    with ProcessPoolExecutor(PROCESSES) as pool:
        while (done := total.get("trials", 0)) < given.trials:
            more = part(done, min(PART, given.trials - done), pool)
            total = {name: total.get(name, 0) + value for name, value in more.items()}
            kept = {"core": _core.build, "processes": PROCESSES, "machine": machine(), "total": total}
            given.out.write_text(json.dumps(kept, indent=1) + "\n")
            print(json.dumps(total), flush=True)


if __name__ == "__main__":
    main()
