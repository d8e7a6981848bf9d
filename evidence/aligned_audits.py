"""Audits of version 2 of the anytime rule on hard Gaussian instances: ``python -m evidence.aligned_audits``.

The same as ``evidence/audits.py``, with aligned evidence and delta = 0.1, 0.2 and 0.5. ``evidence/aligned_audits.json`` keeps, for every
250 runs, errors, unstopped runs and samples for each delta; ``tests/test_aligned_evidence.py`` checks them and computes some again.
"""

import argparse
import time
from pathlib import Path

import linkarms as la
from evidence._audit_series import CHUNK, RATES, is_broken, markdown, rates, run_chunk, total
from evidence._store import Store

SEED, TRIALS, DELTAS, WEAK, WEAK_TRIALS = 16_180, 10_000, (0.1, 0.2, 0.5), 32.0, 1_000
MAX_SAMPLES = 20_000
RULE = la.stopping.Anytime(version=2)
COMMAND = "python -m evidence.aligned_audits"
HERE = Path(__file__)
#: name -> (parameters, K)
INSTANCES = {
    "three arms, d=1": ([0.0, 10.0, 21.0], 2),
    "two pairs, d=1": ([0.0, 5.0, 10.6, 15.4], 2),
    "chain of five, d=1": ([0.0, 5.0, 10.0, 15.0, 20.0, 26.5], 2),
    "three arms, d=2": ([(0.0, 0.0), (6.0, 0.0), (6.0, 6.8)], 2),
    "two pairs, d=2": ([(0.0, 0.0), (5.0, 0.0), (0.0, 5.8), (5.0, 5.8)], 2),
    "chain of three, d=2": ([(0.0, 0.0), (5.0, 0.0), (10.0, 0.0), (16.5, 0.0), (16.5, 5.0)], 2),
    "threes in the plane": ([(0.0, 0.0), (3.0, 0.0), (0.0, 3.0), (4.8, 3.0), (7.8, 3.0), (4.8, 6.0)], 2),
    "three arms, d=3": ([[0.0] * 3, [4.0] * 3, [8.6] * 3], 2),
    "three arms, d=5": ([[0.0] * 5, [5.0] * 5, [10.5] * 5], 2),
    "six arms, d=5": ([[3.0 * i + e] * 5 for i in range(3) for e in (0.0, 1.3)], 3),
    "twenty arms, d=2": ([(11.5 * i + e, float(i % 2)) for i in range(10) for e in (0.0, 5.0)], 10),
}


def run(name, factor, first, trials):
    """The chunk of the given trials, the threshold divided by ``factor``."""
    parameters, k = INSTANCES[name]
    rule = la.stopping.weaken(RULE, factor)
    return run_chunk(la.Problem(parameters, k), rule, DELTAS, SEED, first, trials, MAX_SAMPLES)


def broken(chunks):
    """For each delta, whether the promise is broken."""
    return is_broken(chunks, DELTAS)


def table(data):
    """The table of the docs."""
    rows = []
    for name, entry in data["instances"].items():
        weak, _, _, n = total(entry["weakened"])
        rows += [[*cells, f"{weak[j] / n:.2f}"] for j, cells in enumerate(rates(name, entry["rule"], DELTAS))]
    return markdown(["instance", *RATES, f"error rate of threshold / {WEAK:g}"], rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing new after so long")
    options = parser.parse_args(arguments)
    store, start = Store(HERE.with_suffix(".json"), COMMAND), time.monotonic()
    instances = store.data.setdefault("instances", {})
    for name in INSTANCES:
        instances.setdefault(name, {"rule": [], "weakened": []})
    for done in range(TRIALS // CHUNK):  # all instances grow together
        for name, entry in instances.items():
            if time.monotonic() - start > options.seconds:
                break
            if len(entry["weakened"]) == done < WEAK_TRIALS // CHUNK:
                entry["weakened"].append(run(name, WEAK, done * CHUNK, CHUNK))
            if len(entry["rule"]) == done:
                entry["rule"].append(run(name, 1.0, done * CHUNK, CHUNK))
        store.save()
    print(
        {
            name: [*total(entry["rule"])[0].tolist(), len(entry["rule"]) * CHUNK]
            for name, entry in instances.items()
            if entry["rule"]
        }
    )


if __name__ == "__main__":
    main()
